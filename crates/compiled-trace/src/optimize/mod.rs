//! Optimisation of whole programs: statements over the same iterations are fused, results that are never loaded are not stored.
//!
//! Called at the end of every pass that makes a program. Fusing a nest with its adjoint, if nothing in between needs the
//! nest's results, gives the one loop a careful programmer writes: values are computed once and stay in the iteration.

pub(crate) mod access;
mod combined;
mod constant_stores;
mod dead_stores;
mod first_guards;
mod fuse;
pub(crate) mod intervals;
mod kept_outputs;
mod single_store;

use crate::derive::expressions::Shared;
use crate::optimize::access::{Access, accesses, all_accesses, cells_of};
use crate::optimize::constant_stores::order_constants;
use crate::optimize::dead_stores::drop_dead_stores;
use crate::optimize::first_guards::put_guards_first;
use crate::optimize::fuse::{fuse, rewritten};
use crate::optimize::intervals::Intervals;
use crate::optimize::single_store::store_single_terms;
use crate::program::*;

impl Program {
    /// The same program with fewer and smaller statements.
    pub(crate) fn optimized(mut self) -> Program {
        let mut shared = Shared::new(self.constants, self.rules, self.absence);
        clean(&mut self.statements, &mut shared);
        Program { constants: shared.constants, rules: shared.rules, ..self }.optimized_together()
    }

    /// The same program with fewer and smaller statements, if every body has each instruction once already.
    pub(crate) fn optimized_together(self) -> Program {
        let mut shared = Shared::new(self.constants, self.rules, self.absence);
        let mut statements = self.statements;
        compute_in_outputs(&mut statements);
        drop_dead_stores(&mut statements);
        let fused = fuse(&mut statements, &mut shared, &[]);
        let stored = store_single_terms(&mut statements);
        if fused || stored {
            drop_dead_stores(&mut statements);
        }
        put_guards_first(&mut statements, &mut shared);
        order_constants(&mut statements, &mut shared.constants);
        Program { constants: shared.constants, rules: shared.rules, statements, ..self }
    }
}

/// Writes every body again, with each instruction once.
fn clean(statements: &mut [Statement], shared: &mut Shared) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => *nest = rewritten(&[nest], shared),
            Statement::Loop { body, .. } => clean(body, shared),
            _ => {}
        }
    }
}

/// Accumulates reductions that are only copied to an output in the output itself.
fn compute_in_outputs(statements: &mut Vec<Statement>) {
    if !statements.iter().any(|statement| copy_of_cell(statement).is_some()) {
        return;
    }
    let mut all = Vec::new();
    statements.iter().for_each(|statement| accesses(statement, &mut Vec::new(), &mut all));
    let mut at = 0;
    while at < statements.len() {
        let place = copy_of_cell(&statements[at]).and_then(|(cell, output)| {
            let meets =
                |space, cell| all.iter().filter(move |a: &&Access| a.space == space && a.low <= cell && cell <= a.high);
            let added = terms(&statements[..at], cell, &mut Vec::new());
            let cleared = statements[..at].iter().filter(|statement| clears(statement, cell)).count();
            // Besides the copy, which reads it.
            let others = meets(Space::Work, cell).count() - 1;
            let only_added = cleared > 0 && others == added + cleared;
            (only_added && meets(output.space, output.base).count() == 1).then_some((cell, output))
        });
        match place {
            Some((cell, output)) => {
                statements.remove(at);
                move_terms(&mut statements[..at], cell, &output, &mut Vec::new());
                statements.insert(0, Statement::Zero { space: output.space, start: output.base, length: 1 });
            }
            None => at += 1,
        }
    }
}

/// The work cell and the output cell of a statement that copies one number.
fn copy_of_cell(statement: &Statement) -> Option<(u32, Address)> {
    let Statement::Nest(nest) = statement else { return None };
    let [Instruction::Load(from), Instruction::Store { value: 0, address }] = nest.body[..] else { return None };
    let (from, to) = (&nest.addresses[from as usize], &nest.addresses[address as usize]);
    let is_copy = nest.dimensions.is_empty() && from.space == Space::Work && matches!(to.space, Space::Output(_));
    is_copy.then(|| (from.base, to.clone()))
}

