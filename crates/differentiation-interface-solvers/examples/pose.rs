//! The pose of a body from measured points, fitted with `levenberg-marquardt`.
//!
//! The fit starts without rotation, where the derivatives of most formulas for rotations are 0 or not a number; those of `exp_map` are right.
//!
//! `cargo run --release -p differentiation-interface-solvers --features levenberg-marquardt --example pose`

use differentiation_interface::algebra::rotation::exp_map;
use differentiation_interface::prelude::*;
use differentiation_interface_solvers::levenberg_marquardt::least_squares;
use levenberg_marquardt::LevenbergMarquardt;
use nalgebra_0_35::{RealField, Vector3};

/// Points of the body and where they were measured.
struct Pose(Vec<([f64; 3], [f64; 3])>);

/// Rotates `p` by the vector `x[..3]` and moves it by `x[3..]`.
fn moved<T: Scalar<Base = f64> + RealField>(x: &[T], p: [f64; 3]) -> [T; 3] {
    (exp_map(Vector3::new(x[0], x[1], x[2])) * Vector3::from(p.map(T::constant)) + Vector3::new(x[3], x[4], x[5]))
        .into()
}

impl<T: Scalar<Base = f64> + RealField> Function<[T]> for Pose {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let residual =
            |(p, q): &([f64; 3], [f64; 3])| std::iter::zip(moved(x, *p), *q).map(|(a, b)| a - T::constant(b));
        self.0.iter().flat_map(|case| residual(case).collect::<Vec<_>>()).collect()
    }
}

fn main() -> Result<(), Error> {
    let pose = [0.3, -0.4, 0.5, 1.0, 2.0, 3.0];
    let body = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 2.0, 0.5]];
    let model = Pose(body.map(|p| (p, moved(&pose, p))).into());

    let problem = least_squares(&model, &AutoForwardDiff::default(), &[0.0; 6])?;
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    println!("{} evaluations: {:.6?}", report.number_of_evaluations, problem.parameters());
    assert!(report.termination.was_successful());
    assert!(problem.parameters().iter().zip(pose).all(|(found, exact)| (found - exact).abs() < 1e-12));
    Ok(())
}
