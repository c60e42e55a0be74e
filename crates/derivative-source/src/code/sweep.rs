//! Removes what is not asked for: outputs, and all that only they need; loops of one iteration.
//!
//! Called for every function, after a program has been lowered and after each pass.

use super::block::without_dead;
use super::ir::{Array, Code, Node, Step, each_node, each_node_mut};
use std::collections::BTreeMap;

impl Code {
    /// Keeps the outputs with these numbers, in this order; the others become work cells if they are read, and are dropped if not.
    pub(crate) fn keeping(mut self, kept: &[usize]) -> Code {
        let mut moved = BTreeMap::new();
        for (o, length) in self.outputs.iter().enumerate() {
            let place = match kept.iter().position(|k| *k == o) {
                Some(k) => (Array::Output(k), 0),
                None => {
                    self.work += length;
                    (Array::Work, (self.work - length) as i64)
                }
            };
            moved.insert(o, place);
        }
        each_node_mut(&mut self.steps, &mut |node| {
            if let Some(address) = node.address_mut()
                && let Array::Output(o) = address.array
            {
                let (array, shift) = moved[&o];
                address.array = array;
                address.base += shift;
            }
        });
        each_zero(&mut self.steps, &mut |array, start| {
            if let Array::Output(o) = *array {
                let (to, shift) = moved[&o];
                *array = to;
                *start += shift as usize;
            }
        });
        self.outputs = kept.iter().map(|k| self.outputs[*k]).collect();
        self.swept()
    }

    /// Without effects on work cells that nothing reads, instructions that no effect needs, and unused work cells.
    pub(crate) fn swept(mut self) -> Code {
        loop {
            let mut read = Ranges::default();
            each_node(&self.steps, &mut Vec::new(), &mut |node, trips| {
                if let Node::Load(address) = node
                    && address.array == Array::Work
                {
                    read.add(address.range(trips));
                }
            });
            read.join();
            let before = count(&self.steps);
            self.steps = swept(std::mem::take(&mut self.steps), &mut Vec::new(), &read);
            if count(&self.steps) == before {
                return self.packed();
            }
        }
    }

    /// Renumbers the work cells, so that unused ones take no room.
    fn packed(mut self) -> Code {
        let mut used = Ranges::default();
        each_node(&self.steps, &mut Vec::new(), &mut |node, trips| {
            if let Some(address) = node.address()
                && address.array == Array::Work
            {
                used.add(address.range(trips));
            }
        });
        used.join();
        let mut shifts = Vec::new();
        let mut next = 0;
        for (low, high) in &used.0 {
            shifts.push((*low, *high, low - next));
            next += high - low + 1;
        }
        let shift = |cell: i64| shifts.iter().find(|(low, high, _)| (*low..=*high).contains(&cell)).map(|s| s.2);
        each_node_mut(&mut self.steps, &mut |node| {
            if let Some(address) = node.address_mut()
                && address.array == Array::Work
            {
                let first = address.cell(&vec![0; address.strides.len()]);
                address.base -= shift(first).unwrap_or(0);
            }
        });
        self.steps = self.steps.into_iter().flat_map(|step| clipped(step, &shifts)).collect();
        self.work = next as usize;
        self
    }
}

/// Work cells to clear, as far as they are used.
fn clipped(step: Step, shifts: &[(i64, i64, i64)]) -> Vec<Step> {
    match step {
        Step::Zero { array: Array::Work, start, length } => {
            let (first, last) = (start as i64, (start + length) as i64 - 1);
            let mut parts: Vec<(usize, usize)> = Vec::new();
            for (low, high, shift) in shifts {
                let (from, to) = (first.max(*low), last.min(*high));
                if from > to {
                    continue;
                }
                let (start, length) = ((from - shift) as usize, (to - from + 1) as usize);
                match parts.last_mut() {
                    Some((s, l)) if *s + *l == start => *l += length,
                    _ => parts.push((start, length)),
                }
            }
            parts.into_iter().map(|(start, length)| Step::Zero { array: Array::Work, start, length }).collect()
        }
        Step::Loop { trip, reversed, parallel, body } => {
            let body = body.into_iter().flat_map(|step| clipped(step, shifts)).collect();
            vec![Step::Loop { trip, reversed, parallel, body }]
        }
        other => vec![other],
    }
}

fn each_zero(steps: &mut [Step], act: &mut dyn FnMut(&mut Array, &mut usize)) {
    for step in steps {
        match step {
            Step::Loop { body, .. } => each_zero(body, act),
            Step::Zero { array, start, .. } => act(array, start),
            Step::Block(_) => {}
        }
    }
}

fn count(steps: &[Step]) -> usize {
    let each = |step: &Step| match step {
        Step::Loop { body, .. } => 1 + count(body),
        Step::Block(nodes) => nodes.len(),
        Step::Zero { .. } => 1,
    };
    steps.iter().map(each).sum()
}

fn swept(steps: Vec<Step>, trips: &mut Vec<u32>, read: &Ranges) -> Vec<Step> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::Loop { trip, reversed, parallel, body } => {
                trips.push(trip);
                let body = swept(body, trips, read);
                trips.pop();
                if !body.is_empty() {
                    out.push(Step::Loop { trip, reversed, parallel, body });
                }
            }
            Step::Block(nodes) => {
                let keep = |node: &Node| match node {
                    Node::Store(_, address) | Node::Add(_, address) => {
                        address.array != Array::Work || read.meets(address.range(trips))
                    }
                    _ => true,
                };
                let nodes = without_dead(&nodes, keep);
                if !nodes.is_empty() {
                    out.push(Step::Block(nodes));
                }
            }
            Step::Zero { array: Array::Work, start, length }
                if !read.meets((start as i64, (start + length) as i64 - 1)) => {}
            Step::Zero { length: 0, .. } => {}
            zero => out.push(zero),
        }
    }
    out
}

/// A set of cells, as intervals.
#[derive(Default)]
struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    fn add(&mut self, range: (i64, i64)) {
        self.0.push(range);
    }
    /// Sorts and joins overlapping intervals; call it before [`meets`](Self::meets).
    fn join(&mut self) {
        self.0.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (low, high) in self.0.drain(..) {
            match joined.last_mut() {
                Some(last) if low <= last.1 => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        self.0 = joined;
    }
    fn meets(&self, (low, high): (i64, i64)) -> bool {
        let first = self.0.partition_point(|range| range.1 < low);
        self.0.get(first).is_some_and(|range| range.0 <= high)
    }
}

/// Steps without loops of one iteration; `depth` counters are around them.
pub(crate) fn unlooped(steps: Vec<Step>, depth: usize) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Loop { trip: 1, mut body, reversed, parallel } => {
                let mut has_table = false;
                each_node(&body, &mut Vec::new(), &mut |node, _| {
                    has_table |= node.address().is_some_and(|address| address.table.is_some());
                });
                if has_table {
                    out.push(Step::Loop { trip: 1, reversed, parallel, body: unlooped(body, depth + 1) });
                    continue;
                }
                each_node_mut(&mut body, &mut |node| {
                    if let Some(address) = node.address_mut() {
                        address.strides.remove(depth);
                    }
                });
                out.extend(unlooped(body, depth));
            }
            Step::Loop { trip, reversed, parallel, body } => {
                out.push(Step::Loop { trip, reversed, parallel, body: unlooped(body, depth + 1) });
            }
            other => out.push(other),
        }
    }
    out
}
