//! The second state of a [`Var`](super::Var) and of a [`TwiceVar`](super::TwiceVar): a number of a recording that is compiled.
//!
//! Called by the operations of the variables where an operand is in this state; each is the same operation of the recording number of
//! `compiled-trace`. They are not inlined, because most functions run on tapes.
//!
//! Only numbers over plain ones are recorded, so that there are no derivatives of the scalar to lose.

use super::tape::{self, Node};
use super::twice_tape::TwiceNode;
use compiled_trace::{Recorded, RecordedCore};
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::identity::STRAY;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{Binary, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation, Scalar};
use std::cell::Cell;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The bit of a variable's entry that tells a number of a recording. Entries of a tape and operands of a recording are smaller.
pub(super) const TAG: u32 = 1 << 31;

/// Whether an entry is that of a number of a recording.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn is_tagged<S: Scalar>(entry: u32) -> bool {
    (const { S::DEPTH == 0 }) && entry & TAG != 0
}

/// A number in registers, so that the numbers of a tape need not go through memory where these functions are called: its value, and its
/// entry (upper half) and recording as one word. The derivative with respect to an entry of a tape is not among them.
pub(super) type Parts<S> = (S, u64);

/// The recording number. A number of a tape becomes a stray, and its tape ends with an error.
#[inline]
pub(super) fn lowered<S: Scalar, B: Base>((value, place): Parts<S>) -> RecordedCore<B> {
    let value = B::from_f64(value.peek().as_f64());
    let (entry, recording) = ((place >> 32) as u32, place as u32);
    match NonZeroU32::new(recording) {
        Some(tape) if !is_tagged::<S>(entry) => {
            note_foreign::<S>(tape);
            RecordedCore::from_parts(value, 0, STRAY.get())
        }
        _ => RecordedCore::from_parts(value, entry & !TAG, recording),
    }
}

/// Reports a number of a tape, of first or second derivatives, in an operation of a recording.
#[cold]
fn note_foreign<S: Scalar>(recording: NonZeroU32) {
    if tape::is_open::<TwiceNode<S>>(recording) {
        tape::note_foreign::<TwiceNode<S>>([recording; 2]);
    } else {
        tape::note_foreign::<Node<S>>([recording; 2]);
    }
}

/// A number of this engine that may be in the state of a recording.
pub(super) trait InRecording: Scalar {
    /// The number below.
    type Below: Scalar;
    /// The number of these parts, a constant or of a recording.
    fn of_parts(parts: Parts<Self::Below>) -> Self;
    /// What a recording needs of the number.
    fn to_parts(&self) -> Parts<Self::Below>;
}

/// The parts of which [`lowered`] makes the recording number.
#[inline]
pub(super) fn raised<S: Scalar, B: Base>(number: RecordedCore<B>) -> Parts<S> {
    let (value, operand, recording) = number.parts();
    let entry = if recording == 0 { 0 } else { TAG | operand };
    (S::constant(S::Base::from_f64(value.as_f64())), u64::from(entry) << 32 | u64::from(recording))
}

/// The recording number over the plain number below `S`.
type Below<S> = RecordedCore<<S as Scalar>::Base>;

#[cold]
#[inline(never)]
pub(super) fn unary<S: Scalar, R: Unary>(x: S, at: u64, rule: R) -> Parts<S> {
    raised(lowered::<S, S::Base>((x, at)).unary(rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary<S: Scalar, R: Binary>(x: S, at: u64, y: S, at_y: u64, rule: R) -> Parts<S> {
    raised(lowered::<S, S::Base>((x, at)).binary(lowered((y, at_y)), rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary_right<S: Scalar, R: Binary>(x: S, at: u64, y: S::Base, rule: R) -> Parts<S> {
    raised(lowered::<S, S::Base>((x, at)).binary_right(y, rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary_left<S: Scalar, R: Binary>(x: S::Base, y: S, at: u64, rule: R) -> Parts<S> {
    raised(Below::<S>::binary_left(x, lowered((y, at)), rule))
}
#[cold]
#[inline(never)]
pub(super) fn fused<S: Scalar>(x: Parts<S>, factor: Parts<S>, addend: Parts<S>) -> Parts<S> {
    raised(lowered::<S, S::Base>(x).fused(lowered(factor), lowered(addend)))
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn observe<S: Scalar>(x: S, at: u64) -> S::Base {
    lowered::<S, S::Base>((x, at)).observe()
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn compare<S: Scalar>(x: S, at: u64, y: S, at_y: u64) -> Option<Ordering> {
    lowered::<S, S::Base>((x, at)).compare(&lowered((y, at_y)))
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn compare_magnitude<S: Scalar>(x: S, at: u64, other: S::Base) -> Option<Ordering> {
    lowered::<S, S::Base>((x, at)).compare_magnitude(other)
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn select<S: Scalar>(compared: [Parts<S>; 2], relation: Relation, choices: [Parts<S>; 2]) -> Parts<S> {
    let ([left, right], [then, otherwise]) = (compared.map(lowered), choices.map(lowered));
    raised(Below::<S>::select(left, relation, right, then, otherwise))
}

#[cold]
#[inline(never)]
pub(super) fn custom<S: Scalar, R: CustomRule<S::Base>>(
    rule: &Arc<R>,
    x: impl Iterator<Item = Parts<S>>,
) -> Vec<Parts<S>> {
    let x: Vec<Recorded<S::Base>> = x.map(|v| Num(lowered(v))).collect();
    let mut y = Vec::new();
    Below::<S>::custom(rule, &x, &mut y);
    y.into_iter().map(|v| raised(v.0)).collect()
}

thread_local! {
    /// Whether the innermost differentiation of this thread by this engine writes a recording, not a tape.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

/// Sets what the innermost differentiation of this thread writes, until it is dropped.
pub(super) struct Writing {
    outer: bool,
}

impl Writing {
    #[inline]
    pub(super) fn begin(records: bool) -> Writing {
        // A thread that ends writes a tape.
        Writing { outer: RECORDS.try_with(|slot| slot.replace(records)).unwrap_or(false) }
    }
}

impl Drop for Writing {
    #[inline]
    fn drop(&mut self) {
        let _ = RECORDS.try_with(|slot| slot.set(self.outer));
    }
}

/// A parameter of the recording, if the innermost differentiation by this engine writes one.
pub(super) fn parameter<S: Scalar>(index: usize, value: S::Base) -> Option<Parts<S>> {
    let records = const { S::DEPTH == 0 } && RECORDS.try_with(Cell::get).unwrap_or(false);
    records.then(|| raised(<Recorded<S::Base>>::parameter(index, value).0))
}
