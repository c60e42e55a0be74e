//! Functions of an angle that are analytic at zero angle, as rules that derive from each other.
//!
//! Used by [`rotation`](super::rotation) and by the cardinal sine of [`nalgebra`](super::nalgebra). Written with elementary functions
//! they are quotients 0/0 at zero angle, and code that avoids the division by a branch loses the derivative.

use crate::rules::{Partial, Unary};
use crate::scalar::{Base, Scalar};

/// The function jₙ(√u) / √uⁿ of u, where jₙ is the spherical Bessel function: cos √u for n = -1, sin √u / √u for n = 0.
///
/// All are entire. The derivative of one is -½ times the next (Abramowitz & Stegun 10.1.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SphericalBessel(pub(super) i32);

impl Unary for SphericalBessel {
    const NAME: &'static str = "spherical_bessel";
    fn parameter(self) -> Option<u64> {
        Some(self.0 as u32 as u64)
    }
    fn value<B: Base>(self, u: B) -> B {
        B::from_f64(spherical_bessel(self.0, u.as_f64()))
    }
    fn derivative<S: Scalar>(self, u: S, _: S) -> Partial<S> {
        Partial::Value(u.apply(SphericalBessel(self.0 + 1)).scale(S::Base::from_f64(-0.5)))
    }
}

/// jₙ(√u) / √uⁿ for n ≥ -1.
fn spherical_bessel(n: i32, u: f64) -> f64 {
    let odd = (2 * n + 3) as f64;
    if u.abs() <= odd {
        // Σ (-u/2)ᵏ / (k! (2n+2k+1)!!), whose terms at least halve (Abramowitz & Stegun 10.1.2).
        let mut term = (1..=n).fold(1.0, |quotient, k| quotient / (2 * k + 1) as f64);
        let mut sum = term;
        let mut k = 0.0;
        while term.abs() > sum.abs() * (f64::EPSILON / 8.0) {
            term *= -0.5 * u / ((k + 1.0) * (odd + 2.0 * k));
            sum += term;
            k += 1.0;
        }
        return sum;
    }
    if u == f64::INFINITY && n >= 0 {
        return 0.0;
    }
    let root = u.abs().sqrt();
    let (mut below, mut at) = if u < 0.0 { (root.cosh(), root.sinh() / root) } else { (root.cos(), root.sin() / root) };
    if n < 0 {
        return below;
    }
    // The recurrence (10.1.19) loses digits where the argument is smaller than the order, which the series covers.
    for k in 1..=n {
        (below, at) = (at, ((2 * k - 1) as f64 * at - below) / u);
    }
    at
}

/// The derivative of order n of acos(w) / √(1 - w²), the ratio of an angle between 0 and π to its sine as a function of its cosine.
///
/// Analytic for w > -1; at w = 1, angle zero, the ratio is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AngleOverSine(pub(super) u32);

impl Unary for AngleOverSine {
    const NAME: &'static str = "angle_over_sine";
    fn parameter(self) -> Option<u64> {
        Some(self.0 as u64)
    }
    fn value<B: Base>(self, w: B) -> B {
        B::from_f64(angle_over_sine(self.0, w.as_f64()))
    }
    fn derivative<S: Scalar>(self, w: S, _: S) -> Partial<S> {
        Partial::Value(w.apply(AngleOverSine(self.0 + 1)))
    }
}

