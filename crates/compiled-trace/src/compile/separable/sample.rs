//! The code of one segment of a class: compiled, differentiated, and written as one straight line.
//!
//! Called by `separable` once per class. A constant that changes from segment to segment is a parameter of the sample.

use super::classes::{Class, INPUT, NUMBER, PARAMETER};
use crate::compile::{program, program_of};
use crate::program::{Instruction, Program, Space, Statement};
use crate::recording::graph::{CONSTANT, Graph, Node, Op};
use differentiation_interface_core::error::Error;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longer code is not used.
const MAX_LENGTH: usize = 4096;

/// The code of a segment.
pub(super) struct Sample {
    pub(super) value: Part,
    pub(super) entries: Part,
    /// The constants that change, which are parameters behind those of the function.
    pub(super) varying: Vec<usize>,
}

/// A program of a sample, and the same as one straight line.
pub(super) struct Part {
    pub(super) program: Program,
    pub(super) code: Straight,
}

impl Sample {
    /// The sample of a class, whose entries take operations of those that are `left`; `None` if that is too many, or the code has loops.
    pub(super) fn new(graph: &Graph, class: &Class, left: &mut usize) -> Result<Option<Sample>, Error> {
        let (sample, varying) = recording(graph, class);
        let mut starts = vec![0; class.outputs.len() + 1];
        class.pairs.iter().for_each(|(row, _)| starts[*row as usize + 1] += 1);
        (1..starts.len()).for_each(|row| starts[row] += starts[row - 1]);
        let columns: Vec<u32> = class.pairs.iter().map(|(_, input)| *input).collect();
        let Some(entries) = sample.jacobian_entries(&starts, &columns, *left)? else { return Ok(None) };
        let Some(rest) = left.checked_sub(entries.nodes.len() * class.members) else { return Ok(None) };
        *left = rest;
        let part = |program: Program| Straight::of(&program).map(|code| Part { program, code });
        let (value, entries) = (part(program(&sample)?.optimized()), part(program_of(entries)?.optimized()));
        let (Some(value), Some(entries)) = (value, entries) else { return Ok(None) };
        Ok(Some(Sample { value, entries, varying }))
    }
}

/// The recording of one segment, and the constants that are parameters of it.
fn recording(graph: &Graph, class: &Class) -> (Graph, Vec<usize>) {
    let bits = |member: u32, column: usize| graph.constants[class.at(member, column) as usize].to_bits();
    let (mut operands, mut constants, mut varying) = (Vec::new(), Vec::new(), Vec::new());
    for constant in 0..class.constants {
        let column = class.first_constant() + constant;
        let first = bits(0, column);
        if (1..class.members as u32).all(|member| bits(member, column) == first) {
            operands.push(CONSTANT | constants.len() as u32);
            constants.push(f64::from_bits(first));
        } else {
            operands.push((class.inputs + class.parameters + varying.len()) as u32);
            varying.push(constant);
        }
    }
    let first = class.inputs + class.parameters + varying.len();
    let operand = |tagged: u32| {
        let number = tagged & NUMBER;
        if tagged & CONSTANT != 0 {
            operands[number as usize]
        } else if tagged & INPUT != 0 {
            number
        } else if tagged & PARAMETER != 0 {
            class.inputs as u32 + number
        } else {
            first as u32 + number
        }
    };
    let node = |node: &Node| match node.op {
        Op::Unary(_) => Node { a: operand(node.a), ..*node },
        op => Node { op, a: operand(node.a), b: operand(node.b) },
    };
    let sample = Graph {
        inputs: class.inputs,
        parameters: class.parameters + varying.len(),
        nodes: class.nodes.iter().map(node).collect(),
        constants,
        outputs: class.outputs.iter().map(|output| operand(*output)).collect(),
        rules: graph.rules.clone(),
        calls: Vec::new(),
        places: graph.places.clone(),
        absence: graph.absence,
    };
    (sample, varying)
}

/// Code without loops and without work space.
#[derive(Debug, Default)]
pub(super) struct Straight {
    /// The cells that addresses of the body mean.
    pub(super) cells: Vec<(Space, u32)>,
    pub(super) body: Vec<Instruction>,
}

