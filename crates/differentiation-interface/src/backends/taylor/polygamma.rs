//! The derivatives of ln Γ, which satisfy no differential equation (Hölder): sums of reciprocal powers and an asymptotic series.
//!
//! Called by `unary`. With z = x + m, where m is at least 16,
//! (-1)ⁿ⁺¹ ψ⁽ⁿ⁾(x) = Σ_{k<m} n!/(x + k)ⁿ⁺¹ + z⁻ⁿ ((n-1)! + n!/(2 z) + Σ B₂ᵢ (2i+n-1)!/((2i)! z²ⁱ)), with -ln z for the first term of the bracket if n = 0
//! (Abramowitz and Stegun 6.3.18, 6.4.6, 6.4.11). The error of the coefficient of degree j, relative to it, is that of the asymptotic series
//! for ψ⁽ⁿ⁺ʲ⁾ times the share of z, (x/(x + m))ⁿ⁺ʲ: below 2e-17 for all j and x > 0 with six terms, because the share falls where the series fails.

use super::kernels::{combined, exponential, integral, multiple, power, product, reciprocal, tangent};
use super::space::{Space, View, rescale};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{Recip, Tan};
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;
use std::f64::consts::PI;

/// Bernoulli numbers B₂, B₄, ...
const BERNOULLI: [f64; 7] = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

const SHIFTS: f64 = 16.0;

/// The coefficients of ψ⁽ⁿ⁾(x).
pub(super) fn polygamma<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, n: u32) -> P::Block {
    let at = x.value.peek().as_f64();
    if !at.is_finite() || at <= 0.0 && at == at.floor() {
        let nan = S::constant(Base::from_f64(f64::NAN));
        return if at == f64::INFINITY { space.zeros() } else { exponential(space, x, nan, 1.0) };
    }
    if at < -SHIFTS { reflected(space, x, n) } else { shifted(space, x, n) }
}

/// ψ⁽ⁿ⁾(x) = (-1)ⁿ ψ⁽ⁿ⁾(1 - x) - π dⁿ/dxⁿ cot πx.
fn reflected<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, n: u32) -> P::Block {
    let mirrored = combined(space, (-1.0, x), (0.0, View::inert(x.value)));
    let mirrored = shifted(space, View::new(S::constant(S::Base::ONE) - x.value, &mirrored), n);
    // The derivatives of cot are polynomials in it: P₀ = c, Pₙ₊₁ = -(1 + c²) Pₙ′.
    let mut polynomial = vec![0.0, 1.0];
    for _ in 0..n {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, c) in polynomial.iter().enumerate().skip(1) {
            next[power - 1] -= power as f64 * c;
            next[power + 1] -= power as f64 * c;
        }
        polynomial = next;
    }
    let from_pole = x.value - S::constant(x.value.peek().round());
    let value = from_pole.scale(Base::from_f64(PI)).apply(Tan).apply(Recip);
    let cot = tangent(space, x, value, -PI);
    let cot = View::new(value, &cot);
    let (mut sum_value, mut sum) = (S::default(), space.zeros());
    for &c in polynomial.iter().rev() {
        sum = product(space, View::new(sum_value, &sum), cot);
        sum_value = sum_value * value + S::constant(Base::from_f64(c));
    }
    let sign = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    let of_cot = (-PI.powi(n as i32 + 1), View::new(value, &sum));
    combined(space, (sign, View::new(value, &mirrored)), of_cot)
}

fn shifted<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, n: u32) -> P::Block {
    let one = S::constant(S::Base::ONE);
    let steps = SHIFTS + (-x.value.peek().as_f64()).ceil().max(0.0);
    let at = |k: f64| x.value + S::constant(Base::from_f64(k));
    let order = n as f64;
    let factorial = (1..=n).fold(1.0, |product, k| product * k as f64);

    let z = at(steps);
    let inverse = one / z;
    let q = reciprocal(space, x.with_value(z), inverse);
    let q = View::new(inverse, &q);
    let square = product(space, q, q);
    let square = View::new(inverse * inverse, &square);
    // The sum over i, from the last term.
    let (mut value, mut sum) = (S::default(), space.zeros());
    for (i, bernoulli) in BERNOULLI.iter().enumerate().rev() {
        let m = 2 * (i + 1);
        // (m+n-1)!/m!
        let ratio = if n == 0 { 1.0 / m as f64 } else { (m + 1..m + n as usize).fold(1.0, |r, k| r * k as f64) };
        value += S::constant(Base::from_f64(bernoulli * ratio));
        sum = product(space, View::new(value, &sum), square);
        value = value * square.value;
    }
    sum = combined(space, (1.0, View::new(value, &sum)), (0.5 * factorial, q));
    value += inverse.scale(Base::from_f64(0.5 * factorial));
    if n == 0 {
        let logarithm = integral(space, x, q, -1.0);
        sum = combined(space, (1.0, View::new(value, &sum)), (1.0, View::new(value, &logarithm)));
    } else {
        value += S::constant(Base::from_f64(factorial / order));
        let (raised, raised_value) = reciprocal_power(space, x, z, n, 1.0);
        sum = product(space, View::new(value, &sum), View::new(raised_value, &raised));
    }
    // Small terms first.
    for k in (0..steps as u32).rev() {
        let (term, _) = reciprocal_power(space, x, at(k as f64), n + 1, factorial);
        sum = combined(space, (1.0, View::new(value, &sum)), (1.0, View::new(value, &term)));
    }
    if n.is_multiple_of(2) {
        rescale(sum.as_mut(), -1.0);
    }
    sum
}

/// `factor` z⁻ⁿ and its value, where z has the value given and the coefficients of x.
fn reciprocal_power<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, z: S, n: u32, factor: f64) -> (P::Block, S) {
    let inverse = S::constant(S::Base::ONE) / z;
    let value = (0..n).fold(S::constant(Base::from_f64(factor)), |value, _| value * inverse);
    let ratio = multiple(space, x, inverse);
    (power(space, View::new(z, &ratio), value, -(n as f64)), value)
}
