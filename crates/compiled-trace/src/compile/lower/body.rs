//! Writes the nests of groups: operands become loads or earlier results, results are stored where other groups or iterations need them.
//!
//! Called by `lower` once per group.

use super::cells::Dependence;
use super::fit::{each_iteration, each_iteration_of};
use super::lowering::Fit;
use super::lowering::{Lowering, NONE};
use crate::program::{Address, Dimension, Instruction, Nest, Space};
use crate::recording::graph::{CONSTANT, Op, REDUCTION};
use crate::recording::rules::PLUS;
use differentiation_interface_core::error::Error;
use rustc_hash::FxHashMap;

/// A body being written.
struct BodyWriter {
    nest: Nest,
    results: Vec<u32>,
    loads: FxHashMap<Instruction, u32>,
    /// Loads of inputs and parameters outside of loops.
    inputs: FxHashMap<u32, u32>,
    reductions: FxHashMap<u32, (u32, u32)>,
}

impl BodyWriter {
    fn push(&mut self, instruction: Instruction) -> u32 {
        self.nest.body.push(instruction);
        (self.nest.body.len() - 1) as u32
    }

    fn address(&mut self, address: Address) -> u32 {
        self.nest.addresses.push(address);
        (self.nest.addresses.len() - 1) as u32
    }

    fn constant(&mut self, index: u32) -> u32 {
        let instruction = Instruction::Constant(index);
        if let Some(known) = self.loads.get(&instruction) {
            return *known;
        }
        let result = self.push(instruction);
        self.loads.insert(instruction, result);
        result
    }

    fn load(&mut self, address: Address) -> u32 {
        let address = self.address(address);
        self.push(Instruction::Load(address))
    }

    fn depend(&mut self, dependence: &Dependence, loops: usize) {
        match dependence {
            Dependence::None => {}
            Dependence::Unknown => self.nest.dimensions.iter_mut().for_each(|d| d.parallel = false),
            Dependence::Distance(distance) => {
                if distance[..loops].iter().any(|d| *d != 0) {
                    return;
                }
                let carrying = distance[loops..].iter().position(|d| *d != 0);
                if let Some(m) = carrying {
                    self.nest.dimensions[m].parallel = false;
                }
            }
        }
    }
}

