//! The variable of reverse mode: a number of a tape, or of a recording that is compiled.
//!
//! Called by the user's function. Its operations on a tape are here, those of a recording in `recorded.rs`.

use super::both_states::answered_in_both_states;
#[cfg(feature = "compiled")]
use super::recorded;
use super::tape::{self, Call, Node, Recorder};
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::custom::{CustomRule, PullbackRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::{self, STRAY};
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Minus, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation, Scalar};
use num_traits::Float;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A number of reverse mode over the scalar `S`.
pub type Var<S> = Num<VarCore<S>>;

/// The engine's part of a [`Var`], in one of three states:
///
/// | state | `recording` | `entry` | `derivative` |
/// |---|---|---|---|
/// | constant | `None` | 0 | not read |
/// | of a tape | its tape | below 2³¹: an entry of the tape | with respect to that entry |
/// | of a recording | its recording | 2³¹ + operand of the recording | not read |
///
/// On a tape, functions of one argument, and operations with constants or between numbers that depend on the same entry, change only
/// the derivative and record nothing. In a recording every operation is recorded. The tag of the operands decides, so that an
/// operation reads no thread-local storage to find out.
#[derive(Clone, Copy, Debug)]
pub struct VarCore<S: Scalar> {
    value: S,
    derivative: S,
    entry: u32,
    recording: Option<NonZeroU32>,
}

