//! The state of the pass: groups of operations, and where their results are stored.
//!
//! Filled by the files beside this one, in the order that [`lower`](super::lower) says.

use crate::compile::reductions::Sequence;
use crate::compile::reroll::Rerolled;
use crate::program::{Address, Nest, Space};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Sentinel: no cell, or no owner.
pub(super) const NONE: u32 = u32::MAX;
/// Maximum number of cells of work space, such that those of several lanes can be numbered by 32 bits.
pub(super) const MAX_CELLS: usize = u32::MAX as usize / 4;

/// Operations that run for the same iterations.
pub(super) struct Group {
    /// The node at which iteration 0 begins.
    pub(super) start: u32,
    /// Trip count and length in nodes of each counter, loops of statements first.
    pub(super) counters: Vec<(u32, u32)>,
    /// How many counters are loops of statements.
    pub(super) loops: usize,
    /// Identities of those loops.
    pub(super) enclosing: Vec<usize>,
    /// Nodes of iteration 0, relative to `start`.
    pub(super) offsets: Vec<u32>,
    /// Per offset, where its results go.
    pub(super) slots: Vec<Slot>,
    /// Per offset, whether its operands are affine in the counters.
    pub(super) affine: Vec<[bool; 2]>,
}

impl Group {
    /// The slot of a node relative to `start`.
    #[inline]
    pub(super) fn slot_of(&self, offset: u32) -> Option<usize> {
        // Offsets without gaps are the usual case.
        let guess = offset.wrapping_sub(*self.offsets.first()?) as usize;
        match self.offsets.get(guess) {
            Some(found) if *found == offset => Some(guess),
            _ => self.offsets.binary_search(&offset).ok(),
        }
    }
}

/// Where the results of an operation are stored, if anything but later operations of the same iteration reads them.
#[derive(Clone)]
pub(super) struct Slot {
    /// Whether it has cells in the work space.
    pub(super) stored: bool,
    /// The first of them.
    pub(super) base: u32,
    /// The outputs that it is, one per iteration.
    pub(super) output: Option<Box<Fit>>,
    /// Counter with extra cells before the first iteration, and how many.
    pub(super) halo: (u32, u32),
}

/// The state of the pass.
pub(super) struct Lowering<'a> {
    pub(super) sequence: &'a Sequence,
    pub(super) rolled: &'a Rerolled,
    pub(super) groups: Vec<Group>,
    /// Number of loops of statements so far.
    pub(super) loops: usize,
    /// For each node its group; for outputs of calls their cell, tagged.
    pub(super) owner: Vec<u32>,
    pub(super) constants: Vec<f64>,
    /// Number of cells of work space so far.
    pub(super) work: usize,
    /// First cell of the copies of inputs and parameters, if there are any.
    pub(super) copied_inputs: Option<u32>,
    /// Outputs that are copied at the end.
    pub(super) copied_outputs: Vec<u32>,
    /// Nests that fill the cells before loops, keyed by the group they must precede.
    pub(super) before_group: FxHashMap<usize, Vec<Nest>>,
    pub(super) before_loop: FxHashMap<usize, Vec<Nest>>,
}

/// How an operand depends on the counters.
#[derive(Clone)]
pub(super) enum Fit {
    Affine { origin: u32, deltas: Vec<i64> },
    Table(Vec<u32>),
}

impl Fit {
    /// The address of these cells of a space, for the given number of counters.
    pub(super) fn address(self, space: Space, counters: usize) -> Address {
        match self {
            Fit::Affine { origin, deltas } => Address {
                space,
                base: origin,
                strides: deltas.iter().map(|delta| *delta as i32).collect(),
                table: None,
            },
            Fit::Table(cells) => {
                Address { space, base: cells[0], strides: vec![0; counters], table: Some(Arc::from(cells)) }
            }
        }
    }
}
