//! Tracks cells: which must still be cleared, and what single cells contain.
//!
//! Called by `emit` between and in nests. Clearing waits for the first statement that needs it: cells that a nest sets to one
//! reduction each are stored without having been cleared. Single cells outside of loops stay in registers as well as in memory.

use super::check::space_number;
use super::code::{Limit, Place};
use super::emit::{Emitter, Loops, Region};
use super::plan::Plan;
use super::signed::Signed;
use crate::program::{Instruction, Space};

/// Cells cleared without a loop: the dense Jacobian of 16 numbers by 16.
const CLEARED_AT_ONCE: i64 = 256;
/// Cells whose contents are remembered when they are cleared.
const REMEMBERED: i64 = 4;

impl Emitter<'_, '_> {
    /// Clears the cells that are still uncleared.
    pub(super) fn clear_all(&mut self) {
        for region in std::mem::take(&mut self.uncleared) {
            self.clear(region);
        }
    }

    /// Clears the cells a nest accesses, except for those that it writes only by adding to them once: these are stored.
    pub(super) fn clear_for(&mut self, plan: &mut Plan) {
        let nest = plan.nest;
        let is_once = self.counters.is_empty() || self.is_chunk;
        for region in std::mem::take(&mut self.uncleared) {
            let Region { space, start, length, step } = region;
            let touches: Vec<(usize, i64, i64)> = nest
                .body
                .iter()
                .enumerate()
                .filter_map(|(i, instruction)| match *instruction {
                    Instruction::Load(a)
                    | Instruction::Store { address: a, .. }
                    | Instruction::Accumulate { address: a, .. } => {
                        let (low, high) = plan.ranges[a as usize];
                        let meets = nest.addresses[a as usize].space == space && low < start + length && start <= high;
                        meets.then_some((i, low, high))
                    }
                    _ => None,
                })
                .collect();
            if touches.is_empty() {
                self.uncleared.push(region);
                continue;
            }
            let window = plan.window_of(touches[0].0);
            let alone = window.is_some() && touches.iter().all(|touch| plan.window_of(touch.0) == window);
            let cells = window.filter(|_| alone).and_then(|w| plan.dense(&plan.windows[w]));
            match (window, cells) {
                (Some(w), Some((low, high))) if start <= low && high < start + length && is_once => {
                    plan.windows[w].fresh = true;
                    self.uncleared.push(Region { space, start, length: low - start, step });
                    self.uncleared.push(Region { space, start: high + 1, length: start + length - high - 1, step });
                    self.uncleared.retain(|rest| rest.length > 0);
                }
                _ => self.clear(region),
            }
        }
    }

    fn clear(&mut self, Region { space, start, length, step }: Region) {
        if self.counters.is_empty() {
            self.known.retain(|(other, cell), _| *other != space || !(start..start + length).contains(cell));
        }
        let bytes = self.target.format.bytes() as i64;
        let lanes = self.target.widest as i64;
        let zero = self.code.constant(0.0, self.target.widest as u8);
        let single = self.code.constant(0.0, 1);
        let mut pointer = self.spaces[space_number(self.program, space)];
        if step != 0 {
            let shift = self.code.scale(self.counters[0], step * bytes);
            pointer = self.code.add_integers(pointer, shift);
        }
        let mut done = 0;
        const COPIES: i64 = 8;
        if length > CLEARED_AT_ONCE {
            let blocks = length / (COPIES * lanes);
            pointer = self.code.add_constant(pointer, start * bytes);
            let end = self.code.add_constant(pointer, blocks * COPIES * lanes * bytes);
            let variable = self.code.variable(pointer);
            self.code.begin();
            let place = self.code.get(variable);
            for k in 0..COPIES {
                self.store(zero, Place { base: place, index: None, shift: (k * lanes * bytes) as i32 });
            }
            let next = self.code.add_constant(place, COPIES * lanes * bytes);
            self.code.set(variable, next);
            self.code.end(next, Limit::Value(end));
            pointer = next;
            done = blocks * COPIES * lanes;
        }
        let shift = if length > CLEARED_AT_ONCE { -done } else { start };
        while done < length {
            let wide = length - done >= lanes;
            let place = self.near(pointer, None, (shift + done) * bytes);
            self.store(if wide { zero } else { single }, place);
            done += if wide { lanes } else { 1 };
        }
        if self.counters.is_empty() && length <= REMEMBERED {
            self.known.extend((start..start + length).map(|cell| ((space, cell), single)));
        }
    }

    /// The cell of an address, if it is one cell outside of all loops.
    pub(super) fn single_cell(&self, loops: &Loops, address: u32, level: usize) -> Option<(Space, i64)> {
        let info = &loops.plan.nest.addresses[address as usize];
        let moves = || loops.plan.order.iter().any(|counter| loops.plan.strides[address as usize][*counter] != 0);
        let single = level == 0 && self.counters.is_empty() && info.table.is_none() && !moves();
        (single && matches!(info.space, Space::Work | Space::Output(_))).then_some((info.space, info.base as i64))
    }

    /// Adds to a single cell.
    pub(super) fn add_to_single(&mut self, loops: &Loops, address: u32, cell: (Space, i64), term: Signed) {
        let (pointer, shift) = loops.cells[address as usize];
        let place = self.near(loops.pointers[pointer].value, None, shift);
        let before = match self.known.get(&cell) {
            Some(before) => *before,
            None => self.code.load(1, place),
        };
        let sum = self.sum(before.into(), term);
        self.store(sum, place);
        self.known.insert(cell, sum);
    }

    /// Forgets the cells that a nest writes.
    pub(super) fn forget(&mut self, plan: &Plan) {
        for instruction in &plan.nest.body {
            if let Instruction::Store { address, .. } | Instruction::Accumulate { address, .. } = *instruction {
                self.forget_cells(plan, address);
            }
        }
    }

    /// Forgets the cells an address can mean.
    pub(super) fn forget_cells(&mut self, plan: &Plan, address: u32) {
        let space = plan.nest.addresses[address as usize].space;
        let (low, high) = plan.ranges[address as usize];
        if low == high {
            self.known.remove(&(space, low));
        } else if !self.known.is_empty() {
            self.known.retain(|(other, cell), _| *other != space || *cell < low || *cell > high);
        }
    }
}
