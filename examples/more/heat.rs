//! Heat conduction in a square with a conductivity that depends on the temperature, by implicit Euler and Newton's method with a sparse
//! Jacobian and faer's sparse LU decomposition. The temperatures are a matrix.
//!
//! `cargo run --release -p differentiation-interface-examples --features sparse-solvers --example heat`

use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;
use ndarray::Array2;
use std::{error::Error, f64::consts::PI};

const N: usize = 24;
/// The time step over the mesh width squared.
const STEP: f64 = 1e-3 * ((N + 1) * (N + 1)) as f64;

/// The residual of one step of implicit Euler with zero boundary values: u - u₀ - s ∇·((1 + α u²) ∇u).
#[differentiable]
fn residual(u: &Array2<f64>, #[constant] old: &Array2<f64>, #[constant] alpha: f64) -> Array2<f64> {
    let flux = |a: f64, b: f64| (1.0 + alpha * (a * a + b * b) / 2.0) * (b - a);
    Array2::from_shape_fn((N, N), |(i, j)| {
        let around = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
        let inflow = around.into_iter().map(|at| flux(u[(i, j)], u.get(at).copied().unwrap_or(0.0)));
        u[(i, j)] - old[(i, j)] - STEP * inflow.sum::<f64>()
    })
}

/// Solves one step from `old`. Returns the temperatures and the number of Newton iterations.
fn advance(old: &Array2<f64>, alpha: f64) -> Result<(Array2<f64>, usize), Box<dyn Error>> {
    let (backend, mut u) = (AutoSparse::new(AutoForwardDiff::default()), old.clone());
    let mut jacobian = prepare_jacobian(&Residual, &backend, (&u, Constant(old), Constant(&alpha)))?;
    for iteration in 0..20 {
        let (residual, jac) = jacobian.value_and_jacobian((&u, Constant(old), Constant(&alpha)))?;
        if residual.iter().all(|r| r.abs() < 1e-12) {
            return Ok((u, iteration));
        }
        let update = jac.as_faer().to_col_major()?.sp_lu()?.solve(residual.iter().copied().collect::<faer::Col<f64>>());
        u.iter_mut().zip(update.iter()).for_each(|(u, step)| *u -= step);
    }
    Err("Newton's method did not converge".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mode = |i: usize| (PI * (i + 1) as f64 / (N + 1) as f64).sin();
    let start = Array2::from_shape_fn((N, N), |(i, j)| mode(i) * mode(j));
    // Constant conductivity: the first mode shrinks by 1 + s λ, λ its eigenvalue of the Laplacian on a mesh of width 1.
    let lambda = 8.0 * (PI / (2 * (N + 1)) as f64).sin().powi(2);
    let (linear, iterations) = advance(&start, 0.0)?;
    assert!(iterations == 1 && (&linear - &start / (1.0 + STEP * lambda)).iter().all(|error| error.abs() < 1e-12));
    let (nonlinear, iterations) = advance(&start, 5.0)?;
    println!("mean {:?}, constant conductivity {:?}, {iterations} iterations", nonlinear.mean(), linear.mean());
    assert!(iterations <= 6 && nonlinear.sum() < linear.sum());
    Ok(())
}
