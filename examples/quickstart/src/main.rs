//! Minimises the Rosenbrock function with the L-BFGS method of `argmin`, the gradient by four backends in turn.
//!
//! `cargo run --release -p quickstart`
//!
//! The backend is chosen in `main`, one line each; the optimiser is generic over it and needs no code for derivatives. For each backend
//! the program prints the number of gradients and the minimiser's error, then the time of a gradient beside code written by hand. At the end
//! comes the Hessian at the minimiser, which is tridiagonal and takes three products whatever the number of variables.

use argmin::core::{CostFunction, Error as SolverError, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use differentiation_interface::operators::GradientBackend;
use differentiation_interface::point::Slice;
use differentiation_interface::prelude::*;
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::time::Instant;

const VARIABLES: usize = 10;

/// Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)², written once for all numbers.
fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// The function as an object that serves every backend.
struct Rosenbrock;

impl<T: Real> Function<[T]> for Rosenbrock {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        rosenbrock(x)
    }
}

/// Value and gradient by hand, to compare with.
fn by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    grad[0] = 0.0;
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * d * d + e * e;
        grad[i] += -400.0 * d * x[i] - 2.0 * e;
        grad[i + 1] = 200.0 * d;
    }
    sum
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    minimise("forward mode", AutoForwardDiff::default(), 1e-8)?;
    minimise("reverse mode, a program once calls repeat", AutoReverseDiff::default(), 1e-8)?;
    minimise("reverse mode, recorded once and compiled", AutoReverseDiff::compiled(), 1e-8)?;
    // Differences are inexact, and so is the point where their gradient vanishes.
    minimise("central differences", AutoFiniteDiff::central(), 1e-4)?;
    sparse_hessian()?;
    Ok(())
}

/// The function and its prepared gradient as a problem of `argmin`, whose methods take `&self`.
struct Problem<'a, B: GradientBackend<Rosenbrock, Slice<f64>, ()>> {
    gradient: RefCell<PreparedGradient<&'static Rosenbrock, B, Slice<f64>>>,
    /// Number of calls.
    calls: &'a Cell<usize>,
}

impl<B: GradientBackend<Rosenbrock, Slice<f64>, ()>> CostFunction for Problem<'_, B> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, x: &Vec<f64>) -> Result<f64, SolverError> {
        Ok(rosenbrock(x))
    }
}

impl<B: GradientBackend<Rosenbrock, Slice<f64>, ()>> Gradient for Problem<'_, B> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, SolverError> {
        self.calls.set(self.calls.get() + 1);
        Ok(self.gradient.borrow_mut().gradient(x)?)
    }
}

/// Minimises from the usual starting point with gradients by `backend`.
fn minimise<B>(name: &str, backend: B, tolerance: f64) -> Result<(), SolverError>
where
    B: GradientBackend<Rosenbrock, Slice<f64>, ()>,
{
    let start: Vec<f64> = (0..VARIABLES).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect();
    let mut prepared = prepare_gradient(&Rosenbrock, &backend, &start)?;

    let calls = Cell::new(0);
    let problem = Problem { gradient: RefCell::new(prepared.clone()), calls: &calls };
    let solver =
        LBFGS::new(MoreThuenteLineSearch::new(), 7).with_tolerance_grad(tolerance)?.with_tolerance_cost(0.0)?;
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(500)).run()?;
    let x = result.state().get_best_param().ok_or_else(|| SolverError::msg("the solver made no step"))?;
    let error = x.iter().map(|v| (v - 1.0).abs()).fold(0.0, f64::max);
    println!("{name}: {} gradients, largest error of the minimiser {error:.1e}", calls.get());
    assert!(error < 100.0 * tolerance, "{name}: the minimiser is (1, ..., 1)");

    let mut grad = [0.0; VARIABLES];
    let hand = nanoseconds(|| by_hand(&mut grad, black_box(x)));
    let ours = nanoseconds(|| prepared.value_and_gradient_into(&mut grad, black_box(x)));
    println!("  {ours:.0} ns per gradient, {hand:.0} ns by hand: {:.1} times\n", ours / hand);
    Ok(())
}

/// The Hessian at the minimiser: its pattern is found and coloured by the preparation.
fn sparse_hessian() -> Result<(), Error> {
    let x = [1.0; VARIABLES];
    let dense = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let mut prepared = prepare_hessian(&Rosenbrock, &AutoSparse::new(dense), &x)?;
    let hess = prepared.hessian(&x)?;
    let (entries, colors) = (hess.nnz(), prepared.state().ncolors());
    println!("sparse Hessian: {entries} entries of {}, from {colors} products", VARIABLES * VARIABLES);
    assert_eq!((entries, colors), (3 * VARIABLES - 2, 3));
    assert_eq!((hess.get(0, 0), hess.get(1, 1), hess.get(1, 2), hess.get(1, 3)), (802.0, 1002.0, -400.0, 0.0));
    Ok(())
}

/// Median time of a call.
fn nanoseconds<R>(mut call: impl FnMut() -> R) -> f64 {
    const CALLS: u32 = 10_000;
    let mut samples: Vec<f64> = (0..11)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(call());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
