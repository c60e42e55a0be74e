//! Folds a loop while it is recorded: iterations that repeat the operations of the ones before, on operands that advance regularly, are
//! counted and not stored.
//!
//! Called by the recorder for each operation, if the caller asked for it; read by [`folded`](crate::compile::folded), which makes the
//! program. A function that runs a loop 10⁶ times then leaves two iterations of it and a number.
//!
//! # How is a loop found?
//! When the recording has doubled, [`search`] looks for the shortest period over which the second half of the operations repeat. From then on
//! every operation is compared with the one that the last two iterations predict: the same kind, and operands advanced by the
//! same distance. Constants may be any; those that change from iteration to iteration are stored. The first operation that differs ends the
//! fold. A short one is unfolded again and the search goes on, so that the fold that stays is the outermost loop of the function.

use crate::recording::operation::{CONSTANT, Node, Op};

/// Recordings up to this length are not searched.
pub(super) const FIRST_SEARCH: usize = 4096;
/// Folds of fewer iterations are unfolded, and those that cover less than half of the operations before their end.
pub(crate) const MIN_ITERATIONS: usize = 64;
/// How many comparisons a search makes at most, per operation.
const COMPARISONS: usize = 6;

/// The operand of one operation in all iterations, where it is a constant.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// In the first iterations.
    first: u32,
    /// How many there are.
    length: usize,
    /// All of them, once one differs from the first.
    all: Vec<u32>,
}

impl Column {
    fn push(&mut self, operand: u32) {
        if operand != self.first && self.all.is_empty() {
            self.all = vec![self.first; self.length];
        }
        if !self.all.is_empty() || operand != self.first {
            self.all.push(operand);
        }
        self.length += 1;
    }
    /// The operand in an iteration.
    pub(crate) fn at(&self, iteration: usize) -> u32 {
        if self.all.is_empty() { self.first } else { self.all[iteration] }
    }
    /// The number of iterations, the last of which may be incomplete.
    pub(crate) fn len(&self) -> usize {
        self.length
    }
    /// Whether it is the same operand in all iterations.
    pub(crate) fn is_same(&self) -> bool {
        self.all.is_empty()
    }
}

/// A folded loop. The recording has the operations before it, the first two iterations, and the operations behind it.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// The first operation.
    pub(crate) start: usize,
    /// Operations of an iteration.
    pub(crate) period: usize,
    /// Complete iterations.
    pub(crate) iterations: usize,
    /// Operations of the iteration that is not complete.
    pub(crate) partial: usize,
    /// One column for each constant operand of an iteration, in order.
    pub(crate) columns: Vec<Column>,
}

/// A constant operand's kind, or the distance by which it advances.
fn distance(now: u32, before: u32) -> u32 {
    if now & CONSTANT != 0 { 0 } else { now.wrapping_sub(before) }
}

impl Fold {
    /// Calls `act` with the operations of the iterations in a range and of the first `partial` ones behind it. `constant` gives the operand for
    /// the number of a column and the iteration.
    pub(crate) fn each(
        &self,
        nodes: &[Node],
        range: std::ops::Range<usize>,
        partial: usize,
        constant: impl Fn(usize, usize) -> u32,
        mut act: impl FnMut(Node),
    ) {
        let first = &nodes[self.start..self.start + self.period];
        let second = &nodes[self.start + self.period..self.start + 2 * self.period];
        for t in range.start..=range.end {
            let mut column = 0;
            let count = if t < range.end { self.period } else { partial };
            for (one, two) in first.iter().zip(second).take(count) {
                let mut operand = |one: u32, two: u32| {
                    if one & CONSTANT != 0 {
                        column += 1;
                        constant(column - 1, t)
                    } else {
                        one.wrapping_add(two.wrapping_sub(one).wrapping_mul(t as u32))
                    }
                };
                act(Node { op: one.op, a: operand(one.a, two.a), b: operand(one.b, two.b) });
            }
        }
    }

    /// Bytes of the constants that change.
    pub(crate) fn bytes(&self) -> usize {
        let all = self.columns.iter().map(|column| column.all.capacity() * size_of::<u32>());
        self.columns.len() * size_of::<Column>() + all.sum::<usize>()
    }

    /// How many operations it stands for, without the two iterations that are stored.
    pub(crate) fn hidden(&self) -> usize {
        (self.iterations - 2) * self.period + self.partial
    }

