//! Stores and accumulations to work cells that are never loaded.
//!
//! Called by the optimisation of whole programs. What only a dead store needs is dead too, often a load of what a statement before has stored, so
//! statements are visited from the last to the first one, and loads that are gone are counted off at once: a chain of dead stores goes in one
//! visit. (Visits with all loads counted anew took minutes for recordings of a hundred thousand calls of rules.)

use super::access::{Access, Kind, accesses, all_accesses, cells_of};
use crate::derive::builder::without_dead;
use crate::optimize::intervals::Intervals;
use crate::program::*;

/// Removes stores and accumulations to work cells that are never loaded, and reduces what is cleared.
pub(super) fn drop_dead_stores(statements: &mut Vec<Statement>) {
    let mut loads = Loads::of(&all_accesses(statements));
    while remove_dead(statements, &mut Vec::new(), &mut loads) {}
    narrow(statements, &cells_of(&all_accesses(statements), |kind| kind != Kind::Write));
}

/// How many loads touch work cells: counts for the segments between the ends of all loads, in two Fenwick trees (Fenwick 1994), which add to a range
/// of segments and find the sum over one.
struct Loads {
    /// Where segments begin, in ascending order; the last one ends nowhere.
    segments: Vec<u64>,
    steps: Vec<i64>,
    offsets: Vec<i64>,
}

impl Loads {
    fn of(all: &[Access]) -> Loads {
        let is_load = |access: &&Access| access.space == Space::Work && access.kind == Kind::Read;
        let ends = |access: &Access| [u64::from(access.low), u64::from(access.high) + 1];
        let mut segments: Vec<u64> = all.iter().filter(is_load).flat_map(ends).collect();
        segments.sort_unstable();
        segments.dedup();
        let zeros = vec![0; segments.len() + 2];
        let mut loads = Loads { segments, steps: zeros.clone(), offsets: zeros };
        loads.count(all, 1);
        loads
    }

    /// The segments in which cells are, by number: the first one, and the one behind the last one.
    fn range(&self, low: u32, high: u32) -> (usize, usize) {
        let until = |cell: u32| self.segments.partition_point(|start| *start <= u64::from(cell));
        (until(low).saturating_sub(1), until(high))
    }

    /// Adds to the counts of all loads.
    fn count(&mut self, all: &[Access], by: i64) {
        for access in all.iter().filter(|access| access.space == Space::Work && access.kind == Kind::Read) {
            let (first, end) = self.range(access.low, access.high);
            for (at, by) in [(first, by), (end, -by)] {
                let mut place = at + 1;
                while place < self.steps.len() {
                    self.steps[place] += by;
                    self.offsets[place] += by * at as i64;
                    place += place & place.wrapping_neg();
                }
            }
        }
    }

    /// The sum of the counts of the segments before one.
    fn sum(&self, end: usize) -> i64 {
        let (mut place, mut steps, mut offsets) = (end, 0, 0);
        while place > 0 {
            steps += self.steps[place];
            offsets += self.offsets[place];
            place &= place - 1;
        }
        steps * end as i64 - offsets
    }

    fn overlaps(&self, low: u32, high: u32) -> bool {
        let (first, end) = self.range(low, high);
        first < end && self.sum(end) > self.sum(first)
    }
}

/// Removes dead statements and instructions, the last ones first; returns whether it removed any.
fn remove_dead(statements: &mut Vec<Statement>, loops: &mut Vec<u32>, loads: &mut Loads) -> bool {
    let mut changed = false;
    for statement in statements.iter_mut().rev() {
        match statement {
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                changed |= remove_dead(body, loops, loads);
                loops.pop();
            }
            Statement::Nest(nest) => {
                let trips = nest.trips(loops);
                let is_dead = |instruction: &Instruction| match *instruction {
                    Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } => {
                        let address = &nest.addresses[address as usize];
                        let (low, high) = address.range(&trips);
                        address.space == Space::Work && !loads.overlaps(low, high)
                    }
                    _ => false,
                };
                if nest.body.iter().any(is_dead) {
                    changed = true;
                    // Dead instructions lose their effect, and go together with those that only they need.
                    let mut kept = nest.clone();
                    for instruction in &mut kept.body {
                        if is_dead(instruction) {
                            *instruction = Instruction::Constant(0);
                        }
                    }
                    let kept = Statement::Nest(without_dead(kept));
                    for (statement, by) in [(&*statement, -1), (&kept, 1)] {
                        let mut all = Vec::new();
                        accesses(statement, loops, &mut all);
                        loads.count(&all, by);
                    }
                    *statement = kept;
                }
            }
            Statement::Zero { .. } | Statement::Call(_) => {}
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

/// Clears only cells that are loaded or added to.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::graph::Op;
    use crate::recording::rules;

    #[test]
    fn loads_are_counted_where_they_are() {
        let load = |low, high| Access { space: Space::Work, low, high, kind: Kind::Read };
        let all = [load(3, 5), load(5, 9), load(20, 20), load(7, 7), load(0, u32::MAX - 1)];
        let overlaps = |kept: &[Access], low, high| kept.iter().any(|load| load.low <= high && low <= load.high);
        for kept in [&all[..], &all[..4], &all[1..3], &all[2..3], &all[..0]] {
            let mut loads = Loads::of(&all);
            let gone: Vec<Access> =
                all.iter().filter(|load| !kept.iter().any(|kept| kept.low == load.low)).cloned().collect();
            loads.count(&gone, -1);
            for low in (0..25).chain([u32::MAX - 2, u32::MAX]) {
                for high in (low..25).chain([low, u32::MAX]) {
                    assert_eq!(loads.overlaps(low, high), overlaps(kept, low, high), "{kept:?}: {low} to {high}");
                }
            }
        }
    }

    /// Cell i + 1 is the sine of cell i, cell 0 an input, and the output the sine of a cell.
    #[test]
    fn a_chain_of_dead_stores_goes_in_one_visit() {
        let cell = |space, base| Address { space, base, strides: Vec::new(), table: None };
        let sine = |from, to| {
            Statement::Nest(Nest {
                dimensions: Vec::new(),
                reversed: false,
                addresses: vec![from, to],
                body: vec![
                    Instruction::Load(0),
                    Instruction::Apply { op: Op::Unary(rules::SIN), a: 0, b: 0 },
                    Instruction::Store { value: 1, address: 1 },
                ],
            })
        };
        for read in [0, 7, 50] {
            let mut statements = vec![
                Statement::Zero { space: Space::Work, start: 0, length: 60 },
                sine(cell(Space::Input(0), 0), cell(Space::Work, 0)),
            ];
            statements.extend((0..50).map(|i| sine(cell(Space::Work, i), cell(Space::Work, i + 1))));
            statements.push(sine(cell(Space::Work, read), cell(Space::Output(0), 0)));
            let mut loads = Loads::of(&all_accesses(&statements));
            assert_eq!(remove_dead(&mut statements, &mut Vec::new(), &mut loads), read < 50);
            assert_eq!(statements.len() as u32, 1 + 1 + read + 1);
            assert!(!remove_dead(&mut statements, &mut Vec::new(), &mut loads));
            drop_dead_stores(&mut statements);
            // Only cells that are loaded are still cleared.
            assert_eq!(statements.len() as u32, 1 + 1 + read + 1);
            assert!(matches!(statements[0], Statement::Zero { start: 0, length, .. } if length == read + 1));
        }
    }
}
