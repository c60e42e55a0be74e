//! Greeks of a European call to third order: gradient, Hessian and `nth_derivative` of the price, against closed forms.
//!
//! Run it: `cargo run -p differentiation-interface-examples --example greeks`.

use differentiation_interface::prelude::*;
use std::f64::consts::{PI, SQRT_2};

const STRIKE: f64 = 95.0;
const YEARS: f64 = 0.75;
/// Spot, volatility, rate.
const MARKET: [f64; 3] = [100.0, 0.25, 0.03];

fn cdf<T: Real>(x: T) -> T {
    0.5 * (-x / SQRT_2).erfc()
}

/// The price by Black and Scholes.
fn call<T: Real>(market: &[T]) -> T {
    let [spot, volatility, rate] = [market[0], market[1], market[2]];
    let deviation = volatility * YEARS.sqrt();
    let d1 = ((spot / STRIKE).ln() + (rate + volatility * volatility / 2.0) * YEARS) / deviation;
    spot * cdf(d1) - STRIKE * (-rate * YEARS).exp() * cdf(d1 - deviation)
}

fn call_at<T: Real>(spot: T) -> T {
    call(&[spot, T::constant(MARKET[1]), T::constant(MARKET[2])])
}

fn main() -> Result<(), Error> {
    let [s, v, r] = MARKET;
    let root = YEARS.sqrt();
    let d1 = ((s / STRIKE).ln() + (r + v * v / 2.0) * YEARS) / (v * root);
    let d2 = d1 - v * root;
    let density = (-d1 * d1 / 2.0).exp() / (2.0 * PI).sqrt();
    let gamma = density / (s * v * root);

    let first = gradient(&call, &AutoReverseDiff::default(), &MARKET)?;
    let second = hessian(&call, &AutoForwardDiff::default(), &MARKET)?;
    let third = nth_derivative(&call_at, &AutoTaylor, s, Order::<3>)?;
    for (name, found, expected) in [
        ("delta", first[0], cdf(d1)),
        ("vega", first[1], s * density * root),
        ("rho", first[2], STRIKE * YEARS * (-r * YEARS).exp() * cdf(d2)),
        ("gamma", second[(0, 0)], gamma),
        ("vanna", second[(0, 1)], -density * d2 / v),
        ("volga", second[(1, 1)], s * density * root * d1 * d2 / v),
        ("speed", third, -gamma / s * (d1 / (v * root) + 1.0)),
    ] {
        println!("{name:6} {found:12.8}");
        assert!((found - expected).abs() < 1e-12 * expected.abs(), "{name} is {expected}");
    }
    Ok(())
}
