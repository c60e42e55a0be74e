//! The dual number of `echidna` with several tangents.
//!
//! The user's function runs on it; seeded and read by [`ForwardState`](differentiation_interface_core::foreign::ForwardState).

use bytemuck::TransparentWrapper;
use differentiation_interface_core::foreign::{Foreign, Tangents};
use differentiation_interface_core::native_rules;
use differentiation_interface_core::rules::*;
use echidna::DualVec;
use num_traits::{Float, Signed};

/// A dual number of `echidna` with `N` tangents, whose elementary functions are those of that crate.
#[derive(Clone, Copy, Debug, TransparentWrapper)]
#[repr(transparent)]
pub struct Vector<const N: usize>(
    /// The number of `echidna`.
    pub DualVec<f64, N>,
);

impl<const N: usize> Foreign for Vector<N> {
    type Native = DualVec<f64, N>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: f64) -> Self {
        Vector(DualVec::constant(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> f64 {
        self.0.re
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.eps.iter().all(|&t| t == 0.0)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, y: f64, dy: f64) -> Self {
        Vector(DualVec::new(y, self.0.eps.map(|t| times(dy, t))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain2(self, other: Self, r: f64, dx: f64, dy: f64) -> Self {
        let (a, b) = (self.0.eps, other.0.eps);
        Vector(DualVec::new(r, std::array::from_fn(|k| times(dx, a[k]) + times(dy, b[k]))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn native(self) -> DualVec<f64, N> {
        self.0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_native(native: DualVec<f64, N>) -> Self {
        Vector(native)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn natives(numbers: &[Self]) -> Option<&[DualVec<f64, N>]> {
        Some(Self::peel_slice(numbers))
    }

    native_rules! {
        unary x:
            Negate => Vector(-x.0),
            Recip => Vector(Float::recip(x.0)),
            Abs => Vector(Float::abs(x.0)),
            Signum => Vector(Float::signum(x.0)),
            Floor => Vector(Float::floor(x.0)),
            Ceil => Vector(Float::ceil(x.0)),
            Round => Vector(Float::round(x.0)),
            Trunc => Vector(Float::trunc(x.0)),
            Fract => Vector(Float::fract(x.0)),
            Degrees => Vector(Float::to_degrees(x.0)),
            Radians => Vector(Float::to_radians(x.0)),
            Sqrt => Vector(Float::sqrt(x.0)),
            Cbrt => Vector(Float::cbrt(x.0)),
            Exp => Vector(Float::exp(x.0)),
            Exp2 => Vector(Float::exp2(x.0)),
            ExpM1 => Vector(Float::exp_m1(x.0)),
            Ln => Vector(Float::ln(x.0)),
            Log2 => Vector(Float::log2(x.0)),
            Log10 => Vector(Float::log10(x.0)),
            Ln1p => Vector(Float::ln_1p(x.0)),
            Sin => Vector(Float::sin(x.0)),
            Cos => Vector(Float::cos(x.0)),
            Tan => Vector(Float::tan(x.0)),
            Asin => Vector(Float::asin(x.0)),
            Acos => Vector(Float::acos(x.0)),
            Atan => Vector(Float::atan(x.0)),
            Sinh => Vector(Float::sinh(x.0)),
            Cosh => Vector(Float::cosh(x.0)),
            Tanh => Vector(Float::tanh(x.0)),
            Asinh => Vector(Float::asinh(x.0)),
            Acosh => Vector(Float::acosh(x.0)),
            Atanh => Vector(Float::atanh(x.0)),
            Powi as p => Vector(Float::powi(x.0, p.0)),
            Powc as p => Vector(Float::powf(x.0, DualVec::constant(p.0)));
        binary x, y:
            Plus => Vector(x.0 + y.0),
            Minus => Vector(x.0 - y.0),
            Times => Vector(x.0 * y.0),
            Over => Vector(x.0 / y.0),
            Modulo => Vector(x.0 % y.0),
            Powf => Vector(Float::powf(x.0, y.0)),
            Atan2 => Vector(Float::atan2(x.0, y.0)),
            Hypot => Vector(Float::hypot(x.0, y.0)),
            Max => Vector(Float::max(x.0, y.0)),
            Min => Vector(Float::min(x.0, y.0)),
            AbsSub => Vector(Signed::abs_sub(&x.0, &y.0));
        right x, c:
            Plus => Vector(x.0 + c),
            Minus => Vector(x.0 - c),
            Times => Vector(x.0 * c),
            Over => Vector(x.0 / c),
            Modulo => Vector(x.0 % DualVec::constant(c)),
            Powf => Vector(Float::powf(x.0, DualVec::constant(c)));
        left c, x:
            Plus => Vector(c + x.0),
            Minus => Vector(c - x.0),
            Times => Vector(c * x.0),
            Over => Vector(c / x.0);
    }
}

/// The product of a derivative and a tangent by the convention of `echidna`: a tangent that is zero stays zero.
#[cfg_attr(not(debug_assertions), inline(always))]
fn times(derivative: f64, tangent: f64) -> f64 {
    if tangent == 0.0 { 0.0 } else { derivative * tangent }
}

impl<const N: usize> Tangents for Vector<N> {
    const LANES: usize = N;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn seeded(value: f64, tangent: impl FnMut(usize) -> f64) -> Self {
        Vector(DualVec::new(value, std::array::from_fn(tangent)))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent(&self, lane: usize) -> f64 {
        self.0.eps[lane]
    }
}
