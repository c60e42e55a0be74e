//! Constants of an output, stored before everything else.
//!
//! Called by [`Compiled::new`](super::Compiled::new) for the output of [`Options::kept`](super::Options::kept), after `fills` and `boxes`. Most
//! entries of the Jacobian of a discretised equation are constants. A buffer that a run has written contains them already, so
//! [`Compiled::run_again`](super::Compiled::run_again) begins after the statements that store them.

use super::fills::{cell, each, has_calls, stored};
use crate::program::{Instruction, Nest, Program, Space, Statement};

/// Fewer constants stay where they are: a function of their own would take as long.
const FEWEST: usize = 64;
/// The constants are at least one in so many cells that their statements store to. Others are stored to again later.
const STRETCH: usize = 4;

/// What happens to a cell, as bits: a statement that stays stores to it, or one reads it or adds to it.
const STORED: u8 = 1;
const CHANGED: u8 = 2;

/// The statements with those in front that store constants to an output, and their number; `None` if there are too few. If all others run
/// again on the output that a run has left, they leave the same.
pub(super) fn in_front(program: &Program, output: usize) -> Option<(Vec<Statement>, usize)> {
    let (space, length) = (Space::Output(u8::try_from(output).ok()?), *program.outputs.get(output)?);
    if !program.statements.iter().any(|statement| is_constant(statement, space)) || has_calls(&program.statements) {
        return None;
    }
    let moves = find(program, space, length)?;
    let all = || program.statements.iter().zip(&moves);
    let front = all().filter(|(_, moves)| **moves);
    let rest = all().filter(|(_, moves)| !**moves);
    let count = front.clone().count();
    Some((front.chain(rest).map(|(statement, _)| statement.clone()).collect(), count))
}

/// Which statements can go to the front; `None` if none is worth it, or an address is wrong.
fn find(program: &Program, space: Space, length: usize) -> Option<Vec<bool>> {
    let mut cells = vec![0u8; length];
    for statement in &program.statements {
        if !is_constant(statement, space) {
            visit(statement, space, &mut Vec::new(), &mut |cell, is_store| {
                *cells.get_mut(cell)? |= if is_store { 0 } else { CHANGED };
                Some(())
            })?;
        }
    }
    let mut moves = Vec::with_capacity(program.statements.len());
    let mut kept = vec![false; length];
    let mut reach = 0;
    for statement in &program.statements {
        let mut is_free = is_constant(statement, space);
        if is_free {
            visit(statement, space, &mut Vec::new(), &mut |cell, _| {
                is_free &= *cells.get(cell)? == 0;
                Some(())
            })?;
        }
        visit(statement, space, &mut Vec::new(), &mut |cell, is_store| {
            if is_free {
                reach += 1;
                *kept.get_mut(cell)? = true;
            } else if is_store {
                *cells.get_mut(cell)? |= STORED;
            }
            Some(())
        })?;
        moves.push(is_free);
    }
    let constants = kept.iter().zip(&cells).filter(|(kept, cell)| **kept && **cell == 0).count();
    (constants >= FEWEST && constants * STRETCH >= reach).then_some(moves)
}

/// Whether a statement only stores constants to this output.
fn is_constant(statement: &Statement, output: Space) -> bool {
    match statement {
        Statement::Nest(nest) => stored(nest).is_some_and(|number| Space::Output(number) == output),
        Statement::Zero { space, .. } => *space == output,
        Statement::Loop { .. } | Statement::Call(_) => false,
    }
}

/// Calls `act` with all cells of an output that a statement uses, and whether it stores to them; stops at `None`.
fn visit(
    statement: &Statement,
    output: Space,
    trips: &mut Vec<u32>,
    act: &mut dyn FnMut(usize, bool) -> Option<()>,
) -> Option<()> {
    match statement {
        Statement::Loop { trip, body, .. } => {
            trips.push(*trip);
            body.iter().try_for_each(|statement| visit(statement, output, trips, act))?;
            trips.pop();
            Some(())
        }
        Statement::Zero { space, start, length } if *space == output => {
            (*start..*start + *length).try_for_each(|cell| act(cell as usize, trips.is_empty()))
        }
        Statement::Nest(nest) => visit_nest(nest, output, &nest.trips(trips), act),
        Statement::Zero { .. } | Statement::Call(_) => Some(()),
    }
}

