//! The wrapper that implements the public traits for every active number type.
//!
//! An engine implements [`Core`]: constants, rules, the primal. [`Num`] implements [`Scalar`] and [`Real`] on top of it, with all
//! their supertraits of `num_traits` and `std`, once for all engines.

use super::real::{PrecisionOf, RealArithmetic};
use super::{Base, Real, Relation, Scalar};
use crate::custom::CustomRule;
use crate::error::ErrorKind;
use crate::fault;
use crate::recordings::Internals;
use crate::rules::{Abs, Binary, Plus, Times, Unary};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

/// The part of an active number type that an engine implements. [`Num`] makes a full number of it.
///
/// # For backend authors
/// 1. A `Core` is plain `Copy` data; `constant` makes one without access to any recording.
/// 2. `unary` and `binary` compute the value by the rule on the inner scalar, and the derivative information from the
///    rule's derivative. `binary_right` and `binary_left` are the same with one plain operand, which carries no derivative.
/// 3. `compare` compares primal values only. The default is right unless comparisons must be recorded or refused.
/// 4. `observe` is called for every value that is passed to plain code (`primal()`, casts, formatting). The default is right unless
///    that must be recorded or refused. Tests of a number (`is_nan`, `is_finite`) are comparisons, except for the sign of a zero and of NaN.
///    `compare`, `compare_plain`, `compare_magnitude` and `observe` are `#[track_caller]`: the caller is the line in the user's code.
/// 5. `select` compares and selects. The default is right unless both sides must be kept.
/// 6. `spoil` reports an error to the differentiations that the number belongs to. A number that carries an
///    [identity](crate::identity) implements it.
pub trait Core: Copy + Debug + Send + Sync + 'static {
    /// The plain number at the bottom.
    type Base: Base;

    /// How many differentiations are nested in the number, see [`Scalar::DEPTH`]: one more than that of the scalar below.
    const DEPTH: u32;

    /// What other engines do with the number beyond arithmetic. The default is right unless the number type distinguishes
    /// [parameters](Internals::parameter), or consists of a plain value and [tangents](Internals::tangents).
    const INTERNALS: &'static Internals<Num<Self>, Self::Base> = &Internals::DEFAULT;

    /// The number `value` with no derivative attached.
    fn constant(value: Self::Base) -> Self;
    /// The plain value.
    fn primal(&self) -> Self::Base;
    /// Whether the number certainly carries no derivative.
    fn is_constant(&self) -> bool;
    /// Applies a rule of one argument.
    fn unary<R: Unary>(self, rule: R) -> Self;
    /// Applies a rule of two arguments.
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self;
    /// Applies a rule whose second argument is a plain number.
    fn binary_right<R: Binary>(self, other: Self::Base, rule: R) -> Self;
    /// Applies a rule whose first argument is a plain number.
    fn binary_left<R: Binary>(first: Self::Base, second: Self, rule: R) -> Self;

    /// Applies a custom rule. An engine that does not implement this refuses custom rules.
    fn custom<R: CustomRule<Self::Base>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let kind = ErrorKind::RuleUnsupported { rule: R::NAME };
        fault::report(kind);
        x.iter().for_each(|v| v.0.spoil(kind));
        let plain: Vec<_> = x.iter().map(|v| v.0.primal()).collect();
        let mut value = Vec::new();
        rule.value(&plain, &mut value);
        y.clear();
        y.extend(value.into_iter().map(|v| Num(Self::constant(v))));
    }

    /// The plain value, for user code that may branch on it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn observe(&self) -> Self::Base {
        self.primal()
    }
    /// Makes the differentiations that the number belongs to return this error, on whichever thread they run.
    fn spoil(&self, _kind: ErrorKind) {}
    /// `then` if `left` is in `relation` to `right`, and `otherwise` if not.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        if relation.holds(left.compare(&right)) { then } else { otherwise }
    }

    /// `self * factor + addend` with a value that is rounded once. An engine over another scalar calls that scalar's
    /// [`fused`](Scalar::fused) for the value; the derivative is that of product and sum. The default rounds twice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.binary(factor, Times).binary(addend, Plus)
    }

    /// Compares two numbers by their primal values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        self.primal().partial_cmp(&other.primal())
    }
    /// Compares with a plain number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare_plain(&self, other: Self::Base) -> Option<Ordering> {
        self.primal().partial_cmp(&other)
    }
    /// Compares the absolute value with a plain number. The default is right. An engine that stores operations overrides it, as no
    /// derivative of the absolute value is asked for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare_magnitude(&self, other: Self::Base) -> Option<Ordering> {
        self.unary(Abs).compare_plain(other)
    }
}

