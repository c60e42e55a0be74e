//! How operands depend on the counters of their group, and which results they read.
//!
//! Called by `cells`, `body` and `outputs`.

use super::lowering::{Fit, Lowering};
use crate::recording::graph::Op;

/// Maximum number of iterations of a recurrence whose operands may lie before the loop.
const MAX_HALO: i64 = 4;

/// A result in some iteration of its group.
#[derive(Clone, PartialEq)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) slot: u32,
    pub(super) iteration: Vec<i64>,
}

impl Lowering<'_> {
    /// Finds the operands of each group that are affine in its counters. Iteration by iteration, in the order of the memory: iterations are far
    /// apart, so that following one operand through all of them costs a cache miss for each.
    pub(super) fn find_affine(&mut self) {
        for g in 0..self.groups.len() {
            self.groups[g].affine = self.affine_operands(g);
        }
    }

    fn affine_operands(&self, g: usize) -> Vec<[bool; 2]> {
        let group = &self.groups[g];
        let mut affine = vec![[true; 2]; group.offsets.len()];
        let Some(((trip, length), outer)) = group.counters.split_last() else { return affine };
        let steps: Vec<[i64; 2]> = (0..group.offsets.len()).map(|k| self.step(g, k, *trip, *length)).collect();
        let outer_steps: Vec<Vec<[i64; 2]>> = outer
            .iter()
            .map(|(trip, length)| (0..group.offsets.len()).map(|k| self.step(g, k, *trip, *length)).collect())
            .collect();
        let trips: Vec<u32> = outer.iter().map(|c| c.0).collect();
        let mut expected = vec![[0i64; 2]; group.offsets.len()];
        each_index(&trips, |index| {
            let mut start = group.start;
            for (i, (_, length)) in index.iter().zip(outer) {
                start += i * length;
            }
            for (k, expected) in expected.iter_mut().enumerate() {
                let node = &self.sequence.nodes[(group.start + group.offsets[k]) as usize];
                *expected = [node.a as i64, node.b as i64];
                for (i, steps) in index.iter().zip(&outer_steps) {
                    expected[0] += *i as i64 * steps[k][0];
                    expected[1] += *i as i64 * steps[k][1];
                }
            }
            for _ in 0..*trip {
                let slots = group.offsets.iter().zip(&steps).zip(expected.iter_mut().zip(&mut affine));
                for ((offset, step), (expected, affine)) in slots {
                    let node = &self.sequence.nodes[(start + offset) as usize];
                    affine[0] &= node.a as i64 == expected[0];
                    affine[1] &= node.b as i64 == expected[1];
                    expected[0] += step[0];
                    expected[1] += step[1];
                }
                start += length;
            }
            true
        });
        affine
    }

    /// By how much the operands of an offset advance from the first to the second iteration of a counter.
    fn step(&self, g: usize, k: usize, trip: u32, length: u32) -> [i64; 2] {
        if trip <= 1 {
            return [0; 2];
        }
        let node = (self.groups[g].start + self.groups[g].offsets[k]) as usize;
        let [now, next] = [node, node + length as usize].map(|node| &self.sequence.nodes[node]);
        [next.a as i64 - now.a as i64, next.b as i64 - now.b as i64]
    }

    /// Describes an operand as a function of the counters.
    pub(super) fn fit_operand(&self, g: usize, k: usize, second: bool) -> Fit {
        self.fit_known(g, k, |node| self.operand(node, second), self.groups[g].affine[k][usize::from(second)])
    }

    /// Describes a number of each iteration as a function of the counters.
    pub(super) fn fit(&self, g: usize, k: usize, number: impl Fn(u32) -> u32) -> Fit {
        let group = &self.groups[g];
        let node = group.start + group.offsets[k];
        let Fit::Affine { origin, deltas } = self.fit_known(g, k, &number, true) else {
            unreachable!("an affine description was asked for")
        };
        let trips: Vec<u32> = group.counters.iter().map(|c| c.0).collect();
        let mut regular = true;
        each_index(&trips, |index| {
            let (mut place, mut expected) = (node, origin as i64);
            for ((i, (_, length)), delta) in index.iter().zip(&group.counters).zip(&deltas) {
                place += i * length;
                expected += *i as i64 * delta;
            }
            regular &= number(place) as i64 == expected;
            regular
        });
        if regular { Fit::Affine { origin, deltas } } else { self.fit_known(g, k, number, false) }
    }

    /// Describes a number of each iteration that is known to be affine in the counters, or not to be.
    pub(super) fn fit_known(&self, g: usize, k: usize, number: impl Fn(u32) -> u32, affine: bool) -> Fit {
        let group = &self.groups[g];
        let node = group.start + group.offsets[k];
        if affine {
            let origin = number(node);
            let delta = |(trip, length): &(u32, u32)| match trip {
                0 | 1 => 0,
                _ => number(node + length) as i64 - origin as i64,
            };
            return Fit::Affine { origin, deltas: group.counters.iter().map(delta).collect() };
        }
        let mut table = Vec::new();
        each_iteration(&group.counters, |shift| table.push(number(node + shift)));
        Fit::Table(table)
    }

    /// Where a result of a node is.
    pub(super) fn place(&self, node: i64) -> Option<Place> {
        let g = *self.owner.get(usize::try_from(node).ok()?)?;
        let group = self.groups.get(g as usize)?;
        let mut rest = (node - group.start as i64) as u32;
        let mut iteration = Vec::with_capacity(group.counters.len());
        for (_, length) in &group.counters {
            iteration.push((rest / length) as i64);
            rest %= length;
        }
        let slot = group.slot_of(rest)? as u32;
        Some(Place { group: g, slot, iteration })
    }

    /// The result that an operand reads, if it is of the same iteration of the same group.
    pub(super) fn local(&self, g: usize, k: usize, origin: u32, deltas: &[i64]) -> Option<usize> {
        let group = &self.groups[g];
        let offset = (origin as usize).checked_sub(self.sequence.first + group.start as usize)?;
        let same =
            group.counters.iter().zip(deltas).all(|((trip, length), delta)| *trip == 1 || *delta == *length as i64);
        if !same {
            return None;
        }
        let slot = group.slot_of(u32::try_from(offset).ok()?)?;
        (slot < k).then_some(slot)
    }

    /// Calls `act` with every operand that is a value: offset index, which operand, and whether it is read.
    pub(super) fn each_value_operand(&self, g: usize, mut act: impl FnMut(usize, bool)) {
        for (k, offset) in self.groups[g].offsets.iter().enumerate() {
            let node = &self.sequence.nodes[(self.groups[g].start + offset) as usize];
            act(k, false);
            if has_second(node.op) {
                act(k, true);
            }
        }
    }

    pub(super) fn operand(&self, node: u32, second: bool) -> u32 {
        let node = &self.sequence.nodes[node as usize];
        if second { node.b } else { node.a }
    }

    /// For an affine operand whose later iterations are results of one slot: its place at the origin, extrapolated from the
    /// last iteration, and the step of the place per counter of the reader.
    pub(super) fn progression(&self, g: usize, origin: u32, deltas: &[i64]) -> Option<(Place, Vec<Vec<i64>>)> {
        let counters = &self.groups[g].counters;
        let first = self.sequence.first as i64;
        let last: i64 = origin as i64 + counters.iter().zip(deltas).map(|((n, _), d)| (*n as i64 - 1) * d).sum::<i64>();
        let end = self.place(last - first)?;
        let mut place = end.clone();
        let mut steps = Vec::with_capacity(counters.len());
        for ((trip, _), delta) in counters.iter().zip(deltas) {
            if *trip == 1 || *delta == 0 {
                steps.push(vec![0; end.iteration.len()]);
                continue;
            }
            let before = self.place(last - delta - first)?;
            if (before.group, before.slot) != (end.group, end.slot) {
                return None;
            }
            let step: Vec<i64> = end.iteration.iter().zip(&before.iteration).map(|(e, b)| e - b).collect();
            for (p, s) in place.iteration.iter_mut().zip(&step) {
                *p -= s * (*trip as i64 - 1);
            }
            steps.push(step);
        }
        Some((place, steps))
    }

    /// Smallest and largest iteration of the target that an affine operand reads, per counter of the target.
    pub(super) fn reach(&self, g: usize, place: &Place, steps: &[Vec<i64>], m: usize) -> (i64, i64) {
        let (mut low, mut high) = (place.iteration[m], place.iteration[m]);
        for ((trip, _), step) in self.groups[g].counters.iter().zip(steps) {
            let reach = step[m] * (*trip as i64 - 1);
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        (low, high)
    }

    /// The counter and the number of iterations, if an affine operand reads a few iterations before the target's first along one counter.
    pub(super) fn halo(&self, g: usize, place: &Place, steps: &[Vec<i64>]) -> Option<(u32, u32)> {
        let target = &self.groups[place.group as usize];
        let mut halo = None;
        for m in 0..place.iteration.len() {
            let (low, high) = self.reach(g, place, steps, m);
            if high >= target.counters[m].0 as i64 || low < -MAX_HALO || (low < 0 && halo.is_some()) {
                return None;
            }
            if low < 0 {
                halo = Some((m as u32, (-low) as u32));
            }
        }
        halo
    }
}

