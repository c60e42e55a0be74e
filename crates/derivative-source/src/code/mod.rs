//! What is printed: a function as loops and straight-line blocks, with its operations by name.
//!
//! Made by `lower` from a program of `compiled-trace`; rewritten by `gather`, `tables` and `products`; read by the printers.
//!
//! It differs from a program in what source code needs and executors do not: conditions are apart from numbers, loops begin anywhere,
//! results that were not asked for are dropped, and arrays have names.

mod block;
mod gather;
mod lower;
mod products;
mod tables;

pub(crate) use block::{Rewriter, fused, lowered};
pub(crate) use gather::gathered;
pub(crate) use lower::lower;
pub(crate) use products::by_unit_seeds;
pub(crate) use tables::{Item, Shape, leaves, pieces_of, without_tables};

use compiled_trace::Outcome;
use differentiation_interface_core::scalar::Relation;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An array that the code reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Array {
    /// The constants of the program.
    Constant,
    Input(usize),
    Work,
    Output(usize),
}

/// A cell as a function of the counters around it, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) array: Array,
    pub(crate) base: i64,
    pub(crate) strides: Vec<i64>,
    /// Cells to add, by the row-major index of the innermost counters, whose trip counts are the second part.
    pub(crate) table: Option<(Rc<[u32]>, Rc<[u32]>)>,
}

/// A rule of one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unary {
    /// A line of the rule table.
    Rule(u16),
    Powi(i32),
    Powc(f64),
    Polygamma(u32),
}

/// An instruction of a block. Operands are earlier instructions; conditions are operands of `Select` and `Truth` only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Constant(f64),
    Load(Address),
    Unary(Unary, usize),
    Binary(u16, usize, usize),
    /// A condition.
    Compare(Relation, usize, usize),
    /// A condition: the number is not 0.
    NotZero(usize),
    /// 1 where the condition holds, else 0.
    Truth(usize),
    Select(usize, usize, usize),
    Store(usize, Address),
    Add(usize, Address),
    /// Ends the call unless the operands compare so; with the line of the user's code.
    Guard(u32, Outcome, usize, usize),
}

/// A step of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Repeats steps for a counter from 0 to the trip count minus 1, or downwards.
    Loop {
        trip: u32,
        reversed: bool,
        parallel: bool,
        body: Vec<Step>,
    },
    Block(Vec<Node>),
    /// Clears cells.
    Zero {
        array: Array,
        start: usize,
        length: usize,
    },
}

/// A function to print.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) constants: Rc<[f64]>,
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) work: usize,
    pub(crate) steps: Vec<Step>,
}

impl Address {
    /// Whether all iterations mean one cell.
    pub(crate) fn is_fixed(&self) -> bool {
        self.table.is_none() && self.strides.iter().all(|stride| *stride == 0)
    }

    /// First and last cell for these trip counts.
    pub(crate) fn range(&self, trips: &[u32]) -> (i64, i64) {
        let entries = self.table.iter().flat_map(|(table, _)| table.iter().map(|cell| i64::from(*cell)));
        let (low, high) = (entries.clone().min().unwrap_or(0), entries.max().unwrap_or(0));
        self.strides.iter().zip(trips).fold((self.base + low, self.base + high), |(low, high), (stride, trip)| {
            let reach = stride * (i64::from(*trip) - 1);
            (low + reach.min(0), high + reach.max(0))
        })
    }

    /// The cell at these counters.
    pub(crate) fn cell(&self, counters: &[u32]) -> i64 {
        let entry = self.table.as_ref().map_or(0, |(table, trips)| {
            let inner = &counters[counters.len() - trips.len()..];
            let index = inner.iter().zip(&**trips).fold(0, |i, (c, n)| i * *n as usize + *c as usize);
            i64::from(table[index])
        });
        self.strides.iter().zip(counters).fold(self.base + entry, |cell, (s, c)| cell + s * i64::from(*c))
    }
}

impl Node {
    /// Calls `act` with the operands.
    pub(crate) fn operands(&self, mut act: impl FnMut(usize)) {
        match self {
            Node::Constant(_) | Node::Load(_) => {}
            Node::Unary(_, a) | Node::NotZero(a) | Node::Truth(a) | Node::Store(a, _) | Node::Add(a, _) => act(*a),
            Node::Binary(_, a, b) | Node::Compare(_, a, b) | Node::Guard(_, _, a, b) => {
                act(*a);
                act(*b);
            }
            Node::Select(c, a, b) => {
                act(*c);
                act(*a);
                act(*b);
            }
        }
    }

    /// The same with other operands.
    pub(crate) fn renamed(&self, at: impl Fn(usize) -> usize) -> Node {
        let mut node = self.clone();
        match &mut node {
            Node::Constant(_) | Node::Load(_) => {}
            Node::Unary(_, a) | Node::NotZero(a) | Node::Truth(a) | Node::Store(a, _) | Node::Add(a, _) => *a = at(*a),
            Node::Binary(_, a, b) | Node::Compare(_, a, b) | Node::Guard(_, _, a, b) => {
                *a = at(*a);
                *b = at(*b);
            }
            Node::Select(c, a, b) => {
                *c = at(*c);
                *a = at(*a);
                *b = at(*b);
            }
        }
        node
    }

    pub(crate) fn is_effect(&self) -> bool {
        matches!(self, Node::Store(..) | Node::Add(..) | Node::Guard(..))
    }

    /// The address that it reads or writes.
    pub(crate) fn address(&self) -> Option<&Address> {
        match self {
            Node::Load(address) | Node::Store(_, address) | Node::Add(_, address) => Some(address),
            _ => None,
        }
    }

    pub(crate) fn address_mut(&mut self) -> Option<&mut Address> {
        match self {
            Node::Load(address) | Node::Store(_, address) | Node::Add(_, address) => Some(address),
            _ => None,
        }
    }
}

/// Calls `act` with every instruction and the trip counts of the loops around it.
pub(crate) fn each_node<'a>(steps: &'a [Step], trips: &mut Vec<u32>, act: &mut dyn FnMut(&'a Node, &[u32])) {
    for step in steps {
        match step {
            Step::Loop { trip, body, .. } => {
                trips.push(*trip);
                each_node(body, trips, act);
                trips.pop();
            }
            Step::Block(nodes) => nodes.iter().for_each(|node| act(node, trips)),
            Step::Zero { .. } => {}
        }
    }
}

/// Changes every instruction.
pub(crate) fn each_node_mut(steps: &mut [Step], act: &mut dyn FnMut(&mut Node)) {
    for step in steps {
        match step {
            Step::Loop { body, .. } => each_node_mut(body, act),
            Step::Block(nodes) => nodes.iter_mut().for_each(&mut *act),
            Step::Zero { .. } => {}
        }
    }
}

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
                let nodes = block::without_dead(&nodes, keep);
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
pub(crate) struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    pub(crate) fn add(&mut self, range: (i64, i64)) {
        self.0.push(range);
    }
    /// Sorts and joins overlapping intervals; call it before [`meets`](Self::meets).
    pub(crate) fn join(&mut self) {
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
    pub(crate) fn meets(&self, (low, high): (i64, i64)) -> bool {
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
