//! The forward-mode number of `ad_trait` with the crate's own rules.
//!
//! The user's function runs on it; seeded and read by [`ForwardState`](differentiation_interface_core::foreign::ForwardState).

use ad_trait::forward_ad::adfn::adfn;
use ad_trait::nalgebra::{ComplexField, RealField};
use bytemuck::TransparentWrapper;
use differentiation_interface_core::foreign::{Foreign, Tangents};
use differentiation_interface_core::native_rules;
use differentiation_interface_core::rules::*;
use num_traits::Signed;

/// A number of `ad_trait` with `N` tangents, whose elementary functions are those of that crate.
#[derive(Clone, Copy, Debug, TransparentWrapper)]
#[repr(transparent)]
pub struct Lanewise<const N: usize>(
    /// The number of `ad_trait`.
    pub adfn<N>,
);

impl<const N: usize> Foreign for Lanewise<N> {
    type Native = adfn<N>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: f64) -> Self {
        Lanewise(adfn::new_constant(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> f64 {
        self.0.value()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.tangent().iter().all(|&t| t == 0.0)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, y: f64, dy: f64) -> Self {
        Lanewise(adfn::new(y, self.0.tangent().map(|t| times(dy, t))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain2(self, other: Self, r: f64, dx: f64, dy: f64) -> Self {
        let (a, b) = (self.0.tangent(), other.0.tangent());
        Lanewise(adfn::new(r, std::array::from_fn(|k| times(dx, a[k]) + times(dy, b[k]))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn native(self) -> adfn<N> {
        self.0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_native(native: adfn<N>) -> Self {
        Lanewise(native)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn natives(numbers: &[Self]) -> Option<&[adfn<N>]> {
        Some(Self::peel_slice(numbers))
    }

    // Without `fract`, which sets every tangent to 1 whatever the tangents of the argument are, and without `%`, which is that of rounding
    // towards minus infinity and so has other values than `f64`.
    native_rules! {
        unary x:
            Negate => Lanewise(-x.0),
            Abs => Lanewise(Signed::abs(&x.0)),
            Signum => Lanewise(Signed::signum(&x.0)),
            Floor => Lanewise(ComplexField::floor(x.0)),
            Ceil => Lanewise(ComplexField::ceil(x.0)),
            Round => Lanewise(ComplexField::round(x.0)),
            Trunc => Lanewise(ComplexField::trunc(x.0)),
            Recip => Lanewise(ComplexField::recip(x.0)),
            Sqrt => Lanewise(ComplexField::sqrt(x.0)),
            Cbrt => Lanewise(ComplexField::cbrt(x.0)),
            Exp => Lanewise(ComplexField::exp(x.0)),
            Exp2 => Lanewise(ComplexField::exp2(x.0)),
            ExpM1 => Lanewise(ComplexField::exp_m1(x.0)),
            Ln => Lanewise(ComplexField::ln(x.0)),
            Log2 => Lanewise(ComplexField::log2(x.0)),
            Log10 => Lanewise(ComplexField::log10(x.0)),
            Ln1p => Lanewise(ComplexField::ln_1p(x.0)),
            Sin => Lanewise(ComplexField::sin(x.0)),
            Cos => Lanewise(ComplexField::cos(x.0)),
            Tan => Lanewise(ComplexField::tan(x.0)),
            Asin => Lanewise(ComplexField::asin(x.0)),
            Acos => Lanewise(ComplexField::acos(x.0)),
            Atan => Lanewise(ComplexField::atan(x.0)),
            Sinh => Lanewise(ComplexField::sinh(x.0)),
            Cosh => Lanewise(ComplexField::cosh(x.0)),
            Tanh => Lanewise(ComplexField::tanh(x.0)),
            Asinh => Lanewise(ComplexField::asinh(x.0)),
            Acosh => Lanewise(ComplexField::acosh(x.0)),
            Atanh => Lanewise(ComplexField::atanh(x.0)),
            Powi as p => Lanewise(ComplexField::powi(x.0, p.0)),
            Powc as p => Lanewise(ComplexField::powf(x.0, adfn::new_constant(p.0)));
        binary x, y:
            Plus => Lanewise(x.0 + y.0),
            Minus => Lanewise(x.0 - y.0),
            Times => Lanewise(x.0 * y.0),
            Over => Lanewise(x.0 / y.0),
            Powf => Lanewise(ComplexField::powf(x.0, y.0)),
            Atan2 => Lanewise(RealField::atan2(x.0, y.0)),
            Hypot => Lanewise(ComplexField::hypot(x.0, y.0)),
            Copysign => Lanewise(RealField::copysign(x.0, y.0)),
            Max => Lanewise(RealField::max(x.0, y.0)),
            Min => Lanewise(RealField::min(x.0, y.0));
        right x, c:
            Plus => Lanewise(x.0 + adfn::new_constant(c)),
            Minus => Lanewise(x.0 - adfn::new_constant(c)),
            Times => Lanewise(x.0 * adfn::new_constant(c)),
            Over => Lanewise(x.0 / adfn::new_constant(c)),
            Powf => Lanewise(ComplexField::powf(x.0, adfn::new_constant(c)));
        left c, x:
            Plus => Lanewise(adfn::new_constant(c) + x.0),
            Minus => Lanewise(adfn::new_constant(c) - x.0),
            Times => Lanewise(adfn::new_constant(c) * x.0),
            Over => Lanewise(adfn::new_constant(c) / x.0);
    }
}

/// The product of a derivative and a tangent, where a tangent that is zero stays zero.
#[cfg_attr(not(debug_assertions), inline(always))]
fn times(derivative: f64, tangent: f64) -> f64 {
    if tangent == 0.0 { 0.0 } else { derivative * tangent }
}

impl<const N: usize> Tangents for Lanewise<N> {
    const LANES: usize = N;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn seeded(value: f64, tangent: impl FnMut(usize) -> f64) -> Self {
        Lanewise(adfn::new(value, std::array::from_fn(tangent)))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent(&self, lane: usize) -> f64 {
        self.0.tangent()[lane]
    }
}
