//! Optimisation of whole programs: statements over the same iterations are fused, results nobody loads are not stored.
//!
//! Called at the end of every pass that makes a program. Fusing a nest with its adjoint, where nothing in between needs the
//! nest's results, gives the one loop a careful programmer writes: values are computed once and stay in the iteration.

use crate::access::{Kind, accesses};
use crate::build::without_dead;
use crate::expressions::Shared;
use crate::fuse::{fuse, rewritten};
use crate::intervals::Intervals;
use crate::program::*;

impl Program {
    /// The same program with fewer and smaller statements.
    pub(crate) fn optimized(self) -> Program {
        let mut shared = Shared::new(self.constants, self.rules);
        let mut statements = self.statements;
        clean(&mut statements, &mut shared);
        drop_dead_stores(&mut statements);
        fuse(&mut statements, &mut shared, &[]);
        drop_dead_stores(&mut statements);
        Program { constants: shared.constants, rules: shared.rules, statements, ..self }
    }
}

/// Writes every body again, each instruction once.
fn clean(statements: &mut [Statement], shared: &mut Shared) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => *nest = rewritten(&[nest], shared),
            Statement::Loop { body, .. } => clean(body, shared),
            _ => {}
        }
    }
}

/// Removes stores and accumulations to work cells that nobody loads, and narrows what is cleared.
fn drop_dead_stores(statements: &mut Vec<Statement>) {
    loop {
        let loaded = touched(statements, |kind| kind == Kind::Read);
        if !remove_dead(statements, &mut Vec::new(), &|low, high| loaded.meets(low, high)) {
            break;
        }
    }
    let used = touched(statements, |kind| kind != Kind::Write);
    narrow(statements, &used);
}

/// The work cells that are accessed in these ways.
fn touched(statements: &[Statement], wanted: impl Fn(Kind) -> bool) -> Intervals {
    let mut all = Vec::new();
    statements.iter().for_each(|statement| accesses(statement, &mut Vec::new(), &mut all));
    all.iter().filter(|a| a.space == Space::Work && wanted(a.kind)).map(|a| (a.low, a.high)).collect()
}

/// Whether anything was removed.
fn remove_dead(statements: &mut Vec<Statement>, loops: &mut Vec<u32>, is_loaded: &impl Fn(u32, u32) -> bool) -> bool {
    let mut changed = false;
    for statement in statements.iter_mut() {
        match statement {
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                changed |= remove_dead(body, loops, is_loaded);
                loops.pop();
            }
            Statement::Nest(nest) => {
                let trips: Vec<u32> = loops.iter().copied().chain(nest.dimensions.iter().map(|d| d.trip)).collect();
                let dead: Vec<bool> = nest
                    .addresses
                    .iter()
                    .map(|address| {
                        let (low, high) = address.range(&trips);
                        address.space == Space::Work && !is_loaded(low, high)
                    })
                    .collect();
                let is_dead = |instruction: &Instruction| match *instruction {
                    Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } => {
                        dead[address as usize]
                    }
                    _ => false,
                };
                if nest.body.iter().any(is_dead) {
                    changed = true;
                    // What is dead loses its effect and goes with what only it needs.
                    let mut kept = nest.clone();
                    for instruction in &mut kept.body {
                        if is_dead(instruction) {
                            *instruction = Instruction::Constant(0);
                        }
                    }
                    *nest = without_dead(kept);
                }
            }
            _ => {}
        }
    }
    let before = statements.len();
    statements.retain(|statement| match statement {
        Statement::Nest(nest) => !nest.body.is_empty(),
        Statement::Loop { body, .. } => !body.is_empty(),
        _ => true,
    });
    changed || statements.len() != before
}

/// Clears only what is loaded or added to.
fn narrow(statements: &mut Vec<Statement>, used: &Intervals) {
    let old = std::mem::take(statements);
    for statement in old {
        match statement {
            Statement::Zero { space: Space::Work, start, length } => {
                if length > 0 {
                    let cells = used.inside(start, start + length - 1);
                    statements.extend(cells.map(|(low, high)| Statement::Zero {
                        space: Space::Work,
                        start: low,
                        length: high - low + 1,
                    }));
                }
            }
            Statement::Loop { trip, reversed, mut body } => {
                narrow(&mut body, used);
                statements.push(Statement::Loop { trip, reversed, body });
            }
            other => statements.push(other),
        }
    }
}
