//! Roots by `eqsolver`: known roots, and what is returned if there is none.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::eqsolver::{Error, root};
use eqsolver::SolverError;

/// Powell's badly scaled function: 10⁴ x₀ x₁ = 1, exp(-x₀) + exp(-x₁) = 1.0001. Root from Moré, Garbow and Hillstrom, "Testing
/// unconstrained optimization software", ACM TOMS 7 (1981), problem 3.
struct Powell;

impl<T: Real> Function<[T]> for Powell {
    type Output = [T; 2];
    fn call(&self, x: &[T]) -> [T; 2] {
        [1e4 * x[0] * x[1] - 1.0, (-x[0]).exp() + (-x[1]).exp() - 1.0001]
    }
}

/// No root: x² + 1.
struct NoRoot;

impl<T: Real> Function<[T]> for NoRoot {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        vec![x[0] * x[0] + 1.0]
    }
}

/// ln x, of which a step from 5 leads to a negative number.
struct Logarithm;

impl<T: Real> Function<[T]> for Logarithm {
    type Output = [T; 1];
    fn call(&self, x: &[T]) -> [T; 1] {
        [x[0].ln()]
    }
}

#[test]
fn a_badly_scaled_root_is_found() {
    let equations = root(&Powell, &AutoForwardDiff::default(), &[0.0, 1.0]).unwrap();
    let x = equations.solve(&[0.0, 1.0]).unwrap();
    assert!((x[0] / 1.098e-5 - 1.0).abs() < 1e-3 && (x[1] / 9.106 - 1.0).abs() < 1e-4, "{x:?}");
    assert!(Powell.call(&x[..]).iter().all(|y| y.abs() < 1e-9));
}

#[test]
fn used_up_steps_singular_jacobians_and_left_domains_are_errors() {
    let none = root(&NoRoot, &AutoReverseDiff::default(), &[0.5]).unwrap().with_max_steps(10);
    assert!(matches!(none.solve(&[0.5]), Err(Error::Solver(SolverError::MaxIterReached(_)))));
    assert!(matches!(none.solve(&[0.0]), Err(Error::Solver(SolverError::BadJacobian))));
    let left = root(&Logarithm, &AutoForwardDiff::default(), &[5.0]).unwrap().solve(&[5.0]);
    assert!(matches!(left, Err(Error::NotFinite)), "{left:?}");
}

#[differentiable]
fn three_equations(x: &[f64]) -> Vec<f64> {
    vec![x[0], x[1], x[0] * x[1]]
}
#[differentiable]
fn one_equation(x: &[f64]) -> Vec<f64> {
    vec![x[0] + x[1]]
}

#[test]
fn systems_that_are_not_square_are_errors() {
    let error = root(&ThreeEquations, &AutoForwardDiff::default(), &[1.0; 2]).unwrap().solve(&[1.0; 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "root with eqsolver: 3 equations for 2 unknowns; return as many numbers as the point has, or minimise the residuals"
    );
    let one = root(&OneEquation, &AutoReverseDiff::default(), &[1.0; 2]).unwrap().solve(&[1.0; 2]);
    assert!(matches!(one, Err(Error::Equations { equations: 1, unknowns: 2 })), "{one:?}");
}

#[test]
fn errors_of_derivatives_keep_their_text() {
    let error = root(&Powell, &AutoForwardDiff::default(), &[0.0, 1.0]).unwrap().solve(&[0.0; 3]).unwrap_err();
    assert!(error.to_string().contains("prepared for 2 inputs, called with 3"), "{error}");
}

/// ln x = 1 where x is positive.
struct IsE;

impl<T: Real> Function<[T]> for IsE {
    type Output = Result<[T; 1], String>;
    fn call(&self, x: &[T]) -> Result<[T; 1], String> {
        if x[0] > 0.0 { Ok([x[0].ln() - 1.0]) } else { Err("no logarithm".into()) }
    }
}

#[test]
fn an_error_of_the_function_is_returned() {
    let equations = root(&IsE, &AutoReverseDiff::default(), &[2.0]).unwrap();
    assert!((equations.solve(&[2.0]).unwrap()[0] - 1_f64.exp()).abs() < 1e-9);
    // Newton's first step from 9 leads to 9 (2 - ln 9) < 0.
    let error = equations.solve(&[9.0]).unwrap_err().to_string();
    assert!(error.contains("the function returned an error: no logarithm"), "{error}");
}
