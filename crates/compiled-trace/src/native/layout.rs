//! Blocks of work space that are transposed, so that the loops that run innermost find consecutive cells.
//!
//! Called by [`Compiled::new`](super::Compiled::new) before a program is compiled; calls `plan` for the loops and their costs. A recording keeps an
//! intermediate result of each sample and component row by row, as the function computed them. Where the loop over the rows is the one that has
//! vectors, the cells of a vector are a row apart, each in a cache line of its own. Column by column they are one behind the other.
//!
//! A block of cells is transposed if all that touches it keeps to its rows and columns, and all blocks at once if the estimated costs of the nests
//! that touch them are less then. Clearing before the first use, the usual case, clears the whole block; what is in the work space before a run is
//! not used.

use super::check::check;
use super::functions::Calls;
use super::plan::Plan;
use crate::program::{Address, Nest, Program, Space, Statement, each_address};
use crate::sorting;

/// Blocks of fewer cells stay in the cache as they are.
const FEWEST: u32 = 1024;
/// Maximum number of blocks.
const MOST: usize = 256;

/// Stands for the number of columns where addresses disagree.
const DIFFERENT: i64 = -1;

/// A block of cells of the work space: rows of so many columns.
#[derive(Clone, Copy, Debug)]
struct Block {
    low: u32,
    high: u32,
    columns: i64,
}

impl Block {
    /// Whether any of so many cells is in it.
    fn meets(&self, start: u32, length: u32) -> bool {
        start <= self.high && self.low < start + length
    }

    fn rows(&self) -> i64 {
        i64::from(self.high - self.low + 1) / self.columns
    }

    /// A distance of cells as one of rows and one of columns.
    fn split(&self, distance: i64) -> (i64, i64) {
        let rows = (distance + self.columns / 2).div_euclid(self.columns);
        (rows, distance - rows * self.columns)
    }

    /// Where the cells of an address are column by column: the first cell and the distances; `None` if some iteration leaves its row.
    fn transposed(&self, address: &Address, trips: &[u32]) -> Option<(u32, Vec<i32>)> {
        let first = i64::from(address.base) - i64::from(self.low);
        let (row, column) = (first / self.columns, first % self.columns);
        let (mut least, mut most) = (column, column);
        let mut strides = Vec::with_capacity(address.strides.len());
        for (stride, trip) in address.strides.iter().zip(trips) {
            // A counter that does not count has any stride.
            if *trip <= 1 {
                strides.push(0);
                continue;
            }
            let (rows, columns) = self.split(i64::from(*stride));
            let reach = columns * (i64::from(*trip) - 1);
            *(if reach < 0 { &mut least } else { &mut most }) += reach;
            strides.push(i32::try_from(columns * self.rows() + rows).ok()?);
        }
        let base = i64::from(self.low) + column * self.rows() + row;
        (0 <= least && most < self.columns).then_some((u32::try_from(base).ok()?, strides))
    }
}

/// The program with blocks of its work space transposed; `None` if it is better as it is.
pub(super) fn transposed(program: &Program, widths: [u32; 3], calls: Calls) -> Option<Program> {
    // Without an address that is out of bounds, what follows has none either.
    if program.work < FEWEST as usize || check(program).is_err() {
        return None;
    }
    let mut blocks = blocks(program)?;
    let touches = |blocks: &[Block], nest: &Nest, trips: &[u32]| {
        nest.addresses.iter().any(|address| block_of(blocks, address, trips).is_some())
    };
    let rules = &program.rules;
    // The nests that touch blocks, with their costs; per block, the accesses that are consecutive in the innermost loop after the
    // change, less those that are so before it.
    let mut nests: Vec<(&Nest, Vec<u32>, f64)> = Vec::new();
    let mut gains = vec![0.0; blocks.len()];
    each_nest(&program.statements, &mut Vec::new(), &mut |nest, loops| {
        let trips = nest.trips(loops);
        if !touches(&blocks, nest, &trips) {
            return;
        }
        let plan = Plan::new(nest, loops, widths, rules, calls);
        let weight: f64 = trips.iter().map(|trip| f64::from(*trip)).product();
        for address in &nest.addresses {
            let Some(inner) = plan.order.last().copied() else { break };
            let Some(block) = block_of(&blocks, address, &trips) else { continue };
            let Some((_, strides)) = blocks[block].transposed(address, &trips) else { continue };
            let is_next = |strides: &[i32]| f64::from(u8::from(strides[inner] == 1));
            gains[block] += weight * (is_next(&strides) - is_next(&address.strides));
        }
        let cost = plan.cost(rules, calls);
        nests.push((nest, trips, cost));
    });
    let mut gains = gains.into_iter();
    blocks.retain(|_| gains.next().is_some_and(|gain| gain > 0.0));
    if blocks.is_empty() {
        return None;
    }
    let before: f64 = nests.iter().filter(|(nest, trips, _)| touches(&blocks, nest, trips)).map(|nest| nest.2).sum();
    let mut made = program.clone();
    each_address(&mut made.statements, &mut Vec::new(), &mut |address, trips| {
        if let Some(block) = block_of(&blocks, address, trips)
            && let Some((base, strides)) = blocks[block].transposed(address, trips)
        {
            (address.base, address.strides) = (base, strides);
        }
    });
    for statement in &mut made.statements {
        let Statement::Zero { space: Space::Work, start, length } = statement else { continue };
        let (mut low, mut end) = (*start, *start + *length);
        for block in blocks.iter().filter(|block| block.meets(*start, *length)) {
            (low, end) = (low.min(block.low), end.max(block.high + 1));
        }
        (*start, *length) = (low, end - low);
    }
    let mut after = 0.0;
    each_nest(&made.statements, &mut Vec::new(), &mut |nest, loops| {
        // Cells stay in their blocks.
        if touches(&blocks, nest, &nest.trips(loops)) {
            after += Plan::new(nest, loops, widths, rules, calls).cost(rules, calls);
        }
    });
    (after < before).then_some(made)
}

