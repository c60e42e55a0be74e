//! Small programs as one list of operations on one array.
//!
//! Made by [`emit`] when a program is made ready and is small enough; run on plain numbers by [`kernel`]. All counters are known
//! by then, so loops and nests are written out, and every operand is a place in one array of slots: constants, copies of the
//! inputs, work, outputs, results. A run has no counters, addresses or borrowed buffers left to look after, which is most of
//! what a small program costs in blocks.
//!
//! # Wide operations
//! An operation on neighbouring iterations works on [`LANES`] slots at a time. The last group may read slots beyond its operands,
//! whose numbers go nowhere: results have room for whole groups, as inputs and outputs have, and cells of the program are
//! written by whole groups only where the cells beyond are still to be cleared or written; else [`Code::Put`] takes results
//! to where they belong.
//!
//! # Straight lines
//! A step costs a jump to the code for its operation, which the machine cannot foresee where operations follow each other without
//! pattern. Long straight lines of scalar operations are therefore reordered: operations of one kind become neighbours, a batch,
//! which is one loop.

mod emit;
mod kernel;
mod slots;

use crate::recording::rules::Rules;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};
pub(super) use emit::flat;
use pulp::Arch;
pub(super) use slots::Slots;
use std::sync::Arc;

/// Slots that a wide operation takes at a time.
const LANES: usize = 16;
/// Slots behind the last one that the last group may read.
const BEYOND: usize = LANES;

/// A small program.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    steps: Vec<Step>,
    /// What the steps with the code [`Code::Line`] consist of.
    lines: Vec<Line>,
    /// Slots that wide operations gather from and scatter to.
    lists: Vec<u16>,
    constants: Vec<f64>,
    rules: Rules,
    /// The vectors of the machine.
    arch: Arch,
    /// Where the inputs begin, each with room for whole groups.
    inputs: usize,
    /// Where the outputs begin, each with room for whole groups.
    outputs: usize,
    /// Number of slots.
    slots: usize,
    /// Whether no row has more than one group.
    is_short: bool,
}

/// What a step computes from the slots `x` and `y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    // On one number.
    Same,
    Plus,
    Minus,
    Times,
    Over,
    Negate,
    Keep,
    Drop,
    Compare,
    Unary,
    Binary,
    Guard,
    /// `x` times the number of lanes, as a sum.
    Sums,
    // On `n` numbers each.
    WideSame,
    WidePlus,
    WideMinus,
    WideTimes,
    WideOver,
    WideNegate,
    WideKeep,
    WideDrop,
    WideCompare,
    WideUnary,
    WideBinary,
    /// `x` times `y` plus the numbers at `rule`, rounded twice.
    TimesPlus,
    /// The numbers at `rule` minus `x` times `y`, rounded twice.
    MinusTimes,
    /// The negative of a sum.
    PlusNegated,
    /// The negative of a product.
    TimesNegated,
    /// To `n` cells and none beyond.
    Put,
    WideGuard,
    // On `n` numbers and one that is the same for all.
    PlusSame,
    MinusSame,
    SameMinus,
    TimesSame,
    OverSame,
    SameOver,
    /// The number `x`, `n` times.
    Spread,
    /// The sum of `n` numbers, one number.
    Sum,
    /// The sum of `n` products.
    SumTimes,
    /// From the slots of a list.
    Gather,
    /// To the slots of a list.
    Scatter,
    /// `n` zeros.
    Clear,
    /// The scalar operations of line number `x`.
    Line,
}

/// What happens to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Goes to slots that nobody else reads meanwhile, whole groups if it is wide.
    Result,
    /// Goes to cells.
    Store,
    /// Is added to cells that are 0: goes there, with 0 added so that -0 becomes 0.
    First,
    /// Is added to cells.
    Add,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
struct Step {
    code: Code,
    /// [`Mode::Result`] for operations on `n` numbers each.
    mode: Mode,
    to: u16,
    x: u16,
    y: u16,
    /// Number of lanes.
    n: u16,
    /// Number of a rule, relation or guard; slots of a third operand; high half of the place in the lists, whose low half is
    /// `y`.
    rule: u16,
}

/// Scalar operations in an order in which those of one kind are neighbours.
#[derive(Clone, Debug)]
struct Line {
    batches: Vec<Batch>,
    /// For each operation the slots of its result and of what it reads.
    operands: Vec<[u16; 3]>,
}

/// So many operations of one kind.
#[derive(Clone, Copy, Debug)]
struct Batch {
    code: Code,
    /// [`Mode::Store`] also for results.
    mode: Mode,
    rule: u16,
    count: u32,
}

