//! A program prepared to run, and the memory of its runs.
//!
//! Made and run by `run`; `block` and `single` work on a run.

use super::plan::Plan;
use crate::program::{Memory, PlacedCall, Program, Space};

/// A program prepared for the portable executor. Immutable; share it between threads in an `Arc`.
#[derive(Clone, Debug)]
pub struct Executable {
    pub(super) program: Program,
    pub(super) plans: Vec<Plan>,
    /// The statements with nests replaced by plan numbers.
    pub(super) steps: Vec<Step>,
    pub(super) buffers: usize,
    pub(super) values: usize,
    pub(super) sums: usize,
    /// Memory for copies of the factors of products.
    pub(super) copies: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Nest(usize),
    Loop { trip: u32, reversed: bool, body: Vec<Step> },
    Zero { space: Space, start: usize, length: usize },
    Call(PlacedCall),
}

/// The memory for runs of one executable on the scalar `S`, reused from run to run. One per thread.
#[derive(Clone, Debug)]
pub struct Workspace<S> {
    pub(super) cells: Vec<S>,
    pub(super) constants: Vec<S>,
    pub(super) buffers: Vec<Vec<S>>,
    pub(super) values: Vec<S>,
    pub(super) sums: Vec<[S; 16]>,
    pub(super) rows: Vec<i64>,
    pub(super) counters: Vec<u32>,
    pub(super) call: [Vec<S>; 2],
    pub(super) copies: Vec<f64>,
}

/// One run.
pub(super) struct Run<'a, 'i, 'o, S> {
    pub(super) executable: &'a Executable,
    pub(super) memory: Memory<'a, 'i, 'o, S>,
    pub(super) buffers: &'a mut [Vec<S>],
    pub(super) values: &'a mut [S],
    pub(super) sums: &'a mut [[S; 16]],
    pub(super) rows: &'a mut [i64],
    pub(super) counters: &'a mut [u32],
    pub(super) call: &'a mut [Vec<S>; 2],
    pub(super) copies: &'a mut [f64],
}
