//! The same results by every operator and pair: bit by bit, but for compiled differences.

use super::*;

/// The last argument runs once with the chosen backend and once with the static one.
macro_rules! agree {
    ($any:expr, $fixed:expr, |$backend:ident| $call:expr) => {{
        let any = {
            let $backend = &$any;
            $call
        };
        let fixed = {
            let $backend = &$fixed;
            $call
        };
        let tolerance = tolerance(&$any);
        assert_same(&format!("{any:?}"), &format!("{fixed:?}"), tolerance, &format!("{}: {}", $any, stringify!($call)));
    }};
}

/// Relative tolerance: zero, except for differences that are compiled. The recordings of the chosen and of the static backend differ, and
/// compiled code rounds the sine of one angle differently from that of several at once; the quotients enlarge the last bit.
fn tolerance(backend: &AnyBackend) -> f64 {
    let text = backend.to_string();
    if text.contains("compile=true") && text.contains("FiniteDiff") { 1e-9 } else { 0.0 }
}

/// Compares texts; numbers in them may differ by `tolerance`.
#[track_caller]
fn assert_same(any: &str, fixed: &str, tolerance: f64, call: &str) {
    let parts = |text: &str| -> Vec<String> {
        let is_number = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        text.split_inclusive(|c| !is_number(c)).map(str::to_owned).collect()
    };
    let close = |a: &str, b: &str| {
        let number = |text: &str| text.trim_end_matches([',', ')', ']', ' ']).parse::<f64>();
        let (Ok(a), Ok(b)) = (number(a), number(b)) else { return false };
        (a - b).abs() <= tolerance * a.abs().max(1.0)
    };
    let (a, b) = (parts(any), parts(fixed));
    let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || close(a, b));
    assert!(same, "{call}\n any: {any}\nfixed: {fixed}");
}

