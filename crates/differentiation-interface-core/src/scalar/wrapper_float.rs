//! The traits of `num_traits` for [`Num`], each method one rule.

use super::{Base, Core, Num, Relation, Scalar};
use crate::rules::{self, *};
use num_traits::{
    Bounded, Float, FloatConst, FromPrimitive, Inv, Num as NumTrait, NumCast, One, Pow, Signed, ToPrimitive, Zero,
};
use std::cmp::Ordering;
use std::num::FpCategory;

impl<C: Core> Zero for Num<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn zero() -> Self {
        Num::constant(C::Base::ZERO)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl<C: Core> One for Num<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn one() -> Self {
        Num::constant(C::Base::ONE)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_one(&self) -> bool {
        *self == Self::one()
    }
}

impl<C: Core> NumTrait for Num<C> {
    type FromStrRadixErr = <C::Base as NumTrait>::FromStrRadixErr;
    fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        C::Base::from_str_radix(text, radix).map(Num::constant)
    }
}

/// Conversions to integers truncate, which is piecewise constant, so the derivative is zero; engines that record decisions record
/// the integer only. Conversions to floating point return `None` for a number that carries a derivative, which would be lost
/// silently.
impl<C: Core> ToPrimitive for Num<C> {
    #[track_caller]
    fn to_i64(&self) -> Option<i64> {
        rules::trunc(*self).0.observe().to_i64()
    }
    #[track_caller]
    fn to_u64(&self) -> Option<u64> {
        rules::trunc(*self).0.observe().to_u64()
    }
    #[track_caller]
    fn to_f32(&self) -> Option<f32> {
        let value = self.0.observe();
        if self.is_constant() { value.to_f32() } else { None }
    }
    #[track_caller]
    fn to_f64(&self) -> Option<f64> {
        let value = self.0.observe();
        if self.is_constant() { value.to_f64() } else { None }
    }
}

impl<C: Core> NumCast for Num<C> {
    fn from<T: ToPrimitive>(number: T) -> Option<Self> {
        <C::Base as NumCast>::from(number).map(Num::constant)
    }
}

impl<C: Core> FromPrimitive for Num<C> {
    fn from_i64(n: i64) -> Option<Self> {
        <C::Base as NumCast>::from(n).map(Num::constant)
    }
    fn from_u64(n: u64) -> Option<Self> {
        <C::Base as NumCast>::from(n).map(Num::constant)
    }
    fn from_f64(n: f64) -> Option<Self> {
        Some(Num::constant(<C::Base as Base>::from_f64(n)))
    }
}

impl<C: Core> Bounded for Num<C> {
    fn min_value() -> Self {
        Num::constant(<C::Base as Float>::min_value())
    }
    fn max_value() -> Self {
        Num::constant(<C::Base as Float>::max_value())
    }
}

impl<C: Core> Inv for Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inv(self) -> Num<C> {
        rules::recip(self)
    }
}

impl<C: Core> Signed for Num<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn abs(&self) -> Self {
        rules::abs(*self)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn abs_sub(&self, other: &Self) -> Self {
        self.apply2(*other, AbsSub)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn signum(&self) -> Self {
        rules::signum(*self)
    }
    #[track_caller]
    fn is_positive(&self) -> bool {
        Float::is_sign_positive(*self)
    }
    #[track_caller]
    fn is_negative(&self) -> bool {
        Float::is_sign_negative(*self)
    }
}

impl<C: Core> Pow<Num<C>> for Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pow(self, exponent: Num<C>) -> Num<C> {
        self.apply2(exponent, Powf)
    }
}

impl<C: Core> Pow<i32> for Num<C> {
    type Output = Num<C>;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pow(self, exponent: i32) -> Num<C> {
        self.apply(Powi(exponent))
    }
}

/// The methods that depend on the plain number.
macro_rules! over_base {
    ($($base:ty),*) => {$(
        impl<C: Core<Base = $base>> Pow<$base> for Num<C> {
            type Output = Num<C>;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn pow(self, exponent: $base) -> Num<C> {
                self.apply(Powc(exponent.as_f64()))
            }
        }
    )*};
}
over_base!(f64, f32);

