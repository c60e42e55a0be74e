//! Objectives as closures: in the form of `nlopt`, with `optimization_engine`, from several threads, after an error.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::objective;
use std::sync::Arc;

#[differentiable]
fn cubic(x: &[f64]) -> f64 {
    x[0] * x[0] * x[1]
}

/// What `nlopt` takes.
fn nlopt_style(f: impl Fn(&[f64], Option<&mut [f64]>, &mut ()) -> f64) {
    let mut grad = [f64::NAN; 2];
    assert_eq!(f(&[2.0, 5.0], None, &mut ()), 20.0);
    assert_eq!(f(&[2.0, 5.0], Some(&mut grad), &mut ()), 20.0);
    assert_eq!(grad, [20.0, 4.0]);
}

#[test]
fn the_closure_of_nlopt_is_one_line() {
    let f = objective(&Cubic, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
    nlopt_style(|x, grad, _| f.call(x, grad));
}

/// (u₀ - 3)² + (u₁ - 4)².
#[differentiable]
fn distance(u: &[f64]) -> f64 {
    (u[0] - 3.0).powi(2) + (u[1] - 4.0).powi(2)
}

#[test]
fn optimization_engine_finds_the_nearest_point_of_a_ball() {
    use optimization_engine::{Problem, SolverError, constraints::Ball2, panoc::*};
    let f = objective(&Distance, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
    let failed = |_| SolverError::Cost("see the objective's first error");
    let gradient = |u: &[f64], grad: &mut [f64]| f.value_and_gradient_into(grad, u).map(drop).map_err(failed);
    let cost = |u: &[f64], value: &mut f64| f.value(u).map(|found| *value = found).map_err(failed);
    let (mut cache, mut u) = (PANOCCache::new(2, 1e-10, 5), [0.0; 2]);
    let ball = Ball2::new(None, 1.0);
    PANOCOptimizer::new(Problem::new(&ball, gradient, cost), &mut cache).with_max_iter(100).solve(&mut u).unwrap();
    assert!((u[0] - 0.6).abs() < 1e-8 && (u[1] - 0.8).abs() < 1e-8, "{u:?}");
}

#[test]
fn an_error_is_a_nan_and_is_kept() {
    let f = objective(&Cubic, &AutoForwardDiff::default(), &[0.0; 2]).unwrap();
    let mut grad = [0.0; 3];
    assert!(f.call(&[1.0; 3], Some(&mut grad)).is_nan() && grad.iter().all(|g| g.is_nan()));
    assert!(f.call(&[1.0; 4], None).is_nan());
    let error = f.first_error().take().unwrap();
    assert_eq!(error.kind(), ErrorKind::PreparedLength { prepared: 2, found: 3 });
    assert_eq!(f.call(&[2.0, 5.0], None), 20.0);
}

#[test]
fn an_objective_that_owns_its_function_moves_to_threads() {
    let f = Arc::new(objective(Arc::new(Cubic), &AutoReverseDiff::compiled(), &[0.0; 2]).unwrap().into_fn());
    let workers: Vec<_> = (1..4_i8)
        .map(|k| {
            let (f, k) = (Arc::clone(&f), f64::from(k));
            std::thread::spawn(move || {
                let mut grad = [0.0; 2];
                (0..200).for_each(|_| assert_eq!(f(&[k, 1.0], Some(&mut grad)), k * k));
                assert_eq!(grad, [2.0 * k, k * k]);
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// √x₀ · x₁ where x₀ is not negative.
#[differentiable]
fn root(x: &[f64]) -> Result<f64, String> {
    if x[0] < 0.0 { Err(format!("{} has no root", x[0].primal())) } else { Ok(x[0].sqrt() * x[1]) }
}

#[test]
fn a_function_may_return_an_error() {
    let f = objective(&Root, &AutoReverseDiff::default(), &[4.0, 1.0]).unwrap();
    let mut grad = [0.0; 2];
    assert_eq!((f.call(&[4.0, 3.0], Some(&mut grad)), f.call(&[4.0, 3.0], None)), (6.0, 6.0));
    assert_eq!(grad, [0.75, 2.0]);
    assert!(f.call(&[-4.0, 3.0], Some(&mut grad)).is_nan() && grad.iter().all(|g| g.is_nan()));
    assert!(f.call(&[-9.0, 3.0], None).is_nan());
    let error = f.first_error().take().unwrap();
    assert_eq!(error.of_function().unwrap().to_string(), "-4 has no root");
    assert_eq!(f.value(&[-9.0, 3.0]).unwrap_err().of_function().unwrap().to_string(), "-9 has no root");
}
