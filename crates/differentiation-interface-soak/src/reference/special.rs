//! Special functions of the reference: error function, ln Γ and its derivatives, by series and continued fractions.
//!
//! Called by `elementary`.

use std::f64::consts::PI;

/// erf x: 2/√π exp(-x²) Σ 2ⁿ x²ⁿ⁺¹ / (1·3·5···(2n+1)), all terms of one sign.
pub(super) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 || x.is_nan() {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// erfc x: 1 - erf x below 1.5, a continued fraction above.
pub(super) fn erfc(x: f64) -> f64 {
    if x < 1.5 || x.is_nan() {
        return 1.0 - erf(x);
    }
    let mut below = x;
    for k in (1..200).rev() {
        below = x + 0.5 * f64::from(k) / below;
    }
    (-x * x).exp() / PI.sqrt() / below
}

/// Σ B₂ₖ of the asymptotic series.
const BERNOULLI: [f64; 9] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
];
/// From here on the series is accurate to the last digit.
const FAR: f64 = 16.0;

/// ln Γ(x) for x > 0 (NaN otherwise), and the sum of the magnitudes of its terms.
pub(super) fn ln_gamma(x: f64) -> [f64; 2] {
    if x.is_nan() || x <= 0.0 {
        return [f64::NAN; 2];
    }
    let (mut far, mut shift, mut size) = (x, 0.0, 0.0);
    while far < FAR {
        shift += far.ln();
        size += far.ln().abs();
        far += 1.0;
    }
    let mut sum = (far - 0.5) * far.ln() - far + 0.5 * (2.0 * PI).ln();
    size += (far - 0.5) * far.ln().abs() + far;
    for (k, b) in (1..).zip(BERNOULLI) {
        let k = f64::from(k);
        sum += b / (2.0 * k * (2.0 * k - 1.0)) / far.powf(2.0 * k - 1.0);
    }
    [sum - shift, size]
}

/// ψ⁽ᵐ⁾(x) for x > 0 (NaN otherwise) and m ≤ 3, and the sum of the magnitudes of its terms.
pub(super) fn polygamma(m: i32, x: f64) -> [f64; 2] {
    if x.is_nan() || x <= 0.0 {
        return [f64::NAN; 2];
    }
    let sign = if m % 2 == 0 { -1.0 } else { 1.0 };
    let factorial: f64 = (1..=m).map(f64::from).product();
    let (mut far, mut shift) = (x, 0.0);
    while far < FAR {
        shift += factorial / far.powi(m + 1);
        far += 1.0;
    }
    let mut tail = if m == 0 {
        0.5 / far
    } else {
        (1..m).map(f64::from).product::<f64>() / far.powi(m) + 0.5 * factorial / far.powi(m + 1)
    };
    for (k, b) in (1..).zip(BERNOULLI) {
        // B₂ₖ (2k + m - 1)! / (2k)! / x^(2k + m)
        let ratio: f64 = if m == 0 { 0.5 / f64::from(k) } else { (2 * k + 1..2 * k + m).map(f64::from).product() };
        tail += b * ratio / far.powi(2 * k + m);
    }
    if m == 0 {
        [far.ln() - tail - shift, far.ln() + tail.abs() + shift]
    } else {
        [sign * (tail + shift), tail + shift]
    }
}
