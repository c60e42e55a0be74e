//! Brings independent segments of the same shape together.
//!
//! Called by [`compile`](crate::compile), calls [`reroll`](mod@crate::compile::reroll) before and after. A loop whose iterations branch or
//! end by value (Newton's method per element, each with its own number of steps) leaves iterations of a few different shapes
//! in no regular order, and rerolling finds no loop around them. If these iterations do not depend on each other, they may run
//! in any order: sorted by shape, those of one shape lie side by side and become a loop. Their operands are then irregular in
//! most cases, and addressed by tables.
//!
//! # What is a segment?
//! A segment is a piece of the sequence whose results, if they are used nearby, are used inside it; the search tries short to long
//! distances for *nearby*. A run is a row of segments that use no result of each other. Guards stay with their segment, reductions
//! take their terms in any order. A run is sorted if that less than halves the operations to be written for it, as rerolling
//! finds; everything else keeps its order.

use crate::compile::reductions::{Regrouped, Sequence};
use crate::compile::reroll::{Rerolled, Token, reroll};
use crate::recording::graph::{CONSTANT, Node, Op, REDUCTION};
use crate::sorting;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Distances within which uses of a result count as nearby.
const DISTANCES: [usize; 4] = [16, 128, 1024, 8192];
/// Minimum number of segments of one shape that become a loop, and of nodes in all of them.
const MIN_SEGMENTS: usize = 8;
const MIN_NODES: usize = 128;
/// Programs with fewer operations than this after rerolling are not regrouped, nor are those that rerolling shortens by `SHORTER`.
const SHORT: usize = 400;
const SHORTER: usize = 64;
/// Sorting must save more than one operation in this many: rerolling again takes as long as before.
const LEAST_GAIN: usize = 16;

/// Rerolls the sequence, sorted if that helps.
pub(crate) fn regroup(sequence: Sequence) -> (Sequence, Rerolled) {
    let rolled = reroll(&sequence);
    let before = rolled.written();
    if before < SHORT.max(sequence.nodes.len() / SHORTER) {
        return (sequence, rolled);
    }
    let mut regrouping = Regrouping::new(&sequence, &rolled);
    regrouping.sort_all(before);
    if regrouping.gain <= before / LEAST_GAIN {
        return (sequence, rolled);
    }
    let expected = before - regrouping.gain;
    let sorted = permuted(&sequence, &regrouping.order, regrouping.regrouped);
    let again = reroll(&sorted);
    // The sorted sequence is kept if it gains at least half of what was estimated.
    if again.written() <= before.midpoint(expected) { (sorted, again) } else { (sequence, rolled) }
}

impl Rerolled {
    /// Number of operations to be written; those of a loop count once.
    fn written(&self) -> usize {
        self.tokens.iter().map(|token| self.written_of(token)).sum()
    }

    fn written_of(&self, token: &Token) -> usize {
        match &self.shapes[token.shape as usize].repeat {
            Some((_, body)) => body.iter().map(|token| self.written_of(token)).sum(),
            None => 1,
        }
    }
}

/// A segment of the sequence.
#[derive(Clone, Copy)]
struct Segment {
    start: usize,
    end: usize,
}

/// The search for segments.
struct Regrouping<'a> {
    sequence: &'a Sequence,
    /// Operations to be written before each node.
    written: Vec<u32>,
    /// Nodes of runs that are sorted.
    sorted: Vec<bool>,
    order: Vec<u32>,
    regrouped: Vec<Regrouped>,
    /// How many operations the sorting saves.
    gain: usize,
}

