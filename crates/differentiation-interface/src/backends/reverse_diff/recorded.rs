//! The second state of a [`Var`]: a number of a recording that is compiled.
//!
//! Called by the operations of [`VarCore`] where an operand is in this state; each is the same operation of the recording number of
//! `compiled-trace`. They are not inlined, because most functions run on tapes. [`AsRecorded`] runs the user's function in this state.
//!
//! Only numbers over plain ones are recorded, so that there are no derivatives of the scalar to lose.

use super::tape::{self, Node};
use super::var::{Var, VarCore};
use compiled_trace::{Recorded, RecordedCore};
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::identity::STRAY;
use differentiation_interface_core::recordings::{EngineScalar, Recordable};
use differentiation_interface_core::rules::{Binary, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation, Scalar};
use std::cell::Cell;
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The bit of a [`VarCore`]'s entry that tells a number of a recording. Entries of a tape and operands of a recording are smaller.
pub(super) const TAG: u32 = 1 << 31;

/// Whether an entry is that of a number of a recording.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn is_tagged<S: Scalar>(entry: u32) -> bool {
    (const { S::DEPTH == 0 }) && entry & TAG != 0
}

/// A number in registers, so that the numbers of a tape need not go through memory where these functions are called: its value, and its
/// entry and recording as one word.
pub(super) type Parts<S> = (S, u64);

/// The parts of a number. The derivative with respect to an entry of a tape is not among them.
#[cfg_attr(not(debug_assertions), inline(always))]
fn parts<S: Scalar>(number: &VarCore<S>) -> Parts<S> {
    let (entry, recording) = number.place();
    (number.value(), u64::from(entry) << 32 | u64::from(recording.map_or(0, NonZeroU32::get)))
}

/// The number of these parts, a constant or of a recording.
#[cfg_attr(not(debug_assertions), inline(always))]
fn whole<S: Scalar>((value, place): Parts<S>) -> VarCore<S> {
    VarCore::recorded(value, (place >> 32) as u32, NonZeroU32::new(place as u32))
}

/// The recording number. A number of a tape becomes a stray, and its tape ends with an error.
#[inline]
fn lowered<S: Scalar, B: Base>((value, place): Parts<S>) -> RecordedCore<B> {
    let value = B::from_f64(value.peek().as_f64());
    let (entry, recording) = ((place >> 32) as u32, place as u32);
    match NonZeroU32::new(recording) {
        Some(tape) if !is_tagged::<S>(entry) => {
            tape::note_foreign::<Node<S>>([tape; 2]);
            RecordedCore::from_parts(value, 0, STRAY.get())
        }
        _ => RecordedCore::from_parts(value, entry & !TAG, recording),
    }
}

/// The parts of which [`lowered`] makes the recording number.
#[inline]
fn raised<S: Scalar, B: Base>(number: RecordedCore<B>) -> Parts<S> {
    let (value, operand, recording) = number.parts();
    let entry = if recording == 0 { 0 } else { TAG | operand };
    (S::constant(S::Base::from_f64(value.as_f64())), u64::from(entry) << 32 | u64::from(recording))
}

/// The recording number over the plain number below `S`.
type Below<S> = RecordedCore<<S as Scalar>::Base>;

/// Operations on [`Parts`], out of line.
mod out_of_line {
    use super::*;

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
    pub(super) fn select<S: Scalar>(compared: [Parts<S>; 2], relation: Relation, choices: [Parts<S>; 2]) -> Parts<S> {
        let ([left, right], [then, otherwise]) = (compared.map(lowered), choices.map(lowered));
        raised(Below::<S>::select(left, relation, right, then, otherwise))
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn unary<S: Scalar, R: Unary>(x: VarCore<S>, rule: R) -> VarCore<S> {
    let (x, at) = parts(&x);
    whole(out_of_line::unary(x, at, rule))
}
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn binary<S: Scalar, R: Binary>(x: VarCore<S>, y: VarCore<S>, rule: R) -> VarCore<S> {
    let ((x, at), (y, at_y)) = (parts(&x), parts(&y));
    whole(out_of_line::binary(x, at, y, at_y, rule))
}
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn binary_right<S: Scalar, R: Binary>(x: VarCore<S>, y: S::Base, rule: R) -> VarCore<S> {
    let (x, at) = parts(&x);
    whole(out_of_line::binary_right(x, at, y, rule))
}
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn binary_left<S: Scalar, R: Binary>(x: S::Base, y: VarCore<S>, rule: R) -> VarCore<S> {
    let (y, at) = parts(&y);
    whole(out_of_line::binary_left(x, y, at, rule))
}
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn fused<S: Scalar>(x: VarCore<S>, factor: VarCore<S>, addend: VarCore<S>) -> VarCore<S> {
    whole(out_of_line::fused(parts(&x), parts(&factor), parts(&addend)))
}
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(super) fn observe<S: Scalar>(x: VarCore<S>) -> S::Base {
    let (x, at) = parts(&x);
    out_of_line::observe(x, at)
}
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(super) fn compare<S: Scalar>(x: VarCore<S>, y: VarCore<S>) -> Option<Ordering> {
    let ((x, at), (y, at_y)) = (parts(&x), parts(&y));
    out_of_line::compare(x, at, y, at_y)
}
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub(super) fn select<S: Scalar>(compared: [VarCore<S>; 2], relation: Relation, choices: [VarCore<S>; 2]) -> VarCore<S> {
    whole(out_of_line::select(compared.map(|v| parts(&v)), relation, choices.map(|v| parts(&v))))
}
#[cold]
#[inline(never)]
pub(super) fn custom<S: Scalar, R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Var<S>], y: &mut Vec<Var<S>>) {
    let x: Vec<Recorded<S::Base>> = x.iter().map(|v| Num(lowered(parts(&v.0)))).collect();
    let mut outputs = Vec::new();
    Below::<S>::custom(rule, &x, &mut outputs);
    y.clear();
    y.extend(outputs.into_iter().map(|v| Num(whole(raised(v.0)))));
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
pub(super) fn parameter<S: Scalar>(index: usize, value: S::Base) -> Option<VarCore<S>> {
    let records = const { S::DEPTH == 0 } && RECORDS.try_with(Cell::get).unwrap_or(false);
    records.then(|| whole(raised(<Recorded<S::Base>>::parameter(index, value).0)))
}

/// Memory of [`AsRecorded`].
#[derive(Clone, Debug)]
pub(super) struct Numbers<S: Scalar> {
    x: Vec<Var<S>>,
    y: Vec<Var<S>>,
}

impl<S: Scalar> Numbers<S> {
    pub(super) const fn new() -> Self {
        Numbers { x: Vec::new(), y: Vec::new() }
    }
}

/// A function of [`Var`]s as a function of recording numbers, for recorders.
pub(super) struct AsRecorded<'a, S: Scalar, F> {
    pub(super) f: &'a mut F,
    pub(super) numbers: Numbers<S>,
}

impl<S: Scalar, B: Base, F: Flat<Var<S>>> Flat<Recorded<B>> for AsRecorded<'_, S, F> {
    fn call(&mut self, x: &[Recorded<B>], y: &mut Vec<Recorded<B>>) {
        let Numbers { x: inputs, y: outputs } = &mut self.numbers;
        inputs.clear();
        inputs.extend(x.iter().map(|v| Num(whole(raised(v.0)))));
        let writing = Writing::begin(true);
        self.f.call(inputs, outputs);
        drop(writing);
        y.clear();
        y.extend(outputs.iter().map(|v| Num(lowered(parts(&v.0)))));
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}
