//! The two plain numbers, `f64` and `f32`.
//!
//! Called by the rule table, which evaluates values on [`Base`], and by operators for the user's points and results.

use super::{Real, Scalar};
use crate::custom::CustomRule;
use crate::rules::special;
use crate::rules::{Binary, Unary};
use num_traits::{Float, FloatConst};
use std::fmt::{Display, LowerExp};
use std::sync::Arc;

/// A plain floating-point number: `f64` or `f32`.
///
/// Sealed by its requirements: everything else is a [`Scalar`] over one of these.
pub trait Base: Scalar<Base = Self> + Float + FloatConst + Display + LowerExp {
    /// Name of the type, for messages.
    const NAME: &'static str;
    /// Whether the type is `f64`, so that [`as_doubles`](Base::as_doubles) succeeds.
    const IS_DOUBLE: bool = false;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// What stands in the output of an in-place function before it writes: not a number, with a payload of its own.
    const UNWRITTEN: Self;

    /// Whether this is [`UNWRITTEN`](Base::UNWRITTEN), or was computed from it: processors keep the payload, whatever the sign.
    fn is_unwritten(self) -> bool;
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// The value as `f64`, exactly.
    fn as_f64(self) -> f64;
    /// The slices as slices of doubles, if that is what this type is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles<'s, 'a>(_slices: &'s [&'a [Self]]) -> Option<&'s [&'a [f64]]> {
        None
    }
    /// The same, to write to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles_mut<'s, 'a>(_slices: &'s mut [&'a mut [Self]]) -> Option<&'s mut [&'a mut [f64]]> {
        None
    }
    /// Value of the error function.
    fn erf_value(self) -> Self;
    /// Value of the complementary error function.
    fn erfc_value(self) -> Self;
    /// Value of the logarithm of the absolute value of the gamma function.
    fn ln_gamma_value(self) -> Self;
    /// Value of the polygamma function of the given order (0 is digamma).
    fn polygamma_value(self, order: u32) -> Self;
}

impl Base for f64 {
    const NAME: &'static str = "f64";
    const IS_DOUBLE: bool = true;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const UNWRITTEN: f64 = f64::from_bits(0x7FF8_756E_7772_6974);
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_unwritten(self) -> bool {
        self.to_bits() << 1 == f64::UNWRITTEN.to_bits() << 1
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_f64(value: f64) -> f64 {
        value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles<'s, 'a>(slices: &'s [&'a [f64]]) -> Option<&'s [&'a [f64]]> {
        Some(slices)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles_mut<'s, 'a>(slices: &'s mut [&'a mut [f64]]) -> Option<&'s mut [&'a mut [f64]]> {
        Some(slices)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_f64(self) -> f64 {
        self
    }
    fn erf_value(self) -> f64 {
        libm::erf(self)
    }
    fn erfc_value(self) -> f64 {
        libm::erfc(self)
    }
    fn ln_gamma_value(self) -> f64 {
        libm::lgamma(self)
    }
    fn polygamma_value(self, order: u32) -> f64 {
        special::polygamma(order, self)
    }
}

impl Base for f32 {
    const NAME: &'static str = "f32";
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const UNWRITTEN: f32 = f32::from_bits(0x7FEE_7772);
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_unwritten(self) -> bool {
        self.to_bits() << 1 == f32::UNWRITTEN.to_bits() << 1
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_f64(self) -> f64 {
        self as f64
    }
    fn erf_value(self) -> f32 {
        libm::erff(self)
    }
    fn erfc_value(self) -> f32 {
        libm::erfcf(self)
    }
    fn ln_gamma_value(self) -> f32 {
        libm::lgammaf(self)
    }
    fn polygamma_value(self, order: u32) -> f32 {
        special::polygamma(order, self as f64) as f32
    }
}

macro_rules! scalar_base {
    ($($base:ty),*) => {$(
        impl Scalar for $base {
            type Base = $base;
            const DEPTH: u32 = 0;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn constant(value: $base) -> $base {
                value
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn primal(self) -> $base {
                self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn as_plain<'s, 'a>(slices: &'s [&'a [$base]]) -> Option<&'s [&'a [$base]]> {
                Some(slices)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn as_plain_mut<'s, 'a>(slices: &'s mut [&'a mut [$base]]) -> Option<&'s mut [&'a mut [$base]]> {
                Some(slices)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is_constant(&self) -> bool {
                true
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply<R: Unary>(self, rule: R) -> $base {
                rule.value(self)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply2<R: Binary>(self, other: $base, rule: R) -> $base {
                rule.value(self, other)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply2_right<R: Binary>(self, other: $base, rule: R) -> $base {
                rule.value(self, other)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply2_left<R: Binary>(first: $base, second: $base, rule: R) -> $base {
                rule.value(first, second)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn fused(self, factor: $base, addend: $base) -> $base {
                <$base>::mul_add(self, factor, addend)
            }
            fn custom<R: CustomRule<$base>>(rule: &Arc<R>, x: &[$base], y: &mut Vec<$base>) {
                rule.value(x, y);
            }
        }
        impl Real<$base> for $base {}
    )*};
}
scalar_base!(f64, f32);
