//! A Hessian is taken at an array; a number has a second derivative.

use differentiation_interface::prelude::*;

#[differentiable]
fn cube(t: f64) -> f64 {
    t * t * t
}

#[differentiable]
fn cubic(x: &[f64]) -> f64 {
    x[0] * x[0] * x[1]
}

fn main() {
    let backend = AutoForwardDiff::default();
    let _ = hessian(&Cube, &backend, 2.0);
    let _ = second_derivative(&Cubic, &backend, &[1.0, 2.0]);
}
