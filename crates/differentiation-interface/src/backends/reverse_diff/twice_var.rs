//! The tape variable of second order.
//!
//! Used in `hvp` and `hessian` if both backends are this one; it records entries on the tape of `twice_tape.rs`, or operations of a
//! recording that is compiled by `recorded.rs`.

use super::along_entry::{Along, along, fixed, moving};
use super::both_states::answered_in_both_states;
#[cfg(feature = "compiled")]
use super::recorded;
use super::tape;
use super::twice_tape::{RuleOfTape, TwiceCall, TwiceNode};
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::{self, STRAY};
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Minus, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation, Scalar};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A number of reverse mode over the scalar `S` with second derivatives.
pub type TwiceVar<S> = Num<TwiceVarCore<S>>;

/// The engine's part of a [`TwiceVar`]: a value, and its first and second derivative with respect to one entry of the tape.
///
/// As with a [`Var`](super::Var), only operations that combine numbers of two entries are recorded. A dual number along
/// the entry differentiates the rules.
///
/// It has the three states of a [`Var`](super::Var), told by `recording` and `entry`; in a recording the derivatives are not read.
#[derive(Clone, Copy, Debug)]
pub struct TwiceVarCore<S: Scalar> {
    value: S,
    /// Derivatives with respect to the entry; undefined for a constant.
    first: S,
    second: S,
    entry: u32,
    /// The recording that it belongs to; `None` for a constant.
    recording: Option<NonZeroU32>,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn zero<S: Scalar>() -> S {
    S::constant(S::Base::ZERO)
}

impl<S: Scalar> TwiceVarCore<S> {
    /// A constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inert(value: S) -> Self {
        TwiceVarCore { value, first: zero(), second: zero(), entry: 0, recording: None }
    }

