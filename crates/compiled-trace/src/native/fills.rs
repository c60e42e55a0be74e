//! Constants that a program stores here and there, stored all at once.
//!
//! Called by [`Compiled::new`](super::Compiled::new) before a program is compiled. Most entries of the sparse Jacobian of a
//! discretised equation are constants, and stored one by one from a table to a table. Cells in a row are stored in vectors
//! instead, together with the cells between them that the program stores to later.

use crate::program::{Address, Dimension, Instruction, Nest, Program, Space, Statement};

/// Fewer constants stay as they are.
const FEWEST: usize = 16;
/// Maximum number of rows of cells per output.
const MOST: usize = 16;
/// A row may have this many times as many cells as constants: so many are stored at once.
const STRETCH: usize = 4;

/// The program with constants stored first; `None` if there are none to be stored so.
pub(super) fn gather(program: &Program) -> Option<Program> {
    let is_candidate = |statement: &Statement| match statement {
        Statement::Nest(nest) => stored(nest).is_some() && is_scattered(nest),
        _ => false,
    };
    if !program.statements.iter().any(is_candidate) || has_calls(&program.statements) {
        return None;
    }
    let mut candidates: Vec<(usize, u8)> = Vec::new();
    for (i, statement) in program.statements.iter().enumerate() {
        if let Statement::Nest(nest) = statement
            && let Some(output) = stored(nest)
            && is_scattered(nest)
        {
            candidates.push((i, output));
        }
    }
    let mut made = Program { statements: Vec::new(), ..program.clone() };
    let mut replaced = vec![false; program.statements.len()];
    for output in 0..program.outputs.len().min(256) as u16 {
        let own: Vec<usize> = candidates.iter().filter(|(_, other)| *other as u16 == output).map(|(i, _)| *i).collect();
        if !own.is_empty() && fill(program, output as u8, &own, &mut made).is_some() {
            own.iter().for_each(|i| replaced[*i] = true);
        }
    }
    if made.statements.is_empty() {
        return None;
    }
    let rest = program.statements.iter().zip(&replaced).filter(|(_, replaced)| !**replaced);
    made.statements.extend(rest.map(|(statement, _)| statement.clone()));
    Some(made)
}

/// Whether custom rules are called.
pub(super) fn has_calls(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Call(_) => true,
        Statement::Loop { body, .. } => has_calls(body),
        Statement::Nest(_) | Statement::Zero { .. } => false,
    })
}

/// The output to which a nest stores constants, if it does nothing else.
pub(super) fn stored(nest: &Nest) -> Option<u8> {
    let mut output = None;
    for instruction in &nest.body {
        match *instruction {
            Instruction::Constant(_) => {}
            Instruction::Load(address) if nest.addresses.get(address as usize)?.space == Space::Constant => {}
            Instruction::Store { address, .. } => match nest.addresses.get(address as usize)?.space {
                Space::Output(number) if output.is_none_or(|known| known == number) => output = Some(number),
                _ => return None,
            },
            _ => return None,
        }
    }
    output
}

/// Whether cells are not stored in the order in which they lie.
fn is_scattered(nest: &Nest) -> bool {
    nest.addresses
        .iter()
        .any(|address| address.table.is_some() || !matches!(address.strides.last(), None | Some(0 | 1)))
}

/// What is stored to a cell, as bits: a constant of one of the nests, anything by another statement.
const CONSTANT: u8 = 1;
const OTHER: u8 = 2;

