//! A program prepared to run, and the memory of its runs.
//!
//! Made and run by `run`; `block` and `single` work on a run.

use super::plan::Plan;
use crate::products::Slices;
use crate::program::{PlacedCall, Program, Space, Spaces};
use differentiation_interface_core::scalar::Scalar;

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

/// The memory that a statement works on.
pub(super) struct Memory<'a, 'i, 'o, S> {
    pub(super) constants: &'a [S],
    pub(super) inputs: &'a [&'i [S]],
    pub(super) cells: &'a mut [S],
    pub(super) outputs: &'a mut [&'o mut [S]],
}

impl<S: Scalar> Memory<'_, '_, '_, S> {
    #[inline(always)]
    pub(super) fn slice(&self, space: Space) -> &[S] {
        match space {
            Space::Constant => self.constants,
            Space::Input(i) => self.inputs[i as usize],
            Space::Work => self.cells,
            Space::Output(i) => self.outputs[i as usize],
        }
    }
    #[inline(always)]
    pub(super) fn slice_mut(&mut self, space: Space) -> &mut [S] {
        match space {
            Space::Output(i) => self.outputs[i as usize],
            _ => self.cells,
        }
    }
}

impl<S: Scalar> Spaces<S> for Memory<'_, '_, '_, S> {
    fn space(&self, space: Space) -> &[S] {
        self.slice(space)
    }
    fn space_mut(&mut self, space: Space) -> &mut [S] {
        self.slice_mut(space)
    }
}

impl Slices for Memory<'_, '_, '_, f64> {
    fn cells(&self, space: Space) -> &[f64] {
        self.slice(space)
    }
    fn cells_mut(&mut self, space: Space) -> &mut [f64] {
        self.slice_mut(space)
    }
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
