//! Reorders the scalar operations of straight lines so that operations of one kind become neighbours.
//!
//! Called when all steps are written. One step per operation costs a jump per operation, which the machine predicts poorly in
//! irregular code; a batch of operations of one kind needs one jump.
//!
//! # Which operations may change places?
//! An operation stays behind those that write what it reads, and behind those that read or wrote what it writes; additions to a
//! cell read it. So every operation computes from the same numbers as before, and every cell gets its terms in the same order.
//! The reuse of a slot for another result imposes no order: every result is a place of its own until the order is known, and then
//! gets its slot.
//!
//! # Which batch does an operation join?
//! The first one of its kind that it may join, else a new one behind the others. It has to be in a batch behind those of the operations
//! it stays behind, or in the same one, where operations keep their order.

use super::super::code::{Batch, Code, Line, Mode, Step, Unrolled};

/// Minimum number of operations of a straight line that are reordered.
const MIN_OPERATIONS: usize = 64;
/// Minimum number of operations in a batch, on average.
const MIN_BATCH: usize = 4;
/// Maximum number of slots per operation of a line: the pass visits all slots for each line.
const MAX_SLOTS: usize = 16;
/// Maximum number of kinds of operations.
const MAX_KINDS: usize = 64;

/// Puts straight lines of scalar operations into batches; results have the slots from `cells` on.
pub(super) fn schedule(unrolled: &mut Unrolled, cells: usize) {
    if unrolled.steps.len() < MIN_OPERATIONS || unrolled.slots > u16::MAX as usize {
        return;
    }
    let steps = std::mem::take(&mut unrolled.steps);
    let lines: Vec<&[Step]> = steps.chunk_by(|a, b| arity(a).is_some() == arity(b).is_some()).collect();
    // Other steps may read the results of a line, unless they only clear cells.
    let computes = |line: &[Step]| line.iter().any(|step| step.code != Code::Clear);
    let computing = lines.iter().filter(|line| computes(line)).count();
    let mut end = unrolled.slots;
    for line in lines {
        let is_long = line.len() >= MIN_OPERATIONS.max(unrolled.slots / MAX_SLOTS) && arity(&line[0]).is_some();
        let alone = computing == 1 && computes(line);
        let made = if is_long { Order::new(line, cells, unrolled.slots, alone) } else { None };
        let made = made.and_then(|order| order.line(if alone { cells } else { unrolled.slots }));
        if let (Some((line, last)), Ok(number)) = (made, u16::try_from(unrolled.lines.len())) {
            end = if alone { last } else { end.max(last) };
            unrolled.lines.push(line);
            unrolled.steps.push(Step::new(Code::Line, Mode::Result, 0, [number, 0], 1, 0));
        } else {
            unrolled.steps.extend_from_slice(line);
        }
    }
    unrolled.slots = end;
}

/// How many slots a scalar operation reads, apart from those it adds to; `None` for other steps.
fn arity(step: &Step) -> Option<usize> {
    use Code::*;
    match step.code {
        Same | Negate | Unary => Some(1),
        Plus | Minus | Times | Over | Keep | Drop | Compare | Binary => Some(2),
        Clear if step.n == 1 => Some(0),
        _ => None,
    }
}

/// The batches, counted from 1, that last wrote and last read a place.
#[derive(Clone, Copy, Default)]
struct Last {
    write: u32,
    read: u32,
}

/// An operation: the number of its batch, and the places of its result and of what it reads. A place is a slot or, from the
/// number of slots on, a result.
struct Operation {
    batch: u32,
    places: [u32; 3],
}

/// The operations of a line, and the batches they are in; a batch has them in the order in which they were written.
struct Order {
    operations: Vec<Operation>,
    batches: Vec<Batch>,
    kinds: Vec<Kind>,
    /// Code, mode and rule of each kind, in one number to be found quickly.
    keys: Vec<u64>,
    /// Number of slots.
    slots: usize,
}

/// Operations that can be in one batch.
struct Kind {
    code: Code,
    mode: Mode,
    rule: u16,
    /// For each number of a batch the first one of this kind from there on.
    batches: Vec<u32>,
}

