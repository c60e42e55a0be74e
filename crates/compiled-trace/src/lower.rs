//! Third pass: from the tree of loops to a [`Program`] over memory.
//!
//! Called by [`compile`](crate::compile). Loops without dependence from iteration to iteration are distributed over the
//! statements inside them, so that most of a program is boxes of iterations with straight-line bodies; loops that carry values
//! across inner loops stay loops of statements. A result used outside its own iteration gets cells of its own, one per
//! iteration, last counter fastest. Operands of the first iteration that lie before the loop (the start of a recurrence) are
//! copied to cells before those of the loop, so that the operand's address is regular.

use crate::graph::{CONSTANT, Graph, Op, SUM};
use crate::program::*;
use crate::roll::{Rolled, Token};
use crate::rule::PLUS;
use crate::sums::Sequence;
use differentiation_interface_core::error::{Error, ErrorKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Inner loops of at most this many operations are written out inside the loop around them.
const WRITTEN_OUT: u32 = 256;
const WRITTEN_OUT_TRIP: u32 = 40;
/// The same inside a loop that carries values from iteration to iteration, where the inner loop may be the only vector.
const WRITTEN_OUT_CARRIED: u32 = 64;
const WRITTEN_OUT_CARRIED_TRIP: u32 = 7;
/// Most iterations of a recurrence whose operands may lie before the loop.
const LONGEST_HALO: i64 = 4;
const NONE: u32 = u32::MAX;

/// Operations that run for the same iterations.
struct Group {
    /// The node at which iteration 0 begins.
    start: u32,
    /// Trip count and length in nodes of each counter, loops of statements first.
    counters: Vec<(u32, u32)>,
    /// How many counters are loops of statements.
    loops: usize,
    /// Identities of those loops.
    enclosing: Vec<usize>,
    /// Nodes of iteration 0, relative to `start`.
    offsets: Vec<u32>,
    /// Per offset, its cells.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    stored: bool,
    base: u32,
    /// Counter with extra cells before the first iteration, and how many.
    halo: (u32, u32),
}

enum Plan {
    Group(usize),
    Call(u32),
    Loop { identity: usize, trip: u32, body: Vec<Plan> },
}

/// The loops around tokens that are planned.
struct Around<'a> {
    counters: &'a [(u32, u32)],
    enclosing: &'a [usize],
    /// How many of the counters are loops of statements.
    loops: usize,
    /// Whether the innermost loop carries values from iteration to iteration; nothing outside of loops.
    carried: Option<bool>,
}

/// How an operand depends on the counters.
enum Fit {
    Affine { origin: u32, deltas: Vec<i64> },
    Table(Vec<u32>),
}

/// A result in some iteration of its group.
#[derive(Clone, PartialEq)]
struct Place {
    group: u32,
    slot: u32,
    iteration: Vec<i64>,
}

struct Lowering<'a> {
    sequence: &'a Sequence,
    rolled: &'a Rolled,
    groups: Vec<Group>,
    loops: usize,
    owner: Vec<u32>,
    constants: Vec<f64>,
    work: usize,
    copied_inputs: Option<u32>,
    before_group: FxHashMap<usize, Vec<Nest>>,
    before_loop: FxHashMap<usize, Vec<Nest>>,
}

/// Runs the pass.
pub(crate) fn lower(graph: &Graph, sequence: &Sequence, rolled: &Rolled) -> Result<Program, Error> {
    let mut lowering = Lowering {
        sequence,
        rolled,
        groups: Vec::new(),
        loops: 0,
        owner: vec![NONE; sequence.nodes.len()],
        constants: sequence.constants.clone(),
        work: sequence.sums.len(),
        copied_inputs: None,
        before_group: FxHashMap::default(),
        before_loop: FxHashMap::default(),
    };
    let plans = lowering.plan(&rolled.tokens, 0, 0, Around { counters: &[], enclosing: &[], loops: 0, carried: None });
    lowering.find_owners();
    lowering.find_stored();
    lowering.allocate()?;
    let bodies = (0..lowering.groups.len()).map(|g| lowering.body(g)).collect::<Result<Vec<_>, _>>()?;
    lowering.fill_halos()?;
    let mut bodies: Vec<Option<Nest>> = bodies.into_iter().map(Some).collect();
    let mut statements = Vec::new();
    if !sequence.sums.is_empty() {
        statements.push(Statement::Zero { space: Space::Work, start: 0, length: sequence.sums.len() as u32 });
    }
    if let Some(base) = lowering.copied_inputs {
        statements.extend(lowering.copy_inputs(base));
    }
    lowering.emit(plans, &mut bodies, &mut statements)?;
    if lowering.work > u32::MAX as usize / 4 {
        return Err(ErrorKind::TapeOverflow.into());
    }
    Ok(Program {
        constants: lowering.constants,
        inputs: vec![graph.inputs, graph.parameters],
        outputs: vec![sequence.outputs],
        work: lowering.work,
        statements,
        rules: graph.rules.clone(),
        places: graph.places.clone(),
    })
}

