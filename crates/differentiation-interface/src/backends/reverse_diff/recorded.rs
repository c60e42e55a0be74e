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

/// The recording number. A number of a tape becomes a stray, and its tape ends with an error.
#[inline]
fn lowered<S: Scalar, B: Base>(number: VarCore<S>) -> RecordedCore<B> {
    let value = B::from_f64(number.value().peek().as_f64());
    match number.place() {
        (_, None) => RecordedCore::from_parts(value, 0, 0),
        (entry, Some(recording)) if is_tagged::<S>(entry) => {
            RecordedCore::from_parts(value, entry & !TAG, recording.get())
        }
        (_, Some(tape)) => {
            tape::note_foreign::<Node<S>>([tape; 2]);
            RecordedCore::from_parts(value, 0, STRAY.get())
        }
    }
}

/// The number of which [`lowered`] is the recording number.
#[inline]
fn raised<S: Scalar, B: Base>(number: RecordedCore<B>) -> VarCore<S> {
    let (value, operand, recording) = number.parts();
    let value = S::constant(S::Base::from_f64(value.as_f64()));
    match NonZeroU32::new(recording) {
        None => VarCore::inert(value),
        recording => VarCore::of_recording(value, operand, recording),
    }
}

/// The recording number over the plain number below `S`.
type Below<S> = RecordedCore<<S as Scalar>::Base>;

#[cold]
#[inline(never)]
pub(super) fn unary<S: Scalar, R: Unary>(x: VarCore<S>, rule: R) -> VarCore<S> {
    raised(lowered::<S, S::Base>(x).unary(rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary<S: Scalar, R: Binary>(x: VarCore<S>, y: VarCore<S>, rule: R) -> VarCore<S> {
    raised(lowered::<S, S::Base>(x).binary(lowered(y), rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary_right<S: Scalar, R: Binary>(x: VarCore<S>, y: S::Base, rule: R) -> VarCore<S> {
    raised(lowered::<S, S::Base>(x).binary_right(y, rule))
}
#[cold]
#[inline(never)]
pub(super) fn binary_left<S: Scalar, R: Binary>(x: S::Base, y: VarCore<S>, rule: R) -> VarCore<S> {
    raised(Below::<S>::binary_left(x, lowered(y), rule))
}
#[cold]
#[inline(never)]
pub(super) fn fused<S: Scalar>(x: VarCore<S>, factor: VarCore<S>, addend: VarCore<S>) -> VarCore<S> {
    raised(lowered::<S, S::Base>(x).fused(lowered(factor), lowered(addend)))
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn observe<S: Scalar>(x: VarCore<S>) -> S::Base {
    lowered::<S, S::Base>(x).observe()
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn compare<S: Scalar>(x: VarCore<S>, y: VarCore<S>) -> Option<Ordering> {
    lowered::<S, S::Base>(x).compare(&lowered(y))
}
#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn select<S: Scalar>(
    left: VarCore<S>,
    relation: Relation,
    right: VarCore<S>,
    then: VarCore<S>,
    otherwise: VarCore<S>,
) -> VarCore<S> {
    raised(Below::<S>::select(lowered(left), relation, lowered(right), lowered(then), lowered(otherwise)))
}
#[cold]
#[inline(never)]
pub(super) fn custom<S: Scalar, R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Var<S>], y: &mut Vec<Var<S>>) {
    let x: Vec<Recorded<S::Base>> = x.iter().map(|v| Num(lowered(v.0))).collect();
    let mut outputs = Vec::new();
    Below::<S>::custom(rule, &x, &mut outputs);
    y.clear();
    y.extend(outputs.into_iter().map(|v| Num(raised(v.0))));
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
    records.then(|| raised(<Recorded<S::Base>>::parameter(index, value).0))
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
        inputs.extend(x.iter().map(|v| Num(raised(v.0))));
        let writing = Writing::begin(true);
        self.f.call(inputs, outputs);
        drop(writing);
        y.clear();
        y.extend(outputs.iter().map(|v| Num(lowered(v.0))));
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        self.f.recordable()
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}