/// An active number: the [`Core`] `C` of an engine with all public numeric traits.
///
/// Users know it as the `T` of `fn f<T: Real>(..)`. It prints as its primal value; `{:?}` shows the derivatives too. Both observe
/// the value, as [`primal`](Scalar::primal) does.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Num<C>(
    /// The engine's part.
    pub C,
);

impl<C: Core> Internals<Num<C>, C::Base> {
    /// The internals of a number type that treats parameters as constants and cannot be split.
    pub const DEFAULT: Self = Internals {
        peek: |number| number.0.primal(),
        parameter: |_, value| Num(C::constant(value)),
        may_be_recorded: true,
        tangents: None,
        plain: None,
    };
}

impl<C: Core> Scalar for Num<C> {
    type Base = C::Base;
    const DEPTH: u32 = C::DEPTH;
    const INTERNALS: &'static Internals<Self, C::Base> = C::INTERNALS;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: C::Base) -> Self {
        Num(C::constant(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn primal(self) -> C::Base {
        self.0.observe()
    }
    fn spoil(&self, kind: ErrorKind) {
        self.0.spoil(kind);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        Num(C::select(left.0, relation, right.0, then.0, otherwise.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.is_constant()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply<R: Unary>(self, rule: R) -> Self {
        Num(self.0.unary(rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply2<R: Binary>(self, other: Self, rule: R) -> Self {
        Num(self.0.binary(other.0, rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply2_right<R: Binary>(self, other: C::Base, rule: R) -> Self {
        Num(self.0.binary_right(other, rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply2_left<R: Binary>(first: C::Base, second: Self, rule: R) -> Self {
        Num(C::binary_left(first, second.0, rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn compare_magnitude(&self, other: C::Base) -> Option<Ordering> {
        self.0.compare_magnitude(other)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn scale(self, factor: C::Base) -> Self {
        self.apply2_right(factor, Times)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        Num(self.0.fused(factor.0, addend.0))
    }
    fn custom<R: CustomRule<C::Base>>(rule: &Arc<R>, x: &[Self], y: &mut Vec<Self>) {
        C::custom(rule, x, y);
    }
}

impl<C: Core<Base = f64>> RealArithmetic<f64> for Num<C> {}
impl<C: Core<Base = f32>> RealArithmetic<f32> for Num<C> {}
impl<C: Core<Base = f64>> Real<f64> for Num<C> where C::Base: PrecisionOf<f64> {}
impl<C: Core<Base = f32>> Real<f32> for Num<C> where C::Base: PrecisionOf<f32> {}

impl<C: Core> Default for Num<C> {
    fn default() -> Self {
        Num(C::constant(C::Base::ZERO))
    }
}

impl<C: Core> PartialEq for Num<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        Relation::Equal.holds(self.0.compare(&other.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    #[expect(clippy::partialeq_ne_impl, reason = "the provided `ne` would hide the place of the comparison")]
    fn ne(&self, other: &Self) -> bool {
        !Relation::Equal.holds(self.0.compare(&other.0))
    }
}

/// All methods are written out, so that [`Core::compare`] sees the line of the comparison.
impl<C: Core> PartialOrd for Num<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.compare(&other.0)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn lt(&self, other: &Self) -> bool {
        Relation::Less.holds(self.0.compare(&other.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn le(&self, other: &Self) -> bool {
        Relation::LessOrEqual.holds(self.0.compare(&other.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn gt(&self, other: &Self) -> bool {
        Relation::Greater.holds(self.0.compare(&other.0))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn ge(&self, other: &Self) -> bool {
        Relation::GreaterOrEqual.holds(self.0.compare(&other.0))
    }
}

impl<C: Core<Base = f64>> From<f64> for Num<C> {
    fn from(value: f64) -> Self {
        Num(C::constant(value))
    }
}

impl<C: Core<Base = f32>> From<f32> for Num<C> {
    fn from(value: f32) -> Self {
        Num(C::constant(value))
    }
}
