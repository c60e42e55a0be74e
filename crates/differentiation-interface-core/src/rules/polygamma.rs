//! The polygamma functions on plain numbers, the derivatives of ln Γ, which no well-maintained crate provides.
//!
//! Called by the rule table through [`special`](super::special).

use super::planar::two_sum;
use std::f64::consts::PI;

/// Bernoulli numbers B₂, B₄, ...
const BERNOULLI: [f64; 8] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0, -3617.0 / 510.0];

/// Below this, recurrences would be long, and the rounding error of the argument dominates.
const FAR_LEFT: f64 = -16.0;

/// Polygamma function ψ⁽ⁿ⁾(x): digamma for order 0, trigamma for 1, and so on.
///
/// Between 1 and 2 the zero x₀ of digamma is factored out; a recurrence with exact sums leads there. From 10 on, and for all higher
/// orders after a recurrence to x ≥ 15 + n, asymptotic series are used (Abramowitz & Stegun 6.3.18, 6.4.11). Far below 0, digamma
/// and trigamma are reflected. Poles give NaN.
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
    if x < FAR_LEFT && order <= 1 {
        // ψ(1-x) - ψ(x) = π cot πx, and its derivative.
        let angle = PI * (x - x.round());
        return if order == 0 {
            polygamma(0, 1.0 - x) - PI / angle.tan()
        } else {
            (PI / angle.sin()).powi(2) - polygamma(1, 1.0 - x)
        };
    }
    if order == 0 { digamma(x) } else { higher(order, x) }
}

fn digamma(x: f64) -> f64 {
    if x >= 10.0 {
        let square = x * x;
        let mut tail = 0.0;
        let mut power = square;
        for (k, b) in BERNOULLI.iter().enumerate() {
            tail += b / ((2 * k + 2) as f64 * power);
            power *= square;
        }
        return x.ln() - (0.5 / x + tail);
    }
    // ψ(x + 1) = ψ(x) + 1/x: from `start`, between 1 and 2, up or down to x.
    let steps = x.floor() - 1.0;
    let (start, rest) = two_sum(x, -steps);
    // The derivative, to three digits, times what `start` lacks.
    let lost = rest / start * (1.0 + (0.5 + 1.0 / (6.0 * start)) / start);
    let mut sum = (digamma_from_1_to_2(start), lost);
    let mut add = |divisor: f64, sign: f64| {
        let quotient = sign / divisor;
        let (high, rest) = two_sum(sum.0, quotient);
        let rest_of_quotient = if quotient.is_finite() { (-quotient).mul_add(divisor, sign) / divisor } else { 0.0 };
        sum = (high, if high.is_finite() { sum.1 + rest + rest_of_quotient } else { 0.0 });
    };
    if steps >= 0.0 {
        for k in 1..=steps as u32 {
            add(x - k as f64, 1.0);
        }
    } else {
        for k in 0..-steps as u32 {
            add(x + k as f64, -1.0);
        }
    }
    sum.0 + sum.1
}

/// Digamma as (x - x₀) times a polynomial, which mpmath fitted at Chebyshev points with an error of 4e-18.
fn digamma_from_1_to_2(x: f64) -> f64 {
    const ZERO: [f64; 2] = [1.461_632_144_968_362_2, 9.549_995_429_965_697e-17];
    #[rustfmt::skip]
    const POLYNOMIAL: [f64; 23] = [
        0.00011881232908510335, -0.0001782188548855923, 9.653646261410062e-05, -0.00014480643368061614,
        0.00032395945401345196, -0.00048595039220036254, 0.0006909255761282986, -0.0010364584817312839,
        0.0015633696313653504, -0.0023454947397380833, 0.003518106563802472, -0.005279937255532708,
        0.007927021796868154, -0.011908220105959716, 0.017907248317313294, -0.026975796659787055,
        0.040760833940846085, -0.06192213327548831, 0.09498872445289039, -0.14840492305388092,
        0.24054248424078697, -0.4236274212814606, 0.9510558760318328,
    ];
    let from_middle = x - 1.5;
    let factor = POLYNOMIAL.iter().fold(0.0, |sum, coefficient| sum * from_middle + coefficient);
    ((x - ZERO[0]) - ZERO[1]) * factor
}

fn higher(order: u32, x: f64) -> f64 {
    let n = order as f64;
    let sign = if order % 2 == 1 { 1.0 } else { -1.0 }; // (-1)^(n+1)
    let factorial: f64 = (1..=order).map(|k| k as f64).product(); // n!
    // ψ⁽ⁿ⁾(x) = ψ⁽ⁿ⁾(x + steps) + Σ (-1)^(n+1) n! / (x + k)^(n+1)
    let steps = (15.0 + n - x).ceil().max(0.0) as u32;
    let shifted = x + steps as f64;
    // (-1)^(n+1) [ (n-1)!/x^n + n!/(2 x^(n+1)) + Σ B_2k (2k+n-1)! / ((2k)! x^(2k+n)) ]
    let square = shifted * shifted;
    let leading = factorial / n;
    let mut tail = 0.5 * factorial / shifted;
    let mut ratio = leading; // (2k+n-1)! / (2k)!, starting at k = 0
    let mut power = 1.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        let m = 2.0 * (k as f64 + 1.0);
        ratio *= (m + n - 1.0) * (m + n - 2.0) / (m * (m - 1.0));
        power *= square;
        tail += b * ratio / power;
    }
    // Small terms first, with compensated summation.
    let mut sum = (divided(leading + tail, shifted, order), 0.0);
    for k in (0..steps).rev() {
        let (high, rest) = two_sum(sum.0, divided(factorial, x + k as f64, order + 1));
        sum = (high, if high.is_finite() { sum.1 + rest } else { 0.0 });
    }
    sign * (sum.0 + sum.1)
}

/// `x` / `y`ⁿ, also where the power is out of the range of numbers.
fn divided(x: f64, y: f64, n: u32) -> f64 {
    // The power with what its products lose.
    let (power, rest) = (0..n).fold((1.0, 0.0), |(power, rest), _| {
        let product: f64 = power * y;
        (product, power.mul_add(y, -product) + rest * y)
    });
    if power.is_normal() { x / (power + rest) } else { (0..n).fold(x, |quotient, _| quotient / y) }
}
