//! Places results in cells of the work space and finds the addresses of operands.
//!
//! Called by `lower`, then by `body` for every operand.

use super::fit::{Place, each_index, each_iteration, each_iteration_of};
use super::lowering::Fit;
use super::lowering::{Lowering, MAX_CELLS, NONE, Slot};
use crate::program::{Address, Space};
use crate::recording::graph::{CONSTANT, Op, REDUCTION};
use differentiation_interface_core::error::{Error, ErrorKind};
use std::sync::Arc;

/// Tag of owners that are cells of calls.
pub(super) const CALL: u32 = 1 << 31;

/// How an operand depends on earlier iterations of its own group.
pub(super) enum Dependence {
    None,
    /// Iterations from the reader to the result, per counter.
    Distance(Vec<i64>),
    Unknown,
}

impl Lowering<'_> {
    /// Records the group of each node.
    pub(super) fn find_owners(&mut self) {
        let mut owner = std::mem::take(&mut self.owner);
        for (g, group) in self.groups.iter_mut().enumerate() {
            group.slots = vec![Slot { stored: false, base: NONE, output: None, halo: (0, 0) }; group.offsets.len()];
            let (start, offsets) = (group.start, &group.offsets);
            each_iteration(&group.counters, |shift| {
                for offset in offsets {
                    owner[(start + shift + offset) as usize] = g as u32;
                }
            });
        }
        self.owner = owner;
    }

    /// Marks the results that other iterations or groups use, and the cells they need before their loops.
    pub(super) fn find_stored(&mut self) {
        for g in 0..self.groups.len() {
            let mut used: Vec<(u32, u32)> = Vec::new();
            let mut halos: Vec<(u32, u32, (u32, u32))> = Vec::new();
            self.each_value_operand(g, |k, second| {
                let node = self.groups[g].start + self.groups[g].offsets[k];
                let sample = self.operand(node, second);
                if sample & (CONSTANT | REDUCTION) != 0 {
                    return;
                }
                let mark = |used: &mut Vec<(u32, u32)>, operand: u32| {
                    if let Some(place) = self.place(operand as i64 - self.sequence.first as i64) {
                        used.push((place.group, place.slot));
                    }
                };
                if self.groups[g].counters.is_empty() {
                    if self.local(g, k, sample, &[]).is_none() {
                        mark(&mut used, sample);
                    }
                    return;
                }
                match self.fit_operand(g, k, second) {
                    Fit::Table(table) => table.into_iter().for_each(|operand| mark(&mut used, operand)),
                    Fit::Affine { origin, deltas } => {
                        if self.local(g, k, origin, &deltas).is_some() {
                            return;
                        }
                        match self.progression(g, origin, &deltas) {
                            Some((place, steps)) => {
                                used.push((place.group, place.slot));
                                let halo = self.halo(g, &place, &steps);
                                match halo.and_then(|halo| Some((halo, self.before_loop(&place, halo)?))) {
                                    Some((halo, before)) => {
                                        halos.push((place.group, place.slot, halo));
                                        used.extend(before);
                                    }
                                    None => each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                                        mark(&mut used, (origin as i64 + shift) as u32)
                                    }),
                                }
                            }
                            None if (origin as usize) < self.sequence.first && deltas.iter().all(|d| *d == 0) => {}
                            None => each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                                mark(&mut used, (origin as i64 + shift) as u32)
                            }),
                        }
                    }
                }
            });
            used.sort_unstable();
            used.dedup();
            for (group, slot) in used {
                self.groups[group as usize].slots[slot as usize].stored = true;
            }
            for (group, slot, halo) in halos {
                let known = &mut self.groups[group as usize].slots[slot as usize].halo;
                if known.1 == 0 || known.0 == halo.0 {
                    *known = (halo.0, known.1.max(halo.1));
                }
            }
        }
        for call in &self.sequence.calls {
            for argument in &call.arguments {
                if argument & (CONSTANT | REDUCTION) == 0
                    && let Some(place) = self.place(*argument as i64 - self.sequence.first as i64)
                {
                    self.groups[place.group as usize].slots[place.slot as usize].stored = true;
                }
            }
        }
    }

    /// The slots that hold what a slot's counter would reach before its first iteration; `None` if an operand is no result, or is
    /// not computed yet when the cells before the loop are filled.
    fn before_loop(&self, place: &Place, (m, back): (u32, u32)) -> Option<Vec<(u32, u32)>> {
        let target = &self.groups[place.group as usize];
        let mut others = target.counters.clone();
        let length = others.remove(m as usize).1;
        let trips: Vec<u32> = others.iter().map(|c| c.0).collect();
        let loops = target.loops.min(m as usize);
        let mut slots = Vec::new();
        let mut complete = true;
        for back in 1..=back {
            let node = target.start as i64 + target.offsets[place.slot as usize] as i64 - (back * length) as i64;
            each_index(&trips, |index| {
                let shift: u32 = index.iter().zip(&others).map(|(i, (_, length))| i * length).sum();
                let node = node + shift as i64;
                match self.place(node) {
                    Some(source) => {
                        let value = !matches!(self.sequence.nodes[node as usize].op, Op::Accumulate | Op::Guard(_));
                        complete &= value && self.precedes(&source, place.group, &index[..loops]);
                        slots.push((source.group, source.slot));
                    }
                    None => complete &= node < 0 && node + self.sequence.first as i64 >= 0,
                }
                complete
            });
        }
        complete.then_some(slots)
    }

    /// Whether a result is computed before a group runs at these counters of its outermost loops of statements.
    fn precedes(&self, source: &Place, group: u32, counters: &[u32]) -> bool {
        let [a, b] = [source.group, group].map(|g| &self.groups[g as usize].enclosing);
        let common = a.iter().zip(b).take(counters.len()).take_while(|(a, b)| a == b).count();
        let now = counters[..common].iter().map(|counter| *counter as i64);
        let order = source.iteration[..common].iter().copied().cmp(now);
        order.then(source.group.cmp(&group)).is_lt()
    }

    /// Allocates cells for stored results.
    pub(super) fn allocate(&mut self) -> Result<(), Error> {
        let mut work = self.work;
        for group in &mut self.groups {
            for slot in &mut group.slots {
                if slot.stored {
                    let mut size = 1usize;
                    for (m, (trip, _)) in group.counters.iter().enumerate() {
                        let extra = if slot.halo.0 as usize == m { slot.halo.1 } else { 0 };
                        size = size.saturating_mul((trip + extra) as usize);
                    }
                    slot.base = u32::try_from(work).map_err(|_| ErrorKind::TapeOverflow)?;
                    work = work.saturating_add(size);
                }
            }
        }
        // Each output of a call has one cell.
        for (node, operation) in self.sequence.nodes.iter().enumerate() {
            if matches!(operation.op, Op::Call | Op::CallOutput) {
                self.owner[node] = NONE;
            }
        }
        self.work = work;
        if work > MAX_CELLS {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let mut cell = self.work as u32;
        let calls = self.sequence.nodes.iter().filter(|node| matches!(node.op, Op::Call | Op::CallOutput)).count();
        self.work += calls;
        // The owner of a call's output is its cell, beyond all groups.
        for (node, operation) in self.sequence.nodes.iter().enumerate() {
            if matches!(operation.op, Op::Call | Op::CallOutput) {
                self.owner[node] = cell | CALL;
                cell += 1;
            }
        }
        Ok(())
    }

    /// Distance of cells per counter of a slot, and the cell of its first iteration.
    pub(super) fn layout(&self, group: u32, slot: u32) -> (Vec<i64>, i64) {
        let group = &self.groups[group as usize];
        let slot = &group.slots[slot as usize];
        let mut strides = vec![0; group.counters.len()];
        let mut stride = 1;
        let mut base = slot.base as i64;
        for (m, (trip, _)) in group.counters.iter().enumerate().rev() {
            strides[m] = stride;
            let extra = if slot.halo.0 as usize == m { slot.halo.1 } else { 0 };
            base += extra as i64 * stride;
            stride *= (trip + extra) as i64;
        }
        (strides, base)
    }

    /// The cell of one operand; inputs are read from their copy in the work space if `in_work`.
    pub(super) fn cell(&mut self, operand: u32, in_work: bool) -> Option<(Space, u32)> {
        let i = operand as usize;
        if operand & REDUCTION != 0 {
            return Some((Space::Work, operand & !REDUCTION));
        }
        if i < self.sequence.first {
            if in_work {
                let base = *self.copied_inputs.get_or_insert_with(|| {
                    let base = self.work as u32;
                    self.work += self.sequence.first;
                    base
                });
                return Some((Space::Work, base + operand));
            }
            return Some(if i < self.sequence.inputs {
                (Space::Input(0), operand)
            } else {
                (Space::Input(1), operand - self.sequence.inputs as u32)
            });
        }
        let node = i - self.sequence.first;
        if self.owner[node] != NONE && self.owner[node] & CALL != 0 {
            return Some((Space::Work, self.owner[node] & !CALL));
        }
        let place = self.place(node as i64)?;
        let (strides, base) = self.layout(place.group, place.slot);
        let offset: i64 = strides.iter().zip(&place.iteration).map(|(s, i)| s * i).sum();
        Some((Space::Work, (base + offset) as u32))
    }

    /// The address of a value operand of group `g`, and how many iterations back it reads from the group's own results.
    pub(super) fn address(&mut self, g: usize, fit: Fit) -> Result<(Address, Dependence), Error> {
        let trips: Vec<u32> = self.groups[g].counters.iter().map(|c| c.0).collect();
        let table = match fit {
            Fit::Table(table) => table,
            Fit::Affine { origin, deltas } => {
                if let Some(found) = self.affine_address(g, origin, &deltas, &trips) {
                    return Ok(found);
                }
                let mut table = Vec::new();
                each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                    table.push((origin as i64 + shift) as u32)
                });
                table
            }
        };
        let first = self.sequence.first;
        let inputs = self.sequence.inputs;
        let kind = |operand: u32| match operand as usize {
            i if i < inputs => 0,
            i if i < first => 1,
            _ => 2,
        };
        let mixed = table.iter().any(|operand| kind(*operand) != kind(table[0]));
        let mut own = false;
        let mut cells = Vec::with_capacity(table.len());
        let mut space = Space::Work;
        let loops = self.groups[g].loops;
        let inner: u32 = trips[loops..].iter().product();
        for (index, operand) in table.into_iter().enumerate() {
            let node = (operand as usize).wrapping_sub(first);
            if operand & REDUCTION == 0 && self.owner.get(node) == Some(&(g as u32)) {
                // Earlier iterations of a loop of statements have ended in any case.
                let mut rest = index as u32 / inner;
                let place = self.place(node as i64);
                own |= place.is_none_or(|place| {
                    (0..loops).rev().all(|m| {
                        let counter = rest % trips[m];
                        rest /= trips[m];
                        place.iteration[m] == counter as i64
                    })
                });
            }
            let cell;
            (space, cell) = self.cell(operand, mixed).ok_or(ErrorKind::TapeOverflow)?;
            cells.push(cell);
        }
        let dependence = if own { Dependence::Unknown } else { Dependence::None };
        let address = Address { space, base: cells[0], strides: vec![0; trips.len()], table: Some(Arc::from(cells)) };
        Ok((address, dependence))
    }

    fn affine_address(
        &mut self,
        g: usize,
        origin: u32,
        deltas: &[i64],
        trips: &[u32],
    ) -> Option<(Address, Dependence)> {
        let strides = |deltas: &[i64]| deltas.iter().map(|d| i32::try_from(*d).ok()).collect::<Option<Vec<i32>>>();
        let affine =
            |space, base, deltas: &[i64]| Some(Address { space, base, strides: strides(deltas)?, table: None });
        if origin & REDUCTION != 0 {
            return Some((affine(Space::Work, origin & !REDUCTION, deltas)?, Dependence::None));
        }
        let (mut low, mut high) = (origin as i64, origin as i64);
        for (trip, delta) in trips.iter().zip(deltas) {
            let reach = delta * (*trip as i64 - 1);
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        let (inputs, first) = (self.sequence.inputs as i64, self.sequence.first as i64);
        if high < inputs {
            return Some((affine(Space::Input(0), origin, deltas)?, Dependence::None));
        }
        if low >= inputs && high < first {
            return Some((affine(Space::Input(1), origin - inputs as u32, deltas)?, Dependence::None));
        }
        if deltas.iter().all(|d| *d == 0) {
            let (space, base) = self.cell(origin, false)?;
            let own = self.owner.get(origin as usize - first as usize) == Some(&(g as u32));
            let dependence = if own { Dependence::Unknown } else { Dependence::None };
            return Some((affine(space, base, deltas)?, dependence));
        }
        let (place, steps) = self.progression(g, origin, deltas)?;
        let target = &self.groups[place.group as usize];
        let slot = &target.slots[place.slot as usize];
        for m in 0..place.iteration.len() {
            let (low, high) = self.reach(g, &place, &steps, m);
            let extra = if slot.halo.0 as usize == m { slot.halo.1 as i64 } else { 0 };
            if high >= target.counters[m].0 as i64 || low < -extra {
                return None;
            }
        }
        let (layout, base) = self.layout(place.group, place.slot);
        let base = base + layout.iter().zip(&place.iteration).map(|(s, i)| s * i).sum::<i64>();
        let deltas: Vec<i64> = steps.iter().map(|step| step.iter().zip(&layout).map(|(s, l)| s * l).sum()).collect();
        let dependence = if place.group as usize != g {
            Dependence::None
        } else {
            let counters = trips.len();
            let is_own = steps
                .iter()
                .enumerate()
                .all(|(l, step)| (0..counters).all(|m| step[m] == (l == m) as i64 || (trips[l] == 1 && step[m] == 0)));
            if is_own { Dependence::Distance(place.iteration) } else { Dependence::Unknown }
        };
        Some((affine(Space::Work, u32::try_from(base).ok()?, &deltas)?, dependence))
    }
}
