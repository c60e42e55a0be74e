//! Derivatives of the result of a solver, by the implicit function theorem instead of through its iterations.
//!
//! Two custom rules, each usable at every order and by every backend: the root of Kepler's equation, and the solution of a
//! linear system. A small model uses both; its gradient and Hessian are compared with finite differences. Run with
//! `cargo run --release --example implicit_function`.

use differentiation_interface::prelude::*;
use differentiation_interface::rules::{cos, sin};
use std::cell::Cell;

thread_local! {
    /// Newton steps of [`Kepler`] so far.
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// The eccentric anomaly E of (M, e), root of F = E - e sin E - M.
///
/// F does not change along a solution: (1 - e cos E) dE = dM + sin E de.
struct Kepler;

impl CustomRule for Kepler {
    const NAME: &'static str = "kepler";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        let &[mean, eccentricity] = x else { panic!("kepler takes two numbers, got {}", x.len()) };
        let mut anomaly = mean;
        loop {
            let step = (anomaly - eccentricity * anomaly.sin() - mean) / (1.0 - eccentricity * anomaly.cos());
            anomaly -= step;
            STEPS.set(STEPS.get() + 1);
            if step.abs() < 1e-14 * (1.0 + anomaly.abs()) {
                break;
            }
        }
        y.clear();
        y.push(anomaly);
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = (dx[0] + sin(y[0]) * dx[1]) / (S::constant(1.0) - x[1] * cos(y[0]));
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        dx[0] = dy[0] / (S::constant(1.0) - x[1] * cos(y[0]));
        dx[1] = sin(y[0]) * dx[0];
    }
}

/// The solution y of A y = b, where the argument is A row by row and then b.
///
/// A dy = db - dA y, and backwards Aᵀ λ = dy, db = λ, dA = -λ yᵀ.
struct Solve;

/// Gaussian elimination with partial pivoting.
fn eliminate<S: Scalar<Base = f64>>(n: usize, mut a: Vec<S>, mut b: Vec<S>) -> Vec<S> {
    for k in 0..n {
        let size = |i: &usize| a[i * n + k].primal().abs();
        let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))).expect("there are rows left");
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
        }
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
            }
            b[i] = b[i] - factor * b[k];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] = b[i] - a[i * n + j] * b[j];
        }
        b[i] = b[i] / a[i * n + i];
    }
    b
}

impl CustomRule for Solve {
    const NAME: &'static str = "solve";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        // n² + n numbers.
        let n = x.len().isqrt();
        let (a, b) = x.split_at(n * n);
        *y = eliminate(n, a.to_vec(), b.to_vec());
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let n = y.len();
        let (da, db) = dx.split_at(n * n);
        let right = |i: usize| (0..n).fold(db[i], |sum, j| sum - da[i * n + j] * y[j]);
        dy.copy_from_slice(&eliminate(n, x[..n * n].to_vec(), (0..n).map(right).collect()));
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let n = y.len();
        let transposed = (0..n * n).map(|k| x[k % n * n + k / n]).collect();
        let lambda = eliminate(n, transposed, dy.to_vec());
        for i in 0..n {
            for j in 0..n {
                dx[i * n + j] = -(lambda[i] * y[j]);
            }
        }
        dx[n * n..].copy_from_slice(&lambda);
    }
}

/// A planet at time t on an orbit of eccentricity e, and a mass m that loads a truss there: the compliance bᵀ y of
/// A(e, m) y = b(position).
fn compliance<T: Real>(kepler: &Custom<Kepler>, solve: &Custom<Solve>, p: &[T]) -> T {
    let (t, e, m) = (p[0], p[1], p[2]);
    let anomaly = kepler.number(&[t, e]);
    let position = [anomaly.cos() - e, (1.0 - e * e).sqrt() * anomaly.sin(), m * m];
    let zero = T::zero();
    let stiffness = [4.0 + m, -e, zero, -e, 3.0 + t * t, -m, zero, -m, 5.0 + e * m];
    let displacement = solve.call(&[&stiffness[..], &position].concat());
    displacement.iter().zip(&position).map(|(y, b)| y * b).sum()
}

fn compare(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let worst = found.iter().zip(expected).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
    println!("{what:<42} largest difference {worst:.1e}");
    assert!(found.len() == expected.len() && worst < tolerance, "{what}: {found:?} and {expected:?}");
}

fn main() -> Result<(), Error> {
    let (kepler, solve) = (Custom::new(Kepler), Custom::new(Solve));
    let p = [1.1, 0.4, 0.7];
    let plain = |p: &[f64]| compliance(&kepler, &solve, p);
    let by_differences = gradient(&plain, &AutoFiniteDiff::central(), &p)?;
    println!("compliance {:.6}, gradient {by_differences:.6?}", plain(&p));

    let found = gradient(&|p: &[_]| compliance(&kepler, &solve, p), &AutoForwardDiff::default(), &p)?;
    compare("gradient, forward and differences", &found, &by_differences, 1e-8);
    let found = gradient(&|p: &[_]| compliance(&kepler, &solve, p), &AutoReverseDiff::default(), &p)?;
    compare("gradient, reverse and differences", &found, &by_differences, 1e-8);

    // Differences of exact gradients are the reference of second order.
    let yardstick = SecondOrder(AutoFiniteDiff::central(), AutoReverseDiff::default());
    let by_differences = hessian(&|p: &[_]| compliance(&kepler, &solve, p), &yardstick, &p)?;
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let found = hessian(&|p: &[_]| compliance(&kepler, &solve, p), &pair, &p)?;
    compare("Hessian, forward over reverse", found.as_slice(), by_differences.as_slice(), 1e-7);
    let pair = SecondOrder(AutoReverseDiff::default(), AutoReverseDiff::default());
    let found = hessian(&|p: &[_]| compliance(&kepler, &solve, p), &pair, &p)?;
    compare("Hessian, reverse over reverse", found.as_slice(), by_differences.as_slice(), 1e-7);

    // The solver iterates once per evaluation, on plain numbers; derivatives cost no iteration.
    STEPS.set(0);
    plain(&p);
    let of_value = STEPS.take();
    gradient(&|p: &[_]| compliance(&kepler, &solve, p), &AutoReverseDiff::default(), &p)?;
    assert_eq!(STEPS.get(), of_value);
    println!("Newton steps: {of_value} for the value, as many for value and gradient");
    Ok(())
}
