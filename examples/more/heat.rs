//! Heat conduction in a square with a conductivity that depends on the temperature, by implicit Euler and Newton's method with a sparse
//! Jacobian and faer's sparse LU decomposition.
//!
//! `cargo run --release --features sparse-solvers --example heat`

use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;

/// The residual of one step of implicit Euler on `n` x `n` inner points with zero boundary values: u - u₀ - τ ∇·((1 + α u²) ∇u).
struct Step {
    n: usize,
    tau: f64,
    alpha: f64,
    old: Vec<f64>,
}

impl<T: Real> Function<[T]> for Step {
    type Output = Vec<T>;
    fn call(&self, u: &[T]) -> Vec<T> {
        let (n, scale) = (self.n, self.tau * ((self.n + 1) * (self.n + 1)) as f64);
        let at = |i: usize, j: usize| {
            if (1..=n).contains(&i) && (1..=n).contains(&j) { u[(i - 1) * n + j - 1] } else { T::zero() }
        };
        let flux = |a: T, b: T| (1.0 + self.alpha * (a * a + b * b) / 2.0) * (b - a);
        let point = |i: usize, j: usize| {
            let here = at(i, j);
            let around = [at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)];
            here - self.old[(i - 1) * n + j - 1] - scale * around.iter().map(|v| flux(here, *v)).sum::<T>()
        };
        (1..=n).flat_map(|i| (1..=n).map(move |j| (i, j))).map(|(i, j)| point(i, j)).collect()
    }
}

/// Solves one step from `old`. Returns the temperatures and the number of Newton iterations.
fn advance(n: usize, tau: f64, alpha: f64, old: Vec<f64>) -> Result<(Vec<f64>, usize), Box<dyn std::error::Error>> {
    let step = Step { n, tau, alpha, old: old.clone() };
    let mut u = old;
    let mut jacobian = prepare_jacobian(&step, &AutoSparse::new(AutoForwardDiff::default()), &u)?;
    for iteration in 0..20 {
        let (residual, jac) = jacobian.value_and_jacobian(&u)?;
        if residual.iter().all(|r| r.abs() < 1e-12) {
            return Ok((u, iteration));
        }
        let update = jac.as_faer().to_col_major()?.sp_lu()?.solve(faer::Col::from_fn(n * n, |k| residual[k]));
        u.iter_mut().enumerate().for_each(|(k, u)| *u -= update[k]);
    }
    Err("Newton's method did not converge".into())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, tau) = (24, 1e-3);
    let mode = |i: usize| (std::f64::consts::PI * i as f64 / (n + 1) as f64).sin();
    let start: Vec<f64> = (1..=n).flat_map(|i| (1..=n).map(move |j| mode(i) * mode(j))).collect();

    // Constant conductivity: the first mode shrinks by 1 / (1 + τ λ) in a step, λ the eigenvalue of the discrete Laplacian.
    let lambda = 8.0 * ((n + 1) as f64 * (std::f64::consts::PI / (2 * (n + 1)) as f64).sin()).powi(2);
    let (linear, iterations) = advance(n, tau, 0.0, start.clone())?;
    assert_eq!(iterations, 1);
    assert!(linear.iter().zip(&start).all(|(u, old)| (u - old / (1.0 + tau * lambda)).abs() < 1e-12));

    let (nonlinear, iterations) = advance(n, tau, 5.0, start)?;
    println!(
        "centre: {:.6} (constant conductivity {:.6}), {iterations} iterations",
        nonlinear[n * n / 2],
        linear[n * n / 2]
    );
    assert!(iterations <= 6 && nonlinear.iter().sum::<f64>() < linear.iter().sum::<f64>());
    Ok(())
}