macro_rules! first_order_agrees {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        let tangents = [&DX, &DX2];
        let (c1, c2) = ([1.0, -1.0, 0.5, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0, 0.0]);
        agree!(any, fixed, |b| pushforward(&|x: &[_]| vector(x), b, &X, tangents).unwrap());
        agree!(any, fixed, |b| value_and_pushforward(&|x: &[_]| smooth(x), b, &X, tangents).unwrap());
        agree!(any, fixed, |b| pushforward(&|t| curve(t), b, 0.7, [1.0]).unwrap());
        agree!(any, fixed, |b| pullback(&|x: &[_]| vector(x), b, &X, [&c1, &c2]).unwrap());
        agree!(any, fixed, |b| value_and_pullback(&|x: &[_]| vector(x), b, &X, [&c1]).unwrap());
        agree!(any, fixed, |b| derivative(&|t| curve(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| value_and_derivative(&|t| wave(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| gradient(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_and_gradient(&|x: &[_; 5]| smooth(x), b, X).unwrap());
        agree!(any, fixed, |b| jacobian(&|x: &[_]| vector(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_and_jacobian(&|x: &[_]| vector(x), b, &X).unwrap());
        agree!(any, fixed, |b| {
            jacobian(&in_place(|y: &mut [_], x: &[_]| in_place_vector(y, x), 4), b, &X).unwrap()
        });
        agree!(any, fixed, |b| {
            let (k, work) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![0.0; 5]);
            let point = (&X, Constant(&k), Cache(&work));
            value_and_gradient(&|x: &[_], k: &Vec<f64>, work: &mut Vec<_>| scaled(x, k, work), b, point).unwrap()
        });
        // Prepared at another point, and used twice.
        agree!(any, fixed, |b| {
            let f = |x: &[_]| vector(x);
            let mut prepared = prepare_jacobian(&f, b, &[0.1; 5]).unwrap();
            let mut clone = prepared.clone();
            (prepared.jacobian(&X).unwrap(), prepared.value_and_jacobian(&DX).unwrap(), clone.jacobian(&DX2).unwrap())
        });
        agree!(any, fixed, |b| {
            let (f, g) = (|x: &[_]| vector(x), |x: &[_]| vector(x));
            let mut push = prepare_pushforward_same_point(&f, b, &X, [&DX]).unwrap();
            let mut pull = prepare_pullback_same_point(&g, b, &X, [&c1]).unwrap();
            (push.pushforward([&DX2]).unwrap(), pull.pullback([&c2]).unwrap())
        });
        // Single precision.
        agree!(any, fixed, |b| {
            gradient(&|x: &[_]| single(x), b, &[1.5f32, 2.5, -1.0, 0.5, 2.0]).unwrap()
        });
        second_order_agrees!(fixed);
    })*};
}

macro_rules! second_order_agrees {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        agree!(any, fixed, |b| hvp(&|x: &[_]| smooth(x), b, &X, [&DX, &DX2]).unwrap());
        agree!(any, fixed, |b| value_gradient_and_hvp(&|x: &[_]| smooth(x), b, &X, [&DX]).unwrap());
        agree!(any, fixed, |b| hessian(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| value_gradient_and_hessian(&|x: &[_]| smooth(x), b, &X).unwrap());
        agree!(any, fixed, |b| second_derivative(&|t| curve(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| value_derivative_and_second_derivative(&|t| wave(t), b, 0.7).unwrap());
        agree!(any, fixed, |b| {
            let (k, work) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![0.0; 5]);
            let point = (&X, Constant(&k), Cache(&work));
            hessian(&|x: &[_], k: &Vec<f64>, work: &mut Vec<_>| scaled(x, k, work), b, point).unwrap()
        });
        agree!(any, fixed, |b| {
            let (f, g) = (|x: &[_]| smooth(x), |x: &[_]| smooth(x));
            let mut prepared = prepare_hessian(&f, b, &[0.1; 5]).unwrap();
            let mut same = prepare_hvp_same_point(&g, b, &X, [&DX]).unwrap();
            let product = same.hvp([&DX2]).unwrap();
            (prepared.hessian(&X).unwrap(), prepared.hessian(&DX).unwrap(), same.gradient(), product)
        });
    })*};
}

/// What recordings must not take for constants: parameters, and choices without a branch.
macro_rules! changes_agree {
    ($($fixed:expr),*) => {$({
        let fixed = $fixed;
        let any = AnyBackend::from(fixed);
        agree!(any, fixed, |b| {
            let k = vec![2.0, 0.5, 1.0, 3.0, 1.5];
            let f = |x: &[_], k: &Vec<_>| weighted(x, k);
            let mut prepared = prepare_hessian(&f, b, (&X, Parameter(&k))).unwrap();
            let other = vec![-1.0, 0.25, 4.0, 0.0, 2.0];
            (prepared.hessian((&X, Parameter(&k))).unwrap(), prepared.hessian((&DX, Parameter(&other))).unwrap())
        });
        agree!(any, fixed, |b| {
            let f = |t, k: &Vec<_>| ripple(t, k);
            let mut prepared = prepare_second_derivative(&f, b, (0.7, Parameter(&vec![2.0, 3.0]))).unwrap();
            prepared.second_derivative((0.9, Parameter(&vec![-1.0, 0.5]))).unwrap()
        });
    })*};
}

#[test]
fn parameters_and_choices_give_the_static_result() {
    let (forward, reverse, compiled) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoReverseDiff::compiled());
    changes_agree!(forward, compiled, SecondOrder(compiled, reverse), SecondOrder(forward, compiled));
    macro_rules! first_order_changes_agree {
        ($($fixed:expr),*) => {$({
            let fixed = $fixed;
            let any = AnyBackend::from(fixed);
            agree!(any, fixed, |b| {
                let f = |x: &[_], k: &Vec<_>| weighted(x, k);
                let (k, other) = (vec![2.0, 0.5, 1.0, 3.0, 1.5], vec![-1.0, 0.25, -4.0, 0.0, 2.0]);
                let mut prepared = prepare_gradient(&f, b, (&X, Parameter(&k))).unwrap();
                let mut at = |k| prepared.value_and_gradient((&X, Parameter(k))).unwrap();
                (at(&k), at(&other), at(&k))
            });
            // Chosen without a branch.
            agree!(any, fixed, |b| {
                let f = |x: &[_]| chosen(x);
                let mut prepared = prepare_jacobian(&f, b, &X).unwrap();
                (prepared.jacobian(&X).unwrap(), prepared.jacobian(&DX).unwrap(), prepared.jacobian(&DX2).unwrap())
            });
        })*};
    }
    first_order_changes_agree!(reverse, compiled);
}

#[test]
fn every_operator_gives_the_static_result() {
    first_order_agrees!(
        AutoForwardDiff::default(),
        AutoForwardDiff::with_chunk::<1>(),
        AutoForwardDiff::with_chunk::<3>(),
        AutoReverseDiff::default(),
        AutoFiniteDiff::forward(),
        AutoFiniteDiff::backward().relative_step(1e-6),
        AutoFiniteDiff::central().relative_step(1e-5).absolute_step(1e-7),
        AutoReverseDiff::compiled(),
        AutoReverseDiff::compiled().with_most_recordings(1)
    );
}

#[test]
fn every_pair_gives_the_static_result() {
    let (forward, reverse, finite) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let compiled = AutoReverseDiff::compiled();
    second_order_agrees!(
        SecondOrder(forward, forward),
        SecondOrder(forward, reverse),
        SecondOrder(forward, finite),
        SecondOrder(reverse, forward),
        SecondOrder(reverse, reverse),
        SecondOrder(reverse, finite),
        SecondOrder(finite, forward),
        SecondOrder(finite, reverse),
        SecondOrder(finite, finite),
        SecondOrder(AutoForwardDiff::with_chunk::<2>(), AutoForwardDiff::with_chunk::<5>()),
        SecondOrder(compiled, forward),
        SecondOrder(compiled, reverse),
        SecondOrder(compiled, finite),
        SecondOrder(forward, compiled),
        SecondOrder(reverse, compiled),
        SecondOrder(finite, compiled)
    );
}
