//! Newton's method without a Hessian matrix: conjugate gradients on Hessian-vector products.
//!
//! Minimises the extended Rosenbrock function of 1000 unknowns (Moré, Garbow and Hillstrom, ACM TOMS 7, 1981, problem 21) from
//! its standard starting point by the line-search Newton-CG method (Nocedal and Wright, Numerical Optimization, algorithm
//! 7.1). Run with `cargo run --release --example newton_cg`.

use differentiation_interface::prelude::*;

/// Σ 100 (x₂ᵢ - x₂ᵢ₋₁²)² + (1 - x₂ᵢ₋₁)², least at (1, ..., 1).
fn extended_rosenbrock<T: Real>(x: &[T]) -> T {
    x.chunks_exact(2).map(|p| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2)).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` times `direction` to `x`.
fn advance(x: &mut [f64], factor: f64, direction: &[f64]) {
    for (x, d) in x.iter_mut().zip(direction) {
        *x += factor * d;
    }
}

fn main() -> Result<(), Error> {
    let n = 1000;
    let mut x: Vec<f64> = [-1.2, 1.0].repeat(n / 2);

    // Forward over reverse: one evaluation of the function and one sweep back per product, whatever the dimension.
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let f = |x: &[_]| extended_rosenbrock(x);
    let mut hessian_times = prepare_hvp(&f, &backend, &x, [&x])?;
    let f = |x: &[_]| extended_rosenbrock(x);
    let mut first_order = prepare_gradient(&f, &AutoReverseDiff::default(), &x)?;

    let (mut grad, mut product) = (vec![0.0; n], vec![0.0; n]);
    let mut value = first_order.value_and_gradient_into(&mut grad, &x)?;
    let start = value;
    let (mut iterations, mut products) = (0, 0);
    println!("{:>4} {:>14} {:>14} {:>10}", "step", "value", "|gradient|", "products");
    while dot(&grad, &grad).sqrt() > 1e-10 {
        if iterations % 5 == 0 {
            println!("{iterations:>4} {value:>14.6e} {:>14.6e} {products:>10}", dot(&grad, &grad).sqrt());
        }
        // Solve H step = -gradient, more precisely near the minimum, and stop at directions of negative curvature.
        let norm = dot(&grad, &grad).sqrt();
        let enough = norm * norm.sqrt().min(0.5);
        let mut step = vec![0.0; n];
        let mut residual = grad.clone();
        let mut direction: Vec<f64> = residual.iter().map(|r| -r).collect();
        for inner in 0..n {
            hessian_times.hvp_into([&mut product], &x, [&direction])?;
            products += 1;
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                if inner == 0 {
                    step.clone_from(&direction);
                }
                break;
            }
            let before = dot(&residual, &residual);
            advance(&mut step, before / curvature, &direction);
            advance(&mut residual, before / curvature, &product);
            let after = dot(&residual, &residual);
            if after.sqrt() < enough {
                break;
            }
            for (d, r) in direction.iter_mut().zip(&residual) {
                *d = after / before * *d - r;
            }
        }
        // Backtrack until the value decreases enough.
        let slope = dot(&grad, &step);
        let mut length = 1.0;
        loop {
            let mut trial = x.clone();
            advance(&mut trial, length, &step);
            if extended_rosenbrock(&trial) <= value + 1e-4 * length * slope {
                x = trial;
                break;
            }
            length /= 2.0;
            assert!(length > 1e-12, "the direction is one of descent");
        }
        value = first_order.value_and_gradient_into(&mut grad, &x)?;
        iterations += 1;
        assert!(iterations < 100, "Newton's method is fast");
    }
    println!("{iterations:>4} {value:>14.6e} {:>14.6e} {products:>10}", dot(&grad, &grad).sqrt());

    assert!((start - 12_100.0).abs() < 1e-8, "24.2 a pair at the standard starting point");
    assert!(value < 1e-20 && x.iter().all(|x| (x - 1.0).abs() < 1e-9));
    println!("minimum at (1, ..., 1) after {iterations} steps and {products} Hessian-vector products");
    Ok(())
}
