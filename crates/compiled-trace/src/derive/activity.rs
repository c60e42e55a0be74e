//! Finds the values that depend on the first input slice. Values of parameters, seeds and constants alone have no derivative.
//!
//! Called by the passes that derive programs; reads a whole program before they write.

use crate::optimize::intervals::Intervals;
use crate::program::{Address, Instruction, Nest, Space, Statement};
use crate::recording::graph::Op;

/// The cells of the work space that depend on the first input slice. If a load may read one of them, all cells it may read
/// count, so that every tangent that is loaded has been stored.
pub(crate) struct Activity {
    cells: Intervals,
}

impl Activity {
    /// Follows the first input slice through a program until it finds no further dependent cell.
    pub(crate) fn new(statements: &[Statement]) -> Activity {
        let mut activity = Activity { cells: Intervals::default() };
        while activity.spread(statements, &mut Vec::new()) {}
        activity
    }

    /// Whether a cell that an address means may depend on the first input slice; `trips` are those of all its counters.
    pub(crate) fn reaches(&self, address: &Address, trips: &[u32]) -> bool {
        match address.space {
            Space::Constant => false,
            Space::Input(slice) => slice == 0,
            Space::Output(_) => true,
            Space::Work => {
                let (low, high) = address.range(trips);
                self.cells.overlaps(low, high)
            }
        }
    }

    /// Per instruction of a nest, whether its result depends differentiably on the first input slice.
    pub(crate) fn results(&self, nest: &Nest, trips: &[u32]) -> Vec<bool> {
        let mut active = vec![false; nest.body.len()];
        for (i, instruction) in nest.body.iter().enumerate() {
            active[i] = match *instruction {
                Instruction::Load(address) => self.reaches(&nest.addresses[address as usize], trips),
                Instruction::Apply { op: Op::Compare(_) | Op::Guard(_), .. } => false,
                Instruction::Apply { op: Op::Keep | Op::Drop, b, .. } => active[b as usize],
                Instruction::Apply { a, b, .. } => active[a as usize] || active[b as usize],
                _ => false,
            };
        }
        active
    }

    /// One sweep over statements; returns whether it found new cells.
    fn spread(&mut self, statements: &[Statement], loops: &mut Vec<u32>) -> bool {
        let mut grown = false;
        for statement in statements {
            match statement {
                Statement::Zero { .. } => {}
                Statement::Loop { trip, body, .. } => {
                    loops.push(*trip);
                    grown |= self.spread(body, loops);
                    loops.pop();
                }
                Statement::Nest(nest) => {
                    let depth = loops.len();
                    loops.extend(nest.dimensions.iter().map(|dimension| dimension.trip));
                    let active = self.results(nest, loops);
                    for (i, instruction) in nest.body.iter().enumerate() {
                        let address = match *instruction {
                            Instruction::Load(address) if active[i] => address,
                            Instruction::Store { value, address } | Instruction::Accumulate { value, address }
                                if active[value as usize] =>
                            {
                                address
                            }
                            _ => continue,
                        };
                        grown |= self.insert(&nest.addresses[address as usize], loops);
                    }
                    loops.truncate(depth);
                }
                Statement::Call(call) if !call.is_derived => {}
                Statement::Call(call) => {
                    let active: Vec<&Address> =
                        call.arguments_alone().iter().filter(|a| self.reaches(a, loops)).collect();
                    if !active.is_empty() {
                        for address in active.into_iter().chain(call.results_and_marks().0) {
                            grown |= self.insert(address, loops);
                        }
                    }
                }
            }
        }
        grown
    }

    fn insert(&mut self, address: &Address, trips: &[u32]) -> bool {
        let (low, high) = address.range(trips);
        address.space == Space::Work && self.cells.insert(low, high)
    }
}
