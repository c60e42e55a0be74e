//! The statements around the groups: loops, calls of custom rules, copies to the cells that operands are read from.
//!
//! Called last by `lower`.

use super::cells::CALL;
use super::lowering::Fit;
use super::lowering::{Group, Lowering};
use super::plan::Plan;
use crate::program::{Address, Dimension, Instruction, Nest, RuleCall, Space, Statement};
use crate::recording::custom::RuleFunction;
use crate::recording::graph::CONSTANT;
use differentiation_interface_core::error::{Error, ErrorKind};
use std::sync::Arc;

impl Lowering<'_> {
    /// Copies the values before a loop into the cells before those of the loop.
    pub(super) fn fill_halos(&mut self) -> Result<(), Error> {
        for g in 0..self.groups.len() {
            for k in 0..self.groups[g].slots.len() {
                let slot = &self.groups[g].slots[k];
                if slot.halo.1 == 0 || !slot.stored {
                    continue;
                }
                let (m, most) = (slot.halo.0 as usize, slot.halo.1);
                for back in 1..=most {
                    let nest = self.halo_copy(g, k, m, back)?;
                    let loops = self.groups[g].loops;
                    if m < loops {
                        let identity = self.groups[g].enclosing[m];
                        self.before_loop.entry(identity).or_default().push(nest);
                    } else {
                        self.before_group.entry(g).or_default().push(nest);
                    }
                }
            }
        }
        Ok(())
    }

    /// Copies the cells `back` iterations of counter `m` before the first one of a slot.
    fn halo_copy(&mut self, g: usize, k: usize, m: usize, back: u32) -> Result<Nest, Error> {
        let (layout, base) = self.layout(g as u32, k as u32);
        let group = &self.groups[g];
        let (start, offset) = (group.start, group.offsets[k]);
        let length = group.counters[m].1;
        let mut counters = group.counters.clone();
        counters.remove(m);
        let loops = group.loops.min(m);
        let enclosing = group.enclosing[..loops].to_vec();
        let strides: Vec<i32> = layout.iter().enumerate().filter(|(i, _)| *i != m).map(|(_, s)| *s as i32).collect();
        let trips: Vec<u32> = counters.iter().map(|c| c.0).collect();
        let origin = (start + offset + self.sequence.first as u32).wrapping_sub(back * length);
        let deltas: Vec<i64> = counters.iter().map(|c| c.1 as i64).collect();
        // A group without nodes, from which the source is resolved.
        self.groups.push(Group {
            start,
            counters,
            loops,
            enclosing,
            offsets: Vec::new(),
            slots: Vec::new(),
            affine: Vec::new(),
        });
        let reader = self.groups.len() - 1;
        let source = self.address(reader, Fit::Affine { origin, deltas });
        self.groups.pop();
        let target =
            Address { space: Space::Work, base: (base - back as i64 * layout[m]) as u32, strides, table: None };
        Ok(Nest {
            dimensions: trips[loops..].iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect(),
            reversed: false,
            addresses: vec![source?.0, target],
            body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
        })
    }

    /// Copies inputs and parameters to the work space, for operands that are an input in some iterations and a result in others.
    pub(super) fn copy_inputs(&self, base: u32) -> Vec<Statement> {
        let parts = [
            (Space::Input(0), 0, self.sequence.inputs),
            (Space::Input(1), self.sequence.inputs, self.sequence.first - self.sequence.inputs),
        ];
        let copy = |(space, start, length): (Space, usize, usize)| {
            Statement::Nest(Nest {
                dimensions: vec![Dimension { trip: length as u32, parallel: true }],
                reversed: false,
                addresses: vec![
                    Address { space, base: 0, strides: vec![1], table: None },
                    Address { space: Space::Work, base: base + start as u32, strides: vec![1], table: None },
                ],
                body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
            })
        };
        parts.into_iter().filter(|part| part.2 > 0).map(copy).collect()
    }

    /// The statements of plans, in order.
    pub(super) fn emit(
        &mut self,
        plans: Vec<Plan>,
        bodies: &mut [Option<Nest>],
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        for plan in plans {
            match plan {
                Plan::Group(g) => {
                    out.extend(self.before_group.remove(&g).unwrap_or_default().into_iter().map(Statement::Nest));
                    out.extend(bodies[g].take().map(Statement::Nest));
                }
                Plan::Loop { identity, trip, body } => {
                    out.extend(self.before_loop.remove(&identity).unwrap_or_default().into_iter().map(Statement::Nest));
                    let mut inner = Vec::new();
                    self.emit(body, bodies, &mut inner)?;
                    out.push(Statement::Loop { trip, reversed: false, body: inner });
                }
                Plan::Call(node) => {
                    let call = &self.sequence.calls[self.sequence.nodes[node as usize].a as usize];
                    let mut arguments = Vec::with_capacity(call.arguments.len());
                    for argument in &call.arguments {
                        let (space, base) = if argument & CONSTANT != 0 {
                            (Space::Constant, argument & !CONSTANT)
                        } else {
                            self.cell(*argument, false).ok_or(ErrorKind::TapeOverflow)?
                        };
                        arguments.push(Address::fixed(space, base, 0));
                    }
                    let cell = |i: usize| Address::fixed(Space::Work, self.owner[node as usize + i] & !CALL, 0);
                    out.push(Statement::Call(RuleCall {
                        rule: Arc::clone(&call.rule),
                        function: RuleFunction::Value,
                        inputs: call.arguments.len(),
                        outputs: call.outputs,
                        arguments,
                        results: (0..call.outputs).map(cell).collect(),
                        accumulate: false,
                        is_derived: call.is_derived,
                    }));
                }
            }
        }
        Ok(())
    }
}
