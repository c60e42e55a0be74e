//! [`Real`], the bound of users' functions.
//!
//! Plain numbers can stand on both sides of an operator (`100.0 * x`, `1.0 - x`, `&x * &y`). Stable Rust allows this by bounds
//! that a trait implies on *other* types, see [`Imply`].

use super::{Base, Condition, Relation, Scalar};
use crate::rules::{self, Powc};
use num_traits::{Float, FloatConst, FromPrimitive, Inv, Signed};
use std::cmp::Ordering;
use std::fmt::{Display, LowerExp};
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

/// Type identity as a projection, a supertrait of [`Imply`].
pub trait Same<T> {
    /// Always `T`.
    type Is;
}
impl<S: ?Sized, T> Same<T> for S {
    type Is = T;
}

/// Lets a trait imply bounds on another type `T`: `trait Real: Imply<f64, Is: Mul<Self>>` makes `f64: Mul<R>` known
/// wherever `R: Real` is.
pub trait Imply<T>: Same<T, Is = T> {}
impl<S: ?Sized, T> Imply<T> for S {}

/// The real numbers of users' functions, over the plain number `B`.
///
/// # For users
/// `fn f<T: Real>(x: &[T]) -> T` can be evaluated with `f64` and differentiated by every backend. A `T` has the operations of
/// `f64`:
/// - the methods of `num_traits::Float` (so generic code bounded by `Float` can be called with `T`),
/// - arithmetic by value and by reference, with `T` and with plain numbers on either side,
/// - comparisons with `T` and with plain numbers (by the value only),
/// - `sum()`, `product()`, the assigning operators, formatting.
///
/// Constants stay plain numbers, for which no derivatives are computed. Write `T::constant(1.0)` if a `T` is needed.
///
/// Conversion by `ToPrimitive::to_f64` would drop the derivative silently, so `to_f64` and `to_f32` return `None` for a number that
/// carries one. To drop a derivative on purpose, write [`primal`](Scalar::primal).
///
/// ```
/// use differentiation_interface_core::Real;
///
/// fn energy<T: Real>(x: &[T], data: &[f64]) -> T {
///     let fit: T = x.iter().zip(data).map(|(v, d)| (v - d) * (v - d)).sum();
///     0.5 * fit + x[0].powi(4) / 4.0
/// }
/// assert_eq!(energy(&[2.0, 1.0], &[1.0, 3.0]), 0.5 * 5.0 + 4.0);
/// ```
///
/// # For backend authors
/// Implement [`Core`](super::Core) and use [`Num`](super::Num), which implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number over `{B}`",
    note = "`Real` is `Real<f64>`; functions over single precision are written with `T: Real<f32>`"
)]
pub trait Real<B = f64>:
    Scalar<Base = B>
    + Float
    + FloatConst
    + FromPrimitive
    + Signed
    + Inv<Output = Self>
    + Display
    + LowerExp
    + RealArithmetic<B>
where
    B: Base,
{
    /// Value of the error function, 2/√π ∫₀ˣ exp(-t²) dt.
    #[inline]
    fn erf(self) -> Self {
        rules::erf(self)
    }
    /// Value of the complementary error function, 1 - erf(x), accurate for large x.
    #[inline]
    fn erfc(self) -> Self {
        rules::erfc(self)
    }
    /// Logarithm of |Γ(x)|.
    #[inline]
    fn ln_gamma(self) -> Self {
        rules::ln_gamma(self)
    }
    /// Digamma function, the derivative of [`ln_gamma`](Real::ln_gamma).
    #[inline]
    fn digamma(self) -> Self {
        rules::digamma(self)
    }
    /// Logistic function 1/(1 + exp(-x)), without overflow.
    #[inline]
    fn logistic(self) -> Self {
        rules::logistic(self)
    }
    /// Softplus ln(1 + exp(x)), without overflow.
    #[inline]
    fn softplus(self) -> Self {
        rules::softplus(self)
    }
    /// Power with a constant exponent. Its derivative is also correct at negative and zero `x` where the power is defined, unlike that
    /// of [`powf`](Float::powf), whose exponent may carry a derivative.
    #[inline]
    fn powc(self, exponent: B) -> Self {
        self.apply(Powc(exponent.as_f64()))
    }
    /// The remainder x - |m| ⌊x/|m|⌋, which is never negative. Its derivative in x is 1; it jumps where it is 0.
    ///
    /// ```
    /// # use differentiation_interface_core::Real;
    /// // An angle in [0, 2π).
    /// fn wrapped<T: Real>(angle: T) -> T {
    ///     Real::rem_euclid(angle, T::constant(std::f64::consts::TAU))
    /// }
    /// assert_eq!(wrapped(-1.0), std::f64::consts::TAU - 1.0);
    /// ```
    #[inline]
    fn rem_euclid(self, divisor: Self) -> Self {
        let remainder = self % divisor;
        remainder.less_than(Self::constant(B::ZERO)).select(remainder + divisor.abs(), remainder)
    }
    /// The quotient (x - r)/m with the remainder r of [`rem_euclid`](Real::rem_euclid). Its derivative is 0.
    #[inline]
    fn div_euclid(self, divisor: Self) -> Self {
        let quotient = (self / divisor).trunc();
        (self % divisor).less_than(Self::constant(B::ZERO)).select(quotient - divisor.signum(), quotient)
    }
    /// The order of two values with NaN and the sign of zero, as that of [`f64::total_cmp`], but for two NaNs of one sign, which are equal. It has no derivative,
    /// and a recording holds where it is the same.
    ///
    /// ```
    /// # use differentiation_interface_core::Real;
    /// fn largest<T: Real>(x: &[T]) -> Option<T> {
    ///     x.iter().copied().max_by(|a, b| Real::total_cmp(a, b))
    /// }
    /// assert_eq!(largest(&[1.0, 3.0, -5.0]), Some(3.0));
    /// ```
    #[track_caller]
    fn total_cmp(&self, other: &Self) -> Ordering {
        let found = self.partial_cmp(other);
        match found {
            Some(order) if order != Ordering::Equal || *self != Self::default() => order,
            _ => {
                // From the lowest: NaN with a sign, numbers, NaN without; for zeros, -0 and 0.
                let rank = |x: &Self| match (found, x.is_nan(), Float::is_sign_negative(*x)) {
                    (None, false, _) => 0,
                    (_, _, is_negative) => {
                        if is_negative {
                            -1
                        } else {
                            1
                        }
                    }
                };
                rank(self).cmp(&rank(other))
            }
        }
    }
    /// The condition `self < other`, to select one of two numbers without a branch.
    ///
    /// An `if` follows one side; [`select`](Condition::select) computes both, for engines whose result must hold at all points: sparsity
    /// detection for all points, recordings. With other engines it costs no more than the `if`.
    ///
    /// ```
    /// # use differentiation_interface_core::Real;
    /// fn huber<T: Real>(x: T) -> T {
    ///     x.abs().less_than(T::one()).select(0.5 * x * x, x.abs() - 0.5)
    /// }
    /// assert_eq!(huber(0.5), 0.125);
    /// assert_eq!(huber(-3.0), 2.5);
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn less_than(self, other: Self) -> Condition<Self> {
        Condition::new(self, Relation::Less, other)
    }
    /// The condition `self <= other`; see [`less_than`](Real::less_than).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn at_most(self, other: Self) -> Condition<Self> {
        Condition::new(self, Relation::LessOrEqual, other)
    }
    /// The condition `self > other`; see [`less_than`](Real::less_than).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn greater_than(self, other: Self) -> Condition<Self> {
        Condition::new(self, Relation::Greater, other)
    }
    /// The condition `self >= other`; see [`less_than`](Real::less_than).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn at_least(self, other: Self) -> Condition<Self> {
        Condition::new(self, Relation::GreaterOrEqual, other)
    }
    /// The condition `self == other`; see [`less_than`](Real::less_than).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn equal_to(self, other: Self) -> Condition<Self> {
        Condition::new(self, Relation::Equal, other)
    }
}