/// The block in which the cells of an address are.
fn block_of(blocks: &[Block], address: &Address, trips: &[u32]) -> Option<usize> {
    if address.space != Space::Work || address.table.is_some() {
        return None;
    }
    let (low, high) = address.range(trips);
    let next = blocks.partition_point(|block| block.high < low);
    blocks.get(next).is_some_and(|block| block.low <= low && high <= block.high).then_some(next)
}

/// The blocks of a program that may be transposed, in ascending order; `None` if there are none.
fn blocks(program: &Program) -> Option<Vec<Block>> {
    // Ranges of addresses, with the length of a row of those that move along two counters.
    let mut ranges: Vec<(u32, u32, i64)> = Vec::new();
    each_of(&program.statements, &mut Vec::new(), &mut |address, trips| {
        if address.space == Space::Work {
            let (low, high) = address.range(trips);
            let moving = address.strides.iter().zip(trips).filter(|(stride, trip)| **stride != 0 && **trip > 1);
            let mut strides: Vec<i64> = moving.map(|(stride, _)| i64::from(stride.unsigned_abs())).collect();
            sorting::sort(&mut strides);
            ranges.push((low, high, if let [_, row] = *strides { row } else { 0 }));
        }
    });
    if ranges.iter().all(|range| range.2 == 0) {
        return None;
    }
    sorting::sort(&mut ranges);
    let mut blocks: Vec<Block> = Vec::new();
    for (low, high, columns) in ranges {
        match blocks.last_mut() {
            Some(last) if low <= last.high => {
                last.high = last.high.max(high);
                last.columns = match (last.columns, columns) {
                    (known, 0) => known,
                    (0, first) => first,
                    (known, other) if known == other => known,
                    _ => DIFFERENT,
                };
            }
            _ => blocks.push(Block { low, high, columns }),
        }
    }
    // Cells behind the last row that nothing touches complete it.
    for i in 0..blocks.len() {
        let end = blocks.get(i + 1).map_or(program.work as i64, |next| i64::from(next.low));
        let Block { low, high, columns } = blocks[i];
        let missing = if columns > 1 { (-i64::from(high - low + 1)).rem_euclid(columns) } else { 0 };
        if i64::from(high) + missing < end {
            blocks[i].high += missing as u32;
        }
    }
    blocks.retain(|block| {
        let length = block.high - block.low + 1;
        length >= FEWEST && block.columns > 1 && i64::from(length) % block.columns == 0 && block.rows() > 1
    });
    // All accesses keep to the rows and columns, and none is before a block is cleared.
    let mut keeps = vec![true; blocks.len()];
    let mut is_used = vec![false; blocks.len()];
    for statement in &program.statements {
        if let Statement::Zero { space: Space::Work, start, length } = statement {
            for at in blocks.iter().enumerate().filter(|(_, block)| block.meets(*start, *length)).map(|(at, _)| at) {
                keeps[at] &= !is_used[at];
            }
        }
        each_of(std::slice::from_ref(statement), &mut Vec::new(), &mut |address, trips| {
            let (low, _) = address.range(trips);
            let at = blocks.partition_point(|block| block.high < low);
            if let Some(block) = blocks.get(at).filter(|block| address.space == Space::Work && block.low <= low) {
                is_used[at] = true;
                keeps[at] &= address.table.is_none() && block.transposed(address, trips).is_some();
            }
        });
        if matches!(statement, Statement::Loop { .. }) && clears(statement) {
            return None;
        }
    }
    let mut keeps = keeps.into_iter();
    blocks.retain(|_| keeps.next() == Some(true));
    (!blocks.is_empty() && blocks.len() <= MOST).then_some(blocks)
}

/// Whether a statement clears cells of the work space.
fn clears(statement: &Statement) -> bool {
    match statement {
        Statement::Zero { space, .. } => *space == Space::Work,
        Statement::Loop { body, .. } => body.iter().any(clears),
        Statement::Nest(_) | Statement::Call(_) => false,
    }
}

/// Calls `act` with every address and the trip counts of its counters.
fn each_of(statements: &[Statement], loops: &mut Vec<u32>, act: &mut impl FnMut(&Address, &[u32])) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => {
                let trips = nest.trips(loops);
                nest.addresses.iter().for_each(|address| act(address, &trips));
            }
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                each_of(body, loops, act);
                loops.pop();
            }
            Statement::Call(call) => {
                call.arguments.iter().chain(&call.results).for_each(|address| act(address, loops));
            }
            Statement::Zero { .. } => {}
        }
    }
}

/// Calls `act` with every nest and the trip counts of the loops around it.
fn each_nest<'p>(statements: &'p [Statement], loops: &mut Vec<u32>, act: &mut impl FnMut(&'p Nest, &[u32])) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => act(nest, loops),
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                each_nest(body, loops, act);
                loops.pop();
            }
            Statement::Zero { .. } | Statement::Call(_) => {}
        }
    }
}