    /// The number of an entry of the tape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn entry(value: S, entry: u32, recording: NonZeroU32) -> Self {
        let first = S::constant(S::Base::ONE);
        TwiceVarCore { value, first, second: zero(), entry, recording: Some(recording) }
    }

    /// Replaces a number that its recording cannot take. A stray number that reaches an output is an error.
    #[cold]
    fn stray(value: S) -> Self {
        Self::entry(value, 0, STRAY)
    }

    /// Whether the number has no derivative by this engine.
    #[cfg(feature = "any")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_inert(&self) -> bool {
        self.recording.is_none()
    }

    /// The value, one level of nesting down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(&self) -> S {
        self.value
    }

    /// What the operations of a recording need of a number.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parts(&self) -> recorded::Parts<S> {
        (self.value, u64::from(self.entry) << 32 | u64::from(self.recording.map_or(0, NonZeroU32::get)))
    }

    /// The number of these parts, a constant or of a recording.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn whole((value, place): recorded::Parts<S>) -> Self {
        let (entry, recording) = ((place >> 32) as u32, NonZeroU32::new(place as u32));
        TwiceVarCore { value, first: zero(), second: zero(), entry, recording }
    }

    /// Whether it is of a recording.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_recorded(&self) -> bool {
        recorded::is_tagged::<S>(self.entry)
    }

    /// Whether it or the other number is of a recording.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn either_is_recorded(&self, other: &Self) -> bool {
        recorded::is_tagged::<S>(self.entry | other.entry)
    }

    /// The entry that it depends on in the given recording, and its two derivatives with respect to the entry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn depends_on(&self, recording: NonZeroU32) -> Option<(u32, [S; 2])> {
        if !tape::is_own::<TwiceNode<S>>(self.recording?, recording) {
            return None;
        }
        Some((self.entry, [self.first, self.second]))
    }

    /// The value, along the entry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn along(&self) -> Along<S> {
        if self.recording.is_some() { along(self.value, self.first) } else { fixed(self.value) }
    }

    /// The first derivative, along the entry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slope(&self) -> Along<S> {
        moving(self.first, self.second)
    }

    /// The number with value `value` whose derivative is `slope`, along the entry of `self`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sloped(self, value: Along<S>, slope: Along<S>) -> Self {
        let (first, second) = (slope.0.value(), slope.0.slope().unwrap_or(zero()));
        TwiceVarCore { value: value.0.value(), first, second, ..self }
    }

    /// The number with value `value` whose derivative is that of `self` times `partial`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, value: Along<S>, partial: Partial<Along<S>>) -> Self {
        match partial {
            Partial::Zero => Self::inert(value.0.value()),
            partial => self.sloped(value, partial.times(self.slope())),
        }
    }

    /// The number `value` with the derivatives of the second operand of a sum or difference.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn added<R: Binary>(self, value: S) -> Self {
        match is_rule!(R, Minus) {
            true => TwiceVarCore { value, first: -self.first, second: -self.second, ..self },
            false => TwiceVarCore { value, ..self },
        }
    }

    /// The sum or difference of two numbers of a recording: no dual numbers for the compiler to generate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sum<R: Binary>(self, other: Self, recording: NonZeroU32, rule: R) -> Self {
        let value = self.value.apply2(other.value, rule);
        let added = other.added::<R>(value);
        if self.entry == other.entry {
            let (first, second) = (self.first + added.first, self.second + added.second);
            return TwiceVarCore { value, first, second, ..self };
        }
        let node = TwiceNode {
            partials: [self.first, added.first],
            seconds: [self.second, zero(), added.second],
            parents: [self.entry, other.entry],
        };
        Self::of_node(value, node, recording)
    }

    /// The product of two numbers of a recording: what `merge` or `join` would return, up to the sign of a zero, in a tenth of the code.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn product(self, other: Self, recording: NonZeroU32) -> Self {
        let ([x, y], value) = ([self.value, other.value], self.value * other.value);
        let (slopes, mixed) = ([y * self.first, x * other.first], self.first * other.first);
        // A zero must not be multiplied by a factor that is infinite.
        let times = |factor: S, second: S| if second.is_inert_zero() { zero() } else { factor * second };
        let seconds = [times(y, self.second), times(x, other.second)];
        if self.entry == other.entry {
            let second = (mixed + seconds[0]) + (mixed + seconds[1]);
            return TwiceVarCore { value, first: slopes[0] + slopes[1], second, ..self };
        }
        let (partials, seconds) = (slopes, [seconds[0], mixed, seconds[1]]);
        Self::of_node(value, TwiceNode { partials, seconds, parents: [self.entry, other.entry] }, recording)
    }

    /// The number of a new entry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of_node(value: S, node: TwiceNode<S>, recording: NonZeroU32) -> Self {
        match tape::push(recording, node) {
            Some(entry) => Self::entry(value, entry, recording),
            None => Self::stray(value),
        }
    }

    /// The result of an operation on a number of a recording and one that is a constant or of another recording.
    ///
    /// Out of line: its code in each operation of the user's function took 19 times as long to compile for decompositions of `nalgebra`.
    #[inline(never)]
    fn with_constant<R: Binary>(self, other: Self, rule: R) -> Self {
        match (self.recording, other.recording) {
            (Some(own), Some(others)) => {
                tape::note_foreign::<TwiceNode<S>>([own, others]);
                Self::stray(self.value.apply2(other.value, rule))
            }
            (Some(_), None) => {
                let (x, y) = (self.along(), fixed(other.value));
                let r = x.apply2(y, rule);
                self.chain(r, rule.partial_x(x, y, r))
            }
            _ => {
                let (x, y) = (fixed(self.value), other.along());
                let r = x.apply2(y, rule);
                other.chain(r, rule.partial_y(x, y, r))
            }
        }
    }

    /// The result of an operation on two numbers that depend on the same entry. Out of line like `join`.
    #[inline(never)]
    fn merge<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.along(), other.along());
        let r = x.apply2(y, rule);
        match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
            (Partial::Zero, py) => other.chain(r, py),
            (px, Partial::Zero) => self.chain(r, px),
            (px, py) => self.sloped(r, px.times(self.slope()) + py.times(other.slope())),
        }
    }

    /// The result of an operation on two numbers that depend on different entries: a new entry, unless the result is independent of one.
    ///
    /// The operation is differentiated along one entry at a time, so that a zero in one direction is not multiplied by an infinity in the other.
    /// Out of line: some 500 lines of intermediate code for each operation of the user's function took twice the time to compile.
    #[inline(never)]
    fn join<R: Binary>(self, other: Self, recording: NonZeroU32, rule: R) -> Self {
        let (x, y) = (self.along(), fixed(other.value));
        let r = x.apply2(y, rule);
        let (xx, yx) = (rule.partial_x(x, y, r), rule.partial_y(x, y, r));

        let (x, y) = (fixed(self.value), other.along());
        let along_other = x.apply2(y, rule);
        let (xy, yy) = (rule.partial_x(x, y, along_other), rule.partial_y(x, y, along_other));

        // A rule may treat a number without tangent as a constant, so both directions must show that there is no dependence.
        if matches!((xx, xy), (Partial::Zero, Partial::Zero)) {
            return other.chain(r, yy);
        }
        if matches!((yx, yy), (Partial::Zero, Partial::Zero)) {
            return self.chain(r, xx);
        }
        let (px, py) = (xx.times(self.slope()), yy.times(other.slope()));
        let mixed = xy.times(fixed(self.first));
        let second = |slope: Along<S>| slope.0.slope().unwrap_or(zero());
        let node = TwiceNode {
            partials: [px.0.value(), py.0.value()],
            seconds: [second(px), second(mixed), second(py)],
            parents: [self.entry, other.entry],
        };
        Self::of_node(r.0.value(), node, recording)
    }
}