impl Lowering<'_> {
    fn nodes_of(&self, token: &Token) -> u32 {
        self.rolled.shapes[token.shape as usize].nodes
    }

    /// Whether a loop is written out inside another one, which carries values or not; `None` is no loop around it.
    fn is_written_out(&self, token: &Token, around: Option<bool>) -> bool {
        let (nodes, trips) = match around {
            Some(false) => (WRITTEN_OUT, WRITTEN_OUT_TRIP),
            Some(true) => (WRITTEN_OUT_CARRIED, WRITTEN_OUT_CARRIED_TRIP),
            None => (0, 0),
        };
        match &self.rolled.shapes[token.shape as usize].repeat {
            Some((trip, _)) => self.nodes_of(token) <= nodes && *trip <= trips,
            None => true,
        }
    }

    /// Plans the statements for tokens whose positions are relative to `base`, of groups that begin at `origin`.
    fn plan(&mut self, tokens: &[Token], base: u32, origin: u32, around: Around<'_>) -> Vec<Plan> {
        let Around { counters, enclosing, loops, carried: around } = around;
        let mut plans = Vec::new();
        let mut offsets = Vec::new();
        let flush = |this: &mut Self, plans: &mut Vec<Plan>, offsets: &mut Vec<u32>| {
            if !offsets.is_empty() {
                plans.push(Plan::Group(this.groups.len()));
                this.groups.push(Group {
                    start: origin,
                    counters: counters.to_vec(),
                    loops,
                    enclosing: enclosing.to_vec(),
                    offsets: std::mem::take(offsets),
                    slots: Vec::new(),
                });
            }
        };
        for token in tokens {
            let start = base + token.start;
            if self.is_written_out(token, around) {
                for node in start..start + self.nodes_of(token) {
                    match self.sequence.nodes[node as usize].op {
                        Op::Call => {
                            flush(self, &mut plans, &mut offsets);
                            plans.push(Plan::Call(node));
                        }
                        Op::CallOutput => {}
                        _ => offsets.push(node - origin),
                    }
                }
                continue;
            }
            flush(self, &mut plans, &mut offsets);
            let (trip, body) =
                self.rolled.shapes[token.shape as usize].repeat.clone().expect("operations are written out");
            let length = self.nodes_of(token) / trip;
            let mut inner = counters.to_vec();
            inner.push((trip, length));
            let carried = Some(self.is_carried(start, length, trip));
            let is_loop = self.stays_loop(token.shape, start);
            if is_loop && loops == counters.len() {
                let identity = self.loops;
                self.loops += 1;
                let mut enclosing = enclosing.to_vec();
                enclosing.push(identity);
                let body = self.plan(
                    &body,
                    start,
                    start,
                    Around { counters: &inner, enclosing: &enclosing, loops: loops + 1, carried },
                );
                plans.push(Plan::Loop { identity, trip, body });
            } else {
                plans.extend(self.plan(&body, start, start, Around { counters: &inner, enclosing, loops, carried }));
            }
        }
        flush(self, &mut plans, &mut offsets);
        plans
    }

    /// Whether a loop, or one inside it, has inner statements and values that pass from iteration to iteration.
    fn stays_loop(&self, shape: u32, start: u32) -> bool {
        let (trip, body) = self.rolled.shapes[shape as usize].repeat.as_ref().expect("only loops are asked about");
        let carried = self.is_carried(start, self.rolled.shapes[shape as usize].nodes / trip, *trip);
        let mut inner = body.iter().filter(|token| !self.is_written_out(token, Some(carried))).peekable();
        inner.peek().is_some() && (carried || inner.any(|token| self.stays_loop(token.shape, start + token.start)))
    }

    /// Whether an iteration uses a result of an earlier one.
    fn is_carried(&self, start: u32, length: u32, trip: u32) -> bool {
        let first = self.sequence.first as u32;
        for t in 1..trip {
            let own = start..start + t * length;
            for i in start + t * length..start + (t + 1) * length {
                let node = &self.sequence.nodes[i as usize];
                let uses = |operand: u32| {
                    if operand & CONSTANT != 0 {
                        false
                    } else if operand & SUM != 0 {
                        own.contains(&self.sequence.sums[(operand & !SUM) as usize].last)
                    } else {
                        operand >= first && own.contains(&(operand - first))
                    }
                };
                let second = has_second(node.op);
                if uses(node.a) || (second && uses(node.b)) {
                    return true;
                }
            }
        }
        false
    }

    fn find_owners(&mut self) {
        let mut owner = std::mem::take(&mut self.owner);
        for (g, group) in self.groups.iter_mut().enumerate() {
            group.slots = vec![Slot { stored: false, base: NONE, halo: (0, 0) }; group.offsets.len()];
            let (start, offsets) = (group.start, &group.offsets);
            each_iteration(&group.counters, |shift| {
                for offset in offsets {
                    owner[(start + shift + offset) as usize] = g as u32;
                }
            });
        }
        self.owner = owner;
    }

    /// Fits an operand to the counters.
    fn fit(&self, g: usize, k: usize, operand: impl Fn(u32) -> u32) -> Fit {
        let group = &self.groups[g];
        let node = group.start + group.offsets[k];
        let origin = operand(node);
        let deltas: Vec<i64> = group
            .counters
            .iter()
            .map(|(trip, length)| if *trip > 1 { operand(node + length) as i64 - origin as i64 } else { 0 })
            .collect();
        if group.counters.is_empty() {
            return Fit::Affine { origin, deltas };
        }
        let trips: Vec<u32> = group.counters.iter().map(|c| c.0).collect();
        let mut regular = true;
        each_index(&trips, |index| {
            let (mut place, mut expected) = (node, origin as i64);
            for ((i, (_, length)), delta) in index.iter().zip(&group.counters).zip(&deltas) {
                place += i * length;
                expected += *i as i64 * delta;
            }
            regular &= operand(place) as i64 == expected;
            regular
        });
        if regular {
            return Fit::Affine { origin, deltas };
        }
        let mut table = Vec::new();
        each_iteration(&group.counters, |shift| table.push(operand(node + shift)));
        Fit::Table(table)
    }

    /// Where a result of a node is.
    fn place(&self, node: i64) -> Option<Place> {
        let g = *self.owner.get(usize::try_from(node).ok()?)?;
        let group = self.groups.get(g as usize)?;
        let mut rest = (node - group.start as i64) as u32;
        let mut iteration = Vec::with_capacity(group.counters.len());
        for (_, length) in &group.counters {
            iteration.push((rest / length) as i64);
            rest %= length;
        }
        let slot = group.offsets.binary_search(&rest).ok()? as u32;
        Some(Place { group: g, slot, iteration })
    }

    /// Whether an operand is a result of the same iteration of the same group; then which.
    fn local(&self, g: usize, k: usize, origin: u32, deltas: &[i64]) -> Option<usize> {
        let group = &self.groups[g];
        let offset = (origin as usize).checked_sub(self.sequence.first + group.start as usize)?;
        let same =
            group.counters.iter().zip(deltas).all(|((trip, length), delta)| *trip == 1 || *delta == *length as i64);
        if !same {
            return None;
        }
        let slot = group.offsets.binary_search(&u32::try_from(offset).ok()?).ok()?;
        (slot < k).then_some(slot)
    }

    /// Calls `act` with every operand that is a value: offset index, which operand, and whether it is read.
    fn each_value_operand(&self, g: usize, mut act: impl FnMut(usize, bool)) {
        for (k, offset) in self.groups[g].offsets.iter().enumerate() {
            let node = &self.sequence.nodes[(self.groups[g].start + offset) as usize];
            act(k, false);
            if has_second(node.op) {
                act(k, true);
            }
        }
    }

    fn operand(&self, node: u32, second: bool) -> u32 {
        let node = &self.sequence.nodes[node as usize];
        if second { node.b } else { node.a }
    }

    /// Marks the results that other iterations or groups use, and the cells they need before their loops.
    fn find_stored(&mut self) {
        for g in 0..self.groups.len() {
            let mut used: Vec<(u32, u32)> = Vec::new();
            let mut halos: Vec<(u32, u32, (u32, u32))> = Vec::new();
            self.each_value_operand(g, |k, second| {
                let node = self.groups[g].start + self.groups[g].offsets[k];
                let sample = self.operand(node, second);
                if sample & (CONSTANT | SUM) != 0 {
                    return;
                }
                let mark = |used: &mut Vec<(u32, u32)>, operand: u32| {
                    if let Some(place) = self.place(operand as i64 - self.sequence.first as i64) {
                        used.push((place.group, place.slot));
                    }
                };
                match self.fit(g, k, |node| self.operand(node, second)) {
                    Fit::Table(table) => table.into_iter().for_each(|operand| mark(&mut used, operand)),
                    Fit::Affine { origin, deltas } => {
                        if self.local(g, k, origin, &deltas).is_some() {
                            return;
                        }
                        match self.progression(g, origin, &deltas) {
                            Some((place, steps)) => {
                                used.push((place.group, place.slot));
                                let halo = self.halo(g, &place, &steps);
                                match halo.and_then(|halo| Some((halo, self.before_loop(&place, halo)?))) {
                                    Some((halo, before)) => {
                                        halos.push((place.group, place.slot, halo));
                                        used.extend(before);
                                    }
                                    None => each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                                        mark(&mut used, (origin as i64 + shift) as u32)
                                    }),
                                }
                            }
                            None if (origin as usize) < self.sequence.first && deltas.iter().all(|d| *d == 0) => {}
                            None => each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                                mark(&mut used, (origin as i64 + shift) as u32)
                            }),
                        }
                    }
                }
            });
            used.sort_unstable();
            used.dedup();
            for (group, slot) in used {
                self.groups[group as usize].slots[slot as usize].stored = true;
            }
            for (group, slot, halo) in halos {
                let known = &mut self.groups[group as usize].slots[slot as usize].halo;
                if known.1 == 0 || known.0 == halo.0 {
                    *known = (halo.0, known.1.max(halo.1));
                }
            }
        }
        for call in &self.sequence.calls {
            for argument in &call.arguments {
                if argument & (CONSTANT | SUM) == 0
                    && let Some(place) = self.place(*argument as i64 - self.sequence.first as i64)
                {
                    self.groups[place.group as usize].slots[place.slot as usize].stored = true;
                }
            }
        }
    }

    /// For an affine operand whose later iterations are results of one slot: its place at the origin, extrapolated from the
    /// last iteration, and the step of the place per counter of the reader.
    fn progression(&self, g: usize, origin: u32, deltas: &[i64]) -> Option<(Place, Vec<Vec<i64>>)> {
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

    /// Smallest and largest iteration of the target that an affine operand reaches, per counter of the target.
    fn reach(&self, g: usize, place: &Place, steps: &[Vec<i64>], m: usize) -> (i64, i64) {
        let (mut low, mut high) = (place.iteration[m], place.iteration[m]);
        for ((trip, _), step) in self.groups[g].counters.iter().zip(steps) {
            let reach = step[m] * (*trip as i64 - 1);
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        (low, high)
    }

    /// Whether an affine operand reaches a few iterations before the target's first, along one counter: that and how many.
    fn halo(&self, g: usize, place: &Place, steps: &[Vec<i64>]) -> Option<(u32, u32)> {
        let target = &self.groups[place.group as usize];
        let mut halo = None;
        for m in 0..place.iteration.len() {
            let (low, high) = self.reach(g, place, steps, m);
            if high >= target.counters[m].0 as i64 || low < -LONGEST_HALO || (low < 0 && halo.is_some()) {
                return None;
            }
            if low < 0 {
                halo = Some((m as u32, (-low) as u32));
            }
        }
        halo
    }

    /// The slots of what a slot's counter would reach before its first iteration; nothing if some of it is no result.
    fn before_loop(&self, place: &Place, (m, back): (u32, u32)) -> Option<Vec<(u32, u32)>> {
        let target = &self.groups[place.group as usize];
        let mut others = target.counters.clone();
        let length = others.remove(m as usize).1;
        let mut slots = Vec::new();
        let mut complete = true;
        for back in 1..=back {
            let node = target.start as i64 + target.offsets[place.slot as usize] as i64 - (back * length) as i64;
            each_iteration(&others, |shift| {
                let node = node + shift as i64;
                match self.place(node) {
                    Some(place) => {
                        let value = !matches!(
                            self.sequence.nodes[node as usize].op,
                            Op::Accumulate | Op::Output | Op::Guard(_)
                        );
                        complete &= value;
                        slots.push((place.group, place.slot));
                    }
                    None => complete &= node < 0 && node + self.sequence.first as i64 >= 0,
                }
            });
        }
        complete.then_some(slots)
    }

    /// Gives stored results their cells.
    fn allocate(&mut self) -> Result<(), Error> {
        let mut work = self.work;
        for group in &mut self.groups {
            for slot in &mut group.slots {
                if slot.stored {
                    let mut size = 1usize;
                    for (m, (trip, _)) in group.counters.iter().enumerate() {
                        let extra = if slot.halo.0 as usize == m { slot.halo.1 } else { 0 };
                        size = size.saturating_mul((trip + extra) as usize);
                    }
                    slot.base = u32::try_from(work).map_err(|_| ErrorKind::TapeOverflow)?;
                    work = work.saturating_add(size);
                }
            }
        }
        // Outputs of calls have one cell each.
        for (node, operation) in self.sequence.nodes.iter().enumerate() {
            if matches!(operation.op, Op::Call | Op::CallOutput) {
                self.owner[node] = NONE;
            }
        }
        self.work = work;
        if work > u32::MAX as usize / 4 {
            return Err(ErrorKind::TapeOverflow.into());
        }
        let mut cell = self.work as u32;
        let calls = self.sequence.nodes.iter().filter(|node| matches!(node.op, Op::Call | Op::CallOutput)).count();
        self.work += calls;
        // The owner of a call's output is its cell, beyond all groups.
        for (node, operation) in self.sequence.nodes.iter().enumerate() {
            if matches!(operation.op, Op::Call | Op::CallOutput) {
                self.owner[node] = cell | CALL;
                cell += 1;
            }
        }
        Ok(())
    }

    /// Distance of cells per counter of a slot, and the cell of its first iteration.
    fn layout(&self, group: u32, slot: u32) -> (Vec<i64>, i64) {
        let group = &self.groups[group as usize];
        let slot = &group.slots[slot as usize];
        let mut strides = vec![0; group.counters.len()];
        let mut stride = 1;
        let mut base = slot.base as i64;
        for (m, (trip, _)) in group.counters.iter().enumerate().rev() {
            strides[m] = stride;
            let extra = if slot.halo.0 as usize == m { slot.halo.1 } else { 0 };
            base += extra as i64 * stride;
            stride *= (trip + extra) as i64;
        }
        (strides, base)
    }

    /// The cell of one operand; inputs are taken from their copy in the work space if `in_work`.
    fn cell(&mut self, operand: u32, in_work: bool) -> Option<(Space, u32)> {
        let i = operand as usize;
        if operand & SUM != 0 {
            return Some((Space::Work, operand & !SUM));
        }
        if i < self.sequence.first {
            if in_work {
                let base = *self.copied_inputs.get_or_insert_with(|| {
                    let base = self.work as u32;
                    self.work += self.sequence.first;
                    base
                });
                return Some((Space::Work, base + operand));
            }
            return Some(if i < self.sequence.inputs {
                (Space::Input(0), operand)
            } else {
                (Space::Input(1), operand - self.sequence.inputs as u32)
            });
        }
        let node = i - self.sequence.first;
        if self.owner[node] != NONE && self.owner[node] & CALL != 0 {
            return Some((Space::Work, self.owner[node] & !CALL));
        }
        let place = self.place(node as i64)?;
        let (strides, base) = self.layout(place.group, place.slot);
        let offset: i64 = strides.iter().zip(&place.iteration).map(|(s, i)| s * i).sum();
        Some((Space::Work, (base + offset) as u32))
    }

    /// The address of a value operand of group `g`, and how far back the group's own iterations are that it reads.
    fn address(&mut self, g: usize, fit: Fit) -> Result<(Address, Dependence), Error> {
        let trips: Vec<u32> = self.groups[g].counters.iter().map(|c| c.0).collect();
        let table = match fit {
            Fit::Table(table) => table,
            Fit::Affine { origin, deltas } => {
                if let Some(found) = self.affine_address(g, origin, &deltas, &trips) {
                    return Ok(found);
                }
                let mut table = Vec::new();
                each_iteration_of(&self.groups[g].counters, &deltas, |shift| {
                    table.push((origin as i64 + shift) as u32)
                });
                table
            }
        };
        let first = self.sequence.first;
        let inputs = self.sequence.inputs;
        let kind = |operand: u32| match operand as usize {
            i if i < inputs => 0,
            i if i < first => 1,
            _ => 2,
        };
        let mixed = table.iter().any(|operand| kind(*operand) != kind(table[0]));
        let mut own = false;
        let mut cells = Vec::with_capacity(table.len());
        let mut space = Space::Work;
        let loops = self.groups[g].loops;
        let inner: u32 = trips[loops..].iter().product();
        for (index, operand) in table.into_iter().enumerate() {
            let node = (operand as usize).wrapping_sub(first);
            if operand & SUM == 0 && self.owner.get(node) == Some(&(g as u32)) {
                // An earlier iteration of a loop of statements is over in any case.
                let mut rest = index as u32 / inner;
                let place = self.place(node as i64);
                own |= place.is_none_or(|place| {
                    (0..loops).rev().all(|m| {
                        let counter = rest % trips[m];
                        rest /= trips[m];
                        place.iteration[m] == counter as i64
                    })
                });
            }
            let cell;
            (space, cell) = self.cell(operand, mixed).ok_or(ErrorKind::TapeOverflow)?;
            cells.push(cell);
        }
        let dependence = if own { Dependence::Unknown } else { Dependence::None };
        let address = Address { space, base: cells[0], strides: vec![0; trips.len()], table: Some(Arc::from(cells)) };
        Ok((address, dependence))
    }

    fn affine_address(
        &mut self,
        g: usize,
        origin: u32,
        deltas: &[i64],
        trips: &[u32],
    ) -> Option<(Address, Dependence)> {
        let strides = |deltas: &[i64]| deltas.iter().map(|d| i32::try_from(*d).ok()).collect::<Option<Vec<i32>>>();
        let affine =
            |space, base, deltas: &[i64]| Some(Address { space, base, strides: strides(deltas)?, table: None });
        if origin & SUM != 0 {
            return Some((affine(Space::Work, origin & !SUM, deltas)?, Dependence::None));
        }
        let (mut low, mut high) = (origin as i64, origin as i64);
        for (trip, delta) in trips.iter().zip(deltas) {
            let reach = delta * (*trip as i64 - 1);
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        let (inputs, first) = (self.sequence.inputs as i64, self.sequence.first as i64);
        if high < inputs {
            return Some((affine(Space::Input(0), origin, deltas)?, Dependence::None));
        }
        if low >= inputs && high < first {
            return Some((affine(Space::Input(1), origin - inputs as u32, deltas)?, Dependence::None));
        }
        if deltas.iter().all(|d| *d == 0) {
            let (space, base) = self.cell(origin, false)?;
            let own = self.owner.get(origin as usize - first as usize) == Some(&(g as u32));
            let dependence = if own { Dependence::Unknown } else { Dependence::None };
            return Some((affine(space, base, deltas)?, dependence));
        }
        let (place, steps) = self.progression(g, origin, deltas)?;
        let target = &self.groups[place.group as usize];
        let slot = target.slots[place.slot as usize];
        for m in 0..place.iteration.len() {
            let (low, high) = self.reach(g, &place, &steps, m);
            let extra = if slot.halo.0 as usize == m { slot.halo.1 as i64 } else { 0 };
            if high >= target.counters[m].0 as i64 || low < -extra {
                return None;
            }
        }
        let (layout, base) = self.layout(place.group, place.slot);
        let base = base + layout.iter().zip(&place.iteration).map(|(s, i)| s * i).sum::<i64>();
        let deltas: Vec<i64> = steps.iter().map(|step| step.iter().zip(&layout).map(|(s, l)| s * l).sum()).collect();
        let dependence = if place.group as usize != g {
            Dependence::None
        } else {
            let counters = trips.len();
            let is_own = steps
                .iter()
                .enumerate()
                .all(|(l, step)| (0..counters).all(|m| step[m] == (l == m) as i64 || (trips[l] == 1 && step[m] == 0)));
            if is_own { Dependence::Distance(place.iteration) } else { Dependence::Unknown }
        };
        Some((affine(Space::Work, u32::try_from(base).ok()?, &deltas)?, dependence))
    }

    /// The nest of a group.
    fn body(&mut self, g: usize) -> Result<Nest, Error> {
        let trips: Vec<u32> = self.groups[g].counters.iter().map(|c| c.0).collect();
        let loops = self.groups[g].loops;
        let mut writer = BodyWriter {
            nest: Nest {
                dimensions: trips[loops..].iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect(),
                reversed: false,
                addresses: Vec::new(),
                body: Vec::new(),
            },
            results: vec![NONE; self.groups[g].offsets.len()],
            loads: FxHashMap::default(),
            sums: FxHashMap::default(),
        };
        let local_sums = self.local_sums(g);
        for k in 0..self.groups[g].offsets.len() {
            let node_index = self.groups[g].start + self.groups[g].offsets[k];
            let node = self.sequence.nodes[node_index as usize];
            let a = self.read(g, k, false, &mut writer)?;
            let result = match node.op {
                Op::Unary(_) => writer.push(Instruction::Apply { op: node.op, a, b: a }),
                Op::Accumulate => {
                    match local_sums.get(&node.b) {
                        Some(terms) => {
                            let sum = writer.sums.get(&node.b).copied();
                            let so_far = match sum {
                                None => a,
                                Some((sum, _)) => {
                                    writer.push(Instruction::Apply { op: Op::Binary(PLUS), a: sum, b: a })
                                }
                            };
                            let count = sum.map_or(0, |sum| sum.1) + 1;
                            writer.sums.insert(node.b, (so_far, count));
                            if count == *terms {
                                let fit = self.fit(g, k, |node| self.sequence.nodes[node as usize].b);
                                let address = writer.address(self.address(g, fit)?.0);
                                writer.push(Instruction::Store { value: so_far, address });
                            }
                        }
                        None => {
                            let fit = self.fit(g, k, |node| self.sequence.nodes[node as usize].b);
                            let address = writer.address(self.address(g, fit)?.0);
                            writer.push(Instruction::Accumulate { value: a, address });
                        }
                    }
                    continue;
                }
                Op::Output => {
                    let address = match self.fit(g, k, |node| self.sequence.nodes[node as usize].b) {
                        Fit::Affine { origin, deltas } => Address {
                            space: Space::Output(0),
                            base: origin,
                            strides: deltas.iter().map(|d| *d as i32).collect(),
                            table: None,
                        },
                        Fit::Table(table) => Address {
                            space: Space::Output(0),
                            base: table[0],
                            strides: vec![0; trips.len()],
                            table: Some(Arc::from(table)),
                        },
                    };
                    let address = writer.address(address);
                    writer.push(Instruction::Store { value: a, address });
                    continue;
                }
                op => {
                    let b = self.read(g, k, true, &mut writer)?;
                    writer.push(Instruction::Apply { op, a, b })
                }
            };
            writer.results[k] = result;
            if self.groups[g].slots[k].stored {
                let (layout, base) = self.layout(g as u32, k as u32);
                let strides = layout.iter().map(|s| *s as i32).collect();
                let address = writer.address(Address { space: Space::Work, base: base as u32, strides, table: None });
                writer.push(Instruction::Store { value: result, address });
            }
        }
        Ok(writer.nest)
    }

    /// Sums all of whose terms are added in one iteration of a group, with their number of terms. The key is the operand in
    /// iteration 0.
    fn local_sums(&self, g: usize) -> FxHashMap<u32, u32> {
        let mut counts: FxHashMap<u32, (u32, Option<Vec<i64>>)> = FxHashMap::default();
        let group = &self.groups[g];
        for (k, offset) in group.offsets.iter().enumerate() {
            let node = &self.sequence.nodes[(group.start + offset) as usize];
            if node.op != Op::Accumulate {
                continue;
            }
            let entry = counts.entry(node.b).or_insert((0, None));
            entry.0 += 1;
            if let Fit::Affine { deltas, .. } = self.fit(g, k, |node| self.sequence.nodes[node as usize].b)
                && (entry.0 == 1 || entry.1.as_ref() == Some(&deltas))
            {
                entry.1 = Some(deltas);
            } else {
                // Irregular once is irregular for good.
                entry.0 = NONE / 2;
            }
        }
        let local = |(sum, (count, _)): (u32, (u32, _))| {
            let terms = self.sequence.sums[(sum & !SUM) as usize].terms;
            (terms == count).then_some((sum, terms))
        };
        counts.into_iter().filter_map(local).collect()
    }

    /// The result that an operand is in the body, loaded if necessary.
    fn read(&mut self, g: usize, k: usize, second: bool, writer: &mut BodyWriter) -> Result<u32, Error> {
        let node = self.groups[g].start + self.groups[g].offsets[k];
        let sample = self.operand(node, second);
        if sample & CONSTANT != 0 {
            return Ok(self.read_constant(g, k, second, writer));
        }
        let fit = self.fit(g, k, |node| self.operand(node, second));
        if let Fit::Affine { origin, deltas } = &fit {
            if sample & SUM != 0 {
                if let Some((sum, _)) = writer.sums.get(origin) {
                    return Ok(*sum);
                }
                // A sum of this very group, over earlier iterations.
                let mut own = false;
                each_iteration_of(&self.groups[g].counters, deltas, |shift| {
                    let sum = (*origin as i64 + shift) as u32 & !SUM;
                    own |= self.owner[self.sequence.sums[sum as usize].last as usize] == g as u32;
                });
                if own {
                    writer.depend(&Dependence::Unknown, self.groups[g].loops);
                }
            } else if let Some(slot) = self.local(g, k, *origin, deltas) {
                return Ok(writer.results[slot]);
            }
        } else if sample & SUM != 0 {
            writer.depend(&Dependence::Unknown, self.groups[g].loops);
        }
        let (address, dependence) = self.address(g, fit)?;
        writer.depend(&dependence, self.groups[g].loops);
        Ok(writer.load(address))
    }

    fn read_constant(&mut self, g: usize, k: usize, second: bool, writer: &mut BodyWriter) -> u32 {
        let node = self.groups[g].start + self.groups[g].offsets[k];
        let index = |node: u32| self.operand(node, second) & !CONSTANT;
        let first = self.constants[index(node) as usize].to_bits();
        let mut same = true;
        each_iteration(&self.groups[g].counters, |shift| {
            same &= self.constants[index(node + shift) as usize].to_bits() == first;
        });
        if same {
            return writer.constant(index(node));
        }
        let counters = self.groups[g].counters.len();
        let address = match self.fit(g, k, index) {
            Fit::Affine { origin, deltas } => Address {
                space: Space::Constant,
                base: origin,
                strides: deltas.iter().map(|d| *d as i32).collect(),
                table: None,
            },
            Fit::Table(table) => {
                let base = self.constants.len() as u32;
                let values: Vec<f64> = table.iter().map(|i| self.constants[*i as usize]).collect();
                self.constants.extend(values);
                let mut strides = vec![0; counters];
                let mut stride = 1;
                for (m, (trip, _)) in self.groups[g].counters.iter().enumerate().rev() {
                    strides[m] = stride;
                    stride *= *trip as i32;
                }
                Address { space: Space::Constant, base, strides, table: None }
            }
        };
        writer.load(address)
    }

    /// Copies what lies before a loop into the cells before those of the loop.
    fn fill_halos(&mut self) -> Result<(), Error> {
        for g in 0..self.groups.len() {
            for k in 0..self.groups[g].slots.len() {
                let slot = self.groups[g].slots[k];
                if slot.halo.1 == 0 || !slot.stored {
                    continue;
                }
                let m = slot.halo.0 as usize;
                for back in 1..=slot.halo.1 {
                    let nest = self.halo_copy(g, k, m, back)?;
                    let loops = self.groups[g].loops;
                    if m < loops {
                        let identity = self.groups[g].enclosing[m];
                        self.before_loop.entry(identity).or_default().push(nest);
                    } else {
                        self.before_group.entry(g).or_default().push(nest);
                    }
                }
            }
        }
        Ok(())
    }

    fn halo_copy(&mut self, g: usize, k: usize, m: usize, back: u32) -> Result<Nest, Error> {
        let (layout, base) = self.layout(g as u32, k as u32);
        let group = &self.groups[g];
        let (start, offset) = (group.start, group.offsets[k]);
        let length = group.counters[m].1;
        let mut counters = group.counters.clone();
        counters.remove(m);
        let loops = group.loops.min(m);
        let enclosing = group.enclosing[..loops].to_vec();
        let strides: Vec<i32> = layout.iter().enumerate().filter(|(i, _)| *i != m).map(|(_, s)| *s as i32).collect();
        let trips: Vec<u32> = counters.iter().map(|c| c.0).collect();
        let origin = (start + offset + self.sequence.first as u32).wrapping_sub(back * length);
        let deltas: Vec<i64> = counters.iter().map(|c| c.1 as i64).collect();
        // A group without nodes, to resolve the source from.
        self.groups.push(Group { start, counters, loops, enclosing, offsets: Vec::new(), slots: Vec::new() });
        let reader = self.groups.len() - 1;
        let source = self.address(reader, Fit::Affine { origin, deltas });
        self.groups.pop();
        let target =
            Address { space: Space::Work, base: (base - back as i64 * layout[m]) as u32, strides, table: None };
        Ok(Nest {
            dimensions: trips[loops..].iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect(),
            reversed: false,
            addresses: vec![source?.0, target],
            body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
        })
    }

    fn copy_inputs(&self, base: u32) -> Vec<Statement> {
        let parts = [
            (Space::Input(0), 0, self.sequence.inputs),
            (Space::Input(1), self.sequence.inputs, self.sequence.first - self.sequence.inputs),
        ];
        let copy = |(space, start, length): (Space, usize, usize)| {
            Statement::Nest(Nest {
                dimensions: vec![Dimension { trip: length as u32, parallel: true }],
                reversed: false,
                addresses: vec![
                    Address { space, base: 0, strides: vec![1], table: None },
                    Address { space: Space::Work, base: base + start as u32, strides: vec![1], table: None },
                ],
                body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
            })
        };
        parts.into_iter().filter(|part| part.2 > 0).map(copy).collect()
    }

    fn emit(&mut self, plans: Vec<Plan>, bodies: &mut [Option<Nest>], out: &mut Vec<Statement>) -> Result<(), Error> {
        for plan in plans {
            match plan {
                Plan::Group(g) => {
                    out.extend(self.before_group.remove(&g).unwrap_or_default().into_iter().map(Statement::Nest));
                    out.extend(bodies[g].take().map(Statement::Nest));
                }
                Plan::Loop { identity, trip, body } => {
                    out.extend(self.before_loop.remove(&identity).unwrap_or_default().into_iter().map(Statement::Nest));
                    let mut inner = Vec::new();
                    self.emit(body, bodies, &mut inner)?;
                    out.push(Statement::Loop { trip, reversed: false, body: inner });
                }
                Plan::Call(node) => {
                    let call = &self.sequence.calls[self.sequence.nodes[node as usize].a as usize];
                    let mut arguments = Vec::with_capacity(call.arguments.len());
                    for argument in &call.arguments {
                        let (space, base) = if argument & CONSTANT != 0 {
                            (Space::Constant, argument & !CONSTANT)
                        } else {
                            self.cell(*argument, false).ok_or(ErrorKind::TapeOverflow)?
                        };
                        arguments.push(Address::fixed(space, base, 0));
                    }
                    let cell = |i: usize| Address::fixed(Space::Work, self.owner[node as usize + i] & !CALL, 0);
                    out.push(Statement::Call(RuleCall {
                        rule: Arc::clone(&call.rule),
                        half: crate::custom::Half::Value,
                        inputs: call.arguments.len(),
                        outputs: call.outputs,
                        arguments,
                        results: (0..call.outputs).map(cell).collect(),
                        accumulate: false,
                    }));
                }
            }
        }
        Ok(())
    }
}

/// Tag of owners that are cells of calls.
const CALL: u32 = 1 << 31;

/// How an operand depends on earlier iterations of its own group.
enum Dependence {
    None,
    /// Iterations from the reader to the result, per counter.
    Distance(Vec<i64>),
    Unknown,
}

struct BodyWriter {
    nest: Nest,
    results: Vec<u32>,
    loads: FxHashMap<Instruction, u32>,
    sums: FxHashMap<u32, (u32, u32)>,
}

impl BodyWriter {
    fn push(&mut self, instruction: Instruction) -> u32 {
        self.nest.body.push(instruction);
        (self.nest.body.len() - 1) as u32
    }

    fn address(&mut self, address: Address) -> u32 {
        self.nest.addresses.push(address);
        (self.nest.addresses.len() - 1) as u32
    }

    fn constant(&mut self, index: u32) -> u32 {
        let instruction = Instruction::Constant(index);
        if let Some(known) = self.loads.get(&instruction) {
            return *known;
        }
        let result = self.push(instruction);
        self.loads.insert(instruction, result);
        result
    }

    fn load(&mut self, address: Address) -> u32 {
        let address = self.address(address);
        self.push(Instruction::Load(address))
    }

    fn depend(&mut self, dependence: &Dependence, loops: usize) {
        match dependence {
            Dependence::None => {}
            Dependence::Unknown => self.nest.dimensions.iter_mut().for_each(|d| d.parallel = false),
            Dependence::Distance(distance) => {
                if distance[..loops].iter().any(|d| *d != 0) {
                    return;
                }
                let carrying = distance[loops..].iter().position(|d| *d != 0);
                if let Some(m) = carrying {
                    self.nest.dimensions[m].parallel = false;
                }
            }
        }
    }
}

/// Whether the second operand of a node is a value.
fn has_second(op: Op) -> bool {
    matches!(op, Op::Binary(_) | Op::Compare(_) | Op::Keep | Op::Drop | Op::Chain | Op::Guard(_))
}

/// Calls `act` with the shift in nodes of every iteration.
fn each_iteration(counters: &[(u32, u32)], mut act: impl FnMut(u32)) {
    fn step(counters: &[(u32, u32)], shift: u32, act: &mut impl FnMut(u32)) {
        match counters {
            [] => act(shift),
            [(trip, length), rest @ ..] => (0..*trip).for_each(|i| step(rest, shift + i * length, act)),
        }
    }
    step(counters, 0, &mut act);
}

/// The same with other distances than those of the counters.
fn each_iteration_of(counters: &[(u32, u32)], deltas: &[i64], mut act: impl FnMut(i64)) {
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
fn each_index(trips: &[u32], mut act: impl FnMut(&[u32]) -> bool) {
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
