//! Third pass: from the tree of loops to a [`Program`] over memory.
//!
//! Called by [`compile`](crate::compile). Loops without dependence from iteration to iteration are distributed over the
//! statements inside them, so that most of a program is iteration domains with straight-line bodies; loops that carry values
//! across inner loops stay loops of statements. A result used outside its own iteration gets cells of its own, one per
//! iteration, last counter fastest. Operands of the first iteration that lie before the loop (the start of a recurrence) are
//! copied to cells before those of the loop, so that the operand's address is regular.
//!
//! `plan` makes groups of operations from the tree, `fit` describes how operands depend on the counters, `cells` places results,
//! `outputs` decides which of them are written to outputs, `body` writes the groups' nests, `emit` the statements around them.

mod body;
mod cells;
mod emit;
mod fit;
mod lowering;
mod outputs;
mod plan;

use crate::compile::reductions::Sequence;
use crate::compile::reroll::Rerolled;
use crate::program::*;
use crate::recording::graph::Graph;
use differentiation_interface_core::error::{Error, ErrorKind};
use lowering::{Lowering, MAX_CELLS, NONE};
use plan::Enclosing;
use rustc_hash::FxHashMap;

/// Runs the pass.
pub(crate) fn lower(graph: &Graph, sequence: &Sequence, rolled: &Rerolled) -> Result<Program, Error> {
    let mut lowering = Lowering {
        sequence,
        rolled,
        groups: Vec::new(),
        loops: 0,
        owner: vec![NONE; sequence.nodes.len()],
        constants: sequence.constants.clone(),
        work: sequence.reductions.len(),
        copied_inputs: None,
        copied_outputs: Vec::new(),
        before_group: FxHashMap::default(),
        before_loop: FxHashMap::default(),
    };
    let plans =
        lowering.plan(&rolled.tokens, 0, 0, Enclosing { counters: &[], enclosing: &[], loops: 0, carried: None });
    lowering.find_owners();
    lowering.find_affine();
    lowering.find_stored();
    lowering.place_outputs();
    lowering.allocate()?;
    let bodies = (0..lowering.groups.len()).map(|g| lowering.body(g)).collect::<Result<Vec<_>, _>>()?;
    lowering.fill_halos()?;
    let cleared = lowering.clear_outputs();
    let copies = lowering.copy_outputs()?;
    let mut bodies: Vec<Option<Nest>> = bodies.into_iter().map(Some).collect();
    let mut statements = Vec::from_iter(cleared);
    if !sequence.reductions.is_empty() {
        statements.push(Statement::Zero { space: Space::Work, start: 0, length: sequence.reductions.len() as u32 });
    }
    if let Some(base) = lowering.copied_inputs {
        statements.extend(lowering.copy_inputs(base));
    }
    lowering.emit(plans, &mut bodies, &mut statements)?;
    statements.extend(copies);
    if lowering.work > MAX_CELLS {
        return Err(ErrorKind::TapeOverflow.into());
    }
    Ok(Program {
        constants: lowering.constants,
        inputs: vec![graph.inputs, graph.parameters],
        outputs: vec![sequence.outputs.len()],
        work: lowering.work,
        statements,
        rules: graph.rules.clone(),
        places: graph.places.clone(),
        absence: graph.absence,
    })
}
