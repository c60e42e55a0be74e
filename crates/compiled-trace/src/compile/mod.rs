//! From a recording to a program: guards that others imply go, reductions and loops are found again, iterations are regrouped, and
//! what is left is lowered to statements over memory.
//!
//! Called by [`compile`](crate::compile), in the order of [`program`].

mod guards;
mod lower;
mod reductions;
mod regroup;
mod reroll;

use crate::program::Program;
use crate::recording::graph::Graph;
use differentiation_interface_core::error::Error;

/// The program of a recording, not optimised.
pub(crate) fn program(graph: &Graph) -> Result<Program, Error> {
    let (sequence, rolled) = regroup::regrouped(reductions::sequence(graph));
    lower::lower(graph, &sequence, &rolled)
}
