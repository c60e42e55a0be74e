//! Reorders the scalar operations of straight lines so that operations of one kind become neighbours.
//!
//! Called when all steps are written. One step per operation costs a jump per operation, which depends on the operation and is
//! hard to predict in irregular code; a run of operations of one kind needs one jump.
//!
//! # What may change places?
//! An operation stays behind those that write what it reads, and behind those that read or wrote what it writes; additions to a
//! cell read it. So every operation computes from the same numbers as before, and every cell gets its terms in the same order.
//! Slots of results that are used again for other results are no reason to stay behind: results are named by the operation
//! that makes them, and get slots when the order is known.

use super::super::{Code, Flat, Line, Mode, Run, Step};

/// Fewest operations of a straight line that are reordered.
const FEWEST: usize = 64;
/// Fewest operations in a run, on average.
const SHORTEST: usize = 3;
/// Most kinds of operations.
const MOST_KINDS: usize = 64;
/// Nobody.
const NONE: u32 = u32::MAX;
/// Results of operations are numbered from here, slots below.
const RESULTS: u32 = 1 << 16;

/// Puts straight lines of scalar operations into runs; results have the slots from `cells` on.
pub(super) fn schedule(flat: &mut Flat, cells: usize) {
    if flat.steps.len() < FEWEST {
        return;
    }
    let steps = std::mem::take(&mut flat.steps);
    // Results are asked for by the steps of one line only, if there are no other steps that might.
    let lines = || steps.chunk_by(|a, b| arity(a).is_some() && arity(b).is_some());
    let is_line = |line: &[Step]| line.len() >= FEWEST && arity(&line[0]).is_some();
    let alone = lines().all(|line| is_line(line) || line.iter().all(|step| step.code == Code::Clear))
        && lines().filter(|line| is_line(line)).count() == 1;
    let first = if alone { cells } else { flat.slots };
    let mut last = first;
    for line in lines() {
        let made = if is_line(line) { Order::new(line, cells, flat.slots, alone).and_then(|order| order.line(first)) } else { None };
        let number = u16::try_from(flat.lines.len());
        if let (Some((line, end)), Ok(number)) = (made, number) {
            last = last.max(end);
            flat.lines.push(line);
            flat.steps.push(Step::new(Code::Line, Mode::Result, 0, [number, 0], 1, 0));
        } else {
            last = last.max(flat.slots);
            flat.steps.extend_from_slice(line);
        }
    }
    flat.slots = last;
}

/// How many slots a scalar operation reads, apart from those it adds to; `None` for other steps.
fn arity(step: &Step) -> Option<usize> {
    use Code::*;
    match step.code {
        Same | Negate | Unary => Some(1),
        Plus | Minus | Times | Over | Chain | Keep | Drop | Compare | Binary => Some(2),
        Clear if step.n == 1 => Some(0),
        _ => None,
    }
}

/// An operation of a line.
struct Node {
    kind: u8,
    /// Where the result goes: a slot, or anywhere if it is the node's own number.
    to: u32,
    /// Slots or results.
    operands: [u32; 2],
    /// How many nodes must come before.
    before: u32,
    /// The nodes that must come after, in `edges`.
    after: u32,
}

struct Order {
    nodes: Vec<Node>,
    /// Nodes that must come after, and the next of the same node.
    edges: Vec<(u32, u32)>,
    kinds: Vec<(Code, Mode, u16)>,
}

/// Who wrote a slot, and who read it since.
#[derive(Clone, Copy)]
struct Last {
    write: u32,
    /// A list in `readers`.
    reads: u32,
}

impl Order {
    /// `None` if there are too many kinds.
    fn new(line: &[Step], cells: usize, slots: usize, alone: bool) -> Option<Order> {
        let mut order = Order {
            nodes: Vec::with_capacity(line.len()),
            edges: Vec::with_capacity(3 * line.len()),
            kinds: Vec::new(),
        };
        // Which step writes a slot last: what it leaves there may be read behind the line.
        let mut end = vec![NONE; if alone { 0 } else { slots }];
        if !alone {
            for (i, step) in line.iter().enumerate() {
                end[step.to as usize] = i as u32;
            }
        }
        // What the slots of results hold by now, slots or results.
        let mut held: Vec<u32> = (0..slots as u32).collect();
        let mut last = vec![Last { write: NONE, reads: NONE }; slots];
        let mut readers: Vec<(u32, u32)> = Vec::with_capacity(2 * line.len());
        for (i, step) in line.iter().enumerate() {
            let now = i as u32;
            let kind = order.kind(step)?;
            let to = step.to as usize;
            let own = to >= cells && (alone || end[to] != now);
            let mut operands = [step.x as u32, step.y as u32];
            let arity = arity(step)?;
            order.nodes.push(Node { kind, to: 0, operands, before: 0, after: NONE });
            for operand in &mut operands[..arity] {
                *operand = held[*operand as usize];
                if *operand >= RESULTS {
                    order.edge(*operand - RESULTS, now);
                } else {
                    let last = &mut last[*operand as usize];
                    readers.push((now, last.reads));
                    last.reads = readers.len() as u32 - 1;
                    order.edge(last.write, now);
                }
            }
            for operand in &mut operands[arity..] {
                *operand = 0;
            }
            held[to] = if own { RESULTS + now } else { to as u32 };
            if !own {
                let last = &mut last[to];
                let mut reads = last.reads;
                while let Some((reader, next)) = readers.get(reads as usize).copied() {
                    order.edge(reader, now);
                    reads = next;
                }
                order.edge(last.write, now);
                *last = Last { write: now, reads: NONE };
            }
            order.nodes[i].to = held[to];
            order.nodes[i].operands = operands;
        }
        Some(order)
    }