impl Lowering<'_> {
    /// The nest of a group.
    pub(super) fn body(&mut self, g: usize) -> Result<Nest, Error> {
        let trips: Vec<u32> = self.groups[g].counters.iter().map(|c| c.0).collect();
        let loops = self.groups[g].loops;
        let mut writer = BodyWriter {
            nest: Nest {
                dimensions: trips[loops..].iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect(),
                reversed: false,
                addresses: Vec::new(),
                body: Vec::new(),
            },
            results: vec![NONE; self.groups[g].offsets.len()],
            loads: FxHashMap::default(),
            inputs: FxHashMap::default(),
            reductions: FxHashMap::default(),
        };
        let local_reductions = self.local_reductions(g);
        for k in 0..self.groups[g].offsets.len() {
            let node_index = self.groups[g].start + self.groups[g].offsets[k];
            let node = self.sequence.nodes[node_index as usize];
            let a = self.read(g, k, false, &mut writer)?;
            let result = match node.op {
                Op::Unary(_) => writer.push(Instruction::Apply { op: node.op, a, b: a }),
                Op::Accumulate => {
                    match local_reductions.get(&node.b) {
                        Some(terms) => {
                            let reduction = writer.reductions.get(&node.b).copied();
                            let so_far = match reduction {
                                None => a,
                                Some((reduction, _)) => {
                                    writer.push(Instruction::Apply { op: Op::Binary(PLUS), a: reduction, b: a })
                                }
                            };
                            let count = reduction.map_or(0, |reduction| reduction.1) + 1;
                            writer.reductions.insert(node.b, (so_far, count));
                            if count == *terms {
                                let fit = self.fit_operand(g, k, true);
                                let address = writer.address(self.address(g, fit)?.0);
                                writer.push(Instruction::Store { value: so_far, address });
                            }
                        }
                        None => {
                            let fit = self.fit_operand(g, k, true);
                            let address = writer.address(self.address(g, fit)?.0);
                            writer.push(Instruction::Accumulate { value: a, address });
                        }
                    }
                    continue;
                }
                op => {
                    let b = self.read(g, k, true, &mut writer)?;
                    writer.push(Instruction::Apply { op, a, b })
                }
            };
            writer.results[k] = result;
            if let Some(fit) = self.groups[g].slots[k].output.clone() {
                let address = writer.address((*fit).address(Space::Output(0), trips.len()));
                writer.push(Instruction::Store { value: result, address });
            }
            if self.groups[g].slots[k].stored {
                let (layout, base) = self.layout(g as u32, k as u32);
                let strides = layout.iter().map(|s| *s as i32).collect();
                let address = writer.address(Address { space: Space::Work, base: base as u32, strides, table: None });
                writer.push(Instruction::Store { value: result, address });
            }
        }
        Ok(writer.nest)
    }

    /// Reductions whose terms are all added in one iteration of a group, with their number of terms. The key is the operand in
    /// iteration 0.
    fn local_reductions(&self, g: usize) -> FxHashMap<u32, u32> {
        let mut counts: FxHashMap<u32, (u32, Option<Vec<i64>>)> = FxHashMap::default();
        let group = &self.groups[g];
        for (k, offset) in group.offsets.iter().enumerate() {
            let node = &self.sequence.nodes[(group.start + offset) as usize];
            if node.op != Op::Accumulate {
                continue;
            }
            let entry = counts.entry(node.b).or_insert((0, None));
            entry.0 += 1;
            if let Fit::Affine { deltas, .. } = self.fit_operand(g, k, true)
                && (entry.0 == 1 || entry.1.as_ref() == Some(&deltas))
            {
                entry.1 = Some(deltas);
            } else {
                // A reduction that is irregular in one iteration stays irregular.
                entry.0 = NONE / 2;
            }
        }
        let local = |(reduction, (count, _)): (u32, (u32, _))| {
            let terms = self.sequence.reductions[(reduction & !REDUCTION) as usize].terms;
            (terms == count).then_some((reduction, terms))
        };
        counts.into_iter().filter_map(local).collect()
    }

    /// The result in the body that stands for an operand, which is loaded if necessary.
    fn read(&mut self, g: usize, k: usize, second: bool, writer: &mut BodyWriter) -> Result<u32, Error> {
        let node = self.groups[g].start + self.groups[g].offsets[k];
        let sample = self.operand(node, second);
        if sample & CONSTANT != 0 {
            return Ok(self.read_constant(g, k, second, writer));
        }
        if self.groups[g].counters.is_empty() && sample & REDUCTION == 0 {
            if let Some(slot) = self.local(g, k, sample, &[]) {
                return Ok(writer.results[slot]);
            }
            if (sample as usize) < self.sequence.first {
                return self.read_input(g, sample, writer);
            }
        }
        let fit = self.fit_operand(g, k, second);
        if let Fit::Affine { origin, deltas } = &fit {
            if sample & REDUCTION != 0 {
                if let Some((reduction, _)) = writer.reductions.get(origin) {
                    return Ok(*reduction);
                }
                // A reduction of this group itself, over earlier iterations.
                let mut own = false;
                each_iteration_of(&self.groups[g].counters, deltas, |shift| {
                    let reduction = (*origin as i64 + shift) as u32 & !REDUCTION;
                    own |= self.owner[self.sequence.reductions[reduction as usize].last as usize] == g as u32;
                });
                if own {
                    writer.depend(&Dependence::Unknown, self.groups[g].loops);
                }
            } else if let Some(slot) = self.local(g, k, *origin, deltas) {
                return Ok(writer.results[slot]);
            }
        } else if sample & REDUCTION != 0 {
            writer.depend(&Dependence::Unknown, self.groups[g].loops);
        }
        let (address, dependence) = self.address(g, fit)?;
        writer.depend(&dependence, self.groups[g].loops);
        Ok(writer.load(address))
    }

    /// The load of an input or parameter outside of loops, which is written once.
    fn read_input(&mut self, g: usize, input: u32, writer: &mut BodyWriter) -> Result<u32, Error> {
        if let Some(known) = writer.inputs.get(&input) {
            return Ok(*known);
        }
        let (address, _) = self.address(g, Fit::Affine { origin: input, deltas: Vec::new() })?;
        let result = writer.load(address);
        writer.inputs.insert(input, result);
        Ok(result)
    }

    fn read_constant(&mut self, g: usize, k: usize, second: bool, writer: &mut BodyWriter) -> u32 {
        let node = self.groups[g].start + self.groups[g].offsets[k];
        let index = |node: u32| self.operand(node, second) & !CONSTANT;
        if self.groups[g].counters.is_empty() {
            return writer.constant(index(node));
        }
        let first = self.constants[index(node) as usize].to_bits();
        let affine = self.groups[g].affine[k][usize::from(second)];
        let fit = self.fit_known(g, k, index, affine);
        // The same number in all iterations is the usual case.
        let mut same = true;
        if !matches!(&fit, Fit::Affine { deltas, .. } if deltas.iter().all(|delta| *delta == 0)) {
            each_iteration(&self.groups[g].counters, |shift| {
                same &= self.constants[index(node + shift) as usize].to_bits() == first;
            });
        }
        if same {
            return writer.constant(index(node));
        }
        let counters = self.groups[g].counters.len();
        let address = match fit {
            fit @ Fit::Affine { .. } => fit.address(Space::Constant, counters),
            Fit::Table(table) => {
                let base = self.constants.len() as u32;
                let values: Vec<f64> = table.iter().map(|i| self.constants[*i as usize]).collect();
                self.constants.extend(values);
                let mut strides = vec![0; counters];
                let mut stride = 1;
                for (m, (trip, _)) in self.groups[g].counters.iter().enumerate().rev() {
                    strides[m] = stride;
                    stride *= *trip as i32;
                }
                Address { space: Space::Constant, base, strides, table: None }
            }
        };
        writer.load(address)
    }
}
