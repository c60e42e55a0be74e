//! A program that switches backend from the command line: logistic regression by Newton's method.
//!
//! ```text
//! cargo run --example switch_backend -- --backend "SecondOrder(ForwardDiff, ReverseDiff)"
//! cargo run --example switch_backend -- --backend "FiniteDiff(scheme=central)"
//! ```
//! The program is compiled once for all backends; nothing in the model or in the solver names one.

use differentiation_interface::prelude::*;
use std::error::Error;
use std::process::ExitCode;

/// Hours of study, and whether the exam was passed.
const DATA: [(f64, bool); 20] = [
    (0.50, false),
    (0.75, false),
    (1.00, false),
    (1.25, false),
    (1.50, false),
    (1.75, false),
    (1.75, true),
    (2.00, false),
    (2.25, true),
    (2.50, false),
    (2.75, true),
    (3.00, false),
    (3.25, true),
    (3.50, false),
    (4.00, true),
    (4.25, true),
    (4.50, true),
    (4.75, true),
    (5.00, true),
    (5.50, true),
];

/// Minus the logarithm of the likelihood of `DATA`, where passing has probability logistic(w₀ + w₁·hours).
fn loss<T: Real>(w: &[T]) -> T {
    DATA.iter()
        .map(|&(hours, passed)| {
            let score = w[0] + w[1] * hours;
            if passed { (-score).softplus() } else { score.softplus() }
        })
        .sum()
}

/// The backend named on the command line, or the default.
fn chosen() -> Result<AnyBackend, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()).into()),
        (Some("--backend"), Some(text)) => Ok(text.parse()?),
        _ => Err("usage: switch_backend [--backend BACKEND], such as \"ForwardDiff(chunk=2)\"".into()),
    }
}

/// Minimises by Newton's method from `w`; returns the minimum and the number of steps.
fn newton(backend: &AnyBackend, mut w: [f64; 2]) -> Result<([f64; 2], usize), Box<dyn Error>> {
    let f = |w: &[_]| loss(w);
    let mut prepared = prepare_hessian(&f, backend, &w)?;
    let (mut grad, mut hess) = ([0.0; 2], Matrix::filled(2, 2, 0.0));
    for step in 0..50 {
        let value = prepared.value_gradient_and_hessian_into(&mut grad, &mut hess, &w)?;
        println!("step {step}: loss {value:.9} at w = [{:.6}, {:.6}]", w[0], w[1]);
        let [a, b, c, d] = hess.as_slice() else { unreachable!("the Hessian is 2 x 2") };
        let determinant = a * d - b * c;
        let newton = [(d * grad[0] - b * grad[1]) / determinant, (a * grad[1] - c * grad[0]) / determinant];
        w = [w[0] - newton[0], w[1] - newton[1]];
        if newton.iter().all(|v| v.abs() < 1e-6) {
            return Ok((w, step));
        }
    }
    Err("Newton's method did not converge".into())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let backend = chosen()?;
    println!("backend: {backend}");

    let (w, steps) = newton(&backend, [0.0, 0.0])?;
    println!("minimum after {steps} steps: one more hour multiplies the odds by {:.3}", w[1].exp());
    // The estimates published with these data.
    assert!((w[0] + 4.0777).abs() < 1e-4 && (w[1] - 1.5046).abs() < 1e-4, "found {w:?}");

    // First derivatives by the same choice; for a pair the error says which of the two to take.
    match gradient(&|w: &[_]| loss(w), &backend, &w) {
        Ok(grad) => {
            assert!(grad.iter().all(|g| g.abs() < 1e-4), "the gradient at the minimum is {grad:?}");
            println!("gradient at the minimum: {grad:?}");
        }
        Err(error) => println!("{error}"),
    }
    Ok(())
}