/// Says which bound a function over other plain numbers needs; the mismatch of types alone does not.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the function is written for numbers over `{B}`, the point is of `{Self}`",
    note = "write the bound `T: Real<{Self}>`, or pass a point of `{B}`; `Real` alone is `Real<f64>`"
)]
pub trait PrecisionOf<B> {}
impl PrecisionOf<f64> for f64 {}
impl PrecisionOf<f32> for f32 {}

/// The operator bounds of [`Real`], in a trait of their own so that `Real` stays readable. Every [`Real`] implements it; user code
/// need not name it.
#[doc(hidden)]
pub trait RealArithmetic<B: 'static>:
    Sized
    + 'static
    + Operand<Self, Self>
    + Operand<B, Self>
    + for<'a> Operand<&'a Self, Self>
    + for<'a> Operand<&'a B, Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
    + AddAssign<B>
    + SubAssign<B>
    + MulAssign<B>
    + DivAssign<B>
    + RemAssign<B>
    + for<'a> AddAssign<&'a Self>
    + for<'a> SubAssign<&'a Self>
    + for<'a> MulAssign<&'a Self>
    + for<'a> DivAssign<&'a Self>
    + for<'a> RemAssign<&'a Self>
    + for<'a> AddAssign<&'a B>
    + for<'a> SubAssign<&'a B>
    + for<'a> MulAssign<&'a B>
    + for<'a> DivAssign<&'a B>
    + for<'a> RemAssign<&'a B>
    + Sum
    + Product
    + for<'a> Sum<&'a Self>
    + for<'a> Product<&'a Self>
    + PartialEq<B>
    + PartialOrd<B>
    + Imply<B, Is: Operand<Self, Self> + for<'a> Operand<&'a Self, Self> + Operand<B, B> + for<'a> Operand<&'a B, B>>
    + Imply<B, Is: PartialEq<B> + PartialOrd<B> + PartialEq<Self> + PartialOrd<Self>>
    + for<'a> Imply<
        &'a Self,
        Is: Operand<Self, Self>
                + Operand<&'a Self, Self>
                + Operand<B, Self>
                + Operand<&'a B, Self>
                + Neg<Output = Self>,
    >
    + for<'a> Imply<&'a B, Is: Operand<Self, Self> + Operand<&'a Self, Self> + Operand<B, B> + Operand<&'a B, B>>
{
}

/// The five operators with one type of right-hand side, implemented for every type that has them. User code need not name it.
#[doc(hidden)]
pub trait Operand<Rhs, Out>:
    Add<Rhs, Output = Out>
    + Sub<Rhs, Output = Out>
    + Mul<Rhs, Output = Out>
    + Div<Rhs, Output = Out>
    + Rem<Rhs, Output = Out>
{
}
impl<L, Rhs, Out> Operand<Rhs, Out> for L where
    L: Add<Rhs, Output = Out>
        + Sub<Rhs, Output = Out>
        + Mul<Rhs, Output = Out>
        + Div<Rhs, Output = Out>
        + Rem<Rhs, Output = Out>
{
}

impl RealArithmetic<f64> for f64 {}
impl RealArithmetic<f32> for f32 {}
