//! From a recording to a program: implied guards are removed, reductions and loops are found again, iterations are regrouped, and
//! the rest is lowered to statements over memory.
//!
//! Called by [`compile`](crate::compile), in the order of [`program`].

pub(crate) mod folded;
mod guards;
mod lower;
mod reductions;
mod regroup;
pub(crate) mod repeated_constants;
mod reroll;
mod separable;

use crate::program::Program;
use crate::recording::graph::Graph;
use differentiation_interface_core::error::Error;

/// The program of a recording, before optimisation.
pub(crate) fn program(graph: &Graph) -> Result<Program, Error> {
    let (sequence, rolled) = regroup::regroup(reductions::sequence(graph));
    lower::lower(graph, &sequence, &rolled)
}

/// The same, which frees the memory of the operations as soon as they are not needed.
pub(crate) fn program_of(mut graph: Graph) -> Result<Program, Error> {
    let sequence = reductions::sequence(&graph);
    graph.nodes = Vec::new();
    let (sequence, rolled) = regroup::regroup(sequence);
    lower::lower(&graph, &sequence, &rolled)
}