/// Adds statements that store the constants of these nests, and of all cells between them that are stored to later.
fn fill(program: &Program, output: u8, nests: &[usize], made: &mut Program) -> Option<()> {
    let length = program.outputs[output as usize];
    let mut cells = vec![0u8; length];
    // Bits of the constants.
    let mut constants = vec![0u64; length];
    for (i, statement) in program.statements.iter().enumerate() {
        match statement {
            Statement::Nest(nest) if nests.contains(&i) => constants_of(program, nest, |cell, bits| {
                let known = cells.get_mut(cell)?;
                constants[cell] = bits;
                // A cell that is stored twice needs the order of the program.
                (std::mem::replace(known, *known | CONSTANT) & CONSTANT == 0).then_some(())
            })?,
            other => stores(other, output, &mut Vec::new(), &mut cells)?,
        }
    }
    // Rows of cells: first and last constant.
    let mut rows: Vec<(usize, usize)> = Vec::new();
    let (mut count, mut goes_on) = (0, false);
    for (cell, stored) in cells.iter().enumerate() {
        match *stored {
            0 => goes_on = false,
            OTHER => {}
            CONSTANT => {
                count += 1;
                let is_most = rows.len() == MOST;
                match rows.last_mut() {
                    Some((_, last)) if goes_on => *last = cell,
                    _ if is_most => return None,
                    _ => rows.push((cell, cell)),
                }
                goes_on = true;
            }
            _ => return None,
        }
    }
    let reach: usize = rows.iter().map(|(first, last)| last - first + 1).sum();
    if count < FEWEST || reach > STRETCH * count {
        return None;
    }
    for (first, last) in rows {
        let row = || (first..=last).filter(|cell| cells[*cell] == CONSTANT);
        let to = Address { space: Space::Output(output), base: first as u32, strides: vec![1], table: None };
        let (from, addresses) = if row().all(|cell| constants[cell] == constants[first]) {
            let known = made.constants.iter().position(|constant| constant.to_bits() == constants[first]);
            let number = known.unwrap_or_else(|| {
                made.constants.push(f64::from_bits(constants[first]));
                made.constants.len() - 1
            });
            (Instruction::Constant(number as u32), vec![to])
        } else {
            let base = made.constants.len() as u32;
            made.constants.extend(constants[first..=last].iter().map(|bits| f64::from_bits(*bits)));
            let from = Address { space: Space::Constant, base, strides: vec![1], table: None };
            (Instruction::Load(1), vec![to, from])
        };
        made.statements.push(Statement::Nest(Nest {
            dimensions: vec![Dimension { trip: (last - first + 1) as u32, parallel: true }],
            reversed: false,
            addresses,
            body: vec![from, Instruction::Store { value: 0, address: 0 }],
        }));
    }
    Some(())
}

/// Calls `act` with the number and the counters of every iteration; stops at `None`.
pub(super) fn each(trips: &[u32], mut act: impl FnMut(usize, &[u32]) -> Option<()>) -> Option<()> {
    if trips.contains(&0) {
        return Some(());
    }
    let mut counters = vec![0; trips.len()];
    let mut number = 0;
    loop {
        act(number, &counters)?;
        number += 1;
        let mut counter = trips.len();
        loop {
            if counter == 0 {
                return Some(());
            }
            counter -= 1;
            counters[counter] += 1;
            if counters[counter] < trips[counter] {
                break;
            }
            counters[counter] = 0;
        }
    }
}

/// The cell of an address in the iteration with this number, `None` if its table is too short.
#[inline]
pub(super) fn cell(address: &Address, number: usize, counters: &[u32], trips: &[u32]) -> Option<usize> {
    match &address.table {
        Some(table) => table.get(number).map(|cell| *cell as usize),
        None => Some(address.cell(counters, trips)),
    }
}

/// Calls `act` with the cells and the bits of the constants that a nest stores; stops at `None`.
fn constants_of(program: &Program, nest: &Nest, mut act: impl FnMut(usize, u64) -> Option<()>) -> Option<()> {
    let trips = nest.trips(&[]);
    let mut numbers = vec![0.0; nest.body.len()];
    each(&trips, |number, counters| {
        for (i, instruction) in nest.body.iter().enumerate() {
            match *instruction {
                Instruction::Constant(c) => numbers[i] = *program.constants.get(c as usize)?,
                Instruction::Load(address) => {
                    let from = cell(nest.addresses.get(address as usize)?, number, counters, &trips)?;
                    numbers[i] = *program.constants.get(from)?;
                }
                Instruction::Store { value, address } => {
                    let to = cell(nest.addresses.get(address as usize)?, number, counters, &trips)?;
                    act(to, numbers.get(value as usize)?.to_bits())?;
                }
                _ => return None,
            }
        }
        Some(())
    })
}

/// Marks the cells of an output that a statement stores to; `None` if it does anything else with them.
fn stores(statement: &Statement, output: u8, trips: &mut Vec<u32>, marked: &mut [u8]) -> Option<()> {
    let space = Space::Output(output);
    match statement {
        Statement::Loop { trip, body, .. } => {
            trips.push(*trip);
            body.iter().try_for_each(|statement| stores(statement, output, trips, marked))?;
            trips.pop();
            Some(())
        }
        Statement::Zero { space: other, .. } => (*other != space).then_some(()),
        Statement::Call(_) => None,
        Statement::Nest(nest) => {
            let all = nest.trips(trips);
            for instruction in &nest.body {
                let (address, is_store) = match *instruction {
                    Instruction::Store { address, .. } => (address, true),
                    Instruction::Load(address) | Instruction::Accumulate { address, .. } => (address, false),
                    _ => continue,
                };
                let address = nest.addresses.get(address as usize)?;
                if address.space != space {
                    continue;
                }
                if !is_store {
                    return None;
                }
                each(&all, |number, counters| {
                    *marked.get_mut(cell(address, number, counters, &all)?)? |= OTHER;
                    Some(())
                })?;
            }
            Some(())
        }
    }
}
