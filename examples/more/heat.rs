//! Heat conduction in a square with a conductivity that depends on the temperature, by implicit Euler and Newton's method with a sparse
//! Jacobian and faer's sparse LU decomposition. The temperatures are a matrix.
//!
//! `cargo run --release --features sparse-solvers --example heat`

use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;
use ndarray::Array2;
use std::f64::consts::PI;

/// The residual of one step of implicit Euler with zero boundary values: u - u₀ - s ∇·((1 + α u²) ∇u), s the step over the mesh width squared.
struct Step {
    s: f64,
    alpha: f64,
    old: Array2<f64>,
}

impl<T: Real> Function<Array2<T>> for Step {
    type Output = Array2<T>;
    fn call(&self, u: &Array2<T>) -> Array2<T> {
        let flux = |a: T, b: T| (1.0 + self.alpha * (a * a + b * b) / 2.0) * (b - a);
        Array2::from_shape_fn(u.dim(), |(i, j)| {
            let around = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
            let inflow = around.into_iter().map(|at| flux(u[(i, j)], u.get(at).copied().unwrap_or(T::zero())));
            u[(i, j)] - self.old[(i, j)] - self.s * inflow.sum::<T>()
        })
    }
}

/// Solves one step from `old`. Returns the temperatures and the number of Newton iterations.
fn advance(s: f64, alpha: f64, old: &Array2<f64>) -> Result<(Array2<f64>, usize), Box<dyn std::error::Error>> {
    let (step, mut u) = (Step { s, alpha, old: old.clone() }, old.clone());
    let mut jacobian = prepare_jacobian(&step, &AutoSparse::new(AutoForwardDiff::default()), &u)?;
    for iteration in 0..20 {
        let (residual, jac) = jacobian.value_and_jacobian(&u)?;
        if residual.iter().all(|r| r.abs() < 1e-12) {
            return Ok((u, iteration));
        }
        let update = jac.as_faer().to_col_major()?.sp_lu()?.solve(residual.iter().copied().collect::<faer::Col<f64>>());
        u.iter_mut().zip(update.iter()).for_each(|(u, step)| *u -= step);
    }
    Err("Newton's method did not converge".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, tau) = (24, 1e-3);
    let (mesh, mode) = ((n + 1) as f64, |i: usize| (PI * (i + 1) as f64 / (n + 1) as f64).sin());
    let start = Array2::from_shape_fn((n, n), |(i, j)| mode(i) * mode(j));
    // Constant conductivity: the first mode shrinks by 1 / (1 + τ λ) in a step, λ the eigenvalue of the discrete Laplacian.
    let lambda = 8.0 * (mesh * (PI / (2.0 * mesh)).sin()).powi(2);
    let (linear, iterations) = advance(tau * mesh * mesh, 0.0, &start)?;
    assert!(iterations == 1 && (&linear - &start / (1.0 + tau * lambda)).iter().all(|error| error.abs() < 1e-12));
    let (nonlinear, iterations) = advance(tau * mesh * mesh, 5.0, &start)?;
    println!("mean {:?}, constant conductivity {:?}, {iterations} iterations", nonlinear.mean(), linear.mean());
    assert!(iterations <= 6 && nonlinear.sum() < linear.sum());
    Ok(())
}