    /// The kind of a step: those of one kind make a run.
    fn kind(&mut self, step: &Step) -> Option<u8> {
        let mode = if step.mode == Mode::Result { Mode::Store } else { step.mode };
        let kind = (step.code, mode, step.rule);
        let number = self.kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        (number < MOST_KINDS).then_some(number as u8)
    }

    /// Says that a node must come after another one.
    fn edge(&mut self, before: u32, after: u32) {
        if before != NONE && before != after {
            let node = &mut self.nodes[before as usize];
            self.edges.push((after, node.after));
            node.after = self.edges.len() as u32 - 1;
            self.nodes[after as usize].before += 1;
        }
    }

    /// The line in a new order, results in slots from `first` on, and the end of these slots; `None` if runs are short or there
    /// are too many slots.
    fn line(mut self, first: usize) -> Option<(Line, usize)> {
        let (order, runs) = self.runs();
        if runs.len() * SHORTEST > order.len() {
            return None;
        }
        let mut uses = vec![0_u32; self.nodes.len()];
        for operand in self.nodes.iter().flat_map(|node| node.operands) {
            if operand >= RESULTS {
                uses[(operand - RESULTS) as usize] += 1;
            }
        }
        let (mut places, mut free, mut end) = (vec![0_u16; self.nodes.len()], Vec::new(), first);
        let mut operands = Vec::with_capacity(order.len());
        for i in order {
            let node = &self.nodes[i as usize];
            let mut slots = [0; 3];
            for (slot, operand) in slots[1..].iter_mut().zip(node.operands) {
                if operand < RESULTS {
                    *slot = operand as u16;
                    continue;
                }
                let result = (operand - RESULTS) as usize;
                *slot = places[result];
                uses[result] -= 1;
                if uses[result] == 0 {
                    free.push(*slot);
                }
            }
            slots[0] = if node.to < RESULTS {
                node.to as u16
            } else {
                let place = match free.pop() {
                    Some(place) => place,
                    None => {
                        end += 1;
                        u16::try_from(end - 1).ok()?
                    }
                };
                if uses[i as usize] == 0 {
                    free.push(place);
                }
                places[i as usize] = place;
                place
            };
            operands.push(slots);
        }
        Some((Line { runs, operands }, end))
    }

    /// The nodes in a new order, and the runs of it: always all nodes of the kind that most nodes could come next of.
    fn runs(&mut self) -> (Vec<u32>, Vec<Run>) {
        let mut ready = vec![Vec::new(); self.kinds.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if node.before == 0 {
                ready[node.kind as usize].push(i as u32);
            }
        }
        let (mut order, mut runs) = (Vec::with_capacity(self.nodes.len()), Vec::new());
        let mut nodes: Vec<u32> = Vec::new();
        while order.len() < self.nodes.len() {
            let Some(kind) = (0..ready.len()).max_by_key(|kind| ready[*kind].len()) else { break };
            std::mem::swap(&mut nodes, &mut ready[kind]);
            // Those that become ready on the way go along.
            let mut done = 0;
            while done < nodes.len() {
                let mut next = self.nodes[nodes[done] as usize].after;
                done += 1;
                while let Some((after, other)) = self.edges.get(next as usize).copied() {
                    let node = &mut self.nodes[after as usize];
                    node.before -= 1;
                    if node.before == 0 {
                        let own = node.kind as usize == kind;
                        if own { &mut nodes } else { &mut ready[node.kind as usize] }.push(after);
                    }
                    next = other;
                }
            }
            let (code, mode, rule) = self.kinds[kind];
            runs.push(Run { code, mode, rule, count: nodes.len() as u32 });
            order.append(&mut nodes);
        }
        (order, runs)
    }
}