fn clears(statement: &Statement, cell: u32) -> bool {
    matches!(statement, Statement::Zero { space: Space::Work, start, length } if (*start..start + length).contains(&cell))
}

/// Whether an address means one work cell in all iterations.
fn is_cell(address: &Address, cell: u32, trips: &[u32]) -> bool {
    address.space == Space::Work && address.range(trips) == (cell, cell)
}

/// Number of accumulations to one work cell.
fn terms(statements: &[Statement], cell: u32, loops: &mut Vec<u32>) -> usize {
    let mut count = 0;
    for statement in statements {
        match statement {
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                count += terms(body, cell, loops);
                loops.pop();
            }
            Statement::Nest(nest) => {
                let trips = nest.trips(loops);
                let adds = |instruction: &&Instruction| match **instruction {
                    Instruction::Accumulate { address, .. } => is_cell(&nest.addresses[address as usize], cell, &trips),
                    _ => false,
                };
                count += nest.body.iter().filter(adds).count();
            }
            _ => {}
        }
    }
    count
}

/// Turns accumulations to one work cell into accumulations to an output.
fn move_terms(statements: &mut [Statement], cell: u32, output: &Address, loops: &mut Vec<u32>) {
    for statement in statements {
        match statement {
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                move_terms(body, cell, output, loops);
                loops.pop();
            }
            Statement::Nest(nest) => {
                let trips = nest.trips(loops);
                for address in &mut nest.addresses {
                    if is_cell(address, cell, &trips) {
                        *address = Address::fixed(output.space, output.base, trips.len());
                    }
                }
            }
            _ => {}
        }
    }
}

/// The work cells that statements access.
fn touched(statements: &[Statement]) -> Intervals {
    cells_of(&all_accesses(statements), |_| true)
}

#[cfg(test)]
mod tests {
    use crate::program::{Program, Space, Statement};
    use crate::{Limits, Recorded, compile, record};
    use num_traits::Float;

    fn program(inputs: usize, f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Program {
        let x: Vec<f64> = (0..inputs).map(|i| 1.0 + i as f64).collect();
        compile(&record(&x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap()).unwrap()
    }

    fn run(program: Program, x: &[f64]) -> Vec<f64> {
        let mut y = vec![f64::NAN; program.outputs[0]];
        let executable = program.executable();
        executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut y]).unwrap();
        y
    }

    /// Whether the program accumulates to a work cell.
    fn clears_work(program: &Program) -> bool {
        program.statements.iter().any(|s| matches!(s, Statement::Zero { space: Space::Work, .. }))
    }

    #[test]
    fn sums_are_added_up_in_outputs() {
        let squares = |x: &[Recorded]| vec![x.iter().map(|v| *v * *v).sum(), x.iter().map(|v| *v * 2.0).sum()];
        let found = program(20, squares);
        assert!(!clears_work(&found), "{found}");
        assert_eq!(run(found, &[1.0; 20]), [20.0, 40.0]);
    }

    #[test]
    fn sums_that_are_read_stay_in_the_work() {
        let scaled = |x: &[Recorded]| {
            let sum: Recorded = x.iter().map(|v| *v * *v).sum();
            vec![sum, sum.sqrt()]
        };
        let found = program(20, scaled);
        assert!(clears_work(&found), "{found}");
        assert_eq!(run(found, &[2.0; 20]), [80.0, 80f64.sqrt()]);
        // The same sum twice.
        let found = program(20, |x| vec![x.iter().map(|v| *v * *v).sum(); 2]);
        assert!(clears_work(&found), "{found}");
        assert_eq!(run(found, &[2.0; 20]), [80.0, 80.0]);
    }
}