impl<'a> Regrouping<'a> {
    fn new(sequence: &'a Sequence, rolled: &Rerolled) -> Regrouping<'a> {
        let length = sequence.nodes.len();
        let mut written = vec![0; length + 1];
        for token in &rolled.tokens {
            written[token.start as usize + 1] = rolled.written_of(token) as u32;
        }
        for i in 0..length {
            written[i + 1] += written[i];
        }
        let order = (0..length as u32).collect();
        let sorted = vec![false; length];
        Regrouping { sequence, written, sorted, order, regrouped: Vec::new(), gain: 0 }
    }

    /// Sorts the runs of all distances, for a program with this many operations to be written.
    fn sort_all(&mut self, before: usize) {
        let (begins, segments) = self.begins();
        for (k, distance) in DISTANCES.into_iter().enumerate() {
            if distance <= self.order.len() && before - self.gain >= SHORT && segments[k] >= MIN_SEGMENTS {
                self.sort_runs(&begins, 1 << k);
            }
        }
        sorting::sort_by_key(&mut self.regrouped, |regrouped| regrouped.start);
    }

    /// Calls `act` with the nodes whose results a node uses; for a reduction with the first and the last term.
    #[inline(always)]
    fn each_used(&self, node: &Node, mut act: impl FnMut(usize, usize)) {
        let mut operand = |operand: u32| {
            // Constants and reductions have bits that no number of a node has.
            let at = operand.wrapping_sub(self.sequence.first as u32) as usize;
            if at < self.sequence.nodes.len() {
                act(at, at);
            } else if operand & CONSTANT == 0 && operand & REDUCTION != 0 {
                let reduction = &self.sequence.reductions[(operand & !REDUCTION) as usize];
                act(reduction.first as usize, reduction.last as usize);
            }
        };
        match node.op {
            Op::Unary(_) | Op::Accumulate => operand(node.a),
            Op::Call => self.sequence.calls[node.a as usize].arguments.iter().for_each(|argument| operand(*argument)),
            Op::CallOutput => {}
            _ => {
                operand(node.a);
                operand(node.b);
            }
        }
    }

    /// For which distances, one bit for each, a segment may begin at a node: no result from nearby before it is used at the node or after
    /// it. And the number of such nodes for each distance.
    fn begins(&self) -> (Vec<u8>, [usize; DISTANCES.len()]) {
        let nodes = &self.sequence.nodes;
        let mut begins = vec![0; nodes.len()];
        let mut count = [0; DISTANCES.len()];
        let mut earliest = [usize::MAX; DISTANCES.len()];
        for (i, node) in nodes.iter().enumerate().rev() {
            self.each_used(node, |first, last| {
                for (earliest, distance) in earliest.iter_mut().zip(DISTANCES) {
                    let used = if i - first <= distance { first } else { last };
                    *earliest = if i - used <= distance { used.min(*earliest) } else { *earliest };
                }
            });
            if node.op != Op::CallOutput {
                for (k, earliest) in earliest.iter().enumerate() {
                    begins[i] |= u8::from(*earliest >= i) << k;
                    count[k] += usize::from(*earliest >= i);
                }
            }
        }
        (begins, count)
    }

    /// Sorts the runs of segments that may begin at nodes with this bit.
    fn sort_runs(&mut self, begins: &[u8], bit: u8) {
        let nodes = &self.sequence.nodes;
        let mut run: Vec<Segment> = Vec::new();
        let mut start = 0;
        while start < nodes.len() {
            let mut end = start + 1;
            while end < nodes.len() && begins[end] & bit == 0 {
                end += 1;
            }
            let segment = Segment { start, end };
            match self.behind(segment) {
                // Calls keep their order.
                None => self.sort(&std::mem::take(&mut run)),
                Some(behind) => {
                    if run.first().is_some_and(|first| behind > first.start) {
                        self.sort(&std::mem::take(&mut run));
                    }
                    run.push(segment);
                }
            }
            start = end;
        }
        self.sort(&run);
    }

    /// The node after which a run with this segment must begin; `None` if the segment must keep its place.
    fn behind(&self, segment: Segment) -> Option<usize> {
        let mut behind = 0;
        for (i, node) in self.sequence.nodes.iter().enumerate().take(segment.end).skip(segment.start) {
            if self.sorted[i] || matches!(node.op, Op::Call | Op::CallOutput) {
                return None;
            }
            self.each_used(node, |first, last| {
                if first < segment.start {
                    behind = behind.max((last + 1).min(segment.start));
                }
            });
        }
        Some(behind)
    }

    /// A hash of what segments of the same shape have in common: operations, and where the operands are.
    fn shape(&self, segment: Segment) -> u64 {
        let mut hasher = FxHasher::default();
        for node in &self.sequence.nodes[segment.start..segment.end] {
            node.op.hash(&mut hasher);
            for operand in [node.a, node.b] {
                let at = (operand as usize).wrapping_sub(self.sequence.first);
                if operand & CONSTANT != 0 {
                    0u32.hash(&mut hasher);
                } else if operand & REDUCTION != 0 {
                    1u32.hash(&mut hasher);
                } else if (operand as usize) < self.sequence.first {
                    2u32.hash(&mut hasher);
                } else if at < segment.start {
                    3u32.hash(&mut hasher);
                } else {
                    (4 + (at - segment.start) as u32).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Sorts a run by shape, if that less than halves the operations to be written.
    fn sort(&mut self, run: &[Segment]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let before = (self.written[last.end] - self.written[first.start]) as usize;
        if run.len() < MIN_SEGMENTS || before < MIN_NODES {
            return;
        }
        let mut classes: FxHashMap<u64, usize> = FxHashMap::default();
        let mut members: Vec<Vec<Segment>> = Vec::new();
        for segment in run {
            let class = *classes.entry(self.shape(*segment)).or_insert(members.len());
            if class == members.len() {
                members.push(Vec::new());
            }
            members[class].push(*segment);
        }
        let mut after = 0;
        let mut regrouped = Vec::new();
        let mut start = first.start;
        for class in &members {
            let nodes = class[0].end - class[0].start;
            let end = start + nodes * class.len();
            if class.len() >= MIN_SEGMENTS && end - start >= MIN_NODES {
                regrouped.push(Regrouped { start, end, nodes });
                after += nodes;
            } else {
                after += end - start;
            }
            start = end;
        }
        if 2 * after > before {
            return;
        }
        self.gain += before - after;
        self.regrouped.extend(regrouped);
        self.sorted[first.start..last.end].fill(true);
        let sorted = members.iter().flatten().flat_map(|segment| segment.start as u32..segment.end as u32);
        for (place, node) in self.order[first.start..last.end].iter_mut().zip(sorted) {
            *place = node;
        }
    }
}

/// The sequence with the nodes in this order.
fn permuted(sequence: &Sequence, order: &[u32], regrouped: Vec<Regrouped>) -> Sequence {
    let first = sequence.first;
    let mut place = vec![0u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = (first + new) as u32;
    }
    let moved = |operand: u32| match operand as usize {
        i if operand & (CONSTANT | REDUCTION) == 0 && i >= first => place[i - first],
        _ => operand,
    };
    let mut reductions = sequence.reductions.clone();
    reductions.iter_mut().for_each(|reduction| (reduction.first, reduction.last) = (u32::MAX, 0));
    let mut nodes = Vec::with_capacity(order.len());
    for (new, old) in order.iter().enumerate() {
        let mut node = sequence.nodes[*old as usize];
        match node.op {
            Op::Call | Op::CallOutput => {}
            Op::Unary(_) => node.a = moved(node.a),
            _ => {
                node.a = moved(node.a);
                node.b = moved(node.b);
            }
        }
        if node.op == Op::Accumulate {
            let reduction = &mut reductions[(node.b & !REDUCTION) as usize];
            (reduction.first, reduction.last) = (reduction.first.min(new as u32), new as u32);
        }
        nodes.push(node);
    }
    let mut calls = sequence.calls.clone();
    calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(|argument| *argument = moved(*argument));
    let outputs = sequence.outputs.iter().map(|output| moved(*output)).collect();
    let constants = sequence.constants.clone();
    Sequence { inputs: sequence.inputs, first, nodes, constants, reductions, calls, outputs, regrouped }
}
