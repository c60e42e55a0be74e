//! The code that is printed: arrays, addresses, instructions, steps.
//!
//! Used by all passes and printers.

use compiled_trace::Outcome;
use differentiation_interface_core::scalar::Relation;
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
    /// Whether an output gets its value by one store outside of loops, and nothing reads it.
    pub(crate) fn is_stored_once(&self, output: usize) -> bool {
        let of_output = |node: &Node| node.address().is_some_and(|address| address.array == Array::Output(output));
        let (mut stores, mut others) = (0, 0);
        for step in &self.steps {
            match step {
                Step::Block(nodes) => {
                    for node in nodes.iter().filter(|node| of_output(node)) {
                        *(if matches!(node, Node::Store(..)) { &mut stores } else { &mut others }) += 1;
                    }
                }
                Step::Zero { array, .. } => others += usize::from(*array == Array::Output(output)),
                Step::Loop { .. } => each_node(std::slice::from_ref(step), &mut Vec::new(), &mut |node, _| {
                    others += usize::from(of_output(node));
                }),
            }
        }
        stores == 1 && others == 0
    }
}
