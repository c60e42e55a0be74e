//! Writing bodies: every instruction once, what is known is computed.
//!
//! Called by the passes that derive and optimise programs. Equal loads and operations become one, stores are forwarded to loads
//! of the same cells, products with 1 and operations on constants disappear.

use crate::graph::Op;
use crate::program::{Address, Dimension, Instruction, Nest, Space};
use crate::rule::{MINUS, NEGATE, PLUS, Rules, TIMES};
use crate::template::{Template, TemplatePartial};
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;

/// What all bodies of a program share.
pub(crate) struct Shared {
    pub(crate) constants: Vec<f64>,
    pub(crate) rules: Rules,
    known: FxHashMap<u64, u32>,
    unary: FxHashMap<u16, Vec<Template>>,
    binary: FxHashMap<u16, Vec<Template>>,
}

impl Shared {
    pub(crate) fn new(constants: Vec<f64>, rules: Rules) -> Shared {
        let mut known = FxHashMap::default();
        if constants.len() < 1 << 16 {
            for (i, constant) in constants.iter().enumerate().rev() {
                known.insert(constant.to_bits(), i as u32);
            }
        }
        Shared { constants, rules, known, unary: FxHashMap::default(), binary: FxHashMap::default() }
    }

    /// The number of a constant.
    pub(crate) fn constant(&mut self, value: f64) -> u32 {
        *self.known.entry(value.to_bits()).or_insert_with(|| {
            self.constants.push(value);
            (self.constants.len() - 1) as u32
        })
    }

    /// The derivatives of an operation by the rule table.
    fn templates(&mut self, op: Op) -> Result<Vec<Template>, Error> {
        let templates = match op {
            Op::Unary(rule) => match self.unary.get(&rule) {
                Some(known) => known.clone(),
                None => {
                    let new = self.rules.unary_templates(rule)?;
                    self.unary.insert(rule, new.clone());
                    new
                }
            },
            Op::Binary(rule) => match self.binary.get(&rule) {
                Some(known) => known.clone(),
                None => {
                    let new = self.rules.binary_templates(rule)?;
                    self.binary.insert(rule, new.clone());
                    new
                }
            },
            _ => Vec::new(),
        };
        Ok(templates)
    }
}

/// A body being written.
pub(crate) struct Builder<'a> {
    pub(crate) shared: &'a mut Shared,
    pub(crate) nest: Nest,
    addresses: FxHashMap<Address, u32>,
    known: FxHashMap<Instruction, u32>,
    /// Constants and partial derivatives written so far, by what they are of.
    partials: FxHashMap<(u32, usize), Partial>,
}

/// A partial derivative in a body.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Partial {
    Zero,
    One,
    /// A result; whether it is finite wherever the arguments are.
    Value(u32, bool),
}