impl<S: Scalar> VarCore<S> {
    /// A constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inert(value: S) -> Self {
        VarCore { value, derivative: S::constant(S::Base::ZERO), entry: 0, recording: None }
    }

    /// The number of an entry of the tape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn entry(value: S, entry: u32, recording: NonZeroU32) -> Self {
        VarCore { value, derivative: S::constant(S::Base::ONE), entry, recording: Some(recording) }
    }

    /// Replaces a number that its recording cannot take. A stray number that reaches an output is an error.
    #[cold]
    fn stray(value: S) -> Self {
        Self::entry(value, 0, STRAY)
    }

    /// What the operations of a recording need of a number.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn parts(&self) -> recorded::Parts<S> {
        (self.value, u64::from(self.entry) << 32 | u64::from(self.recording.map_or(0, NonZeroU32::get)))
    }

    /// The number of these parts, a constant or of a recording.
    #[cfg(feature = "compiled")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn whole((value, place): recorded::Parts<S>) -> Self {
        let (entry, recording) = ((place >> 32) as u32, NonZeroU32::new(place as u32));
        VarCore { value, derivative: S::constant(S::Base::ZERO), entry, recording }
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

    /// The entry that it depends on in the given recording, and its derivative with respect to the entry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn depends_on(&self, recording: NonZeroU32) -> Option<(u32, S)> {
        if !tape::is_own::<Node<S>>(self.recording?, recording) {
            return None;
        }
        Some((self.entry, self.derivative))
    }

    /// The number with value `value` whose derivative is that of `self` times `partial`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, value: S, partial: impl FnOnce() -> Partial<S>) -> Self {
        if self.recording.is_none() {
            return Self::inert(value);
        }
        match partial() {
            Partial::Zero => Self::inert(value),
            partial => {
                let derivative = partial.times(self.derivative);
                if is_out_of_range(&partial, &derivative) {
                    return self.in_two_steps(value, partial);
                }
                VarCore { value, derivative, ..self }
            }
        }
    }

    /// The same for a product that is out of range alone: with respect to a new entry for the first factor, so that an adjoint meets one factor
    /// after the other.
    #[cold]
    #[inline(never)]
    fn in_two_steps(self, value: S, partial: Partial<S>) -> Self {
        let derivative = partial.times(self.derivative);
        let (Partial::Product(first, second), Some(recording)) = (partial, self.recording) else {
            return VarCore { value, derivative, ..self };
        };
        let inner = first * self.derivative;
        // A zero that is computed stays one, and infinity and NaN stay visible.
        if !inner.peek().is_normal() || !second.peek().is_normal() {
            return VarCore { value, derivative, ..self };
        }
        let half = inner.scale(S::Base::from_f64(0.5));
        match tape::push(recording, Node { partials: [half, half], parents: [self.entry, self.entry] }) {
            Some(entry) => VarCore { value, derivative: second, entry, recording: Some(recording) },
            None => Self::stray(value),
        }
    }

    /// The result of a rule of two numbers, one of whose partial derivatives is a product out of range.
    #[cold]
    #[inline(never)]
    fn join_in_two_steps<R: Binary>(self, other: Self, value: S, rule: R) -> Self {
        let a = self.chain(value, || rule.partial_x(self.value, other.value, value));
        let b = other.chain(value, || rule.partial_y(self.value, other.value, value));
        match (a.recording, b.recording) {
            (Some(recording), Some(others)) if recording == others => {
                Self::join(value, recording, (a.entry, a.derivative), (b.entry, b.derivative))
            }
            // Numbers of two tapes, or of one that is full.
            (recording, others) => {
                if let (Some(recording), Some(others)) = (recording, others) {
                    tape::note_foreign::<Node<S>>([recording, others]);
                }
                Self::stray(value)
            }
        }
    }

    /// The result of a rule of two numbers, one of whose derivatives is infinite or NaN. A sweep leaves out an entry whose adjoint is zero, so the number keeps
    /// such a derivative for the next rule to multiply, if the other one is zero.
    #[cold]
    #[inline(never)]
    fn join_singular(self, other: Self, value: S, recording: NonZeroU32, by: [S; 2]) -> Self {
        match by.each_ref().map(S::is_inert_zero) {
            [false, true] => VarCore { value, derivative: by[0], ..self },
            [true, false] => VarCore { value, derivative: by[1], ..other },
            _ => Self::join(value, recording, (self.entry, by[0]), (other.entry, by[1])),
        }
    }

    /// The number with these derivatives with respect to two entries.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn join(value: S, recording: NonZeroU32, (entry, by_entry): (u32, S), (other, by_other): (u32, S)) -> Self {
        if entry == other {
            return VarCore { value, derivative: by_entry + by_other, entry, recording: Some(recording) };
        }
        match tape::push(recording, Node { partials: [by_entry, by_other], parents: [entry, other] }) {
            Some(entry) => Self::entry(value, entry, recording),
            None => Self::stray(value),
        }
    }

    /// A function of one argument, of a number of a tape or a constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary_on_tape<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        self.chain(y, || rule.derivative(self.value, y))
    }

    /// The same out of line: where tapes are nested three deep, an operation is dozens of operations of the tapes below, and inlining
    /// them into each other takes minutes to compile.
    #[inline(never)]
    fn unary_deep<R: Unary>(self, rule: R) -> Self {
        self.unary_on_tape(rule)
    }

    /// A function of two arguments, of numbers of a tape or constants.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_on_tape<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = x.apply2(y, rule);
        let (Some(recording), Some(others)) = (self.recording, other.recording) else {
            return if self.recording.is_some() {
                self.chain(r, || rule.partial_x(x, y, r))
            } else {
                other.chain(r, || rule.partial_y(x, y, r))
            };
        };
        let (by_x, by_y) = match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
            (Partial::Zero, py) => return other.chain(r, || py),
            (px, Partial::Zero) => return self.chain(r, || px),
            (px, py) => {
                let (by_x, by_y) = (px.times(self.derivative), py.times(other.derivative));
                if is_out_of_range(&px, &by_x) || is_out_of_range(&py, &by_y) {
                    return self.join_in_two_steps(other, r, rule);
                }
                (by_x, by_y)
            }
        };
        if recording != others {
            tape::note_foreign::<Node<S>>([recording, others]);
            return Self::stray(r);
        }
        let is_arithmetic = is_rule!(R, Plus) || is_rule!(R, Minus) || is_rule!(R, Times);
        let is_finite = |derivative: S| derivative.peek().is_finite();
        if !(is_arithmetic || is_finite(by_x) && is_finite(by_y)) {
            return self.join_singular(other, r, recording, [by_x, by_y]);
        }
        Self::join(r, recording, (self.entry, by_x), (other.entry, by_y))
    }

    /// The same out of line, see [`unary_deep`](Self::unary_deep).
    #[inline(never)]
    fn binary_deep<R: Binary>(self, other: Self, rule: R) -> Self {
        self.binary_on_tape(other, rule)
    }
}

