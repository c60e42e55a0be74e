//! Integrates a stiff reaction with diffusion, the Brusselator on a periodic square, by an implicit method.
//!
//! `cargo run --release --features sparse-solvers --example brusselator [-- SIDE] [FOLDER]`; the square has SIDE x SIDE cells, 32 x 32 by
//! default; with a folder, the pattern of the Jacobian is drawn there with its colours.
//!
//! The method has two implicit stages and order 2 (R. Alexander, *Diagonally implicit Runge-Kutta methods for stiff
//! O.D.E.'s*, SIAM J. Numer. Anal. 14, 1977). Each stage is solved by Newton's method with a sparse Jacobian, which takes
//! one pass of 12 tangents through the right-hand side, and a sparse LU decomposition, whose symbolic part is computed
//! once. Halving the step must reduce the error four times, or the example fails.

use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use matrix_coloring::Picture;

/// u' = 1 + u²v - 4.4u + diffusion, v' = 3.4u - u²v + diffusion, on `side` x `side` cells.
#[derive(Clone, Copy)]
struct Brusselator {
    side: usize,
    diffusion: f64,
}

impl<T: Real> FunctionInPlace<T, [T]> for Brusselator {
    fn call_in_place(&self, dx: &mut [T], x: &[T]) {
        let side = self.side;
        let rate = self.diffusion * (side * side) as f64;
        let (u, v) = x.split_at(side * side);
        let (du, dv) = dx.split_at_mut(side * side);
        for j in 0..side {
            let (south, north) = ((j + side - 1) % side, (j + 1) % side);
            for i in 0..side {
                let (west, east) = ((i + side - 1) % side, (i + 1) % side);
                let at = |i: usize, j: usize| i + side * j;
                let c = at(i, j);
                let around = [at(west, j), at(east, j), at(i, south), at(i, north)];
                let laplacian = |u: &[T]| around.iter().map(|&k| u[k]).sum::<T>() - 4.0 * u[c];
                let reaction = u[c] * u[c] * v[c];
                du[c] = 1.0 + reaction - 4.4 * u[c] + rate * laplacian(u);
                dv[c] = 3.4 * u[c] - reaction + rate * laplacian(v);
            }
        }
    }
}

impl Brusselator {
    fn size(self) -> usize {
        2 * self.side * self.side
    }
    /// 22 (y (1 - y))^1.5 and 27 (x (1 - x))^1.5.
    fn start(self) -> Vec<f64> {
        let bump = |i: usize| {
            let t = i as f64 / self.side as f64;
            (t * (1.0 - t)).powf(1.5)
        };
        let cells = || (0..self.side).flat_map(|j| (0..self.side).map(move |i| (i, j)));
        cells().map(|(_, j)| 22.0 * bump(j)).chain(cells().map(|(i, _)| 27.0 * bump(i))).collect()
    }
}

type Failure = Box<dyn std::error::Error>;

/// The state at time `end` after this many steps, and the number of Newton iterations.
fn integrate(problem: Brusselator, end: f64, steps: usize) -> Result<(Vec<f64>, usize), Failure> {
    let gamma = 1.0 - 0.5f64.sqrt();
    let step = end / steps as f64;
    let n = problem.size();
    let f = in_place(problem, n);
    let mut x = problem.start();
    let mut prepared = prepare_jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &x)?;
    let (mut rates, mut jacobian) = prepared.value_and_jacobian(&x)?;
    // The rows of the Jacobian are the columns of its transpose, which is decomposed without a copy.
    let symbolic = SymbolicLu::try_new(jacobian.as_faer().transpose().symbolic())?;
    let identity: Vec<f64> = jacobian.entries().map(|(i, j, _)| if i == j { 1.0 } else { 0.0 }).collect();
    let mut iterations = 0;
    let mut stage = x.clone();
    let mut base = vec![0.0; n];
    let mut residual = faer::Col::zeros(n);
    for _ in 0..steps {
        for weight in [0.0, 1.0 - gamma] {
            // The second stage starts from the first one, whose rates were computed last.
            for i in 0..n {
                base[i] = x[i] + step * weight * rates[i];
            }
            // Solves stage = base + γ step f(stage).
            let mut converged = false;
            for _ in 0..20 {
                rates.copy_from_slice(prepared.value_and_jacobian_into(&mut jacobian, &stage)?);
                for i in 0..n {
                    residual[i] = base[i] + gamma * step * rates[i] - stage[i];
                }
                let error = residual.norm_max();
                if error < 1e-10 {
                    converged = true;
                    break;
                }
                iterations += 1;
                // I - γ step J, in the memory of J.
                for (value, identity) in jacobian.values_mut().iter_mut().zip(&identity) {
                    *value = identity - gamma * step * *value;
                }
                let lu = Lu::try_new_with_symbolic(symbolic.clone(), jacobian.as_faer().transpose())?;
                lu.solve_transpose_in_place(residual.as_mut());
                stage.iter_mut().zip(residual.iter()).for_each(|(x, change)| *x += change);
            }
            assert!(converged, "Newton's method failed in a stage");
        }
        x.copy_from_slice(&stage);
    }
    Ok((x, iterations))
}

fn main() -> Result<(), Failure> {
    let mut problem = Brusselator { side: 32, diffusion: 0.1 };
    let end = 1.0;
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(side) => problem.side = side,
            Err(_) => draw(&argument)?,
        }
    }
    let limit = 2.0 / (8.0 * problem.diffusion * (problem.side * problem.side) as f64);
    println!("{} unknowns; an explicit method would need {:.0} steps", problem.size(), end / limit);
    let mut results = Vec::new();
    for steps in [20, 40, 80, 160] {
        let (x, iterations) = integrate(problem, end, steps)?;
        let mean = x[..x.len() / 2].iter().sum::<f64>() / (x.len() / 2) as f64;
        println!("{steps:>4} steps, {iterations:>4} Newton iterations: mean of u is {mean:.8}");
        results.push(x);
    }
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    let differences: Vec<f64> = results.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect();
    for pair in differences.windows(2) {
        let ratio = pair[0] / pair[1];
        println!("halving the step changes the result by {:.2e}, then by {:.2e}: ratio {ratio:.2}", pair[0], pair[1]);
        assert!((3.0..5.0).contains(&ratio), "the method has order 2, so the ratio is about 4");
    }
    assert!(differences[2] < 1e-3, "the finest two results agree");
    Ok(())
}

/// Draws the Jacobian on a small grid, one colour per group of columns that share a product.
fn draw(folder: &str) -> Result<(), Failure> {
    let problem = Brusselator { side: 5, diffusion: 0.1 };
    let f = in_place(problem, problem.size());
    let prepared = prepare_jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &problem.start())?;
    let pattern = prepared.state().sparsity_pattern().expect("prepared just now");
    let picture = Picture::new(pattern).column_colors(prepared.state().column_colors())?;
    picture.write_svg(std::path::Path::new(folder).join("brusselator.svg"))?;
    Ok(())
}
