//! `stop_derivative`: a number that is computed at each point and has no derivative, in every engine.

use differentiation_interface::backends::reverse_diff::Form;
use differentiation_interface::prelude::*;
use differentiation_interface::rules::stop_derivative;
use differentiation_interface::sparse::GraphSparsityDetector;

/// x₀ stop(x₀ x₁) + x₁³ + stop(x₀): the gradient is (stop(x₀ x₁), 3 x₁²), the Hessian (0, 0; 0, 6 x₁).
struct Partly;

impl<T: Real> Function<[T]> for Partly {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x[0] * stop_derivative(x[0] * x[1]) + x[1].powi(3) + stop_derivative(x[0])
    }
}

const POINTS: [[f64; 2]; 3] = [[3.0, 2.0], [-0.5, 4.0], [0.0, -1.0]];

#[test]
fn the_value_is_there_and_the_derivative_is_not() {
    macro_rules! check {
        ($($backend:expr),*) => {$({
            // Prepared elsewhere: a program must not keep the value of its recording.
            let elsewhere: &[f64] = &[1.0, 1.0];
            let mut first = prepare_gradient(&Partly, &$backend, elsewhere).unwrap();
            let mut second = prepare_hessian(&Partly, &$backend, elsewhere).unwrap();
            // More calls than the engine that chooses takes to compile.
            for x in POINTS.iter().cycle().take(120) {
                let value = x[0] * x[0] * x[1] + x[1].powi(3) + x[0];
                let gradient = vec![x[0] * x[1], 3.0 * x[1] * x[1]];
                assert_eq!(first.value_and_gradient(&x[..]).unwrap(), (value, gradient), "{:?}", $backend);
                assert_eq!(second.hessian(&x[..]).unwrap(), [[0.0, 0.0], [0.0, 6.0 * x[1]]], "{:?}", $backend);
            }
        })*};
    }
    let (forward, tape, compiled) = (AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    check!(forward, tape, compiled, AutoReverseDiff::default());
    check!("ForwardDiff".parse::<AnyBackend>().unwrap());

    let x: &[f64] = &POINTS[0];
    let mut prepared = prepare_gradient(&Partly, &AutoReverseDiff::default(), x).unwrap();
    (0..100).for_each(|_| drop(prepared.gradient(x).unwrap()));
    assert_ne!(prepared.report().form, Form::Tape);
}

#[test]
fn patterns_have_no_entry_for_it() {
    let x: &[f64] = &[3.0, 2.0];
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let traced = hessian(&Partly, &AutoSparse::new(pair), x).unwrap();
    assert_eq!((traced.nnz(), traced.get(1, 1)), (1, 12.0));
    // The pattern of a recording counts rules that are not in the table as dense, and is right all the same.
    let compiled = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector);
    let recorded = hessian(&Partly, &compiled, x).unwrap();
    assert_eq!((recorded.get(0, 0), recorded.get(0, 1), recorded.get(1, 1)), (0.0, 0.0, 12.0));
}

/// A derivative that is not there is not 0 · ∞ either.
#[test]
fn infinite_derivatives_are_stopped() {
    fn root<T: Real>(x: &[T]) -> T {
        stop_derivative(x[0].sqrt()) * x[1]
    }
    let x: &[f64] = &[0.0, 2.0];
    assert_eq!(gradient(&root, &AutoForwardDiff::default(), x).unwrap(), [0.0, 0.0]);
    assert_eq!(gradient(&root, &AutoReverseDiff::tape(), x).unwrap(), [0.0, 0.0]);
    assert_eq!(gradient(&root, &AutoReverseDiff::compiled(), x).unwrap(), [0.0, 0.0]);
}

#[test]
fn higher_orders_stop_and_differences_do_not() {
    fn cube<T: Real>(x: T) -> T {
        stop_derivative(x * x) * x
    }
    assert_eq!(nth_derivative(&cube, &AutoTaylor, 2.0, Order::<3>).unwrap(), 0.0);
    assert_eq!(derivative(&cube, &AutoForwardDiff::default(), 2.0).unwrap(), 4.0);
    assert!((derivative(&cube, &AutoFiniteDiff::central(), 2.0).unwrap() - 12.0).abs() < 1e-6);
}