/// Whether the second operand of a node is a value.
pub(super) fn has_second(op: Op) -> bool {
    matches!(op, Op::Binary(_) | Op::Compare(_) | Op::Keep | Op::Drop | Op::Guard(_))
}

/// Calls `act` with the shift in nodes of every iteration.
pub(super) fn each_iteration(counters: &[(u32, u32)], mut act: impl FnMut(u32)) {
    fn step(counters: &[(u32, u32)], shift: u32, act: &mut impl FnMut(u32)) {
        match counters {
            [] => act(shift),
            [(trip, length), rest @ ..] => (0..*trip).for_each(|i| step(rest, shift + i * length, act)),
        }
    }
    step(counters, 0, &mut act);
}

/// As `each_iteration`, with other distances than those of the counters.
pub(super) fn each_iteration_of(counters: &[(u32, u32)], deltas: &[i64], mut act: impl FnMut(i64)) {
    fn step(counters: &[(u32, u32)], deltas: &[i64], shift: i64, act: &mut impl FnMut(i64)) {
        match (counters, deltas) {
            ([(trip, _), rest @ ..], [delta, deltas @ ..]) => {
                (0..*trip as i64).for_each(|i| step(rest, deltas, shift + i * delta, act));
            }
            _ => act(shift),
        }
    }
    step(counters, deltas, 0, &mut act);
}

/// Calls `act` with the counters of every iteration, until it returns `false`.
pub(super) fn each_index(trips: &[u32], mut act: impl FnMut(&[u32]) -> bool) {
    let mut index = vec![0u32; trips.len()];
    loop {
        if !act(&index) {
            return;
        }
        let mut m = trips.len();
        loop {
            if m == 0 {
                return;
            }
            m -= 1;
            index[m] += 1;
            if index[m] < trips[m] {
                break;
            }
            index[m] = 0;
        }
    }
}
