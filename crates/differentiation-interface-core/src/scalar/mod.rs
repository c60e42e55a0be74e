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
use crate::rules::{Binary, Times, Unary};
use std::fmt::Debug;
use std::num::NonZeroU32;
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

    /// The number `value` with no derivative attached.
    fn constant(value: Self::Base) -> Self;

    /// The number `value` with no derivative attached, which may be another one in the next call: a recording does not take
    /// it for a constant. `index` tells the parameters of a function apart.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(_index: usize, value: Self::Base) -> Self {
        Self::constant(value)
    }

    /// The slices as slices of plain numbers, if that is what this type is. Slices of slices, so that nobody has to make a table of
    /// the same slices in another type.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_plain<'s, 'a>(_slices: &'s [&'a [Self]]) -> Option<&'s [&'a [Self::Base]]> {
        None
    }

    /// The same, to write to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_plain_mut<'s, 'a>(_slices: &'s mut [&'a mut [Self]]) -> Option<&'s mut [&'a mut [Self::Base]]> {
        None
    }

    /// How many tangents a number has, if it is a plain value with tangents and nothing else; 0 if it is not. Whoever can send
    /// several tangents through a function at once takes such numbers apart and puts them together again by the three
    /// methods below, which mean nothing for other numbers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent_lanes() -> usize {
        0
    }

    /// The differentiation that the tangents belong to; none if there are no tangents.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent_mark(&self) -> Option<NonZeroU32> {
        None
    }

    /// The tangent in a lane.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent(&self, _lane: usize) -> Self::Base {
        Self::Base::ZERO
    }

    /// The number with this value and these tangents.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_tangents(value: Self::Base, _mark: NonZeroU32, _tangent: impl Fn(usize) -> Self::Base) -> Self {
        Self::constant(value)
    }

    /// The plain value, for engines that decide by it how to compute, not what: nothing is recorded and nothing refused.
    /// Functions to be differentiated call [`primal`](Scalar::primal).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn peek(&self) -> Self::Base {
        self.primal()
    }

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
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        if relation.holds(left.partial_cmp(&right)) { then } else { otherwise }
    }

    /// The product with a plain number, at no tangent cost beyond scaling.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn scale(self, factor: Self::Base) -> Self {
        self.apply2_right(factor, Times)
    }

    /// `self * factor + addend` with a value that is rounded once. User code writes
    /// [`x.mul_add(factor, addend)`](num_traits::Float::mul_add).
    fn fused(self, factor: Self, addend: Self) -> Self;

    /// Whether this number is zero and carries no derivative, so that a product with it can be skipped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_inert_zero(&self) -> bool {
        self.is_constant() && self.peek() == Self::Base::ZERO
    }
}
