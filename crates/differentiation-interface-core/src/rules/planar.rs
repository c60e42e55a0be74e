//! Values of functions of two arguments on plain numbers: the derivatives of `hypot`, `atan2` and `powf`.
//!
//! Called by the rule table. They are rules of their own because differentiating the formulas would cause cancellation. All are
//! accurate from the smallest numbers to the largest and follow the conventions at singular points, so that no engine has to branch.

use crate::scalar::Base;
use num_traits::Float;

/// Two arguments times a power of two that brings the larger one near 1, so that nothing overflows or underflows on the way.
struct Scaled<B> {
    x: B,
    y: B,
    /// The remaining power to multiply by: first in the numerator, or last. One of the two is 1.
    early: B,
    late: B,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn scaled<B: Base>(x: B, y: B) -> Scaled<B> {
    let (larger, smaller) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    // Four factors of this size neither overflow nor become subnormal.
    let (low, high, tiny) = if size_of::<B>() == 8 { (1e-70, 1e70, 1e-150) } else { (1e-7, 1e7, 1e-15) };
    if larger > B::from_f64(low) && larger < B::from_f64(high) && smaller > B::from_f64(tiny) {
        return Scaled { x, y, early: B::ONE, late: B::ONE };
    }
    rescaled(x, y, larger)
}

#[cold]
#[inline(never)]
fn rescaled<B: Base>(x: B, y: B, larger: B) -> Scaled<B> {
    let (mantissa, exponent, _) = larger.integer_decode();
    let magnitude = exponent as i32 + 63 - mantissa.leading_zeros() as i32;
    let most = if size_of::<B>() == 8 { 1000 } else { 120 };
    let factor = B::from_f64(2f64.powi((-magnitude).clamp(-most, most)));
    Scaled { x: x * factor, y: y * factor, early: factor.max(B::ONE), late: factor.min(B::ONE) }
}

/// x² + y² with its rounding error.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sum_of_squares<B: Base>(x: B, y: B) -> B {
    let (xx, yy) = (x * x, y * y);
    let (sum, rest) = two_sum(xx, yy);
    sum + (rest + (x.mul_add(x, -xx) + y.mul_add(y, -yy)))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn at_infinity<B: Base>(x: B, y: B) -> bool {
    x.is_infinite() || y.is_infinite()
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn at_origin<B: Base>(x: B, y: B) -> bool {
    x == B::ZERO && y == B::ZERO
}

/// x / r for r = √(x² + y²), the derivative of `hypot`: 0 at the origin, its limit at infinity.
#[inline]
pub(super) fn direction<B: Base>(x: B, y: B, r: B) -> B {
    if r.is_normal() {
        return x / r;
    }
    if r == B::ZERO {
        B::ZERO
    } else if x.is_infinite() {
        x.signum()
    } else if y.is_infinite() {
        B::ZERO
    } else {
        // The digits of a subnormal `r` are lost, and two finite arguments may have an infinite one.
        let Scaled { x, y, .. } = scaled(x, y);
        x / x.hypot(y)
    }
}

/// y² / r³, the second derivative of `hypot` by x: 0 at the origin.
#[inline]
pub(super) fn hypot_bend<B: Base>(x: B, y: B) -> B {
    if at_origin(x, y) || at_infinity(x, y) {
        return B::ZERO;
    }
    let Scaled { x, y, early, late } = scaled(x, y);
    let square = sum_of_squares(x, y);
    y * early / square * (y / square.sqrt()) * late
}

/// -xy / r³, the mixed second derivative of `hypot`: 0 at the origin.
#[inline]
pub(super) fn hypot_cross<B: Base>(x: B, y: B) -> B {
    if at_origin(x, y) || at_infinity(x, y) {
        return B::ZERO;
    }
    let Scaled { x, y, early, late } = scaled(x, y);
    let square = sum_of_squares(x, y);
    -(x * early * y) / (square * square.sqrt()) * late
}

/// x / (x² + y²), the derivative of the angle: 0 at the origin.
#[inline]
pub(super) fn angular<B: Base>(x: B, y: B) -> B {
    if at_origin(x, y) || at_infinity(x, y) {
        return B::ZERO;
    }
    let Scaled { x, y, early, late } = scaled(x, y);
    x * early / (x * x + y * y) * late
}

/// (y² - x²) / (x² + y²)², the derivative of [`angular`] by x: 0 at the origin.
#[inline]
pub(super) fn angular_bend<B: Base>(x: B, y: B) -> B {
    if at_origin(x, y) || at_infinity(x, y) {
        return B::ZERO;
    }
    let Scaled { x, y, early, late } = scaled(x, y);
    let square = sum_of_squares(x, y);
    (y - x) * early * ((y + x) * early) / (square * square) * late * late
}

/// -2xy / (x² + y²)², the derivative of [`angular`] by y: 0 at the origin.
#[inline]
pub(super) fn angular_cross<B: Base>(x: B, y: B) -> B {
    if at_origin(x, y) || at_infinity(x, y) {
        return B::ZERO;
    }
    let Scaled { x, y, early, late } = scaled(x, y);
    let square = sum_of_squares(x, y);
    B::from_f64(-2.0) * (x * early * (y * early)) / (square * square) * late * late
}

/// `factor` · x^(y - k), corrected for the rounding of y - k, since x may be huge or tiny.
#[cfg_attr(not(debug_assertions), inline(always))]
fn times_power<B: Base>(factor: B, x: B, y: B, k: f64) -> B {
    let k = B::from_f64(k);
    let exponent = y - k;
    let power = x.powf(exponent);
    // An exponent that is rounded at this size is even, and so is y; the exact one may be odd.
    let two = B::ONE + B::ONE;
    let is_rounded = y - exponent != k && y.is_finite() && y.abs() >= two / B::epsilon();
    let power = if x < B::ZERO && is_rounded && k % two == B::ONE { -power } else { power };
    if x > B::ZERO && power.is_normal() {
        let rounded = exponent + k;
        // Exact sum of y and -k (Knuth): `exponent + rest`.
        let rest = (y - rounded) - (k - (rounded - exponent));
        let power = if rest == B::ZERO { power } else { power + power * (rest * x.ln()) };
        let product = factor * power;
        if product != B::ZERO {
            return product;
        }
    }
    let higher = x.powf(y);
    if x > B::ZERO && higher.is_normal() {
        // The power leaves the range of numbers before the product does.
        let mut product = factor * higher;
        let mut divisions = k;
        while divisions > B::ZERO && x.is_finite() {
            product = product / x;
            divisions = divisions - B::ONE;
        }
        return product;
    }
    factor * power
}

/// y x^(y-1), 0 for y = 0.
#[inline]
pub(super) fn powf_by_base<B: Base>(x: B, y: B) -> B {
    if y == B::ZERO && !x.is_nan() {
        return B::ZERO;
    }
    times_power(y, x, y, 1.0)
}

/// y (y-1) x^(y-2), 0 for y = 0 and y = 1.
#[inline]
pub(super) fn powf_by_base_twice<B: Base>(x: B, y: B) -> B {
    if (y == B::ZERO || y == B::ONE) && !x.is_nan() {
        return B::ZERO;
    }
    times_power(y * (y - B::ONE), x, y, 2.0)
}

/// y (y-1) (y-2) x^(y-3), 0 for y = 0, 1 and 2.
#[inline]
pub(super) fn powf_by_base_thrice<B: Base>(x: B, y: B) -> B {
    let two = B::from_f64(2.0);
    if (y == B::ZERO || y == B::ONE || y == two) && !x.is_nan() {
        return B::ZERO;
    }
    times_power(y * (y - B::ONE) * (y - two), x, y, 3.0)
}

/// x^y ln x, and its limit 0 where the power is 0.
#[inline]
pub(super) fn powf_by_exponent<B: Base>(x: B, y: B) -> B {
    power_times_ln(x.powf(y), x)
}

/// `power` · ln x, and its limit 0 where the power is 0.
#[inline]
pub(super) fn power_times_ln<B: Base>(power: B, x: B) -> B {
    if power == B::ZERO && x >= B::ZERO { B::ZERO } else { power * x.ln() }
}

/// x^y ln² x, and its limit 0 where the power is 0.
#[inline]
pub(super) fn powf_by_exponent_twice<B: Base>(x: B, y: B) -> B {
    let product = powf_by_exponent(x, y);
    if product == B::ZERO && x >= B::ZERO { B::ZERO } else { product * x.ln() }
}

/// x^(y-1) (1 + y ln x), the mixed derivative, and its limit 0 where the power is 0.
#[inline]
pub(super) fn powf_mixed<B: Base>(x: B, y: B) -> B {
    let product = y * x.ln();
    if x == B::ZERO {
        // 0 · ∞ for y > 1; otherwise the sum in parentheses determines the limit.
        let limit = if y > B::ONE { B::ZERO } else { B::infinity() };
        return if y.is_nan() || y <= B::ZERO { limit + y * B::ZERO } else { -limit };
    }
    let factor = if product > B::from_f64(-4.0) && product < B::from_f64(-0.2) {
        B::from_f64(one_plus_product_with_ln(x.as_f64(), y.as_f64()))
    } else {
        B::ONE + product
    };
    if x.is_infinite() && y < B::ONE {
        return B::ZERO;
    }
    times_power(factor, x, y, 1.0)
}

/// 1 + y ln x where the two cancel, with ln x to about 100 bits.
fn one_plus_product_with_ln(x: f64, y: f64) -> f64 {
    // ln 2 in two parts; products of the first with an exponent are exact.
    const LN_2: [f64; 2] = [0.693_146_705_627_441_4, 4.749_325_039_031_672_6e-7];
    let (mantissa, exponent, _) = Float::integer_decode(x);
    let length = 64 - mantissa.leading_zeros() as i32;
    // x = m 2^e with m between √½ and √2.
    let mut m = mantissa as f64 * 2f64.powi(-length);
    let mut e = (exponent as i32 + length) as f64;
    if m < std::f64::consts::FRAC_1_SQRT_2 {
        (m, e) = (2.0 * m, e - 1.0);
    }
    // ln m = 2 artanh f for f = (m - 1) / (m + 1), the quotient with its remainder.
    let (numerator, denominator) = (m - 1.0, m + 1.0);
    let denominator_rest = 1.0 - (denominator - m);
    let f = numerator / denominator;
    let f_rest = ((-f).mul_add(denominator, numerator) - f * denominator_rest) / denominator;
    let square = f * f;
    let series = (1..20).rev().fold(0.0, |sum, k| square * (sum + 1.0 / (2 * k + 1) as f64));
    let (high, low) = two_sum(e * LN_2[0], 2.0 * f);
    let (high, rest) = two_sum(high, e * LN_2[1]);
    let low = low + rest + (2.0 * f_rest + 2.0 * f * series);
    // 1 + y (high + low)
    let product = y * high;
    let product_rest = y.mul_add(high, -product) + y * low;
    let (sum, sum_rest) = two_sum(1.0, product);
    sum + (sum_rest + product_rest)
}

/// The rounded sum and its exact error.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn two_sum<B: Base>(x: B, y: B) -> (B, B) {
    let sum = x + y;
    let of_y = sum - x;
    (sum, (x - (sum - of_y)) + (y - of_y))
}
