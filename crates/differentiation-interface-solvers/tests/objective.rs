//! Objectives as closures: in the forms of `nlopt` and `OpEn`, from several threads, after an error.

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

/// What `optimization_engine` takes.
fn open_style(
    gradient: impl Fn(&[f64], &mut [f64]) -> Result<(), String>,
    cost: impl Fn(&[f64], &mut f64) -> Result<(), String>,
) {
    let (mut grad, mut value) = ([f64::NAN; 2], f64::NAN);
    gradient(&[2.0, 5.0], &mut grad).unwrap();
    cost(&[2.0, 5.0], &mut value).unwrap();
    assert_eq!((grad, value), ([20.0, 4.0], 20.0));
    assert!(cost(&[2.0], &mut value).unwrap_err().contains("prepared for 2 inputs, called with 1"));
}

#[test]
fn closures_of_optimisers_are_one_line() {
    let f = objective(&Cubic, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
    nlopt_style(|x, grad, _| f.call(x, grad));
    open_style(
        |x, grad| f.value_and_gradient_into(grad, x).map(drop).map_err(|error| error.to_string()),
        |x, value| f.value(x).map(|found| *value = found).map_err(|error| error.to_string()),
    );
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