fn visit_nest(nest: &Nest, output: Space, trips: &[u32], act: &mut dyn FnMut(usize, bool) -> Option<()>) -> Option<()> {
    for instruction in &nest.body {
        let (address, is_store) = match *instruction {
            Instruction::Store { address, .. } => (address, true),
            Instruction::Load(address) | Instruction::Accumulate { address, .. } => (address, false),
            _ => continue,
        };
        let address = nest.addresses.get(address as usize)?;
        if address.space == output {
            each(trips, |number, counters| act(cell(address, number, counters, trips)?, is_store))?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Address, Dimension};
    use crate::{Limits, compile, record};

    fn nest(trip: u32, base: u32, body: Vec<Instruction>) -> Statement {
        let to = Address { space: Space::Output(0), base, strides: vec![1], table: None };
        let from = Address { space: Space::Input(0), base: 0, strides: vec![0], table: None };
        let dimensions = vec![Dimension { trip, parallel: true }];
        Statement::Nest(Nest { dimensions, reversed: false, addresses: vec![to, from], body })
    }
    fn constants(trip: u32, base: u32) -> Statement {
        nest(trip, base, vec![Instruction::Constant(0), Instruction::Store { value: 0, address: 0 }])
    }
    fn numbers(trip: u32, base: u32) -> Statement {
        nest(trip, base, vec![Instruction::Load(1), Instruction::Store { value: 0, address: 0 }])
    }
    fn sums(trip: u32, base: u32) -> Statement {
        nest(trip, base, vec![Instruction::Load(1), Instruction::Accumulate { value: 0, address: 0 }])
    }
    fn zero(start: u32, length: u32) -> Statement {
        Statement::Zero { space: Space::Output(0), start, length }
    }

    /// The bases of the first cells in the new order, and the number of statements at the front.
    fn moved(statements: Vec<Statement>) -> (Vec<u32>, usize) {
        let graph = record(&[1.0], &[], Limits::default(), |x, _, y| y.extend([x[0]; 1000])).unwrap();
        let program = Program { statements, constants: vec![3.0], ..compile(&graph).unwrap() };
        let (statements, count) = in_front(&program, 0).unwrap_or((program.statements.clone(), 0));
        let first = |statement: &Statement| match statement {
            Statement::Nest(nest) => nest.addresses[0].base,
            Statement::Zero { start, .. } => *start,
            _ => u32::MAX,
        };
        (statements.iter().map(first).collect(), count)
    }

    #[test]
    fn constants_are_moved_before_numbers() {
        assert_eq!(moved(vec![numbers(100, 0), constants(100, 100), zero(200, 100)]), (vec![100, 200, 0], 2));
    }

    #[test]
    fn cells_that_are_stored_to_later_may_be_among_them() {
        assert_eq!(moved(vec![zero(0, 1000), numbers(100, 300)]), (vec![0, 300], 1));
        assert_eq!(moved(vec![constants(400, 0), numbers(350, 1)]), (vec![0, 1], 0), "most are");
    }

    #[test]
    fn cells_that_were_stored_to_or_are_changed_stay() {
        assert_eq!(moved(vec![numbers(100, 0), constants(100, 99)]), (vec![0, 99], 0));
        assert_eq!(moved(vec![zero(0, 1000), sums(1, 500)]), (vec![0, 500], 0));
        assert_eq!(moved(vec![sums(1, 500), constants(100, 450)]), (vec![500, 450], 0));
        // The first one stays, as a sum follows, so the second one must be stored again too.
        assert_eq!(moved(vec![constants(100, 0), constants(80, 1), sums(1, 0)]), (vec![0, 1, 0], 0));
        assert_eq!(moved(vec![constants(100, 0), constants(80, 100), sums(1, 0)]), (vec![100, 0, 0], 1));
    }

    #[test]
    fn few_constants_and_wrong_addresses_stay() {
        assert_eq!(moved(vec![numbers(100, 0), constants(63, 100)]), (vec![0, 100], 0));
        assert_eq!(moved(vec![numbers(100, 0), constants(100, 950)]), (vec![0, 950], 0));
    }
}
