//! Our numbers as a `RealField` of `nalgebra`.
//!
//! Called by `nalgebra` for everything it computes. Elementary functions are the rules of the table; a method that chooses by a value
//! is a comparison that engines record or refuse, or a [`select`](Scalar::select).

use super::angles::SphericalBessel;
use crate::rules::*;
use crate::scalar::{Base, Core, Num, Relation, Scalar};
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use num_traits::{Float, FloatConst, Signed, Zero};
use simba::scalar::{ComplexField, Field, RealField, SubsetOf};
use simba::simd::SimdValue;

impl<C: Core> Field for Num<C> {}

/// One lane.
impl<C: Core> SimdValue for Num<C> {
    const LANES: usize = 1;
    type Element = Self;
    type SimdBool = bool;

    #[inline(always)]
    fn splat(value: Self) -> Self {
        value
    }
    #[inline(always)]
    fn extract(&self, _: usize) -> Self {
        *self
    }
    // The trait allows an index out of bounds to be undefined behaviour. There is one lane, which both methods use whatever the
    // index is, so they are safe for every index.
    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait declares the method unsafe; the body is safe")]
    unsafe fn extract_unchecked(&self, _: usize) -> Self {
        *self
    }
    #[inline(always)]
    fn replace(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline(always)]
    #[expect(unsafe_code, reason = "the trait declares the method unsafe; the body is safe")]
    unsafe fn replace_unchecked(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline(always)]
    fn select(self, condition: bool, other: Self) -> Self {
        if condition { self } else { other }
    }
}

impl<C: Core> SubsetOf<Num<C>> for Num<C> {
    fn to_superset(&self) -> Self {
        *self
    }
    fn from_superset_unchecked(element: &Self) -> Self {
        *element
    }
    fn is_in_subset(_: &Self) -> bool {
        true
    }
}

/// A plain number is a number without derivative. The way back observes the value and drops the derivative, as
/// [`primal`](Scalar::primal) does: `nalgebra` calls it to choose how to compute (the order of an approximation, say), and unwraps
/// the result, so that it has to exist for every number.
macro_rules! plain_subsets {
    ($($plain:ty),*) => {$(
        impl<C: Core> SubsetOf<Num<C>> for $plain {
            fn to_superset(&self) -> Num<C> {
                Num::constant(C::Base::from_f64(*self as f64))
            }
            #[track_caller]
            fn from_superset_unchecked(element: &Num<C>) -> $plain {
                element.0.observe().as_f64() as $plain
            }
            fn is_in_subset(_: &Num<C>) -> bool {
                true
            }
        }
    )*};
}
plain_subsets!(f64, f32);

impl<C: Core> AbsDiffEq for Num<C> {
    type Epsilon = Self;
    fn default_epsilon() -> Self {
        Num::constant(<C::Base as Float>::epsilon())
    }
    #[track_caller]
    fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
        self == other || Signed::abs(&(*self - *other)) <= epsilon
    }
}

impl<C: Core> RelativeEq for Num<C> {
    fn default_max_relative() -> Self {
        Num::constant(<C::Base as Float>::epsilon())
    }
    #[track_caller]
    fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
        if self.abs_diff_eq(other, epsilon) {
            return true;
        }
        let largest = self.apply(Abs).apply2(other.apply(Abs), Max);
        Float::is_finite(largest) && (*self - *other).apply(Abs) <= largest * max_relative
    }
}

impl<C: Core> UlpsEq for Num<C> {
    fn default_max_ulps() -> u32 {
        f64::default_max_ulps()
    }
    #[track_caller]
    fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
        let epsilon = epsilon.0.observe().as_f64();
        if C::Base::IS_DOUBLE {
            f64::ulps_eq(&self.0.observe().as_f64(), &other.0.observe().as_f64(), epsilon, max_ulps)
        } else {
            let single = |number: &Self| number.0.observe().as_f64() as f32;
            f32::ulps_eq(&single(self), &single(other), epsilon as f32, max_ulps)
        }
    }
}

/// 1 or -1 with the sign of `x`, also for zeros.
fn sign<C: Core>(x: Num<C>) -> Num<C> {
    Num::<C>::apply2_left(C::Base::ONE, x, Copysign)
}

/// `then` if `x` is not negative, and `otherwise` if it is.
#[track_caller]
fn by_sign<C: Core>(x: Num<C>, then: Num<C>, otherwise: Num<C>) -> Num<C> {
    Scalar::select(x, Relation::GreaterOrEqual, Num::zero(), then, otherwise)
}

