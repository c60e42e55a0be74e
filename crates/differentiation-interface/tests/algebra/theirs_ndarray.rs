//! Arrays of `ndarray` with our numbers.

use crate::gradients_are_differences;
use differentiation_interface::prelude::*;
use ndarray::{Array1, Array2, ScalarOperand};

/// Σ (A B x₃ + A Aᵀ) with products by `dot`, and by a number.
fn products<T: Real + ScalarOperand>(x: &[T]) -> T {
    let a = Array2::from_shape_fn((2, 2), |(i, j)| x[2 * i + j]);
    let b = Array2::from_shape_fn((2, 2), |(i, j)| x[i] * x[j] + 0.3);
    (a.dot(&b) * x[3] + a.dot(&a.t())).sum() + a.row(0).dot(&b.column(1))
}
fn least_squares<T: Real + ScalarOperand>(x: &[T]) -> T {
    let a = Array2::from_shape_fn((5, 4), |(i, j)| T::constant((0.3 * i as f64 - 0.7 * j as f64).sin()));
    let residual = a.dot(&Array1::from_vec(x.to_vec())) - Array1::from_elem(5, T::constant(0.25));
    residual.mapv(|r| r * r).sum() / 2.0
}

mod gradients {
    super::gradients_are_differences! {
        products at [0.3, -0.5, 0.8, 1.2], 1e-10;
        least_squares at [0.3, -0.5, 0.8, 1.2], 1e-10;
    }
}
