//! Least-squares problems: the solver's results against known ones, Jacobians against differences, errors.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::levenberg_marquardt::least_squares;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt, TerminationReason, differentiate_numerically};
use std::sync::Arc;

/// NIST's data set Misra1a: y = b1 (1 - exp(-b2 x)), certified values from
/// <https://www.itl.nist.gov/div898/strd/nls/data/misra1a.shtml>.
struct Misra1a;

const X: [f64; 14] = [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0];
const Y: [f64; 14] = [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78];

impl<T: Real> Function<[T]> for Misra1a {
    type Output = [T; 14];
    fn call(&self, b: &[T]) -> [T; 14] {
        std::array::from_fn(|i| b[0] * (1.0 - (-b[1] * X[i]).exp()) - Y[i])
    }
}

#[test]
fn certified_values_of_nist_are_found() {
    let problem = least_squares(&Misra1a, &AutoForwardDiff::default(), &[500.0, 1e-4]).unwrap();
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    assert!(report.termination.was_successful(), "{report:?}");
    let [b1, b2] = problem.parameters().try_into().unwrap();
    assert!((b1 / 2.389_421_291_8e2 - 1.0_f64).abs() < 1e-9, "{b1}");
    assert!((b2 / 5.501_564_318_1e-4 - 1.0_f64).abs() < 1e-9, "{b2}");
    assert!((2.0 * report.objective_function / 1.245_513_889_4e-1 - 1.0).abs() < 1e-9);
}

#[test]
fn jacobians_agree_with_differences_by_a_tape() {
    let mut problem = least_squares(Arc::new(Misra1a), &AutoReverseDiff::default(), &[240.0, 5e-4]).unwrap();
    let numerical = differentiate_numerically(&mut problem).unwrap();
    let jac = problem.jacobian().unwrap();
    for (a, b) in jac.iter().zip(numerical.iter()) {
        assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} and {b}");
    }
}

/// Does not write its last output.
struct Forgetful;

impl<T: Real> FunctionInPlace<T, [T]> for Forgetful {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        // The preparation is at a point where all outputs are written.
        let outputs = if x[0] > 0.0 { 2 } else { 1 };
        y[..outputs].fill(x[0] * x[0]);
    }
}

#[test]
fn the_first_error_is_kept() {
    let f = in_place(Forgetful, 2);
    let mut problem = least_squares(&f, &AutoForwardDiff::default(), &[1.0]).unwrap();
    problem
        .set_params(&differentiation_interface_solvers::levenberg_marquardt::nalgebra::DVector::from_element(1, -1.0));
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    assert!(matches!(report.termination, TerminationReason::User(_)), "{report:?}");
    let error = problem.first_error().take().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnwrittenOutput { index: 1 });
    assert!(problem.first_error().take().is_none());
}

/// The residuals of data that are left out beyond x = 1.
struct Shrinking;

impl<T: Real> Function<[T]> for Shrinking {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let count = if x[0].primal() > 1.0 { 2 } else { 3 };
        (0..count).map(|i| x[0] - 2.0 - i as f64).collect()
    }
}

#[test]
fn another_number_of_residuals_is_the_error_of_the_jacobian() {
    let problem = least_squares(&Shrinking, &AutoForwardDiff::default(), &[0.0]).unwrap();
    let expected =
        prepare_jacobian(&Shrinking, &AutoForwardDiff::default(), &[0.0]).unwrap().jacobian(&[3.0]).unwrap_err();
    assert_eq!(expected.kind(), ErrorKind::OutputLength { expected: 3, found: 2 });
    // The first step goes to the minimum, x = 3.
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    assert!(matches!(report.termination, TerminationReason::User(_)), "{report:?}");
    assert_eq!(problem.first_error().take().unwrap().to_string(), expected.to_string());
}

/// √b₀ - 2, of a b₀ that is not negative.
struct Root;

impl<T: Real> Function<[T]> for Root {
    type Output = Result<Vec<T>, String>;
    fn call(&self, b: &[T]) -> Result<Vec<T>, String> {
        if b[0] < 0.0 { Err("no root".into()) } else { Ok(vec![b[0].sqrt() - 2.0]) }
    }
}

#[test]
fn an_error_of_the_residuals_is_kept() {
    let run = |start: f64| {
        let mut problem = least_squares(&Root, &AutoForwardDiff::default(), &[1.0]).unwrap();
        problem.set_params(&differentiation_interface_solvers::levenberg_marquardt::nalgebra::DVector::from_element(
            1, start,
        ));
        LevenbergMarquardt::new().minimize(problem)
    };
    let (problem, report) = run(1.0);
    assert!(report.termination.was_successful() && (problem.parameters()[0] - 4.0).abs() < 1e-6, "{report:?}");
    let (problem, report) = run(-1.0);
    assert!(matches!(report.termination, TerminationReason::User(_)), "{report:?}");
    assert_eq!(problem.first_error().take().unwrap().of_function().unwrap().to_string(), "no root");
}
