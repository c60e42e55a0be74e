//! Writes bodies with every instruction once.
//!
//! Called by the passes that derive and optimise programs. Equal loads and operations are merged, stores are forwarded to loads
//! of the same cells.

use crate::derive::expressions::{Expressions, Shared};
use crate::program::{Address, Dimension, Instruction, Nest, Space};
use crate::recording::graph::Op;
use crate::recording::rules::{PLUS, TIMES};
use crate::sorting;
use rustc_hash::FxHashMap;

/// Sentinel: no instruction.
const NONE: u32 = u32::MAX;
/// Maximum number of operations that are found by their later operand; further ones are found by a hash.
const MAX_USERS: usize = 8;

/// A body being written.
pub(crate) struct Builder<'a> {
    pub(crate) shared: &'a mut Shared,
    pub(crate) nest: Nest,
    addresses: FxHashMap<Address, u32>,
    known: FxHashMap<Instruction, u32>,
    /// For each instruction, the last operation whose later operand it is; and, if it is an operation, the one before it with the same later
    /// operand. An operation is looked for there first: in a long body that is much faster than a hash table.
    users: Vec<[u32; 2]>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(shared: &'a mut Shared, dimensions: Vec<Dimension>, reversed: bool) -> Builder<'a> {
        let nest = Nest { dimensions, reversed, addresses: Vec::new(), body: Vec::new() };
        Builder { shared, nest, addresses: FxHashMap::default(), known: FxHashMap::default(), users: Vec::new() }
    }

    /// Reserves memory for so many instructions.
    pub(crate) fn reserve(&mut self, instructions: usize) {
        self.nest.body.reserve(instructions);
        self.users.reserve(instructions);
        self.known.reserve(instructions / 16);
    }

    pub(crate) fn address(&mut self, address: &Address) -> u32 {
        if let Some(known) = self.addresses.get(address) {
            return *known;
        }
        let index = self.nest.addresses.len() as u32;
        self.nest.addresses.push(address.clone());
        self.addresses.insert(address.clone(), index);
        index
    }

    fn push(&mut self, instruction: Instruction) -> u32 {
        self.nest.body.push(instruction);
        self.users.push([NONE; 2]);
        (self.nest.body.len() - 1) as u32
    }

    /// An operation, which is written if it is new.
    fn operation_once(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let (instruction, later) = (Instruction::Apply { op, a, b }, a.max(b) as usize);
        let mut user = self.users[later][0];
        for _ in 0..MAX_USERS {
            if user == NONE {
                let index = self.push(instruction);
                self.users[index as usize][1] = self.users[later][0];
                self.users[later][0] = index;
                return index;
            }
            if self.nest.body[user as usize] == instruction {
                return user;
            }
            user = self.users[user as usize][1];
        }
        self.once(instruction)
    }

    fn once(&mut self, instruction: Instruction) -> u32 {
        if let Some(known) = self.known.get(&instruction) {
            return *known;
        }
        let index = self.push(instruction);
        self.known.insert(instruction, index);
        index
    }

    pub(crate) fn load(&mut self, address: &Address) -> u32 {
        let address = self.address(address);
        self.once(Instruction::Load(address))
    }

    pub(crate) fn store(&mut self, address: &Address, value: u32) {
        let cells = self.address(address);
        self.push(Instruction::Store { value, address: cells });
        if address.table.is_none() {
            self.known.insert(Instruction::Load(cells), value);
        }
    }

    pub(crate) fn accumulate(&mut self, address: &Address, value: u32) {
        let cells = self.address(address);
        self.push(Instruction::Accumulate { value, address: cells });
        self.known.remove(&Instruction::Load(cells));
    }

    /// Copies an instruction without effects from another body; its operands and address are renamed to those of this body.
    pub(crate) fn copy(&mut self, instruction: Instruction, addresses: &[Address], renamed: &[u32]) -> u32 {
        match instruction {
            Instruction::Constant(c) => self.once(Instruction::Constant(c)),
            Instruction::Load(address) => self.load(&addresses[address as usize]),
            Instruction::Apply { op, a, b } => self.apply(op, renamed[a as usize], renamed[b as usize]),
            Instruction::Store { value, address } => {
                self.store(&addresses[address as usize], renamed[value as usize]);
                0
            }
            Instruction::Accumulate { value, address } => {
                self.accumulate(&addresses[address as usize], renamed[value as usize]);
                0
            }
        }
    }

    /// The nest, without instructions that have no effect.
    pub(crate) fn finish(self) -> Nest {
        without_dead(self.nest)
    }
}

