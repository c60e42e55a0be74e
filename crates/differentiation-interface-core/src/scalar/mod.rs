//! The numbers functions run on: [`Base`], [`Scalar`], [`Real`], and the wrapper [`Num`].
//!
//! Users write functions against [`Real`]; engines nest over [`Scalar`]; the two base numbers `f64` and `f32` are
//! [`Base`]. A differentiation number (dual, tape variable, tracer, ...) implements the small trait [`Core`], and
//! [`Num`] turns it into something that has every trait numeric code asks for.

mod base;
mod condition;
mod formatting;
mod real;
mod wrapper;
mod wrapper_float;
mod wrapper_ops;

pub use base::Base;
pub use condition::{Condition, Relation};
pub(crate) use formatting::is_formatting;
pub use real::{Imply, Real, Same};
pub use wrapper::{Core, Num};

use crate::custom::CustomRule;
use crate::error::ErrorKind;
use crate::recordings::Internals;
use crate::rules::{Binary, Times, Unary};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// A number that engines can nest over: a base number, or a differentiation number over another scalar.
///
/// # For users
/// Write functions against [`Real`], which adds the whole of `num_traits::Float` and mixing with plain numbers.
/// The two methods of this trait that user code needs are [`constant`](Scalar::constant) and
/// [`primal`](Scalar::primal).
///
/// # For engine authors
/// 1. Every elementary function reaches a scalar through `apply`, `apply2`, `apply2_right` or `apply2_left` with
///    a rule of the table in [`rules`](crate::rules); the scalar never lists functions itself.
/// 2. `constant(c)` carries no derivative, and `is_constant` may return `true` only for such numbers.
/// 3. Comparisons look at the primal only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number this crate can differentiate with",
    note = "scalars are `f64`, `f32` and the differentiation numbers over them; wrap a foreign number type in `Num` by implementing `Core`"
)]
pub trait Scalar:
    Copy
    + Default
    + PartialOrd
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// The plain number at the bottom of the nesting: `f64` or `f32`.
    type Base: Base;

    /// How many differentiations are nested in the number: 0 for a plain one.
    const DEPTH: u32;

    /// What engines do with the number beyond arithmetic, and functions do not.
    const INTERNALS: &'static Internals<Self, Self::Base>;

    /// The number `value` with no derivative attached.
    fn constant(value: Self::Base) -> Self;

    /// The plain value, at the bottom of all nesting. **The derivative is dropped**, deliberately and visibly: use it
    /// for table look-ups, stopping tests and printing.
    #[track_caller]
    fn primal(self) -> Self::Base;

    /// Whether the number certainly carries no derivative at any level.
    fn is_constant(&self) -> bool;

    /// Makes the differentiations that the number belongs to return this error, on whatever thread they run. For engines that
    /// find an error in arithmetic.
    fn spoil(&self, _kind: ErrorKind) {}

    /// Applies an elementary function of one argument.
    fn apply<R: Unary>(self, rule: R) -> Self;

    /// Applies an elementary function of two arguments.
    fn apply2<R: Binary>(self, other: Self, rule: R) -> Self;

    /// Applies an elementary function whose second argument is a plain number.
    fn apply2_right<R: Binary>(self, other: Self::Base, rule: R) -> Self;

    /// Applies an elementary function whose first argument is a plain number.
    fn apply2_left<R: Binary>(first: Self::Base, second: Self, rule: R) -> Self;

    /// Applies a function with its own derivative to an array of numbers; the outputs are left in `y`.
    fn custom<R: CustomRule<Self::Base>>(rule: &Arc<R>, x: &[Self], y: &mut Vec<Self>);

    /// `then` if `left` is in `relation` to `right`, and `otherwise` if not. User code writes
    /// [`x.less_than(y).select(then, otherwise)`](Real::less_than).
    #[inline(always)]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        if relation.holds(left.partial_cmp(&right)) { then } else { otherwise }
    }

    /// The product with a plain number, at no tangent cost beyond scaling.
    #[inline(always)]
    fn scale(self, factor: Self::Base) -> Self {
        self.apply2_right(factor, Times)
    }

    /// `self * factor + addend` with a value that is rounded once. User code writes
    /// [`x.mul_add(factor, addend)`](num_traits::Float::mul_add).
    fn fused(self, factor: Self, addend: Self) -> Self;

    /// Whether this number is zero and carries no derivative, so that a product with it can be skipped.
    #[inline(always)]
    fn is_inert_zero(&self) -> bool {
        self.is_constant() && (Self::INTERNALS.peek)(self) == Self::Base::ZERO
    }
}
