//! How a nest runs: which dimension is vectorised, what is uniform over it, where results are kept.
//!
//! Made once per nest when a program is prepared; read by the block executor.

use crate::products::{Product, products};
use crate::program::{Instruction, Nest, Space};
use crate::recording::graph::Op;

/// Maximum number of iterations of a block.
pub const BLOCK: usize = 256;

/// A nest with its plan.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) nest: Nest,
    /// Trip counts of all counters, enclosing loops first.
    pub(super) trips: Vec<u32>,
    /// The vectorised counter.
    pub(super) vector: Option<usize>,
    /// Instructions that are the same for the whole vector, run once per row.
    pub(super) uniform: Vec<u32>,
    pub(super) steps: Vec<BlockStep>,
    pub(super) buffers: usize,
    pub(super) sums: usize,
    pub(super) block: usize,
    /// Distance between cells of neighbouring iterations of the vectorised counter, per address; between table entries if there is a table.
    pub(super) strides: Vec<i64>,
    /// Per address, its space, and its cell where all counters are 0: what is read again and again is close together.
    pub(super) spaces: Vec<Space>,
    pub(super) first: Vec<i64>,
    /// Products of matrices that are run in place of the nest, on doubles.
    pub(super) products: Vec<Product>,
}

/// Where the numbers of an operand are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// The same number for the whole vector: a result of a uniform instruction.
    Uniform(u32),
    Buffer(u16),
    /// Consecutive cells of an address.
    Cells(u32),
}

/// An instruction on blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockStep {
    Load {
        address: u32,
        to: u16,
    },
    Unary {
        rule: u16,
        x: Source,
        to: u16,
    },
    Apply {
        op: Op,
        x: Source,
        y: Source,
        to: u16,
    },
    Guard {
        guard: u16,
        x: Source,
        y: Source,
    },
    Store {
        x: Source,
        address: u32,
    },
    Accumulate {
        x: Source,
        address: u32,
    },
    /// Adds the block to one cell per row.
    Reduce {
        x: Source,
        address: u32,
        sum: u16,
    },
}

/// Overhead of an instruction, in units of the work on one number.
const OVERHEAD: f64 = 10.0;
const MIN_TRIP: u32 = 4;

impl Plan {
    pub(super) fn new(nest: Nest, loops: &[u32]) -> Plan {
        let mut trips = loops.to_vec();
        trips.extend(nest.dimensions.iter().map(|d| d.trip));
        let mut plan = Plan {
            trips,
            vector: None,
            uniform: Vec::new(),
            steps: Vec::new(),
            buffers: 0,
            sums: 0,
            block: BLOCK,
            strides: Vec::new(),
            spaces: nest.addresses.iter().map(|address| address.space).collect(),
            first: nest
                .addresses
                .iter()
                .map(|address| i64::from(address.table.as_ref().map_or(address.base, |table| table[0])))
                .collect(),
            products: if loops.is_empty() { products(&nest).unwrap_or_default() } else { Vec::new() },
            nest,
        };
        plan.vector = plan.choose(loops.len());
        if let Some(vector) = plan.vector {
            plan.strides = (0..plan.nest.addresses.len()).map(|a| plan.stride(a, vector)).collect();
            plan.schedule();
        }
        plan
    }

    /// Distance of neighbouring cells along a counter.
    fn stride(&self, address: usize, counter: usize) -> i64 {
        let address = &self.nest.addresses[address];
        match address.table {
            Some(_) => self.trips[counter + 1..].iter().map(|trip| *trip as i64).product(),
            None => address.strides[counter] as i64,
        }
    }

    fn choose(&self, loops: usize) -> Option<usize> {
        let cost = |counter: usize| {
            let memory: f64 = (0..self.nest.addresses.len())
                .map(|a| match self.stride(a, counter) {
                    _ if self.nest.addresses[a].table.is_some() => 4.0,
                    0 => 0.1,
                    1 => 1.0,
                    _ => 3.0,
                })
                .sum();
            let instructions = self.nest.body.len() as f64;
            let lanes = (self.trips[counter] as usize).min(BLOCK) as f64;
            memory + instructions * (1.0 + OVERHEAD / lanes)
        };
        (loops..self.trips.len())
            .filter(|c| self.nest.dimensions[c - loops].parallel && self.trips[*c] >= MIN_TRIP)
            .min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
    }

    /// Whether an address is one cell for the whole vector.
    fn is_one_cell(&self, address: u32) -> bool {
        self.nest.addresses[address as usize].table.is_none() && self.strides[address as usize] == 0
    }

