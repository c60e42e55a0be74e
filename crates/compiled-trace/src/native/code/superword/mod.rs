//! Two like results as one vector: operations of straight code that differ in their operands alone.
//!
//! Called by `build` for the code behind the last loop of a function. The rows of a small Jacobian are computed by the same operations on other
//! numbers, so pairs of stores that lie a row apart are where the search begins; it goes on to the operands as long as these are alike.
//! What differs is gathered into a vector, what is the same is broadcast. Every lane has the operations of the single number, in the same
//! order, and so its bits. Sines and cosines of several angles by own functions are one call.
//!
//! # Source
//! S. Larsen and S. Amarasinghe, Exploiting superword level parallelism with multimedia instruction sets (2000); the search from stores
//! to operands is that of I. Rosen, D. Nuzman and A. Zaks, Loop-aware SLP in GCC (2007).

mod early;
mod rewrite;
mod search;

use super::*;
use crate::sorting;
use early::Early;
use rewrite::{Rewrite, Rewritten};
use search::{NONE, Search, Seed};

/// Code with more lines is left as it is: the search is for short programs, where the time of a call is that of its operations.
const LONGEST: usize = 2000;
/// How many stores ahead a like one is looked for.
const AHEAD: usize = 16;

impl Function {
    /// The gain from which on vectors are worth while, in halves of an instruction.
    pub(in super::super) const LEAST_GAIN: i32 = 12;

    /// The function with its straight code in another order: calls early, own functions of several angles at once, and vectors of two doubles where they gain so much, usually
    /// [`LEAST_GAIN`](Function::LEAST_GAIN).
    pub(in super::super) fn with_superwords(mut self, least: i32) -> Function {
        let last = self.lines.iter().rposition(|line| matches!(line.operation, Operation::End(_)));
        let start = last.map_or(0, |end| end + 1);
        if self.bytes != 8 || self.lines.len() - start > LONGEST {
            return self;
        }
        let mut line = vec![NONE; self.kinds.len()];
        for (i, Line { result, .. }) in self.lines.iter().enumerate().skip(start) {
            if let Some(result) = result {
                line[result.index()] = i as u32;
            }
        }
        let Some(stores) = self.stores(start) else { return self };
        let distances = self.distances(&line, &stores);
        if distances.is_empty() && self.calls.len() < 2 {
            return self;
        }
        let search = || {
            let (vector, last) = (vec![NONE; self.kinds.len()], vec![NONE; self.kinds.len() + self.pool.len()]);
            Search { function: &self, start, line: &line, vector, vectors: Vec::new(), last, gain: 0, least }
        };
        let with_vectors = |distance: i32| {
            let mut search = search();
            let seeds = search.seeds(&stores, distance);
            search.gain -= search.extractions(&seeds);
            (search, seeds)
        };
        let mut best: Option<(Search, Vec<Seed>)> = None;
        for distance in distances {
            // A quarter of the code is enough.
            let is_enough = |(search, _): &(Search, Vec<Seed>)| search.gain > (self.lines.len() - start) as i32 / 2;
            if !best.as_ref().is_some_and(is_enough) {
                let other = with_vectors(distance);
                best = best.filter(|(search, _)| search.gain >= other.0.gain).or(Some(other));
            }
        }
        let best = best.filter(|(search, seeds)| search.gain >= least && !self.disturbs(start, seeds));
        let early = Early::of(&self, start);
        let rewritten = best.and_then(|(search, seeds)| Rewrite::of(&search, &seeds, &early));
        let rewritten = rewritten.or_else(|| Rewrite::of(&search(), &[], &early));
        let Some(Rewritten { lines, kinds, pool, joined, calls }) = rewritten else { return self };
        self.defined.resize(kinds.len(), start as u32);
        (self.lines, self.kinds, self.pool, self.joined, self.calls) = (lines, kinds, pool, joined, calls);
        self
    }

