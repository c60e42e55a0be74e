//! The pose of a body from measured points, fitted with `levenberg-marquardt`.
//!
//! `cargo run --release -p differentiation-interface-solvers --features levenberg-marquardt --example pose`

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::levenberg_marquardt::least_squares;
use levenberg_marquardt::LevenbergMarquardt;

/// Points of the body and where they were measured.
struct Pose(Vec<([f64; 3], [f64; 3])>);

/// Rotates `p` by the vector `x[..3]`, by Rodrigues' formula, and moves it by `x[3..]`.
fn moved<T: Real>(x: &[T], p: [f64; 3]) -> [T; 3] {
    let cross = |a: [T; 3]| [x[1] * a[2] - x[2] * a[1], x[2] * a[0] - x[0] * a[2], x[0] * a[1] - x[1] * a[0]];
    let angle = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    let once = cross(p.map(T::constant));
    let (twice, a, b) = (cross(once), angle.sin() / angle, (1.0 - angle.cos()) / (angle * angle));
    std::array::from_fn(|i| p[i] + a * once[i] + b * twice[i] + x[3 + i])
}

impl<T: Real> Function<[T]> for Pose {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        self.0.iter().flat_map(|(p, q)| std::iter::zip(moved(x, *p), *q).map(|(a, b)| a - b)).collect()
    }
}

fn main() -> Result<(), Error> {
    let pose = [0.3, -0.4, 0.5, 1.0, 2.0, 3.0];
    let body = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 2.0, 0.5]];
    let model = Pose(body.map(|p| (p, moved(&pose, p))).into());

    let problem = least_squares(&model, &AutoForwardDiff::default(), &[0.1, 0.1, 0.1, 0.0, 0.0, 0.0])?;
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    println!("{} evaluations: {:.6?}", report.number_of_evaluations, problem.parameters());
    assert!(report.termination.was_successful());
    assert!(problem.parameters().iter().zip(pose).all(|(found, exact)| (found - exact).abs() < 1e-12));
    Ok(())
}