/// Methods that are one rule of one argument, or of two.
macro_rules! rules {
    (unary: $($u:ident $unary:ident),*; binary: $($b:ident $binary:ident),*;) => {
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $u(self) -> Self { self.apply($unary) })*
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $b(self, other: Self) -> Self { self.apply2(other, $binary) })*
    };
}

/// Methods of a complex number that return a real one without change, or make it.
macro_rules! identities {
    ($($method:ident)*) => {
        $(#[cfg_attr(not(debug_assertions), inline(always))] fn $method(self) -> Self { self })*
    };
}

/// The provided methods `cosc` and `coshc` stay as they are: `simba` defines both as the constant 1 at zero, where the functions have
/// a pole.
impl<C: Core> ComplexField for Num<C> {
    type RealField = Self;

    rules! {
        unary: modulus Abs, norm1 Abs, abs Abs, signum Signum, recip Recip, sqrt Sqrt, cbrt Cbrt,
            floor Floor, ceil Ceil, round Round, trunc Trunc, fract Fract,
            exp Exp, exp2 Exp2, exp_m1 ExpM1, ln Ln, log2 Log2, log10 Log10, ln_1p Ln1p,
            sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan,
            sinh Sinh, cosh Cosh, tanh Tanh, asinh Asinh, acosh Acosh, atanh Atanh;
        binary: scale Times, unscale Over, hypot Hypot, powf Powf, powc Powf;
    }
    identities! { real conjugate }

    fn from_real(re: Self) -> Self {
        re
    }
    fn imaginary(self) -> Self {
        Num::zero()
    }
    fn modulus_squared(self) -> Self {
        self * self
    }
    #[track_caller]
    fn argument(self) -> Self {
        by_sign(self, Num::zero(), Num::constant(C::Base::PI()))
    }
    /// |x| and the sign of x, 1 at zero. Their product is `x` in derivatives too, also at zero, so that reflections and rotations of
    /// vectors with a zero have the derivatives of those beside it.
    #[track_caller]
    fn to_exp(self) -> (Self, Self) {
        let one = Num::constant(C::Base::ONE);
        (by_sign(self, self, -self), by_sign(self, one, -one))
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        Scalar::fused(self, a, b)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.apply(Sin), self.apply(Cos))
    }
    /// sin(x)/x as an even function of x, with all its derivatives at zero.
    fn sinc(self) -> Self {
        (self * self).apply(SphericalBessel(0))
    }
    /// sinh(x)/x as an even function of x, with all its derivatives at zero.
    fn sinhc(self) -> Self {
        (-(self * self)).apply(SphericalBessel(0))
    }
    fn log(self, base: Self) -> Self {
        self.apply(Ln) / base.apply(Ln)
    }
    fn powi(self, n: i32) -> Self {
        self.apply(Powi(n))
    }
    #[track_caller]
    fn is_finite(&self) -> bool {
        Float::is_finite(*self)
    }
    #[track_caller]
    fn try_sqrt(self) -> Option<Self> {
        (self >= Num::zero()).then(|| self.apply(Sqrt))
    }
}

/// Constants of the plain number.
macro_rules! constants {
    ($($name:ident $constant:ident),*) => {
        $(fn $name() -> Self { Num::constant(C::Base::$constant()) })*
    };
}

impl<C: Core> RealField for Num<C> {
    rules! {
        unary: ;
        binary: copysign Copysign, max Max, min Min, atan2 Atan2;
    }
    constants! {
        pi PI, two_pi TAU, frac_pi_2 FRAC_PI_2, frac_pi_3 FRAC_PI_3, frac_pi_4 FRAC_PI_4, frac_pi_6 FRAC_PI_6, frac_pi_8 FRAC_PI_8,
        frac_1_pi FRAC_1_PI, frac_2_pi FRAC_2_PI, frac_2_sqrt_pi FRAC_2_SQRT_PI,
        e E, log2_e LOG2_E, log10_e LOG10_E, ln_2 LN_2, ln_10 LN_10
    }

    #[track_caller]
    fn is_sign_positive(&self) -> bool {
        sign(*self) > Num::zero()
    }
    #[track_caller]
    fn is_sign_negative(&self) -> bool {
        sign(*self) < Num::zero()
    }
    fn clamp(self, low: Self, high: Self) -> Self {
        self.apply2(low, AtLeast).apply2(high, AtMost)
    }
    fn min_value() -> Option<Self> {
        Some(Num::constant(<C::Base as Float>::min_value()))
    }
    fn max_value() -> Option<Self> {
        Some(Num::constant(<C::Base as Float>::max_value()))
    }
}