    /// Which results are the same for the whole vector.
    fn uniform(&self) -> Vec<bool> {
        let mut uniform = vec![false; self.nest.body.len()];
        for (i, instruction) in self.nest.body.iter().enumerate() {
            let mut all = true;
            instruction.operands(|operand| all &= uniform[operand as usize]);
            uniform[i] = match instruction {
                Instruction::Constant(_) => true,
                Instruction::Load(address) => self.is_one_cell(*address),
                Instruction::Apply { .. } => all,
                Instruction::Store { address, .. } => all && self.is_one_cell(*address),
                Instruction::Accumulate { .. } => false,
            };
        }
        uniform
    }

    /// Where each result is used last, 0 if nowhere.
    fn last_uses(&self) -> Vec<usize> {
        let mut last_use = vec![0; self.nest.body.len()];
        for (i, instruction) in self.nest.body.iter().enumerate() {
            instruction.operands(|operand| last_use[operand as usize] = i);
        }
        last_use
    }

    /// Which loads need no buffer: consecutive cells are read in place, unless the instruction that reads them also writes to their space.
    fn in_place(&self) -> Vec<bool> {
        let body = &self.nest.body;
        let mut in_place = vec![false; body.len()];
        for (i, instruction) in body.iter().enumerate() {
            if let Instruction::Load(address) = instruction {
                in_place[i] =
                    self.strides[*address as usize] == 1 && self.nest.addresses[*address as usize].table.is_none();
            }
        }
        for instruction in body {
            if let Instruction::Store { value, .. } | Instruction::Accumulate { value, .. } = instruction {
                in_place[*value as usize] = false;
            }
        }
        in_place
    }

    /// Turns the body into uniform instructions and block steps.
    fn schedule(&mut self) {
        let (uniform, last_use, in_place) = (self.uniform(), self.last_uses(), self.in_place());
        let body = &self.nest.body;
        let mut place: Vec<Source> = (0..body.len() as u32).map(Source::Uniform).collect();
        let mut free: Vec<u16> = Vec::new();
        let mut buffers = 0u16;
        let mut steps = Vec::new();
        let mut sums = 0u16;
        let mut uniforms = Vec::new();
        for (i, instruction) in body.iter().enumerate() {
            if uniform[i] {
                uniforms.push(i as u32);
                continue;
            }
            let mut take = || {
                free.pop().unwrap_or_else(|| {
                    buffers += 1;
                    buffers - 1
                })
            };
            let is_result = matches!(instruction, Instruction::Load(_) | Instruction::Apply { .. })
                && !matches!(instruction, Instruction::Apply { op: Op::Guard(_), .. });
            if is_result {
                if let (true, Instruction::Load(address)) = (in_place[i], instruction) {
                    place[i] = Source::Cells(*address);
                } else {
                    place[i] = Source::Buffer(take());
                }
            }
            let to = match place[i] {
                Source::Buffer(to) => to,
                _ => 0,
            };
            match *instruction {
                Instruction::Constant(_) => {}
                Instruction::Load(address) => {
                    if !in_place[i] {
                        steps.push(BlockStep::Load { address, to });
                    }
                }
                Instruction::Apply { op: Op::Unary(rule), a, .. } => {
                    steps.push(BlockStep::Unary { rule, x: place[a as usize], to });
                }
                Instruction::Apply { op: Op::Guard(guard), a, b } => {
                    steps.push(BlockStep::Guard { guard, x: place[a as usize], y: place[b as usize] });
                }
                Instruction::Apply { op, a, b } => {
                    steps.push(BlockStep::Apply { op, x: place[a as usize], y: place[b as usize], to });
                }
                Instruction::Store { value, address } => {
                    steps.push(BlockStep::Store { x: place[value as usize], address });
                }
                Instruction::Accumulate { value, address } => {
                    let x = place[value as usize];
                    if self.is_one_cell(address) {
                        steps.push(BlockStep::Reduce { x, address, sum: sums });
                        sums += 1;
                    } else {
                        steps.push(BlockStep::Accumulate { x, address });
                    }
                }
            }
            // A buffer that was read for the last time is free for the next instruction.
            let mut ended = Vec::new();
            instruction.operands(|operand| {
                if last_use[operand as usize] == i && !ended.contains(&operand) {
                    ended.push(operand);
                }
            });
            if is_result && last_use[i] == 0 {
                ended.push(i as u32);
            }
            for operand in ended {
                if let Source::Buffer(buffer) = place[operand as usize] {
                    free.push(buffer);
                }
            }
        }
        self.block = if buffers as usize * BLOCK * 8 > 256 << 10 { 64 } else { BLOCK };
        self.buffers = buffers as usize;
        self.sums = sums as usize;
        self.steps = steps;
        self.uniform = uniforms;
    }
}
