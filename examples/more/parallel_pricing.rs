//! An option priced by Monte Carlo on all cores with rayon, and its Greeks by forward mode, whose numbers may cross threads.
//!
//! Run it: `cargo run --release -p differentiation-interface-examples --example parallel_pricing`.

use differentiation_interface::prelude::*;
use rayon::prelude::*;
use std::f64::consts::{PI, SQRT_2};

const STRIKE: f64 = 95.0;

fn call<T: Real>(price: T) -> T {
    (price - STRIKE).max(T::constant(0.0))
}

/// The mean over antithetic draws; `market` is spot, volatility, rate, for one year.
fn price<T: Real>(market: &[T], payoff: &(dyn Fn(T) -> T + Sync), draws: &[f64]) -> T {
    let [spot, volatility, rate] = [market[0], market[1], market[2]];
    let drift = rate - volatility * volatility / 2.0;
    let paid = |z: f64| payoff(spot * (drift + volatility * z).exp());
    let sum: T = draws.par_iter().map(|&z| paid(z) + paid(-z)).sum();
    (-rate).exp() * sum / (2.0 * draws.len() as f64)
}

fn main() -> Result<(), Error> {
    // Normal draws by Box and Muller on a lattice of rank one.
    let fraction = |i: usize, step: f64| (i as f64 * step).fract().max(1e-12);
    let draw =
        |i| (-2.0 * fraction(i, 0.7548776662466927).ln()).sqrt() * (2.0 * PI * fraction(i, 0.5698402909980532)).cos();
    let draws: Vec<f64> = (1..200_000).map(draw).collect();
    let [s, v, r] = [100.0, 0.25, 0.03];
    let greeks = gradient(&|market: &[_]| price(market, &call, &draws), &AutoForwardDiff::default(), &[s, v, r])?;

    let cdf = |x: f64| 0.5 * Real::erfc(-x / SQRT_2);
    let d1 = ((s / STRIKE).ln() + r + v * v / 2.0) / v;
    let exact = [cdf(d1), s * (-d1 * d1 / 2.0).exp() / (2.0 * PI).sqrt(), STRIKE * (-r).exp() * cdf(d1 - v)];
    println!("delta, vega, rho: {greeks:.4?}, exactly {exact:.4?}");
    assert!(greeks.iter().zip(&exact).all(|(a, b)| (a / b - 1.0).abs() < 2e-3));
    Ok(())
}
