//! Operations of recordings and programs: what they do, and how their operands are numbered.
//!
//! Written by the recorder and by the passes; read by every pass and executor.

use differentiation_interface_core::scalar::Relation;

/// The kind of an operation. It has at most two operands, whose meaning depends on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A rule of one argument, by its number in [`Rules`](crate::rules::Rules).
    Unary(u16),
    /// A rule of two arguments.
    Binary(u16),
    /// 1 if the first operand is in the [`relation`] to the second, 0 if not.
    Compare(u8),
    /// The second operand if the first is not 0, and -0 otherwise; `Keep + Drop` is a choice without a branch.
    Keep,
    /// The second operand if the first is 0, and -0 otherwise.
    Drop,
    /// Checks that the operands compare as they did when recorded: place and [`Outcome`] in one number.
    Guard(u16),
    /// Adds the first operand to a reduction.
    Accumulate,
    /// A call of a custom rule, and its first output; the first operand is the number of the call.
    Call,
    /// A further output of the call before it.
    CallOutput,
}

/// The relations of [`Op::Compare`], by number.
pub const RELATIONS: [Relation; 5] =
    [Relation::Less, Relation::LessOrEqual, Relation::Greater, Relation::GreaterOrEqual, Relation::Equal];

/// The relation with this number.
#[inline(always)]
pub fn relation(number: u8) -> Relation {
    RELATIONS[number as usize]
}

/// How two numbers compared at a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// The first was smaller.
    Less = 0,
    /// They were equal.
    Equal = 1,
    /// The first was larger.
    Greater = 2,
    /// One was NaN.
    Unordered = 3,
    /// They were the same number, or both NaN: a value was read into plain code.
    Same = 4,
}

/// Maximum number of places in the user's code that guards can distinguish.
pub(super) const PLACES: usize = 8000;

/// Splits the number of a guard into its place and its outcome.
pub fn guard_parts(guard: u16) -> (usize, Outcome) {
    let outcome = match guard % 8 {
        0 => Outcome::Less,
        1 => Outcome::Equal,
        2 => Outcome::Greater,
        3 => Outcome::Unordered,
        _ => Outcome::Same,
    };
    ((guard / 8) as usize, outcome)
}

/// An operation: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// First operand.
    pub a: u32,
    /// Second operand, 0 if there is none.
    pub b: u32,
}

/// Tag of operands that are constants: the rest is an index of [`Graph::constants`](crate::Graph::constants).
pub const CONSTANT: u32 = 1 << 31;
/// Tag of operands that are reductions; only inside the passes.
pub(crate) const REDUCTION: u32 = 1 << 30;
/// Maximum number of values a graph can have.
pub(crate) const MAX_VALUES: usize = (1 << 30) - 1;
