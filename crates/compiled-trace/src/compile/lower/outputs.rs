//! Decides how results reach the outputs.
//!
//! Called by `lower`. Where a slot's results are outputs in all iterations, its group stores them to the output slice itself,
//! so that a function that writes an array becomes one loop without copies. Other outputs (inputs, reductions, the last step of a
//! recurrence) are copied at the end of the program: in runs where cells advance regularly, by a table otherwise. If many of them are
//! zero, outputs are cleared at the beginning.

use super::fit::each_iteration;
use super::lowering::Fit;
use super::lowering::{Lowering, NONE};
use crate::program::{Dimension, Instruction, Nest, Space, Statement};
use crate::recording::graph::{CONSTANT, REDUCTION};
use crate::sorting;
use differentiation_interface_core::error::{Error, ErrorKind};

/// Minimum number of outputs that are copied as a separate run.
const MIN_RUN: usize = 8;
/// Outputs are cleared if at least one in this many is zero.
const SPARSEST_ZEROS: usize = 16;
/// Maximum number of outputs that are copied one by one.
const MAX_SINGLE_COPIES: usize = 8;

/// An output and the cell that is copied to it.
#[derive(Clone, Copy)]
struct Copy {
    output: u32,
    space: Space,
    cell: u32,
}

impl Lowering<'_> {
    /// Finds the slots whose groups store outputs directly, and marks the results that are copied.
    pub(super) fn place_outputs(&mut self) {
        let first = self.sequence.first;
        // For each node, the first output that it is.
        let mut handed = vec![NONE; self.sequence.nodes.len()];
        let mut slots = Vec::new();
        for (output, operand) in self.sequence.outputs.iter().enumerate() {
            let place = match operand & (CONSTANT | REDUCTION) {
                0 => self.place(*operand as i64 - first as i64),
                _ => None,
            };
            match place {
                Some(place) if handed[*operand as usize - first] == NONE => {
                    handed[*operand as usize - first] = output as u32;
                    slots.push((place.group, place.slot));
                }
                _ => self.copied_outputs.push(output as u32),
            }
        }
        slots.sort_unstable();
        slots.dedup();
        for (group, slot) in slots {
            let (g, k) = (group as usize, slot as usize);
            let group = &self.groups[g];
            let node = group.start + group.offsets[k];
            let mut found = Vec::new();
            let mut complete = true;
            each_iteration(&group.counters, |shift| match handed[(node + shift) as usize] {
                NONE => complete = false,
                output => found.push(output),
            });
            if complete {
                let fit = self.fit(g, k, |node| handed[node as usize]);
                self.groups[g].slots[k].output = Some(Box::new(fit));
            } else {
                self.copied_outputs.extend(found);
            }
        }
        self.copied_outputs.sort_unstable();
        for output in &self.copied_outputs {
            let operand = self.sequence.outputs[*output as usize];
            if operand & (CONSTANT | REDUCTION) == 0
                && let Some(place) = self.place(operand as i64 - first as i64)
            {
                self.groups[place.group as usize].slots[place.slot as usize].stored = true;
            }
        }
    }

    /// The statement that clears the outputs, if many of them are zero. It runs before outputs are written; zeros then need no copies.
    pub(super) fn clear_outputs(&mut self) -> Option<Statement> {
        let sequence = self.sequence;
        let is_zero = |output: &u32| {
            let operand = sequence.outputs[*output as usize];
            operand & CONSTANT != 0 && sequence.constants[(operand & !CONSTANT) as usize].to_bits() == 0
        };
        let mut zeros = self.copied_outputs.iter().copied().filter(is_zero);
        let (first, last) = (zeros.next()?, zeros.next_back()?);
        let (count, length) = (zeros.count() + 2, last - first + 1);
        if count < MIN_RUN || length as usize > SPARSEST_ZEROS * count {
            return None;
        }
        self.copied_outputs.retain(|output| !is_zero(output));
        Some(Statement::Zero { space: Space::Output(0), start: first, length })
    }

    /// The statements that copy the other outputs.
    pub(super) fn copy_outputs(&mut self) -> Result<Vec<Statement>, Error> {
        let mut copies = Vec::with_capacity(self.copied_outputs.len());
        for output in std::mem::take(&mut self.copied_outputs) {
            let operand = self.sequence.outputs[output as usize];
            let (space, cell) = match operand & CONSTANT {
                0 => self.cell(operand, false).ok_or(ErrorKind::TapeOverflow)?,
                _ => (Space::Constant, operand & !CONSTANT),
            };
            copies.push(Copy { output, space, cell });
        }
        let mut statements = Vec::new();
        let mut rest: Vec<Copy> = Vec::new();
        let mut from = 0;
        while from < copies.len() {
            let length = run(&copies[from..]);
            let run = &copies[from..from + length];
            if length >= MIN_RUN {
                let source = Fit::Affine { origin: run[0].cell, deltas: vec![run[1].cell as i64 - run[0].cell as i64] };
                let target = Fit::Affine { origin: run[0].output, deltas: vec![1] };
                statements.push(copy(run[0].space, source, target, length));
            } else {
                rest.extend(run);
            }
            from += length;
        }
        if rest.len() <= MAX_SINGLE_COPIES {
            let fixed = |cell| Fit::Affine { origin: cell, deltas: Vec::new() };
            statements.extend(rest.iter().map(|one| copy(one.space, fixed(one.cell), fixed(one.output), 1)));
            return Ok(statements);
        }
        sorting::sort_by_key(&mut rest, |one| one.space);
        for part in rest.chunk_by(|a, b| a.space == b.space) {
            let source = Fit::Table(part.iter().map(|one| one.cell).collect());
            let target = Fit::Table(part.iter().map(|one| one.output).collect());
            statements.push(copy(part[0].space, source, target, part.len()));
        }
        Ok(statements)
    }
}

/// Length of the run of copies, from the first on, between neighbouring outputs and cells that advance regularly.
fn run(copies: &[Copy]) -> usize {
    let mut length = 1;
    while length < copies.len() {
        let [before, now] = [copies[length - 1], copies[length]];
        let follows = now.space == before.space && now.output == before.output + 1;
        let step = now.cell.wrapping_sub(before.cell);
        let regular = length == 1 || step == before.cell.wrapping_sub(copies[length - 2].cell);
        if !follows || !regular {
            break;
        }
        length += 1;
    }
    length
}

fn copy(space: Space, source: Fit, target: Fit, length: usize) -> Statement {
    let is_single = matches!(&source, Fit::Affine { deltas, .. } if deltas.is_empty());
    let dimensions = if is_single { Vec::new() } else { vec![Dimension { trip: length as u32, parallel: true }] };
    let counters = dimensions.len();
    Statement::Nest(Nest {
        dimensions,
        reversed: false,
        addresses: vec![source.address(space, counters), target.address(Space::Output(0), counters)],
        body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
    })
}