impl Step {
    fn new(code: Code, mode: Mode, to: u16, [x, y]: [u16; 2], n: u16, rule: u16) -> Step {
        Step { code, mode, to, x, y, n, rule }
    }

    fn list(&self) -> usize {
        (self.rule as usize) << 16 | self.y as usize
    }
}

/// Slots for so many numbers in whole groups.
fn room(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

impl Flat {
    /// Number of operations.
    #[cfg(test)]
    pub(super) fn length(&self) -> usize {
        self.steps.len()
    }

    /// Slots to run it in.
    pub(super) fn workspace<S: Scalar>(&self) -> Slots<S> {
        let mut slots = vec![S::default(); self.slots];
        for (slot, constant) in slots.iter_mut().zip(&self.constants) {
            *slot = S::constant(S::Base::from_f64(*constant));
        }
        Slots::new(&slots)
    }

    /// Runs it on doubles; whether no guard failed. Not generic and out of line, so that it is compiled once, in this crate.
    #[inline(never)]
    fn holds_for_doubles(&self, slots: &mut [f64], inputs: &[&[f64]], outputs: &mut [&mut [f64]]) -> bool {
        self.run(slots, inputs, outputs).is_ok()
    }

    /// Runs it on slices of the right lengths; the number of the guard that failed, if one did.
    #[inline(always)]
    pub(super) fn run<S: Scalar>(&self, slots: &mut [S], inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), u16> {
        match self.is_short {
            true => dispatch(kernel::Run::<_, true> { flat: self, slots, inputs, outputs }),
            false => dispatch(kernel::Run::<_, false> { flat: self, slots, inputs, outputs }),
        }
    }
}

#[inline(always)]
fn dispatch<S: Scalar, const SHORT: bool>(run: kernel::Run<'_, '_, '_, S, SHORT>) -> Result<(), u16> {
    match run.flat.arch {
        Arch::Scalar => without_vectors(run),
        arch => arch.dispatch(run),
    }
}

/// On machines without wide vectors. Out of line, as it has much on the stack.
#[inline(never)]
fn without_vectors<S: Scalar, const SHORT: bool>(run: kernel::Run<'_, '_, '_, S, SHORT>) -> Result<(), u16> {
    Arch::Scalar.dispatch(run)
}

/// A small program with slots of its own: a call compares lengths, and runs. Made by
/// [`Executable::single`](crate::Executable::single).
#[derive(Clone, Debug)]
pub struct Single<S, const INPUTS: usize, const OUTPUTS: usize> {
    flat: Arc<Flat>,
    slots: Slots<S>,
    inputs: [usize; INPUTS],
    outputs: [usize; OUTPUTS],
}

impl<S: Scalar, const INPUTS: usize, const OUTPUTS: usize> Single<S, INPUTS, OUTPUTS> {
    /// `None` if the program has other numbers of slices.
    pub(super) fn new(flat: &Arc<Flat>, inputs: &[usize], outputs: &[usize]) -> Option<Self> {
        let (inputs, outputs) = (inputs.try_into().ok()?, outputs.try_into().ok()?);
        Some(Single { slots: flat.workspace(), flat: Arc::clone(flat), inputs, outputs })
    }

    /// Whether the slices have the right lengths and no guard failed. Otherwise the outputs are without meaning, and
    /// [`Executable::run`](crate::Executable::run) tells why.
    #[inline(always)]
    pub fn run(&mut self, inputs: &[&[S]; INPUTS], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        let mut fits = true;
        for (input, length) in inputs.iter().zip(self.inputs) {
            fits &= input.len() == length;
        }
        for (output, length) in outputs.iter().zip(self.outputs) {
            fits &= output.len() == length;
        }
        if !fits {
            return false;
        }
        // Constants decide, so that a crate that runs programs on doubles compiles none of the kernels.
        if const { S::DEPTH == 0 && S::Base::IS_DOUBLE } {
            let slots = &mut [self.slots.numbers()];
            let slots = S::as_plain_mut(slots).and_then(S::Base::as_doubles_mut);
            let inputs = S::as_plain(inputs).and_then(S::Base::as_doubles);
            let outputs = S::as_plain_mut(outputs).and_then(S::Base::as_doubles_mut);
            match (slots, inputs, outputs) {
                (Some([slots]), Some(inputs), Some(outputs)) => self.flat.holds_for_doubles(slots, inputs, outputs),
                _ => false,
            }
        } else {
            self.flat.run(self.slots.numbers(), inputs, outputs).is_ok()
        }
    }
}
