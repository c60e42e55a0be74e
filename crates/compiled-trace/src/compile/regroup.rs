//! Independent parts of the same shape are brought together.
//!
//! Called by [`compile`](crate::compile), calls [`reroll`](mod@crate::compile::reroll) before and after. A loop whose iterations branch or
//! end by value (Newton's method per element, each with its own number of steps) leaves iterations of a few different shapes
//! in no regular order, and no loop is found around them. Where such iterations depend on nothing of each other, they may run
//! in any order: sorted by shape, those of one shape lie side by side and become a loop. What they read then is irregular in
//! most cases, and addressed by tables.
//!
//! # Which parts?
//! A part is a piece of the sequence whose results, if they are used nearby, are used inside it; what *nearby* means is tried
//! from short to long distances. A run is a row of parts that use no result of each other. Guards go with their part, sums take
//! their terms in any order. A run is sorted where that makes less than half as much to write of it, as found by rolling;
//! everything else stays as it is.

use crate::compile::reductions::{Gathered, Sequence};
use crate::compile::reroll::{Rerolled, Token, reroll};
use crate::recording::graph::{CONSTANT, Node, Op, SUM};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Distances at which results are used nearby.
const DISTANCES: [usize; 4] = [16, 128, 1024, 8192];
/// Fewest parts of one shape that become a loop, and fewest nodes of all of them.
const FEWEST_PARTS: usize = 8;
const FEWEST_NODES: usize = 128;
/// Programs with fewer operations than this after rolling are good enough, and those that have become so many times shorter.
const SHORT: usize = 400;
const SHORTER: usize = 64;

/// Rolls the sequence, sorted if that helps.
pub(crate) fn regrouped(sequence: Sequence) -> (Sequence, Rerolled) {
    let rolled = reroll(&sequence);
    let before = rolled.written();
    if before < SHORT.max(sequence.nodes.len() / SHORTER) {
        return (sequence, rolled);
    }
    let mut parts = Parts::new(&sequence, &rolled);
    parts.sort_all(before);
    if parts.gain == 0 {
        return (sequence, rolled);
    }
    let expected = before - parts.gain;
    let sorted = permuted(&sequence, &parts.order, parts.gathered);
    let again = reroll(&sorted);
    // At least half of what was hoped for.
    if again.written() <= before.midpoint(expected) { (sorted, again) } else { (sequence, rolled) }
}

impl Rerolled {
    /// Number of operations to be written: those of loops once.
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

/// A piece of the sequence.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
}

/// The search for parts.
struct Parts<'a> {
    sequence: &'a Sequence,
    /// Operations to be written before each node.
    written: Vec<u32>,
    /// Nodes of runs that are sorted.
    sorted: Vec<bool>,
    order: Vec<u32>,
    gathered: Vec<Gathered>,
    /// Operations fewer because of that.
    gain: usize,
}

