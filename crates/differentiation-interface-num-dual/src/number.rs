//! The dual number of `num-dual` with the crate's own rules.
//!
//! The user's function runs on it; seeded and read by [`ForwardState`](differentiation_interface_core::foreign::ForwardState).

use differentiation_interface_core::foreign::{Foreign, Tangents};
use differentiation_interface_core::native_rules;
use differentiation_interface_core::rules::*;
use nalgebra::{ComplexField, RealField, SVector};
use num_dual::{Derivative, DualNum, DualSVec64};
use num_traits::Signed;

/// A dual number of `num-dual` with `N` tangents, whose elementary functions are those of that crate.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Dual<const N: usize>(
    /// The number of `num-dual`.
    pub DualSVec64<N>,
);

impl<const N: usize> Foreign for Dual<N> {
    type Native = DualSVec64<N>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: f64) -> Self {
        Dual(DualSVec64::new(value, Derivative(None)))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> f64 {
        self.0.re
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.eps.0.is_none()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, y: f64, dy: f64) -> Self {
        Dual(DualSVec64::new(y, &self.0.eps * dy))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain2(self, other: Self, r: f64, dx: f64, dy: f64) -> Self {
        Dual(DualSVec64::new(r, &self.0.eps * dx + &other.0.eps * dy))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn native(self) -> DualSVec64<N> {
        self.0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_native(native: DualSVec64<N>) -> Self {
        Dual(native)
    }

    native_rules! {
        unary x:
            Negate => Dual(-x.0),
            Abs => Dual(Signed::abs(&x.0)),
            Signum => Dual(Signed::signum(&x.0)),
            Recip => Dual(DualNum::recip(&x.0)),
            Sqrt => Dual(DualNum::sqrt(&x.0)),
            Cbrt => Dual(DualNum::cbrt(&x.0)),
            Exp => Dual(DualNum::exp(&x.0)),
            Exp2 => Dual(DualNum::exp2(&x.0)),
            ExpM1 => Dual(DualNum::exp_m1(&x.0)),
            Ln => Dual(DualNum::ln(&x.0)),
            Log2 => Dual(DualNum::log2(&x.0)),
            Log10 => Dual(DualNum::log10(&x.0)),
            Ln1p => Dual(DualNum::ln_1p(&x.0)),
            Sin => Dual(DualNum::sin(&x.0)),
            Cos => Dual(DualNum::cos(&x.0)),
            Tan => Dual(DualNum::tan(&x.0)),
            Asin => Dual(DualNum::asin(&x.0)),
            Acos => Dual(DualNum::acos(&x.0)),
            Atan => Dual(DualNum::atan(&x.0)),
            Sinh => Dual(DualNum::sinh(&x.0)),
            Cosh => Dual(DualNum::cosh(&x.0)),
            Tanh => Dual(DualNum::tanh(&x.0)),
            Asinh => Dual(DualNum::asinh(&x.0)),
            Acosh => Dual(DualNum::acosh(&x.0)),
            Atanh => Dual(DualNum::atanh(&x.0)),
            Powi as p => Dual(DualNum::powi(&x.0, p.0)),
            Powc as p => Dual(DualNum::powf(&x.0, p.0));
        binary x, y:
            Plus => Dual(x.0 + y.0),
            Minus => Dual(x.0 - y.0),
            Times => Dual(x.0 * y.0),
            Over => Dual(x.0 / y.0),
            Powf => power(x, y),
            Atan2 => Dual(DualNum::atan2(&x.0, y.0)),
            Hypot => Dual(ComplexField::hypot(x.0, y.0)),
            AbsSub => Dual(Signed::abs_sub(&x.0, &y.0)),
            Copysign => Dual(RealField::copysign(x.0, y.0)),
            Max => Dual(RealField::max(x.0, y.0)),
            Min => Dual(RealField::min(x.0, y.0));
        right x, c:
            Plus => Dual(x.0 + c),
            Minus => Dual(x.0 - c),
            Times => Dual(x.0 * c),
            Over => Dual(x.0 / c),
            Powf => Dual(DualNum::powf(&x.0, c));
        left c, x:
            Plus => Dual(x.0 + c),
            Minus => Dual(-x.0 + c),
            Times => Dual(x.0 * c),
            Over => Dual(DualNum::recip(&x.0) * c);
    }
}

/// The power, by `powf` where the exponent is a constant and by `powd` where it is not.
#[cfg_attr(not(debug_assertions), inline(always))]
fn power<const N: usize>(x: Dual<N>, y: Dual<N>) -> Dual<N> {
    Dual(if y.is_constant() { DualNum::powf(&x.0, y.0.re) } else { DualNum::powd(&x.0, y.0) })
}

impl<const N: usize> Tangents for Dual<N> {
    const LANES: usize = N;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn seeded(value: f64, mut tangent: impl FnMut(usize) -> f64) -> Self {
        Dual(DualSVec64::new(value, Derivative::some(SVector::from_fn(|lane, _| tangent(lane)))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent(&self, lane: usize) -> f64 {
        self.0.eps.0.as_ref().map_or(0.0, |tangents| tangents[lane])
    }
}