impl Expressions for Builder<'_> {
    fn shared(&mut self) -> &mut Shared {
        self.shared
    }
    fn constant(&mut self, value: f64) -> u32 {
        let index = self.shared.constant(value);
        self.once(Instruction::Constant(index))
    }
    fn value(&self, result: u32) -> Option<f64> {
        match self.nest.body[result as usize] {
            Instruction::Constant(c) => Some(self.shared.constants[c as usize]),
            _ => None,
        }
    }
    fn operation(&self, result: u32) -> Option<(Op, u32, u32)> {
        match self.nest.body[result as usize] {
            Instruction::Apply { op, a, b } => Some((op, a, b)),
            _ => None,
        }
    }
    fn write(&mut self, op: Op, mut a: u32, mut b: u32) -> u32 {
        if matches!(op, Op::Unary(_)) {
            b = a;
        }
        // Operands of exactly commutative operations are sorted.
        if matches!(op, Op::Binary(PLUS | TIMES)) && a > b {
            std::mem::swap(&mut a, &mut b);
        }
        self.operation_once(op, a, b)
    }
}

/// Removes instructions whose results no effect needs, and unused addresses.
pub(crate) fn without_dead(nest: Nest) -> Nest {
    let mut live: Vec<bool> = nest.body.iter().map(Instruction::has_effect).collect();
    for i in (0..nest.body.len()).rev() {
        if live[i] {
            nest.body[i].operands(|operand| live[operand as usize] = true);
        }
    }
    if live.iter().all(|live| *live) && uses_all_addresses(&nest) {
        return nest;
    }
    let mut renamed = vec![0u32; nest.body.len()];
    let mut moved = vec![u32::MAX; nest.addresses.len()];
    let mut addresses = Vec::new();
    let mut body = Vec::with_capacity(live.iter().filter(|l| **l).count());
    for (i, instruction) in nest.body.iter().enumerate() {
        if !live[i] {
            continue;
        }
        let mut place = |address: u32| {
            let moved = &mut moved[address as usize];
            if *moved == u32::MAX {
                *moved = addresses.len() as u32;
                addresses.push(nest.addresses[address as usize].clone());
            }
            *moved
        };
        let mut new = instruction.renamed(|operand| renamed[operand as usize]);
        match &mut new {
            Instruction::Load(address)
            | Instruction::Store { address, .. }
            | Instruction::Accumulate { address, .. } => *address = place(*address),
            Instruction::Apply { op: Op::Unary(_), a, b } => *b = *a,
            _ => {}
        }
        renamed[i] = body.len() as u32;
        body.push(new);
    }
    Nest { addresses, body, ..nest }
}

fn uses_all_addresses(nest: &Nest) -> bool {
    let mut used = vec![false; nest.addresses.len()];
    for instruction in &nest.body {
        if let Instruction::Load(address)
        | Instruction::Store { address, .. }
        | Instruction::Accumulate { address, .. } = *instruction
        {
            used[address as usize] = true;
        }
    }
    used.iter().all(|used| *used)
}

/// Whether all iterations of an address mean different cells, as far as its strides show.
pub(crate) fn is_injective(address: &Address, trips: &[u32]) -> bool {
    if address.table.is_some() {
        return false;
    }
    let mut strides: Vec<(i64, i64)> = address
        .strides
        .iter()
        .zip(trips)
        .filter(|(_, trip)| **trip > 1)
        .map(|(s, trip)| ((*s as i64).abs(), *trip as i64))
        .collect();
    sorting::sort(&mut strides);
    let mut reach = 0;
    strides.into_iter().all(|(stride, trip)| {
        let separate = stride > reach;
        reach += stride * (trip - 1);
        separate
    })
}

/// The cells an address means, as an interval.
pub(crate) fn interval(address: &Address, trips: &[u32]) -> (Space, u32, u32) {
    let (low, high) = address.range(trips);
    (address.space, low, high)
}