/// Whether a rule is a sum or a difference.
#[cfg_attr(not(debug_assertions), inline(always))]
const fn is_sum<R: Binary>() -> bool {
    is_rule!(R, Plus) || is_rule!(R, Minus)
}

#[cfg(feature = "compiled")]
impl<S: Scalar> recorded::InRecording for TwiceVar<S> {
    type Below = S;
    fn of_parts(parts: recorded::Parts<S>) -> Self {
        Num(TwiceVarCore::whole(parts))
    }
    fn to_parts(&self) -> recorded::Parts<S> {
        self.0.parts()
    }
}

impl<S: Scalar> Core for TwiceVarCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_in_both_states!();

    #[inline]
    fn unary<R: Unary>(self, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && self.is_recorded() {
            let (x, at) = self.parts();
            return Self::whole(recorded::unary(x, at, rule));
        }
        if self.recording.is_none() {
            return Self::inert(self.value.apply(rule));
        }
        let x = self.along();
        let y = x.apply(rule);
        self.chain(y, rule.derivative(x, y))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && self.either_is_recorded(&other) {
            let ((x, at), (y, at_y)) = (self.parts(), other.parts());
            return Self::whole(recorded::binary(x, at, y, at_y, rule));
        }
        match (self.recording, other.recording) {
            (None, None) => Self::inert(self.value.apply2(other.value, rule)),
            (Some(_), None) if const { is_sum::<R>() } => {
                TwiceVarCore { value: self.value.apply2(other.value, rule), ..self }
            }
            (None, Some(_)) if const { is_sum::<R>() } => other.added::<R>(self.value.apply2(other.value, rule)),
            (Some(own), Some(others)) if own == others => {
                if const { is_sum::<R>() } {
                    self.sum(other, own, rule)
                } else if const { is_rule!(R, Times) } {
                    self.product(other, own)
                } else if self.entry == other.entry {
                    self.merge(other, rule)
                } else {
                    self.join(other, own, rule)
                }
            }
            _ => self.with_constant(other, rule),
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && self.is_recorded() {
            let (x, at) = self.parts();
            return Self::whole(recorded::binary_right(x, at, other, rule));
        }
        if self.recording.is_none() {
            return Self::inert(self.value.apply2_right(other, rule));
        }
        if const { is_sum::<R>() } {
            return TwiceVarCore { value: self.value.apply2_right(other, rule), ..self };
        }
        let x = self.along();
        let r = x.apply2_right(other, rule);
        self.chain(r, rule.partial_x(x, Along::constant(other), r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && second.is_recorded() {
            let (y, at) = second.parts();
            return Self::whole(recorded::binary_left(first, y, at, rule));
        }
        if second.recording.is_none() {
            return Self::inert(S::apply2_left(first, second.value, rule));
        }
        if const { is_sum::<R>() } {
            return second.added::<R>(S::apply2_left(first, second.value, rule));
        }
        let y = second.along();
        let r = Along::apply2_left(first, y, rule);
        second.chain(r, rule.partial_y(Along::constant(first), y, r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && (self.either_is_recorded(&factor) || addend.is_recorded()) {
            return Self::whole(recorded::fused(self.parts(), factor.parts(), addend.parts()));
        }
        let value = self.value.fused(factor.value, addend.value);
        TwiceVarCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[TwiceVar<S>], y: &mut Vec<TwiceVar<S>>) {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && x.iter().any(|v| v.0.is_recorded()) {
            let outputs = recorded::custom(rule, x.iter().map(|v| v.0.parts()));
            y.clear();
            y.extend(outputs.into_iter().map(|v| Num(Self::whole(v))));
            return;
        }
        Self::by_rule(rule, x, y);
    }
}

impl<S: Scalar> TwiceVarCore<S> {
    /// Applies a custom rule to numbers of a tape.
    fn by_rule(rule: &dyn RuleOfTape<S>, x: &[TwiceVar<S>], y: &mut Vec<TwiceVar<S>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let recording = x.iter().find_map(|v| v.0.recording);
        fault::charge(recording, || rule.value(&values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));

        let Some(recording) = recording else { return };
        let arguments = x.iter().map(|v| v.0.depends_on(recording)).collect();
        let count = outputs.len();
        let rule = rule.applied(values, outputs);
        let call = |first| TwiceCall { first, outputs: count, arguments, rule };
        let first = tape::push_call::<TwiceNode<S>>(recording, count, call);
        for (i, y) in y.iter_mut().enumerate() {
            let value = y.0.value;
            *y = Num(first.map_or(Self::stray(value), |first| Self::entry(value, first + i as u32, recording)));
        }
    }
}
