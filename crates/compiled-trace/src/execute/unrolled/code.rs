//! The representation of a small program: steps on slots.
//!
//! Written by `emit`, run by `kernel`.

use crate::recording::rules::Rules;
use pulp::Arch;

/// Slots that a wide operation processes at a time.
pub(super) const LANES: usize = 16;
/// Slots behind the last one that the last group may read.
pub(super) const BEYOND: usize = LANES;

/// A small program.
#[derive(Clone, Debug)]
pub(in crate::execute) struct Unrolled {
    pub(super) steps: Vec<Step>,
    /// The operations of the steps with the code [`Code::Line`].
    pub(super) lines: Vec<Line>,
    /// Slots that wide operations gather from and scatter to.
    pub(super) lists: Vec<u16>,
    pub(super) constants: Vec<f64>,
    pub(super) rules: Rules,
    /// The vector instructions of the machine.
    pub(super) arch: Arch,
    /// Where the inputs begin; each has room for whole groups.
    pub(super) inputs: usize,
    /// Where the outputs begin; each has room for whole groups.
    pub(super) outputs: usize,
    /// Number of slots.
    pub(super) slots: usize,
    /// Whether no row has more than one group.
    pub(super) is_short: bool,
}

/// What a step computes from the slots `x` and `y`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
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
    /// To `n` cells and no others.
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
pub(super) enum Mode {
    /// It goes to slots that nothing else reads meanwhile, in whole groups if it is wide.
    Result,
    /// It is stored to cells.
    Store,
    /// It is added to cells that are 0: stored with 0 added, so that -0 becomes 0.
    First,
    /// It is added to cells.
    Add,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) code: Code,
    /// [`Mode::Result`] for operations on `n` numbers each.
    pub(super) mode: Mode,
    pub(super) to: u16,
    pub(super) x: u16,
    pub(super) y: u16,
    /// Number of lanes.
    pub(super) n: u16,
    /// Number of a rule, relation or guard; slots of a third operand; or the high half of the place in the lists, whose low half is
    /// `y`.
    pub(super) rule: u16,
}

/// Scalar operations, ordered so that those of one kind are neighbours.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) batches: Vec<Batch>,
    /// For each operation the slots of its result and of what it reads.
    pub(super) operands: Vec<[u16; 3]>,
}

/// A number of operations of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) code: Code,
    /// [`Mode::Store`] for results, too.
    pub(super) mode: Mode,
    pub(super) rule: u16,
    pub(super) count: u32,
}

impl Step {
    pub(super) fn new(code: Code, mode: Mode, to: u16, [x, y]: [u16; 2], n: u16, rule: u16) -> Step {
        Step { code, mode, to, x, y, n, rule }
    }

    pub(super) fn list(&self) -> usize {
        (self.rule as usize) << 16 | self.y as usize
    }
}

/// Number of slots for `n` numbers in whole groups.
pub(super) fn room(n: usize) -> usize {
    n.next_multiple_of(LANES)
}