impl<'a> Builder<'a> {
    pub(crate) fn new(shared: &'a mut Shared, dimensions: Vec<Dimension>, reversed: bool) -> Builder<'a> {
        let nest = Nest { dimensions, reversed, addresses: Vec::new(), body: Vec::new() };
        Builder {
            shared,
            nest,
            addresses: FxHashMap::default(),
            known: FxHashMap::default(),
            partials: FxHashMap::default(),
        }
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
        (self.nest.body.len() - 1) as u32
    }

    fn once(&mut self, instruction: Instruction) -> u32 {
        if let Some(known) = self.known.get(&instruction) {
            return *known;
        }
        let index = self.push(instruction);
        self.known.insert(instruction, index);
        index
    }

    pub(crate) fn constant(&mut self, value: f64) -> u32 {
        let index = self.shared.constant(value);
        self.once(Instruction::Constant(index))
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

    fn value(&self, result: u32) -> Option<f64> {
        match self.nest.body[result as usize] {
            Instruction::Constant(c) => Some(self.shared.constants[c as usize]),
            _ => None,
        }
    }

    pub(crate) fn apply(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let (x, y) = (self.value(a), self.value(b));
        match (op, x, y) {
            (Op::Binary(TIMES), Some(1.0), _) => return b,
            (Op::Binary(TIMES), _, Some(1.0)) => return a,
            (Op::Binary(TIMES), Some(-1.0), _) => return self.apply(Op::Unary(NEGATE), b, b),
            (Op::Binary(TIMES), _, Some(-1.0)) => return self.apply(Op::Unary(NEGATE), a, a),
            (Op::Binary(TIMES), Some(x), Some(y)) => return self.constant(x * y),
            (Op::Binary(PLUS), Some(x), Some(y)) => return self.constant(x + y),
            (Op::Binary(MINUS), Some(x), Some(y)) => return self.constant(x - y),
            (Op::Unary(NEGATE), Some(x), _) => return self.constant(-x),
            (Op::Unary(NEGATE), None, _) => {
                if let Instruction::Apply { op: Op::Unary(NEGATE), a, .. } = self.nest.body[a as usize] {
                    return a;
                }
            }
            (Op::Chain, Some(x), _) if x != 0.0 => return self.apply(Op::Binary(TIMES), a, b),
            (Op::Chain, _, Some(y)) if y.is_finite() => return self.apply(Op::Binary(TIMES), a, b),
            _ => {}
        }
        let (mut a, mut b) = (a, b);
        if matches!(op, Op::Unary(_)) {
            b = a;
        }
        // One order for what commutes exactly.
        if matches!(op, Op::Binary(PLUS | TIMES)) && a > b {
            std::mem::swap(&mut a, &mut b);
        }
        match op {
            Op::Guard(_) => self.push(Instruction::Apply { op, a, b }),
            _ => self.once(Instruction::Apply { op, a, b }),
        }
    }

    /// Copies an instruction of another body without effects; its operands and address are given as they are here.
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

    pub(crate) fn add(&mut self, sum: &mut Option<u32>, term: u32) {
        *sum = Some(match *sum {
            None => term,
            Some(sum) => self.apply(Op::Binary(PLUS), sum, term),
        });
    }

    /// The partial derivative of the operation with result `result` with respect to an argument.
    pub(crate) fn partial(&mut self, op: Op, a: u32, b: u32, result: u32, argument: usize) -> Result<Partial, Error> {
        // The result may have been simplified to another operation, so the key is made of all.
        let key = (result, argument);
        let key_is_safe = matches!(self.nest.body[result as usize], Instruction::Apply { op: own, .. } if own == op);
        if let (true, Some(known)) = (key_is_safe, self.partials.get(&key)) {
            return Ok(*known);
        }
        let templates = self.shared.templates(op)?;
        let Some(template) = templates.get(argument) else { return Ok(Partial::Zero) };
        let partial = match &template.partial {
            TemplatePartial::Zero => Partial::Zero,
            TemplatePartial::One => Partial::One,
            TemplatePartial::Constant(c) => Partial::Value(self.constant(*c), true),
            TemplatePartial::Value(graph) => {
                let mut values = match op {
                    Op::Unary(_) => vec![a, result],
                    _ => vec![a, b, result],
                };
                for node in &graph.nodes {
                    let mut get = |operand: u32| {
                        if operand & crate::graph::CONSTANT != 0 {
                            self.constant(graph.constants[(operand & !crate::graph::CONSTANT) as usize])
                        } else {
                            values[operand as usize]
                        }
                    };
                    let x = get(node.a);
                    let y = if matches!(node.op, Op::Unary(_)) { x } else { get(node.b) };
                    let adopted = match node.op {
                        Op::Unary(rule) => self.shared.rules.adopt_unary(&graph.rules, rule).map(Op::Unary),
                        Op::Binary(rule) => self.shared.rules.adopt_binary(&graph.rules, rule).map(Op::Binary),
                        other => Some(other),
                    };
                    let value = self.apply(adopted.ok_or(ErrorKind::TapeOverflow)?, x, y);
                    values.push(value);
                }
                Partial::Value(values[graph.outputs[0] as usize], op == Op::Binary(TIMES))
            }
        };
        if key_is_safe {
            self.partials.insert(key, partial);
        }
        Ok(partial)
    }

    /// An adjoint or tangent times a partial derivative; nothing if that is zero.
    pub(crate) fn times(&mut self, t: u32, partial: Partial) -> Option<u32> {
        match partial {
            Partial::Zero => None,
            Partial::One => Some(t),
            Partial::Value(value, true) => Some(self.apply(Op::Binary(TIMES), value, t)),
            Partial::Value(value, false) => Some(self.apply(Op::Chain, t, value)),
        }
    }

    /// The nest, without instructions that have no effect.
    pub(crate) fn finish(self) -> Nest {
        without_dead(self.nest)
    }
}

/// Removes instructions that nothing with an effect needs, and addresses nobody names.
pub(crate) fn without_dead(nest: Nest) -> Nest {
    let mut live: Vec<bool> = nest.body.iter().map(Instruction::has_effect).collect();
    for i in (0..nest.body.len()).rev() {
        if live[i] {
            nest.body[i].operands(|operand| live[operand as usize] = true);
        }
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
    strides.sort_unstable();
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