impl Order {
    /// `None` if there are too many kinds, or batches are short.
    fn new(line: &[Step], cells: usize, slots: usize, alone: bool) -> Option<Order> {
        let operations = Vec::with_capacity(line.len());
        let mut order = Order { operations, batches: Vec::new(), kinds: Vec::new(), keys: Vec::new(), slots };
        // Which step writes a slot last: later lines may read what it leaves there.
        let mut end = vec![u32::MAX; slots];
        if !alone {
            for (i, step) in line.iter().enumerate() {
                end[step.to as usize] = i as u32;
            }
        }
        // The places that slots stand for at this step.
        let mut held: Vec<u32> = (0..slots as u32).collect();
        let mut last = vec![Last::default(); slots + line.len()];
        for (i, step) in line.iter().enumerate() {
            let kind = order.kind(step)?;
            // Operations with fewer operands formally read the first slot, which is nearly always a constant or an input.
            let arity = arity(step)?;
            let [x, y] = [if arity > 0 { step.x } else { 0 }, if arity > 1 { step.y } else { 0 }];
            let [x, y] = [held[x as usize], held[y as usize]];
            let slot = step.to as usize;
            let own = slot >= cells && end[slot] != i as u32;
            let to = if own { slots + i } else { slot };
            let written = last[x as usize].write.max(last[y as usize].write);
            let batch = order.batch(kind, written.max(last[to].write).max(last[to].read));
            for operand in [x, y] {
                let read = &mut last[operand as usize].read;
                *read = (*read).max(batch + 1);
            }
            last[to] = Last { write: batch + 1, read: 0 };
            held[slot] = to as u32;
            order.operations.push(Operation { batch, places: [to as u32, x, y] });
            if order.batches.len() * MIN_BATCH > line.len() {
                return None;
            }
        }
        Some(order)
    }

    /// The kind of a step.
    fn kind(&mut self, step: &Step) -> Option<usize> {
        let (code, rule) = (step.code, step.rule);
        let mode = if step.mode == Mode::Result { Mode::Store } else { step.mode };
        let key = (code as u64) << 32 | (mode as u64) << 16 | rule as u64;
        let known = self.keys.iter().position(|known| *known == key);
        known.or_else(|| {
            self.keys.push(key);
            self.kinds.push(Kind { code, mode, rule, batches: Vec::new() });
            (self.kinds.len() <= MAX_KINDS).then_some(self.kinds.len() - 1)
        })
    }

    /// Counts an operation in the first batch of its kind that is not before batch `behind`, counted from 1.
    fn batch(&mut self, kind: usize, behind: u32) -> u32 {
        let Kind { code, mode, rule, batches } = &mut self.kinds[kind];
        if let Some(batch) = batches.get((behind as usize).saturating_sub(1)) {
            self.batches[*batch as usize].count += 1;
            return *batch;
        }
        let batch = self.batches.len();
        batches.resize(batch + 1, batch as u32);
        self.batches.push(Batch { code: *code, mode: *mode, rule: *rule, count: 1 });
        batch as u32
    }

    /// The line in its new order, with results in slots from `first` on, and the end of these slots; `None` if there are too many.
    fn line(self, first: usize) -> Option<(Line, usize)> {
        let Order { operations, batches, slots, .. } = self;
        let mut next = 0;
        let starts = batches.iter().map(|batch| {
            next += batch.count as usize;
            next - batch.count as usize
        });
        let mut starts: Vec<usize> = starts.collect();
        let mut order = vec![0; operations.len()];
        // The slots of the program stay in use.
        let mut uses = vec![u32::MAX; slots];
        uses.resize(slots + operations.len(), 0);
        for (i, operation) in operations.iter().enumerate() {
            let start = &mut starts[operation.batch as usize];
            order[*start] = i as u32;
            *start += 1;
            for place in &operation.places[1..] {
                let uses = &mut uses[*place as usize];
                *uses = uses.saturating_add(1);
            }
        }
        // The slots of places.
        let mut given: Vec<u16> = (0..slots as u16).collect();
        given.resize(slots + operations.len(), 0);
        let (mut free, mut end) = (Vec::new(), first);
        let mut operands = Vec::with_capacity(order.len());
        for i in order {
            let [to, x, y] = operations[i as usize].places.map(|place| place as usize);
            for place in [x, y] {
                uses[place] -= 1;
                if uses[place] == 0 {
                    free.push(given[place]);
                }
            }
            if to >= slots {
                given[to] = match free.pop() {
                    Some(slot) => slot,
                    None => u16::try_from(end).ok()?,
                };
                end = end.max(given[to] as usize + 1);
                if uses[to] == 0 {
                    free.push(given[to]);
                }
            }
            operands.push([to, x, y].map(|place| given[place]));
        }
        Some((Line { batches, operands }, end))
    }
}

#[cfg(test)]
mod tests;
