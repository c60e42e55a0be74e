//! Hessians and their products are those of one number.

use differentiation_interface::prelude::*;

#[differentiable]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * v).collect()
}

fn main() {
    let backend = AutoForwardDiff::default();
    let _ = hessian(&Squares, &backend, &[1.0, 2.0]);
    let _ = prepare_hvp(&Squares, &backend, &[1.0, 2.0], [&[1.0, 0.0]]);
}
