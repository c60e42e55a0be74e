//! Prepared products of compiled recordings: outputs and product by one run of one program.

use differentiation_interface::prelude::*;

/// Two outputs, and another branch where the first input is negative.
fn f<T: Real>(x: &[T]) -> [T; 2] {
    let factor = if x[0] < T::zero() { -3.0 } else { 2.0 };
    [x[0] * x[1] * factor, x[1].sin() + x[2]]
}

fn expected(x: [f64; 3], dy: [f64; 2]) -> ([f64; 2], [f64; 3]) {
    let factor = if x[0] < 0.0 { -3.0 } else { 2.0 };
    let product = [dy[0] * factor * x[1], dy[0] * factor * x[0] + dy[1] * x[1].cos(), dy[1]];
    ([x[0] * x[1] * factor, x[1].sin() + x[2]], product)
}

const POINTS: [[f64; 3]; 5] =
    [[1.0, 2.0, 3.0], [-1.5, 0.5, 4.0], [0.0, -2.0, 1.0], [-2.0, -0.25, 0.0], [1e300, 1e-300, 1.0]];

macro_rules! check {
    ($backend:expr) => {{
        let x = vec![1.0, 1.0, 1.0];
        let mut prepared = prepare_pullback(&|x: &[_]| f(x), &$backend, &x, [&[0.0, 0.0]]).unwrap();
        let mut two = prepare_pullback(&|x: &[_]| f(x), &$backend, &x, [&[0.0, 0.0], &[0.0, 0.0]]).unwrap();
        let mut forward = prepare_pushforward(&|x: &[_]| f(x), &$backend, &x, [&[0.0; 3]]).unwrap();
        let mut jacobian = prepare_jacobian(&|x: &[_]| f(x), &AutoForwardDiff::default(), &x).unwrap();
        for round in 0..60 {
            let (x, dy) = (POINTS[round % 5], [1.0 + round as f64, -0.5]);
            let (y, dx) = expected(x, dy);
            let close = |found: &[f64], expected: &[f64]| {
                found.iter().zip(expected).all(|(a, b)| a == b || (a - b).abs() <= 4e-16 * b.abs().max(1.0))
            };
            let (value, [product]) = prepared.value_and_pullback(&x.to_vec(), [&dy]).unwrap();
            assert!(close(&value, &y) && close(&product, &dx), "{value:?} {product:?} at {x:?}");
            let [first, second] = two.pullback(&x.to_vec(), [&[0.0, 1.0], &dy]).unwrap();
            assert!(close(&first, &expected(x, [0.0, 1.0]).1) && close(&second, &dx), "{first:?} {second:?} at {x:?}");
            let (_, jac) = jacobian.value_and_jacobian(&x.to_vec()).unwrap();
            let tangent = [0.5, -1.0, round as f64];
            let (value, [dy]) = forward.value_and_pushforward(&x.to_vec(), [&tangent]).unwrap();
            let by_rows = [0, 1].map(|i| (0..3).map(|j| jac[(i, j)] * tangent[j]).sum());
            assert!(close(&value, &y) && close(&dy, &by_rows), "{value:?} {dy:?} at {x:?}");
            // Neither a wrong cotangent nor a wrong point leaves a trace.
            let error = prepared.pullback(&x.to_vec(), [&[1.0, 2.0, 3.0]]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SeedLength { index: 0, expected: 2, found: 3 });
            assert!(prepared.pullback(&vec![1.0; 4], [&[1.0, 2.0]]).is_err());
            assert!(forward.pushforward(&x.to_vec(), [&[1.0; 2]]).is_err());
        }
    }};
}

#[test]
fn products_follow_branches_and_refuse_wrong_lengths() {
    check!(AutoReverseDiff::compiled());
    check!(AutoReverseDiff::default());
    check!(AutoReverseDiff::tape());
}

/// The sign is that of a quotient, whose derivative -x₁ / x₀² is beyond the largest number.
#[test]
fn what_only_gives_a_sign_has_no_derivative() {
    let f = |x: &[_]| signed(x);
    fn signed<T: Real>(x: &[T]) -> T {
        x[0].copysign(x[1] / x[0])
    }
    let x = [f64::MIN_POSITIVE, 0.5];
    assert_eq!(gradient(&f, &AutoReverseDiff::compiled(), &x).unwrap(), [1.0, 0.0]);
    assert_eq!(hessian(&f, &AutoReverseDiff::compiled(), &x).unwrap(), [[0.0, 0.0], [0.0, 0.0]]);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &[0.5, 0.5]).unwrap();
    for x in [[0.5, 0.5], x, [-0.25, -1.0], [2.0, -3.0]] {
        let sign = if (x[0] > 0.0) == (x[1] / x[0] > 0.0) { 1.0 } else { -1.0 };
        assert_eq!(prepared.gradient(&x).unwrap(), [sign, 0.0]);
    }
}

/// Products of which the seed is what an outer engine differentiates, at a zero that moves.
#[test]
fn seeds_that_are_zero_and_move_are_not_absent() {
    fn product<T: Real>(x: &[T]) -> T {
        x[0] * x[1]
    }
    macro_rules! by_outer {
        ($outer:expr) => {{
            let pulled = |s: &[_]| {
                let x = [s[0] * 0.0 + 2.0, s[0] * 0.0 + 3.0];
                let [dx] = pullback(&|x: &[_]| product(x), &AutoReverseDiff::compiled(), &x[..], [s[0]]).unwrap();
                dx[0]
            };
            let pushed = |s: &[_]| {
                let x = [s[0] * 0.0 + 2.0, s[0] * 0.0 + 3.0];
                let tangent = [s[0], s[0] * 0.0];
                let [dy] =
                    pushforward(&|x: &[_]| product(x), &AutoReverseDiff::compiled(), &x[..], [&tangent[..]]).unwrap();
                dy
            };
            for s in [0.0, 0.5] {
                assert_eq!(gradient(&pulled, &$outer, &[s]).unwrap(), [3.0], "pullback at {s}");
                assert_eq!(gradient(&pushed, &$outer, &[s]).unwrap(), [3.0], "pushforward at {s}");
            }
        }};
    }
    by_outer!(AutoForwardDiff::default());
    by_outer!(AutoReverseDiff::tape());
    by_outer!(AutoReverseDiff::compiled());
}

/// x², whose pullback is NaN at 0 for all cotangents.
struct SingularSquare;
impl CustomRule for SingularSquare {
    const NAME: &'static str = "singular square";
    const GIVEN: Halves = Halves::Pullback;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(x[0] * x[0]);
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
        let is_singular = x[0].primal() == 0.0;
        dx[0] = if is_singular { S::constant(f64::NAN) } else { dy[0] * x[0] + dy[0] * x[0] };
    }
    fn is_regular<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S]) -> bool {
        x[0].primal() != 0.0
    }
}

/// A call on the side that is not taken is absent whatever its rule returns.
#[test]
fn singular_rules_that_are_not_taken_are_absent() {
    fn f<T: Real>(x: &[T]) -> T {
        let square = Custom::new(SingularSquare).call(&[x[0] * x[1]])[0];
        x[1].greater_than(T::constant(5.0)).select(square, x[1] * x[1]) + x[0].sin() * x[1]
    }
    for grad in [
        gradient(&f, &AutoForwardDiff::default(), &[0.0, 2.0]),
        gradient(&f, &AutoReverseDiff::compiled(), &[0.0, 2.0]),
    ] {
        assert_eq!(grad.unwrap(), [2.0, 4.0]);
    }
}
