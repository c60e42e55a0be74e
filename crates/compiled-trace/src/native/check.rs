//! Checks what machine code assumes: every cell lies inside its slice, every operand is an earlier result.
//!
//! Called once when a program is compiled. The code checks no index, so a program that fails here is refused; lengths of
//! slices are compared at every run.

use super::options::Refused;
use crate::program::{Address, Instruction, Nest, Program, Space, Statement};
use crate::recording::graph::Op;

/// Maximum number of slices a program may take: pointers to all of them are passed on the stack.
pub(super) const SPACES: usize = 48;

/// The number of a space: constants, work, inputs, outputs.
pub(super) fn space_number(program: &Program, space: Space) -> usize {
    match space {
        Space::Constant => 0,
        Space::Work => 1,
        Space::Input(i) => 2 + i as usize,
        Space::Output(i) => 2 + program.inputs.len() + i as usize,
    }
}

/// Checks a whole program.
pub(super) fn check(program: &Program) -> Result<(), Refused> {
    let spaces = 2 + program.inputs.len() + program.outputs.len();
    if spaces > SPACES {
        return Err(Refused::TooManySlices { found: spaces - 2, most: SPACES - 2 });
    }
    statements(program, &program.statements, &mut Vec::new())
}

fn statements(program: &Program, list: &[Statement], trips: &mut Vec<u32>) -> Result<(), Refused> {
    for statement in list {
        match statement {
            Statement::Nest(nest) => check_nest(program, nest, trips)?,
            Statement::Loop { trip, body, .. } => {
                trips.push(*trip);
                statements(program, body, trips)?;
                trips.pop();
            }
            Statement::Zero { space, start, length } => {
                let end = *start as usize + *length as usize;
                ensure(writable(*space) && length_of(program, *space).is_some_and(|l| end <= l))?;
            }
            Statement::Call(call) => {
                for address in &call.arguments {
                    check_address(program, address, trips, false)?;
                }
                for address in &call.results {
                    check_address(program, address, trips, true)?;
                }
            }
        }
    }
    Ok(())
}

fn check_nest(program: &Program, nest: &Nest, loops: &[u32]) -> Result<(), Refused> {
    let mut trips = loops.to_vec();
    trips.extend(nest.dimensions.iter().map(|d| d.trip));
    for address in &nest.addresses {
        check_address(program, address, &trips, false)?;
    }
    let mut has_result = vec![false; nest.body.len()];
    for (i, instruction) in nest.body.iter().enumerate() {
        let mut known = true;
        instruction.operands(|operand| known &= (operand as usize) < i && has_result[operand as usize]);
        ensure(known)?;
        match *instruction {
            Instruction::Constant(c) => ensure((c as usize) < program.constants.len())?,
            Instruction::Load(address) => ensure((address as usize) < nest.addresses.len())?,
            Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } => {
                ensure(nest.addresses.get(address as usize).is_some_and(|address| writable(address.space)))?;
            }
            Instruction::Apply { op, .. } => {
                ensure(!matches!(op, Op::Accumulate | Op::Call | Op::CallOutput) && program.rules.know(op))?;
            }
        }
        has_result[i] = !instruction.has_effect();
    }
    Ok(())
}

fn check_address(program: &Program, address: &Address, trips: &[u32], written: bool) -> Result<(), Refused> {
    ensure(!written || writable(address.space))?;
    let length = length_of(program, address.space).ok_or(Refused::Inconsistent)?;
    if trips.contains(&0) {
        return Ok(());
    }
    if let Some(table) = &address.table {
        let mut iterations = 1usize;
        for trip in trips {
            iterations = iterations.checked_mul(*trip as usize).ok_or(Refused::Inconsistent)?;
        }
        return ensure(table.len() >= iterations && table.iter().all(|cell| (*cell as usize) < length));
    }
    ensure(address.strides.len() == trips.len())?;
    let (low, high) = range(address, trips);
    ensure(low >= 0 && (high as usize) < length)
}

/// First and last cell an address without a table can mean.
pub(super) fn range(address: &Address, trips: &[u32]) -> (i64, i64) {
    let (mut low, mut high) = (address.base as i64, address.base as i64);
    for (stride, trip) in address.strides.iter().zip(trips) {
        // Fewer than 2^32 iterations of a stride below 2^31: no sum of a few of these overflows.
        let reach = *stride as i64 * (*trip as i64 - 1).max(0);
        let end = if reach < 0 { &mut low } else { &mut high };
        *end = end.saturating_add(reach);
    }
    (low, high)
}

fn length_of(program: &Program, space: Space) -> Option<usize> {
    match space {
        Space::Constant => Some(program.constants.len()),
        Space::Work => Some(program.work),
        Space::Input(i) => program.inputs.get(i as usize).copied(),
        Space::Output(i) => program.outputs.get(i as usize).copied(),
    }
}

fn writable(space: Space) -> bool {
    matches!(space, Space::Work | Space::Output(_))
}

fn ensure(holds: bool) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(Refused::Inconsistent) }
}
