//! The two plain numbers, `f64` and `f32`.
//!
//! Called by the rule table, which evaluates values on [`Base`], and by operators for the user's points and results.

use super::Real;
use crate::arithmetic::{Base, Binary, CustomRule, Scalar, Unary};
use crate::recordings::{Internals, PlainSlices};
use crate::rules::special;
use std::cmp::Ordering;
use std::sync::Arc;

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
            const INTERNALS: &'static Internals<$base, $base> = &Internals {
                peek: |number| *number,
                parameter: |_, value| value,
                may_be_recorded: false,
                tangents: None,
                plain: Some(PlainSlices { read: |slices| slices, write: |slices| slices }),
            };
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn constant(value: $base) -> $base {
                value
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn primal(self) -> $base {
                self
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn is_constant(&self) -> bool {
                true
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn compare_magnitude(&self, other: $base) -> Option<Ordering> {
                self.abs().partial_cmp(&other)
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
            fn scale(self, factor: $base) -> $base {
                self * factor
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