    /// The stores of single numbers in the straight code from a line on, by place; `None` if some may concern other cells than it seems:
    /// pointers to slices are the only ones known to differ.
    fn stores(&self, start: usize) -> Option<Vec<(u32, Place, Value)>> {
        let (mut slices, mut bases): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut stores = Vec::new();
        for (i, Line { operation, result }) in self.lines.iter().enumerate() {
            match operation {
                Operation::LoadInteger(_) => slices.extend(result),
                Operation::Store(place, value) if i >= start => {
                    if place.index.is_some() || !slices.contains(&place.base) {
                        return None;
                    }
                    if !bases.contains(&place.base) {
                        bases.push(place.base);
                    }
                    if self.kind(*value) == Kind::Numbers(1) {
                        stores.push((i as u32, *place, *value));
                    }
                }
                _ => {}
            }
        }
        // No cell that is stored to is read.
        let is_read = self.lines[start..].iter().any(|line| match line.operation {
            Operation::Load(place) => !slices.contains(&place.base) || bases.contains(&place.base),
            _ => false,
        });
        sorting::sort_by_key(&mut stores, |(line, place, _)| (place.base, place.shift, *line));
        let twice = stores.windows(2).any(|two| (two[0].1.base, two[0].1.shift) == (two[1].1.base, two[1].1.shift));
        (!is_read && !twice).then_some(stores)
    }

    /// The two distances at which most stores of like values are.
    fn distances(&self, line: &[u32], stores: &[(u32, Place, Value)]) -> Vec<i32> {
        let kind = |value: Value| match value.pool() {
            None if line[value.index()] != NONE => match self.lines[line[value.index()] as usize].operation {
                Operation::Arithmetic(which, ..) => 1 + which as u32,
                Operation::Simple(which, _) => 6 + which as u32,
                Operation::Load(_) => 12,
                _ => 13,
            },
            _ => 0,
        };
        let mut alike: Vec<(Value, u32, i32)> = Vec::with_capacity(stores.len());
        for (_, place, value) in stores {
            let own = kind(*value);
            if !(1..12).contains(&own) {
                continue;
            }
            let mut of_operands = 0;
            self.operands(&self.lines[line[value.index()] as usize].operation, |operand| {
                of_operands += 1 << kind(operand);
            });
            alike.push((place.base, own << 16 | of_operands, place.shift));
        }
        sorting::sort(&mut alike);
        let mut all: Vec<i32> = Vec::with_capacity(4 * alike.len());
        for (i, (base, kind, shift)) in alike.iter().enumerate() {
            let others = alike[i + 1..].iter().take(AHEAD).take_while(|other| (other.0, other.1) == (*base, *kind));
            all.extend(others.map(|other| other.2 - shift));
        }
        sorting::sort(&mut all);
        let mut votes: Vec<(usize, i32)> = all.chunk_by(|a, b| a == b).map(|same| (same.len(), -same[0])).collect();
        sorting::sort_by(&mut votes, |a, b| b.cmp(a));
        votes.iter().take(2).map(|(_, distance)| -distance).collect()
    }

    /// Whether a store that moves behind another one would change its cell. Of single numbers no two are stored to the same place.
    fn disturbs(&self, start: usize, seeds: &[Seed]) -> bool {
        let wide = self.lines.iter().enumerate().skip(start).filter_map(|(i, line)| match line.operation {
            Operation::Store(place, value) if self.lanes(value) > 1 => {
                Some((i as u32, place.base, place.shift..place.shift + 8 * i32::from(self.lanes(value))))
            }
            _ => None,
        });
        let wide: Vec<_> = wide.collect();
        seeds.iter().any(|seed| {
            let (first, last) = (seed.lines[0].min(seed.lines[1]), seed.lines[0].max(seed.lines[1]));
            let Operation::Store(moved, _) = self.lines[first as usize].operation else { return true };
            wide.iter().any(|(i, base, cells)| {
                (first..last).contains(i) && *base == moved.base && cells.contains(&moved.shift)
            })
        })
    }
}
