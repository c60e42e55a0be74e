//! The pose of a body from measured points, fitted with `levenberg-marquardt`.
//!
//! `cargo run --release -p differentiation-interface-solvers --features levenberg-marquardt --example pose`

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::levenberg_marquardt::least_squares;
use levenberg_marquardt::LevenbergMarquardt;

/// Points of the body and where they were measured.
struct Pose {
    points: Vec<([f64; 3], [f64; 3])>,
}

/// Rotates by the vector `r`, by Rodrigues' formula, and moves by `shift`.
fn moved<T: Real>(r: [T; 3], shift: [T; 3], p: [f64; 3]) -> [T; 3] {
    let p = p.map(T::constant);
    let cross =
        |a: [T; 3], b: [T; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let angle = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let (once, twice) = (cross(r, p), cross(r, cross(r, p)));
    let (a, b) = (angle.sin() / angle, (1.0 - angle.cos()) / (angle * angle));
    std::array::from_fn(|i| p[i] + a * once[i] + b * twice[i] + shift[i])
}

impl<T: Real> Function<[T]> for Pose {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let (r, shift) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        self.points.iter().flat_map(|(p, q)| std::iter::zip(moved(r, shift, *p), *q).map(|(a, b)| a - b)).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pose = [0.3, -0.4, 0.5, 1.0, 2.0, 3.0];
    let body = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 2.0, 0.5]];
    let measured = |p| (p, moved([pose[0], pose[1], pose[2]], [pose[3], pose[4], pose[5]], p));
    let model = Pose { points: body.map(measured).into() };

    let problem = least_squares(&model, &AutoForwardDiff::default(), &[0.1, 0.1, 0.1, 0.0, 0.0, 0.0])?;
    let (problem, report) = LevenbergMarquardt::new().minimize(problem);
    println!(
        "{:?} after {} evaluations: {:.6?}",
        report.termination,
        report.number_of_evaluations,
        problem.parameters()
    );
    assert!(report.termination.was_successful());
    assert!(problem.parameters().iter().zip(pose).all(|(found, exact)| (found - exact).abs() < 1e-12));
    Ok(())
}