/// Whether a derivative by a product has become zero, infinite or NaN, or has lost digits.
#[cfg_attr(not(debug_assertions), inline(always))]
fn is_out_of_range<S: Scalar>(partial: &Partial<S>, derivative: &S) -> bool {
    matches!(partial, Partial::Product(..)) && !derivative.peek().is_normal()
}

#[cfg(feature = "compiled")]
impl<S: Scalar> recorded::InRecording for Var<S> {
    type Below = S;
    fn of_parts(parts: recorded::Parts<S>) -> Self {
        Num(VarCore::whole(parts))
    }
    fn to_parts(&self) -> recorded::Parts<S> {
        self.0.parts()
    }
}

impl<S: Scalar> Core for VarCore<S> {
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
        if const { S::DEPTH > 1 } { self.unary_deep(rule) } else { self.unary_on_tape(rule) }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && self.either_is_recorded(&other) {
            let ((x, at), (y, at_y)) = (self.parts(), other.parts());
            return Self::whole(recorded::binary(x, at, y, at_y, rule));
        }
        if const { S::DEPTH > 1 } { self.binary_deep(other, rule) } else { self.binary_on_tape(other, rule) }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && self.is_recorded() {
            let (x, at) = self.parts();
            return Self::whole(recorded::binary_right(x, at, other, rule));
        }
        let r = self.value.apply2_right(other, rule);
        self.chain(r, || rule.partial_x(self.value, S::constant(other), r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && second.is_recorded() {
            let (y, at) = second.parts();
            return Self::whole(recorded::binary_left(first, y, at, rule));
        }
        let r = S::apply2_left(first, second.value, rule);
        second.chain(r, || rule.partial_y(S::constant(first), second.value, r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        #[cfg(feature = "compiled")]
        if const { S::DEPTH == 0 } && (self.either_is_recorded(&factor) || addend.is_recorded()) {
            return Self::whole(recorded::fused(self.parts(), factor.parts(), addend.parts()));
        }
        let value = self.value.fused(factor.value, addend.value);
        VarCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Var<S>], y: &mut Vec<Var<S>>) {
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

impl<S: Scalar> VarCore<S> {
    /// Applies a custom rule to numbers of a tape.
    fn by_rule(rule: &dyn PullbackRule<S>, x: &[Var<S>], y: &mut Vec<Var<S>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let recording = x.iter().find_map(|v| v.0.recording);
        fault::charge(recording, || rule.value(&values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));

        let Some(recording) = recording else { return };
        let arguments = x.iter().map(|v| v.0.depends_on(recording)).collect();
        let (count, is_regular) = (outputs.len(), rule.is_regular(&values, &outputs));
        let pullback = rule.pullback_at(values, outputs);
        let call = |first| Call { first, outputs: count, arguments, pullback, is_regular };
        let first = tape::push_call::<Node<S>>(recording, count, call);
        for (i, y) in y.iter_mut().enumerate() {
            let value = y.0.value;
            *y = Num(first.map_or(Self::stray(value), |first| Self::entry(value, first + i as u32, recording)));
        }
    }
}

impl<S: Scalar> Recorder<'_, Node<S>> {
    /// Input `i` with value `value`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn input(&mut self, i: usize, value: S) -> VarCore<S> {
        VarCore::entry(value, i as u32, self.recording())
    }

    /// The entry that an output depends on, and its derivative with respect to the entry; `None` for a constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn output(&self, output: &VarCore<S>) -> Option<(u32, S)> {
        output.depends_on(self.recording())
    }
}
