//! The tape variable.

use super::tape::{self, Call, Node, Recorder};
use crate::backends::over::answered_below;
use differentiation_interface_core::custom::{CustomRule, pullback_by_rule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity::{self, STRAY};
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A number of reverse mode over the scalar `S`.
pub type Var<S> = Num<VarCore<S>>;

/// The engine's part of a [`Var`]: a value, and its derivative with respect to one entry of the tape.
///
/// Functions of one argument, and operations with constants or between numbers that depend on the same entry, change only that
/// derivative and record nothing.
#[derive(Clone, Copy, Debug)]
pub struct VarCore<S: Scalar> {
    value: S,
    /// Derivative with respect to the entry; undefined for a constant.
    derivative: S,
    entry: u32,
    /// The recording that it belongs to; `None` for a constant.
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

    /// The recording it belongs to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn identity(&self) -> Option<NonZeroU32> {
        self.recording
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
            partial => VarCore { value, derivative: partial.times(self.derivative), ..self },
        }
    }
}

impl<S: Scalar> Core for VarCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: recording);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        self.chain(y, || rule.derivative(self.value, y))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = x.apply2(y, rule);
        let (Some(recording), Some(others)) = (self.recording, other.recording) else {
            return if self.recording.is_some() {
                self.chain(r, || rule.partial_x(x, y, r))
            } else {
                other.chain(r, || rule.partial_y(x, y, r))
            };
        };
        let (px, py) = match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
            (Partial::Zero, py) => return other.chain(r, || py),
            (px, Partial::Zero) => return self.chain(r, || px),
            (px, py) => (px.times(self.derivative), py.times(other.derivative)),
        };
        if recording != others {
            tape::note_foreign::<Node<S>>([recording, others]);
            return Self::stray(r);
        }
        if self.entry == other.entry {
            return VarCore { value: r, derivative: px + py, ..self };
        }
        match tape::push(recording, Node { partials: [px, py], parents: [self.entry, other.entry] }) {
            Some(entry) => Self::entry(r, entry, recording),
            None => Self::stray(r),
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        self.chain(r, || rule.partial_x(self.value, S::constant(other), r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        second.chain(r, || rule.partial_y(S::constant(first), second.value, r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.fused(factor.value, addend.value);
        VarCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Var<S>], y: &mut Vec<Var<S>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let recording = x.iter().find_map(|v| v.0.recording);
        fault::charge(recording, || S::custom(rule, &values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));

        let Some(recording) = recording else { return };
        let arguments = x.iter().map(|v| v.0.depends_on(recording)).collect();
        let (rule, count) = (Arc::clone(rule), outputs.len());
        let pullback = move |dy: &[S], dx: &mut [S]| pullback_by_rule(&*rule, &values, &outputs, dy, dx);
        let call = |first| Call { first, outputs: count, arguments, pullback: Arc::new(pullback) };
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