impl<'a> Parts<'a> {
    fn new(sequence: &'a Sequence, rolled: &Rerolled) -> Parts<'a> {
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
        Parts { sequence, written, sorted, order, gathered: Vec::new(), gain: 0 }
    }

    /// Sorts the runs of all distances, of a program of so many operations to be written.
    fn sort_all(&mut self, before: usize) {
        for distance in DISTANCES {
            if distance <= self.order.len() && before - self.gain >= SHORT {
                self.sort_runs(distance);
            }
        }
        self.gathered.sort_unstable_by_key(|gathered| gathered.start);
    }

    /// Calls `act` with the nodes whose results a node uses, of sums the first and the last term.
    fn each_used(&self, node: &Node, mut act: impl FnMut(usize, usize)) {
        let first = self.sequence.first;
        let mut operand = |operand: u32| {
            if operand & CONSTANT != 0 {
            } else if operand & SUM != 0 {
                let sum = &self.sequence.sums[(operand & !SUM) as usize];
                act(sum.first as usize, sum.last as usize);
            } else if operand as usize >= first {
                act(operand as usize - first, operand as usize - first);
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

    /// Sorts the runs of parts that hold together over at most this distance.
    fn sort_runs(&mut self, distance: usize) {
        let nodes = &self.sequence.nodes;
        // Whether a part may begin at a node: nothing nearby before it is used at or behind it.
        let mut begins = vec![false; nodes.len()];
        let mut earliest = usize::MAX;
        for (i, node) in nodes.iter().enumerate().rev() {
            self.each_used(node, |first, last| {
                if let Some(used) = [first, last].into_iter().find(|used| i - used <= distance) {
                    earliest = earliest.min(used);
                }
            });
            begins[i] = earliest >= i && node.op != Op::CallOutput;
        }
        let mut run: Vec<Part> = Vec::new();
        let mut start = 0;
        while start < nodes.len() {
            let mut end = start + 1;
            while end < nodes.len() && !begins[end] {
                end += 1;
            }
            let part = Part { start, end };
            match self.behind(part) {
                // Calls keep their order.
                None => self.sort(&std::mem::take(&mut run)),
                Some(behind) => {
                    if run.first().is_some_and(|first| behind > first.start) {
                        self.sort(&std::mem::take(&mut run));
                    }
                    run.push(part);
                }
            }
            start = end;
        }
        self.sort(&run);
    }

    /// Behind which node a run must begin that has this part; nothing if it must stay where it is.
    fn behind(&self, part: Part) -> Option<usize> {
        let mut behind = 0;
        for (i, node) in self.sequence.nodes.iter().enumerate().take(part.end).skip(part.start) {
            if self.sorted[i] || matches!(node.op, Op::Call | Op::CallOutput) {
                return None;
            }
            self.each_used(node, |first, last| {
                if first < part.start {
                    behind = behind.max((last + 1).min(part.start));
                }
            });
        }
        Some(behind)
    }

    /// What parts of the same shape have in common: operations, and where the operands are.
    fn shape(&self, part: Part) -> u64 {
        let mut hasher = FxHasher::default();
        for node in &self.sequence.nodes[part.start..part.end] {
            node.op.hash(&mut hasher);
            for operand in [node.a, node.b] {
                let at = (operand as usize).wrapping_sub(self.sequence.first);
                if operand & CONSTANT != 0 {
                    0u32.hash(&mut hasher);
                } else if operand & SUM != 0 {
                    1u32.hash(&mut hasher);
                } else if (operand as usize) < self.sequence.first {
                    2u32.hash(&mut hasher);
                } else if at < part.start {
                    3u32.hash(&mut hasher);
                } else {
                    (4 + (at - part.start) as u32).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Sorts a run by shape, if that makes less than half of what is to be written.
    fn sort(&mut self, run: &[Part]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let before = (self.written[last.end] - self.written[first.start]) as usize;
        if run.len() < FEWEST_PARTS || before < FEWEST_NODES {
            return;
        }
        let mut classes: FxHashMap<u64, usize> = FxHashMap::default();
        let mut members: Vec<Vec<Part>> = Vec::new();
        for part in run {
            let class = *classes.entry(self.shape(*part)).or_insert(members.len());
            if class == members.len() {
                members.push(Vec::new());
            }
            members[class].push(*part);
        }
        let mut after = 0;
        let mut gathered = Vec::new();
        let mut start = first.start;
        for class in &members {
            let nodes = class[0].end - class[0].start;
            let end = start + nodes * class.len();
            if class.len() >= FEWEST_PARTS && end - start >= FEWEST_NODES {
                gathered.push(Gathered { start, end, nodes });
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
        self.gathered.extend(gathered);
        self.sorted[first.start..last.end].fill(true);
        let sorted = members.iter().flatten().flat_map(|part| part.start as u32..part.end as u32);
        for (place, node) in self.order[first.start..last.end].iter_mut().zip(sorted) {
            *place = node;
        }
    }
}

/// The sequence with the nodes in this order.
fn permuted(sequence: &Sequence, order: &[u32], gathered: Vec<Gathered>) -> Sequence {
    let first = sequence.first;
    let mut place = vec![0u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = (first + new) as u32;
    }
    let moved = |operand: u32| match operand as usize {
        i if operand & (CONSTANT | SUM) == 0 && i >= first => place[i - first],
        _ => operand,
    };
    let mut sums = sequence.sums.clone();
    sums.iter_mut().for_each(|sum| (sum.first, sum.last) = (u32::MAX, 0));
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
            let sum = &mut sums[(node.b & !SUM) as usize];
            (sum.first, sum.last) = (sum.first.min(new as u32), new as u32);
        }
        nodes.push(node);
    }
    let mut calls = sequence.calls.clone();
    calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(|argument| *argument = moved(*argument));
    let outputs = sequence.outputs.iter().map(|output| moved(*output)).collect();
    let constants = sequence.constants.clone();
    Sequence { inputs: sequence.inputs, first, nodes, constants, sums, calls, outputs, gathered }
}
