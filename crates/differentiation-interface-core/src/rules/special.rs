//! Values of special functions on plain numbers that no well-maintained crate provides.
//!
//! Called by the rule table. `erf`, `erfc` and `ln_gamma` come from `libm`.

use crate::scalar::Base;

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

/// 1/(3 cbrt²(x)), the derivative of the cube root.
#[inline]
pub fn cbrt_slope<B: Base>(x: B) -> B {
    let root = x.cbrt();
    (B::from_f64(3.0) * (root * root)).recip()
}

/// 1 - x² without cancellation at |x| near 1.
#[inline]
pub fn one_minus_square<B: Base>(x: B) -> B {
    let x = x.abs();
    if x < B::from_f64(0.5) { B::ONE - x * x } else { (B::ONE - x) * (B::ONE + x) }
}

/// 1/(1 + x²), the derivative of atan, without overflow.
#[inline]
pub fn atan_slope<B: Base>(x: B) -> B {
    let sum = B::ONE + x * x;
    if sum.is_infinite() { x.recip() * x.recip() } else { sum.recip() }
}

/// 1/√(x² - 1) for x ≥ 1, the derivative of acosh, without overflow.
#[inline]
pub fn acosh_slope<B: Base>(x: B) -> B {
    let product = (x - B::ONE) * (x + B::ONE);
    if x < B::ONE {
        B::nan()
    } else if product.is_infinite() {
        x.recip()
    } else {
        product.sqrt().recip()
    }
}

/// exp(-x²), corrected for the rounding error of x².
#[inline]
pub fn gauss<B: Base>(x: B) -> B {
    let square = x * x;
    let value = (-square).exp();
    if value == B::ZERO {
        return value;
    }
    // The exact square of a number cut in halves (Dekker).
    let cut = x * B::from_f64(if size_of::<B>() == 8 { 134_217_729.0 } else { 4097.0 });
    let high = cut - (cut - x);
    let low = x - high;
    let rest = (high * high - square) + (high + high) * low + low * low;
    value - value * rest
}

/// exp(-x)/(1 + exp(-x))², the derivative of the logistic function, accurate in both tails.
#[inline]
pub fn logistic_slope<B: Base>(x: B) -> B {
    let e = (-x.abs()).exp();
    let s = B::ONE + e;
    e / (s * s)
}

pub use super::polygamma::polygamma;

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

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