    /// Puts all operations into the recording.
    pub(crate) fn unfold(&self, nodes: &mut Vec<Node>) {
        let behind = nodes.split_off(self.start + 2 * self.period);
        let mut all = Vec::with_capacity(self.hidden());
        self.each(
            nodes,
            2..self.iterations,
            self.partial,
            |column, t| self.columns[column].at(t),
            |node| all.push(node),
        );
        nodes.extend(all);
        nodes.extend(behind);
    }
}

/// What is expected of the next operation at one place of an iteration.
#[derive(Clone, Copy, Debug)]
struct Expected {
    op: Op,
    a: u32,
    b: u32,
    by_a: u32,
    by_b: u32,
}

/// A fold that grows.
#[derive(Debug)]
pub(super) struct Growing {
    expected: Vec<Expected>,
    /// The next place, and the next column.
    place: usize,
    column: usize,
    fold: Fold,
}

impl Growing {
    /// Takes the next operation, if it is the expected one.
    #[inline]
    pub(super) fn take(&mut self, op: Op, a: u32, b: u32) -> bool {
        let expected = &mut self.expected[self.place];
        let fits = |expected: u32, operand: u32| expected == operand || (expected & operand & CONSTANT != 0);
        if expected.op != op || !fits(expected.a, a) || !fits(expected.b, b) {
            return false;
        }
        for operand in [a, b] {
            if operand & CONSTANT != 0 {
                self.fold.columns[self.column].push(operand);
                self.column += 1;
            }
        }
        expected.a = expected.a.wrapping_add(expected.by_a);
        expected.b = expected.b.wrapping_add(expected.by_b);
        self.place += 1;
        if self.place == self.expected.len() {
            (self.place, self.column) = (0, 0);
            self.fold.iterations += 1;
        }
        true
    }

    /// The number of operations that it hides so far.
    pub(super) fn hidden(&self) -> usize {
        (self.fold.iterations - 2) * self.expected.len() + self.place
    }

    /// The fold at its end, and whether it stays.
    pub(super) fn finish(self) -> (Fold, bool) {
        let fold = Fold { partial: self.place, ..self.fold };
        let covered = fold.iterations * fold.period;
        let stays = fold.iterations >= MIN_ITERATIONS && covered >= fold.start;
        (fold, stays)
    }
}

/// Whether an operation repeats those one and two periods before.
fn repeats(nodes: &[Node], i: usize, period: usize) -> bool {
    let (now, before, first) = (&nodes[i], &nodes[i - period], &nodes[i - 2 * period]);
    let operand = |now: u32, before: u32, first: u32| {
        (now & CONSTANT) == (before & CONSTANT)
            && (now & CONSTANT) == (first & CONSTANT)
            && distance(now, before) == distance(before, first)
    };
    now.op == before.op
        && now.op == first.op
        && !matches!(now.op, Op::Call | Op::CallOutput)
        && operand(now.a, before.a, first.a)
        && operand(now.b, before.b, first.b)
}

/// Finds a loop that covers the second half of the operations, and folds it.
pub(super) fn search(nodes: &mut Vec<Node>) -> Option<Growing> {
    let length = nodes.len();
    let last = *nodes.last()?;
    let mut left = COMPARISONS * length;
    let mut found = None;
    for period in 1..=length / 6 {
        left = left.checked_sub(1)?;
        if nodes[length - 1 - period].op != last.op || !repeats(nodes, length - 1, period) {
            continue;
        }
        let mut from = length - 1;
        while from > 2 * period && repeats(nodes, from - 1, period) {
            from -= 1;
            left = left.checked_sub(1)?;
        }
        if from <= length / 2 {
            found = Some((from - 2 * period, period));
            break;
        }
    }
    let (start, period) = found?;
    let behind = nodes.split_off(start + 2 * period);
    let mut expected = Vec::with_capacity(period);
    let mut columns = Vec::new();
    for i in start..start + period {
        let (one, two) = (nodes[i], nodes[i + period]);
        for (one, two) in [(one.a, two.a), (one.b, two.b)] {
            if one & CONSTANT != 0 {
                let mut column = Column { first: one, length: 1, all: Vec::new() };
                column.push(two);
                columns.push(column);
            }
        }
        let (by_a, by_b) = (distance(two.a, one.a), distance(two.b, one.b));
        let next = |two: u32, by: u32| two.wrapping_add(by);
        expected.push(Expected { op: one.op, a: next(two.a, by_a), b: next(two.b, by_b), by_a, by_b });
    }
    let fold = Fold { start, period, iterations: 2, partial: 0, columns };
    let mut growing = Growing { expected, place: 0, column: 0, fold };
    for node in behind {
        let taken = growing.take(node.op, node.a, node.b);
        debug_assert!(taken, "the search has compared all operations");
    }
    Some(growing)
}