/// Constants of the base number.
macro_rules! constants {
    ($($name:ident)*) => {
        impl<C: Core> FloatConst for Num<C> {
            $(#[cfg_attr(not(debug_assertions), inline(always))] fn $name() -> Self { Num::constant(C::Base::$name()) })*
        }
    };
}
constants! {
    E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8
    LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2 TAU LOG10_2 LOG2_10
}

/// Methods of `Float` that are one rule or one constant.
macro_rules! float_methods {
    (constants: $($c:ident)*; unary: $($u:ident $unary:ident),*; binary: $($b:ident $binary:ident),*;) => {
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $c() -> Self { Num::constant(<C::Base as Float>::$c()) })*
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $u(self) -> Self { self.apply($unary) })*
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $b(self, other: Self) -> Self { self.apply2(other, $binary) })*
    };
}

/// Tests of a number are comparisons: an engine that records or refuses comparisons treats them alike.
impl<C: Core> Float for Num<C> {
    float_methods! {
        constants: nan infinity neg_infinity neg_zero min_value min_positive_value max_value epsilon;
        unary: floor Floor, ceil Ceil, round Round, trunc Trunc, fract Fract, abs Abs, signum Signum, recip Recip,
            sqrt Sqrt, cbrt Cbrt, exp Exp, exp2 Exp2, exp_m1 ExpM1, ln Ln, log2 Log2, log10 Log10, ln_1p Ln1p,
            sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan, sinh Sinh, cosh Cosh, tanh Tanh,
            asinh Asinh, acosh Acosh, atanh Atanh, to_degrees Degrees, to_radians Radians;
        binary: powf Powf, atan2 Atan2, hypot Hypot, max Max, min Min, abs_sub AbsSub, copysign Copysign;
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_nan(self) -> bool {
        self.0.compare(&self.0).is_none()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_infinite(self) -> bool {
        self.0.compare_magnitude(C::Base::infinity()) == Some(Ordering::Equal)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_finite(self) -> bool {
        self.0.compare_magnitude(C::Base::infinity()) == Some(Ordering::Less)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_normal(self) -> bool {
        Relation::GreaterOrEqual.holds(self.0.compare_magnitude(C::Base::min_positive_value())) && self.is_finite()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_subnormal(self) -> bool {
        self.0.compare_magnitude(C::Base::min_positive_value()) == Some(Ordering::Less)
            && self.0.compare_magnitude(C::Base::ZERO) == Some(Ordering::Greater)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_sign_positive(self) -> bool {
        !Float::is_sign_negative(self)
    }
    /// No comparison sees the sign of a zero or of NaN, so that these values are read.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn is_sign_negative(self) -> bool {
        match self.0.compare_plain(C::Base::ZERO) {
            Some(Ordering::Less) => true,
            Some(Ordering::Greater) => false,
            _ => self.0.observe().is_sign_negative(),
        }
    }
    #[track_caller]
    fn classify(self) -> FpCategory {
        match self.0.compare_magnitude(C::Base::min_positive_value()) {
            None => FpCategory::Nan,
            Some(Ordering::Less) if self.0.compare_magnitude(C::Base::ZERO) == Some(Ordering::Equal) => {
                FpCategory::Zero
            }
            Some(Ordering::Less) => FpCategory::Subnormal,
            _ if self.is_finite() => FpCategory::Normal,
            _ => FpCategory::Infinite,
        }
    }
    #[track_caller]
    fn integer_decode(self) -> (u64, i16, i8) {
        Float::integer_decode(self.0.observe())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Scalar::fused(self, a, b)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn powi(self, n: i32) -> Self {
        self.apply(Powi(n))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn log(self, base: Self) -> Self {
        rules::ln(self) / rules::ln(base)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sin_cos(self) -> (Self, Self) {
        (rules::sin(self), rules::cos(self))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.apply2(low, AtLeast).apply2(high, AtMost)
    }
}