impl Straight {
    /// The code of a program; `None` if it uses work space or is too long.
    fn of(program: &Program) -> Option<Straight> {
        let mut writer = StraightWriter {
            code: Straight::default(),
            addresses: FxHashMap::default(),
            known: FxHashMap::default(),
            stored: FxHashSet::default(),
        };
        for statement in &program.statements {
            let Statement::Nest(nest) = statement else { continue };
            let trips = nest.trips(&[]);
            each_iteration(&trips, |counters| {
                for instruction in &nest.body {
                    if let Instruction::Store { address, .. } = *instruction {
                        writer.stored.insert(nest.addresses[address as usize].cell(counters, &trips) as u32);
                    }
                }
                Some(())
            })?;
        }
        for statement in &program.statements {
            writer.statement(statement)?;
        }
        Some(writer.code)
    }
}

/// Calls `act` with the counters of all iterations; `None` if there are too many or `act` ends it.
fn each_iteration(trips: &[u32], mut act: impl FnMut(&[u32]) -> Option<()>) -> Option<()> {
    let count: u64 = trips.iter().map(|trip| u64::from(*trip)).product();
    if count > MAX_LENGTH as u64 {
        return None;
    }
    let mut counters = vec![0; trips.len()];
    for _ in 0..count {
        act(&counters)?;
        for (counter, trip) in counters.iter_mut().zip(trips).rev() {
            *counter += 1;
            if *counter < *trip {
                break;
            }
            *counter = 0;
        }
    }
    Some(())
}

struct StraightWriter {
    code: Straight,
    /// Addresses of cells, and the results of loads and constants.
    addresses: FxHashMap<(Space, u32), u32>,
    known: FxHashMap<Instruction, u32>,
    /// Output cells that nests store.
    stored: FxHashSet<u32>,
}

impl StraightWriter {
    fn push(&mut self, instruction: Instruction) -> Option<u32> {
        let length = self.code.body.len();
        self.code.body.push(instruction);
        (length < MAX_LENGTH).then_some(length as u32)
    }

    /// The result of a load or constant.
    fn once(&mut self, instruction: Instruction) -> Option<u32> {
        if let Some(known) = self.known.get(&instruction) {
            return Some(*known);
        }
        let result = self.push(instruction)?;
        self.known.insert(instruction, result);
        Some(result)
    }

    fn address(&mut self, space: Space, cell: u32) -> u32 {
        let cells = &mut self.code.cells;
        *self.addresses.entry((space, cell)).or_insert_with(|| {
            cells.push((space, cell));
            cells.len() as u32 - 1
        })
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        let nest = match statement {
            Statement::Nest(nest) => nest,
            _ => return None,
        };
        let trips = nest.trips(&[]);
        let mut results = vec![0; nest.body.len()];
        each_iteration(&trips, |counters| {
            for (i, instruction) in nest.body.iter().enumerate() {
                let cell = |address: u32| {
                    let address = &nest.addresses[address as usize];
                    (address.space, address.cell(counters, &trips) as u32)
                };
                results[i] = match *instruction {
                    Instruction::Constant(_) => self.once(*instruction)?,
                    Instruction::Load(address) => match cell(address) {
                        (Space::Constant, number) => self.once(Instruction::Constant(number))?,
                        (space @ Space::Input(_), cell) => {
                            let address = self.address(space, cell);
                            self.once(Instruction::Load(address))?
                        }
                        _ => return None,
                    },
                    Instruction::Apply { op, a, b } => {
                        let (a, b) = (results[a as usize], results[b as usize]);
                        self.push(Instruction::Apply { op, a, b })?
                    }
                    Instruction::Store { value, address } => match cell(address) {
                        (space @ Space::Output(_), cell) => {
                            let address = self.address(space, cell);
                            self.push(Instruction::Store { value: results[value as usize], address })?
                        }
                        _ => return None,
                    },
                    Instruction::Accumulate { .. } => return None,
                };
            }
            Some(())
        })
    }
}
