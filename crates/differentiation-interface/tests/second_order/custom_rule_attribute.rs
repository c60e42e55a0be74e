//! `#[custom_rule]`: the derivative that is used is the one given, by every backend.

use differentiation_interface::prelude::*;

/// x₀ k + Σ dataᵢ x₁, with derivatives that are right.
#[custom_rule(pullback = table_pullback)]
fn table(x: &[f64], #[constant] k: f64, #[constant] data: &[f64]) -> f64 {
    x[0] * k + data.iter().sum::<f64>() * x[1]
}
fn table_pullback<S: Scalar<Base = f64>>(_x: &[S], _y: &[S], dy: &[S], dx: &mut [S], k: &f64, data: &[f64]) {
    dx[0] = dy[0].scale(*k);
    dx[1] = dy[0].scale(data.iter().sum());
}

/// (x₀ x₁, x₀²), known by its pushforward on plain numbers.
#[custom_rule(plain, pushforward = pair_pushforward)]
fn pair(x: &[f64]) -> Vec<f64> {
    vec![x[0] * x[1], x[0] * x[0]]
}
fn pair_pushforward(x: &[f64], _y: &[f64], dx: &[f64], dy: &mut [f64]) {
    dy[0] = x[0] * dx[1] + x[1] * dx[0];
    dy[1] = 2.0 * x[0] * dx[0];
}

/// A value of 0 everywhere with the derivative of 3x: shows that nothing looks inside.
#[custom_rule(pushforward = opaque_pushforward)]
fn opaque(_x: &[f64]) -> f64 {
    0.0
}
fn opaque_pushforward<S: Scalar<Base = f64>>(_x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
    dy[0] = dx[0].scale(3.0);
}

#[test]
fn constants_reach_value_and_derivative() {
    let x = [1.0_f64, 2.0];
    assert_eq!(table(&x, 5.0, &[1.0, 2.0]), 11.0);
    let f = |x: &[_]| table(x, 5.0, &[1.0, 2.0]);
    assert_eq!(gradient(&f, &AutoReverseDiff::default(), &x).unwrap(), [5.0, 3.0]);
    let f = |x: &[_]| table(x, 5.0, &[1.0, 2.0]);
    assert_eq!(gradient(&f, &AutoForwardDiff::default(), &x).unwrap(), [5.0, 3.0]);
    let data = [1.0, 2.0];
    let grad = gradient(&Table, &AutoForwardDiff::default(), (&x, Constant(&5.0), Constant(&data[..]))).unwrap();
    assert_eq!(grad, [5.0, 3.0]);
}

#[test]
fn plain_derivative_serves_first_order_and_refuses_second() {
    let x = [3.0_f64, 5.0];
    let expected = [[5.0, 3.0], [6.0, 0.0]];
    assert_eq!(jacobian(&Pair, &AutoForwardDiff::default(), &x).unwrap(), expected);
    assert_eq!(jacobian(&Pair, &AutoReverseDiff::default(), &x).unwrap(), expected);
    let f = |x: &[_]| pair(x)[0];
    let error = hessian(&f, &AutoForwardDiff::default(), &x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RuleOrder { rule: "pair" });
}

#[test]
fn the_rule_replaces_the_code() {
    let x = [2.0_f64];
    let f = |x: &[_]| opaque(x);
    assert_eq!(gradient(&f, &AutoReverseDiff::default(), &x).unwrap(), [3.0]);
    let square = |x: &[_]| {
        let y = opaque(x) + x[0];
        y * y
    };
    // y = x here, but dy = 4 dx: the second derivative of y² is 2 · 4².
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    assert_eq!(hessian(&square, &backend, &x).unwrap(), [[32.0]]);
}
