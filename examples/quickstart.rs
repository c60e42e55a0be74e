//! Minimises the Rosenbrock function with BFGS, the gradient by three backends in turn.
//!
//! `cargo run --release --example quickstart`
//!
//! The backend is chosen in `main`, one line each; the optimiser is generic over it and knows nothing of derivatives. For
//! each backend the iterates' gradients are printed, then the time of a gradient beside hand-written code.

use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::time::Instant;

const N: usize = 10;

/// The function, written once for all numbers.
fn rosenbrock<T: Real>(x: &[T]) -> T {
    let mut sum = T::constant(0.0);
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * (d * d) + e * e;
    }
    sum
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

fn main() -> Result<(), Error> {
    report(AutoForwardDiff::default(), 1e-8)?;
    report(AutoReverseDiff::default(), 1e-8)?;
    // Differences are inexact, and so is the point where their gradient vanishes.
    report(AutoFiniteDiff::central(), 1e-4)?;
    Ok(())
}

/// Minimises from the usual starting point with gradients by `backend`.
fn report<B>(backend: B, tolerance: f64) -> Result<(), Error>
where
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let start: [f64; N] = std::array::from_fn(|i| if i % 2 == 0 { -1.2 } else { 1.0 });
    let mut prepared = prepare_gradient(&Rosenbrock, &backend, &start)?;

    println!("{}", B::NAME);
    let mut gradients = 0;
    let x = minimise(&start, tolerance, |grad, x| {
        gradients += 1;
        prepared.value_and_gradient_into(grad, x)
    })?;
    let error = x.iter().map(|v| (v - 1.0).abs()).fold(0.0, f64::max);
    println!("  {gradients} gradients, largest error of the minimiser {error:.1e}");
    assert!(error < 100.0 * tolerance, "{}: the minimiser is (1, ..., 1)", B::NAME);

    let mut grad = [0.0; N];
    let hand = nanoseconds(|| by_hand(&mut grad, black_box(&x)));
    let ours = nanoseconds(|| prepared.value_and_gradient_into(&mut grad, black_box(&x)));
    println!("  {ours:.0} ns a gradient, {hand:.0} ns by hand: {:.1} times\n", ours / hand);
    Ok(())
}

/// BFGS with Armijo backtracking. `f` writes the gradient and returns the value.
fn minimise(
    start: &[f64; N],
    tolerance: f64,
    mut f: impl FnMut(&mut [f64], &[f64]) -> Result<f64, Error>,
) -> Result<[f64; N], Error> {
    let mut x = *start;
    let mut grad = [0.0; N];
    let mut value = f(&mut grad, &x)?;
    // Approximates the inverse of the Hessian.
    let mut inverse: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    for iteration in 0..500 {
        let norm = dot(&grad, &grad).sqrt();
        if iteration % 20 == 0 || norm < tolerance {
            println!("  {iteration:>3}: value {value:.3e}, norm of the gradient {norm:.3e}");
        }
        if norm < tolerance {
            return Ok(x);
        }
        let direction: [f64; N] = std::array::from_fn(|i| -dot(&inverse[i], &grad));
        let slope = dot(&direction, &grad);
        let mut step = 1.0;
        let (next, next_value, next_grad) = loop {
            let next: [f64; N] = std::array::from_fn(|i| x[i] + step * direction[i]);
            let mut next_grad = [0.0; N];
            let next_value = f(&mut next_grad, &next)?;
            if next_value <= value + 1e-4 * step * slope || step < 1e-12 {
                break (next, next_value, next_grad);
            }
            step *= 0.5;
        };
        let s: [f64; N] = std::array::from_fn(|i| next[i] - x[i]);
        let y: [f64; N] = std::array::from_fn(|i| next_grad[i] - grad[i]);
        let curvature = dot(&s, &y);
        if curvature > 1e-300 {
            let hy: [f64; N] = std::array::from_fn(|i| dot(&inverse[i], &y));
            let scale = (1.0 + dot(&y, &hy) / curvature) / curvature;
            for i in 0..N {
                for j in 0..N {
                    inverse[i][j] += scale * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / curvature;
                }
            }
        }
        (x, value, grad) = (next, next_value, next_grad);
    }
    Ok(x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