fn angle_over_sine(order: u32, w: f64) -> f64 {
    let n = order as f64;
    if w > 0.5 {
        // The ratio is ₂F₁(1, 1; 3/2; z) at z = (1 - w)/2 (Abramowitz & Stegun 15.1.6), its derivative of order n
        // (-½)ⁿ (n!)²/(3/2)ₙ ₂F₁(1 + n, 1 + n; 3/2 + n; z) (15.2.2).
        let z = 0.5 * (1.0 - w);
        let mut term = (0..order).fold(1.0, |product, k| {
            let k = k as f64;
            product * -0.5 * (k + 1.0) * (k + 1.0) / (k + 1.5)
        });
        let mut sum = term;
        let mut k = 0.0;
        while term.abs() > sum.abs() * (f64::EPSILON / 8.0) {
            term *= z * (n + k + 1.0) * (n + k + 1.0) / ((n + k + 1.5) * (k + 1.0));
            sum += term;
            k += 1.0;
        }
        return sum;
    }
    let square = (1.0 - w) * (1.0 + w);
    let ratio = w.acos() / square.sqrt();
    // (1 - w²) L' = w L - 1, and its derivatives (1 - w²) L⁽ⁿ⁺¹⁾ = (2n + 1) w L⁽ⁿ⁾ + n² L⁽ⁿ⁻¹⁾.
    let (mut below, mut at) = (ratio, (w * ratio - 1.0) / square);
    for k in 1..order {
        let k = k as f64;
        (below, at) = (at, ((2.0 * k + 1.0) * w * at + k * k * below) / square);
    }
    if order == 0 { ratio } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "found {found:e}, expected {expected:e}");
    }

    /// Closed forms of the first functions, away from zero.
    #[test]
    fn spherical_bessel_functions_are_their_closed_forms() {
        for u in [0.7_f64, 2.9, 3.1, 4.9, 5.1, 7.2, 30.0, 400.0] {
            let z = u.sqrt();
            let (s, c) = z.sin_cos();
            assert_close(spherical_bessel(-1, u), c, 1e-14);
            assert_close(spherical_bessel(0, u), s / z, 1e-14);
            assert!((spherical_bessel(1, u) - (s / z - c) / u).abs() < 1e-15 / z);
            assert!((spherical_bessel(2, u) - ((3.0 / u - 1.0) * s / z - 3.0 * c / u) / u).abs() < 2e-14);
        }
        for u in [0.5_f64, 2.0, 50.0] {
            assert_close(spherical_bessel(-1, -u), u.sqrt().cosh(), 1e-14);
            assert_close(spherical_bessel(0, -u), u.sqrt().sinh() / u.sqrt(), 1e-14);
        }
        // 1/(2n+1)!! at zero.
        let at_zero = [-1, 0, 1, 2, 3].map(|n| spherical_bessel(n, 0.0));
        for (found, expected) in at_zero.into_iter().zip([1.0, 1.0, 1.0 / 3.0, 1.0 / 15.0, 1.0 / 105.0]) {
            assert_close(found, expected, 1e-15);
        }
        assert_eq!(spherical_bessel(0, f64::INFINITY), 0.0);
        assert!(spherical_bessel(0, f64::NAN).is_nan() && angle_over_sine(1, f64::NAN).is_nan());
    }

    /// The derivative of each function in each branch, against central differences, which are right to about 1e-8.
    #[test]
    fn derivatives_are_those_of_the_values() {
        let step = 1e-5;
        for n in -1..4 {
            for u in [-3.0, -1e-9, 0.0, 1e-9, 0.4, 1.7, 4.0, 6.5, 8.0, 12.0, 50.0] {
                let slope = (spherical_bessel(n, u + step) - spherical_bessel(n, u - step)) / (2.0 * step);
                let found = SphericalBessel(n).derivative(u, 0.0).value();
                assert!((found - slope).abs() < 1e-9, "order {n} at {u}: {found}, {slope}");
            }
        }
        for order in 0..4 {
            for w in [-0.5, 0.0, 0.3, 0.499, 0.501, 0.8, 0.999999, 1.0] {
                let slope = (angle_over_sine(order, w + step) - angle_over_sine(order, w - step)) / (2.0 * step);
                let found: f64 = AngleOverSine(order).derivative(w, 0.0).value();
                assert!((found - slope).abs() < 1e-7 * found.abs().max(1.0), "order {order} at {w}: {found}, {slope}");
            }
        }
    }

    #[test]
    fn the_angle_over_its_sine_is_right_at_all_angles() {
        for angle in [1e-9_f64, 1e-3, 0.5, 1.04, 1.05, 1.5, 3.0] {
            assert_close(angle_over_sine(0, angle.cos()), angle / angle.sin(), 2e-14);
        }
        // 1, -1/3, 4/15 at angle zero; where rounding exceeds cosine 1, the function continues.
        assert_eq!(angle_over_sine(0, 1.0), 1.0);
        assert_close(angle_over_sine(1, 1.0), -1.0 / 3.0, 1e-15);
        assert_close(angle_over_sine(2, 1.0), 4.0 / 15.0, 1e-15);
        assert_close(angle_over_sine(0, 1.0 + f64::EPSILON), 1.0, 1e-15);
    }
}
