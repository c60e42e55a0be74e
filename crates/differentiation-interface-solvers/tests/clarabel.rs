//! Constrained minimisation: test problems with published solutions, multipliers, and what is returned if there is no solution.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::clarabel::{Error, constrained};

/// Problem 71 of Hock and Schittkowski, *Test Examples for Nonlinear Programming Codes* (1981), the example of Ipopt.
#[differentiable]
fn hs71(x: &[f64]) -> f64 {
    x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
}

/// Σ x² = 40; product ≥ 25; 1 ≤ x ≤ 5.
#[differentiable]
fn hs71_constraints(x: &[f64]) -> [f64; 10] {
    let norm = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    [
        norm - 40.0,
        25.0 - x[0] * x[1] * x[2] * x[3],
        1.0 - x[0],
        1.0 - x[1],
        1.0 - x[2],
        1.0 - x[3],
        x[0] - 5.0,
        x[1] - 5.0,
        x[2] - 5.0,
        x[3] - 5.0,
    ]
}

/// Problem 100 of the same book.
#[differentiable]
fn hs100(x: &[f64]) -> f64 {
    (x[0] - 10.0).powi(2)
        + 5.0 * (x[1] - 12.0).powi(2)
        + x[2].powi(4)
        + 3.0 * (x[3] - 11.0).powi(2)
        + 10.0 * x[4].powi(6)
        + 7.0 * x[5].powi(2)
        + x[6].powi(4)
        - 4.0 * x[5] * x[6]
        - 10.0 * x[5]
        - 8.0 * x[6]
}

#[differentiable]
fn hs100_constraints(x: &[f64]) -> [f64; 4] {
    [
        2.0 * x[0].powi(2) + 3.0 * x[1].powi(4) + x[2] + 4.0 * x[3].powi(2) + 5.0 * x[4] - 127.0,
        7.0 * x[0] + 3.0 * x[1] + 10.0 * x[2].powi(2) + x[3] - x[4] - 282.0,
        23.0 * x[0] + x[1].powi(2) + 6.0 * x[5].powi(2) - 8.0 * x[6] - 196.0,
        4.0 * x[0].powi(2) + x[1].powi(2) - 3.0 * x[0] * x[1] + 2.0 * x[2].powi(2) + 5.0 * x[5] - 11.0 * x[6],
    ]
}

fn assert_close(found: &[f64], published: &[f64], tolerance: f64) {
    assert_eq!(found.len(), published.len());
    assert!(found.iter().zip(published).all(|(a, b)| (a - b).abs() < tolerance), "{found:?}, published {published:?}");
}

#[test]
fn problem_71_of_hock_and_schittkowski_is_solved() {
    let start = [1.0, 5.0, 5.0, 1.0];
    let problem = constrained(&Hs71, &Hs71Constraints, 1, &AutoReverseDiff::default(), &start).unwrap();
    let solution = problem.solve(&start).unwrap();
    assert_close(&[solution.value], &[17.0140173], 1e-6);
    assert_close(&solution.x, &[1.0, 4.7429994, 3.8211503, 1.3794082], 1e-6);
    // Multipliers as Ipopt's documentation lists them.
    assert_close(&solution.multipliers[..3], &[0.1614686, 0.5522937, 1.0878713], 1e-5);
    assert_close(&solution.multipliers[3..], &[0.0; 7], 1e-6);
}

#[test]
fn problem_100_of_hock_and_schittkowski_is_solved() {
    let start = [1.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0];
    let problem = constrained(&Hs100, &Hs100Constraints, 0, &AutoForwardDiff::default(), &start).unwrap();
    let solution = problem.solve(&start).unwrap();
    assert_close(&[solution.value], &[680.6300573], 1e-6);
    assert_close(&solution.x, &[2.330499, 1.951372, -0.4775414, 4.365726, -0.6244870, 1.038131, 1.594227], 1e-5);
    assert!(solution.multipliers.iter().all(|m| *m > -1e-9));
}

#[differentiable]
fn square(x: &[f64]) -> f64 {
    x[0] * x[0]
}

/// x ≤ -1 and x ≥ 1.
#[differentiable]
fn contradiction(x: &[f64]) -> [f64; 2] {
    [x[0] + 1.0, 1.0 - x[0]]
}

#[test]
fn contradicting_constraints_used_up_steps_and_wrong_lengths_are_errors() {
    let forward = AutoForwardDiff::default();
    let none = constrained(&Square, &Contradiction, 0, &forward, &[0.0]).unwrap();
    let error = none.solve(&[0.0]).unwrap_err();
    assert!(matches!(error, Error::QuadraticProgram { step: 0, .. }), "{error}");
    assert!(error.to_string().contains("PrimalInfeasible"), "{error}");
    let start = [1.0, 5.0, 5.0, 1.0];
    let few = constrained(&Hs71, &Hs71Constraints, 1, &forward, &start).unwrap().with_max_steps(2);
    assert!(matches!(few.solve(&start), Err(Error::Steps { steps: 2 })));
    let error = few.solve(&[1.0; 3]).unwrap_err();
    assert!(error.to_string().contains("prepared for 4 inputs, called with 3"), "{error}");
}

#[differentiable]
fn logarithm(x: &[f64]) -> f64 {
    (x[0] - 1.0).ln()
}
#[differentiable]
fn at_most_three(x: &[f64]) -> [f64; 1] {
    [x[0] - 3.0]
}
#[differentiable]
fn nothing(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() + 2.0
}
#[differentiable]
fn constant(x: &[f64]) -> Vec<f64> {
    vec![x.iter().sum::<f64>() - 1.0]
}

#[test]
fn starts_without_values_and_impossible_counts_are_errors() {
    let forward = AutoForwardDiff::default();
    let error = constrained(&Logarithm, &AtMostThree, 0, &forward, &[0.5]).unwrap().solve(&[0.5]).unwrap_err();
    assert!(matches!(error, Error::NotFinite { step: 0 }), "{error}");
    let error = constrained(&Square, &AtMostThree, 2, &forward, &[0.5]).unwrap().solve(&[0.5]).unwrap_err();
    assert!(matches!(error, Error::Equalities { equalities: 2, constraints: 1 }), "{error}");
    // No variables: the constraint -1 ≤ 0 holds.
    let solution = constrained(&Nothing, &Constant, 0, &forward, &[]).unwrap().solve(&[]).unwrap();
    assert_eq!((solution.value, solution.multipliers), (2.0, vec![0.0]));
}

/// (x₀ - 2)², and an error at the second step.
#[differentiable]
fn square_near_one(x: &[f64]) -> Result<f64, String> {
    if x[0] > 1.5 { Err("too far".into()) } else { Ok((x[0] - 2.0).powi(2)) }
}
#[differentiable]
fn at_most_one(x: &[f64]) -> Result<[f64; 1], String> {
    Ok([x[0] - 1.0])
}

#[test]
fn functions_and_constraints_may_return_errors() {
    let forward = AutoForwardDiff::default();
    let found = constrained(&SquareNearOne, &AtMostOne, 0, &forward, &[0.0]).unwrap().solve(&[0.0]).unwrap();
    assert!((found.x[0] - 1.0).abs() < 1e-6, "{:?}", found.x);
    let error = constrained(&SquareNearOne, &AtMostThree, 0, &forward, &[0.0]).unwrap().solve(&[0.0]).unwrap_err();
    assert!(error.to_string().contains("the function returned an error: too far"), "{error}");
}
