//! Values of special functions on plain numbers, where no well-kept crate has them.
//!
//! Called by the rule table. `erf`, `erfc` and `ln_gamma` come from `libm`.

use crate::scalar::Base;
use std::f64::consts::PI;

/// Logistic function 1/(1 + exp(-x)), accurate in both tails.
#[inline]
pub fn logistic<B: Base>(x: B) -> B {
    if x >= B::ZERO {
        (B::ONE + (-x).exp()).recip()
    } else {
        let e = x.exp();
        e / (B::ONE + e)
    }
}

/// Softplus ln(1 + exp(x)), accurate in both tails.
#[inline]
pub fn softplus<B: Base>(x: B) -> B {
    if x > B::ZERO { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// sech²(x), the derivative of tanh, accurate in both tails.
#[inline]
pub fn sech_squared<B: Base>(x: B) -> B {
    let e = (x.abs() * B::from_f64(-2.0)).exp();
    let s = B::ONE + e;
    B::from_f64(4.0) * e / (s * s)
}

/// Polygamma function ψ⁽ⁿ⁾(x): digamma for order 0, trigamma for 1, and so on.
///
/// Recurrence to x ≥ 15 + n, then the asymptotic series (Abramowitz & Stegun 6.3.18, 6.4.11); reflection for negative
/// digamma and trigamma arguments, recurrence for higher orders. Poles give NaN. Relative error is about 1e-14 for
/// positive arguments away from the zero of digamma.
pub fn polygamma(order: u32, x: f64) -> f64 {
    if x.is_nan() || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return if order == 0 { f64::INFINITY } else { 0.0 };
    }
    if x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x < -1e6 && order > 1 {
        // The recurrence would be too long; no formula of comparable accuracy is worth its code here.
        return f64::NAN;
    }
    if x < 0.0 && order <= 1 {
        // ψ(1-x) - ψ(x) = π cot πx, and its derivative.
        let angle = PI * (x - x.round());
        return if order == 0 {
            polygamma(0, 1.0 - x) - PI / angle.tan()
        } else {
            (PI / angle.sin()).powi(2) - polygamma(1, 1.0 - x)
        };
    }
    let n = order as f64;
    let sign = if order % 2 == 1 { 1.0 } else { -1.0 }; // (-1)^(n+1)
    let factorial: f64 = (1..=order).map(|k| k as f64).product(); // n!
    // ψ⁽ⁿ⁾(x) = ψ⁽ⁿ⁾(x+1) + (-1)^(n+1) n! / x^(n+1)
    let mut x = x;
    let mut shifted = 0.0;
    while x < 15.0 + n {
        shifted += sign * factorial / x.powi(order as i32 + 1);
        x += 1.0;
    }
    const BERNOULLI: [f64; 8] =
        [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0, -3617.0 / 510.0];
    let square = x * x;
    if order == 0 {
        let mut tail = 0.0;
        let mut power = square;
        for (k, b) in BERNOULLI.iter().enumerate() {
            tail += b / ((2 * k + 2) as f64 * power);
            power *= square;
        }
        return shifted + (x.ln() - 0.5 / x - tail);
    }
    // (-1)^(n+1) [ (n-1)!/x^n + n!/(2 x^(n+1)) + Σ B_2k (2k+n-1)! / ((2k)! x^(2k+n)) ]
    let leading = factorial / n;
    let mut tail = leading + 0.5 * factorial / x;
    let mut ratio = leading; // (2k+n-1)! / (2k)!, starting at k = 0
    let mut power = 1.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        let m = 2.0 * (k as f64 + 1.0);
        ratio *= (m + n - 1.0) * (m + n - 2.0) / (m * (m - 1.0));
        power *= square;
        tail += b * ratio / power;
    }
    shifted + sign * tail / x.powi(order as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "found {found:e}, expected {expected:e}");
    }

    #[test]
    fn polygamma_matches_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        const ZETA3: f64 = 1.202_056_903_159_594_2;
        assert_close(polygamma(0, 1.0), -EULER, 1e-13);
        assert_close(polygamma(0, 0.5), -EULER - 2.0 * 2f64.ln(), 1e-13);
        assert_close(polygamma(0, 1e10), 1e10f64.ln() - 0.5e-10, 1e-14);
        assert_close(polygamma(0, 1e-10), -1e10 - EULER, 1e-14);
        assert_close(polygamma(0, -0.5), -EULER - 2.0 * 2f64.ln() + 2.0, 1e-12);
        assert_close(polygamma(1, 1.0), PI * PI / 6.0, 1e-13);
        assert_close(polygamma(1, 0.5), PI * PI / 2.0, 1e-13);
        assert_close(polygamma(1, -0.5), PI * PI / 2.0 + 4.0, 1e-12);
        assert_close(polygamma(2, 1.0), -2.0 * ZETA3, 1e-13);
        assert_close(polygamma(2, -0.5), -14.0 * ZETA3 + 2.0 / 0.125, 1e-11);
        assert_close(polygamma(3, 1.0), PI.powi(4) / 15.0, 1e-13);
        assert!(polygamma(0, -3.0).is_nan());
    }

    #[test]
    fn tails_keep_their_relative_accuracy() {
        assert_close(logistic(-700.0), (-700f64).exp(), 1e-15);
        assert_eq!(logistic(800.0), 1.0);
        assert_close(softplus(-50.0), (-50f64).exp(), 1e-15);
        assert_eq!(softplus(800.0), 800.0);
        assert_close(sech_squared(100.0), 4.0 * (-200f64).exp(), 1e-14);
        assert_eq!(sech_squared(400.0), 4.0 * (-800f64).exp());
        assert_eq!(sech_squared(0.0), 1.0);
    }
}
