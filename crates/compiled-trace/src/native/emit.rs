//! Writes statements as machine code: loops, addresses, reductions in registers.
//!
//! Called by `build` for every function of the code; `plan` orders the loops of a nest, `operation` writes its operations.
//!
//! # Addresses
//! Addresses of the same space with the same strides share a pointer, which is advanced loop by loop; the rest of an address is a
//! constant in the instruction. In the innermost loop one index per distinct stride is added, so an iteration costs one
//! addition and one comparison for all addresses.

use super::check::space_number;
use super::code::{Function, Limit, Place, Value, Variable};
use super::functions::Calls;
use super::number::Format;
use super::plan::{self, Plan, has_result};
use super::signed::Signed;
use crate::program::{Instruction, Nest, Program, Space, Statement};
use crate::recording::graph::Op;
use crate::recording::rules::Rules;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lanes of the widest vectors of any machine.
pub(super) const MAX_LANES: usize = 8;

/// What code is written for.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) format: Format,
    /// Lanes of the widest vectors; 1 without vectors.
    pub(super) widest: u32,
    /// Whether numbers can be rounded to integers without a call.
    pub(super) can_round: bool,
    /// Which functions are called.
    pub(super) calls: Calls,
}

/// Writes one function.
pub(super) struct Emitter<'p, 'f> {
    pub(super) code: Function,
    pub(super) target: Target,
    pub(super) program: &'p Program,
    /// The rules, for functions that are called through them.
    pub(super) rules: *const Rules,
    /// Whether any function is.
    pub(super) uses_rules: bool,
    tables: &'f mut Vec<Arc<[u32]>>,
    pub(super) spaces: Vec<Value>,
    /// Counters of the enclosing loops.
    pub(super) counters: Vec<Value>,
    trips: Vec<u32>,
    /// Cells that must be 0 before the next statement that touches them.
    pub(super) uncleared: Vec<Region>,
    /// Whether the one counter is that of chunks: all that is known of cells is then known of those of the first chunk, and others are
    /// as far away as the strides of the counter say.
    pub(super) is_chunk: bool,
    /// Single cells outside of all loops whose contents are in a register.
    pub(super) known: FxHashMap<(Space, i64), Value>,
}

/// Cells that must be 0 before the next statement that touches them.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub(super) space: Space,
    pub(super) start: i64,
    pub(super) length: i64,
    /// How many cells further they begin for each chunk, in the function of a chunk.
    pub(super) step: i64,
}

/// A pointer that several addresses share.
pub(super) struct Pointer {
    pub(super) value: Value,
    /// Bytes per iteration of each counter.
    pub(super) strides: Vec<i64>,
}

/// A loop nest being emitted.
pub(super) struct Loops<'a> {
    pub(super) plan: Plan<'a>,
    pub(super) pointers: Vec<Pointer>,
    /// Per address, its pointer and the bytes beyond it.
    pub(super) cells: Vec<(usize, i64)>,
    pub(super) results: Vec<Option<Signed>>,
    /// Results from outside the innermost loop, broadcast to all lanes.
    pub(super) splats: Vec<Option<Value>>,
    /// Terms of windows: per window and number of iterations ahead, those of the present copy of the body.
    pub(super) terms: Vec<Vec<Option<Signed>>>,
    /// Terms of earlier iterations, in vectors of the iterations they come from, and one by one per cell.
    pub(super) carried: [Vec<Vec<Variable>>; 2],
    /// Reductions over more than the innermost loop, and finished ones.
    pub(super) totals: Vec<Option<Variable>>,
    pub(super) rows: Vec<Option<Value>>,
    /// For each load that reads the cell an instruction wrote one iteration earlier, the last number written.
    pub(super) carried_cells: Vec<Option<Variable>>,
    /// Accumulators of the present copy of the body.
    pub(super) partial: Vec<Option<Partial>>,
    /// Indices of the innermost loop by their step in bytes. They count up to 0.
    pub(super) indices: Vec<(i64, Value)>,
    /// Number of iterations of the innermost loop that are done when the indices are 0.
    pub(super) end: i64,
}

/// The position of a copy of the body in the innermost loop.
#[derive(Clone, Copy)]
pub(super) struct Position {
    /// Iterations beyond the indices.
    pub(super) offset: i64,
    pub(super) wide: bool,
}

/// The accumulator of a reduction.
#[derive(Clone, Copy)]
pub(super) enum Partial {
    /// In a register.
    Register(Variable),
    /// In memory of the function.
    Memory(Place),
}

impl<'p, 'f> Emitter<'p, 'f> {
    /// Begins a function whose statements are inside loops of these trip counts, which the caller runs.
    pub(super) fn new(
        target: Target,
        program: &'p Program,
        rules: *const Rules,
        tables: &'f mut Vec<Arc<[u32]>>,
        loops: &[u32],
    ) -> Self {
        let mut code = Function::new(target.format.bytes());
        let spaces = 2 + program.inputs.len() + program.outputs.len();
        let spaces = (0..spaces).map(|i| code.load_integer(Value::SLICES, 8 * i as i32)).collect();
        let counters = (0..loops.len()).map(|i| code.load_integer(Value::COUNTERS, 8 * i as i32)).collect();
        Emitter {
            code,
            target,
            program,
            rules,
            uses_rules: false,
            tables,
            spaces,
            counters,
            trips: loops.to_vec(),
            uncleared: Vec::new(),
            is_chunk: false,
            known: FxHashMap::default(),
        }
    }

    /// Ends the function.
    pub(super) fn finish(mut self) -> Function {
        self.clear_all();
        self.code.finish()
    }

    /// Writes the statements of a loop over chunks, for one of them.
    #[cfg(feature = "rayon")]
    pub(super) fn chunk(&mut self, statements: &'p [Statement]) {
        self.is_chunk = statements.iter().all(|statement| super::owner::moves_as_one(statement, self.trips[0]));
        if self.is_chunk {
            self.trips = vec![1];
        }
        for statement in statements {
            match super::owner::cleared(statement, &self.program.constants) {
                Some((cells, step)) if self.is_chunk => {
                    let (start, length) = (i64::from(cells.low), i64::from(cells.high - cells.low) + 1);
                    self.uncleared.push(Region { space: cells.space, start, length, step: i64::from(step) });
                }
                _ => self.statement(statement),
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Nest(nest) => self.nest(nest),
            Statement::Loop { trip, reversed, body } => {
                self.clear_all();
                self.known.clear();
                self.repeat(*trip, *reversed, body);
                self.clear_all();
                self.known.clear();
            }
            Statement::Zero { space, start, length } => {
                let (start, length) = (*start as i64, *length as i64);
                self.uncleared.push(Region { space: *space, start, length, step: 0 });
            }
            // The caller of the code runs it.
            Statement::Call(_) => {}
        }
    }

    fn repeat(&mut self, trip: u32, reversed: bool, body: &'p [Statement]) {
        if trip == 0 {
            return;
        }
        let counter = self.counter(trip, reversed);
        self.trips.push(trip);
        let value = self.code.get(counter.variable);
        self.counters.push(value);
        for statement in body {
            self.statement(statement);
        }
        self.counters.pop();
        self.trips.pop();
        self.next(counter);
    }

    fn nest(&mut self, nest: &'p Nest) {
        if nest.dimensions.iter().any(|d| d.trip == 0) {
            return;
        }
        let widths = plan::widths(self.target.format, self.target.widest);
        let mut plan = Plan::new(nest, &self.trips, widths, &self.program.rules, self.target.calls);
        self.clear_for(&mut plan);
        if !plan.order.is_empty() {
            self.forget(&plan);
        }
        let (pointers, cells) = self.pointers(&plan);
        // Without loops most lists are not used, and bodies may be long.
        let length = if plan.order.is_empty() { 0 } else { nest.body.len() };
        if length == 0 {
            self.code.reserve(nest.body.len());
        }
        let mut loops = Loops {
            plan,
            pointers,
            cells,
            results: vec![None; nest.body.len()],
            splats: vec![None; length],
            totals: vec![None; length],
            rows: vec![None; length],
            carried_cells: vec![None; length],
            partial: vec![None; length],
            terms: Vec::new(),
            carried: [Vec::new(), Vec::new()],
            indices: Vec::new(),
            end: 0,
        };
        loops.terms = loops.plan.windows.iter().map(|window| vec![None; window.reach as usize + 1]).collect();
        self.level(&mut loops, 0);
    }

    /// Pointers of a nest at the counters of the enclosing loops.
    fn pointers(&mut self, plan: &Plan) -> (Vec<Pointer>, Vec<(usize, i64)>) {
        let mut pointers: Vec<Pointer> = Vec::new();
        let mut known: FxHashMap<(usize, bool, Vec<i64>, i64), usize> = FxHashMap::default();
        let mut cells = Vec::with_capacity(plan.nest.addresses.len());
        for (address, strides) in plan.nest.addresses.iter().zip(&plan.strides) {
            let bytes = if address.table.is_some() { 4 } else { self.target.format.bytes() as i64 };
            let strides: Vec<i64> = strides.iter().map(|stride| stride * bytes).collect();
            let (place, start) = match &address.table {
                Some(table) => (table.as_ptr() as usize, 0),
                None => (space_number(self.program, address.space), address.base as i64 * bytes),
            };
            // An offset that does not fit into an instruction becomes part of the pointer.
            let far = start >> 28 << 28;
            let key = (place, address.table.is_some(), strides, far);
            let pointer = match known.get(&key) {
                Some(pointer) => *pointer,
                None => {
                    let mut value = match &address.table {
                        Some(table) => {
                            self.tables.push(Arc::clone(table));
                            self.code.integer(place as i64)
                        }
                        None => self.spaces[place],
                    };
                    if far != 0 {
                        value = self.code.add_constant(value, far);
                    }
                    for (counter, stride) in self.counters.iter().zip(&key.2) {
                        if *stride != 0 {
                            let shift = self.code.scale(*counter, *stride);
                            value = self.code.add_integers(value, shift);
                        }
                    }
                    pointers.push(Pointer { value, strides: key.2.clone() });
                    known.insert(key, pointers.len() - 1);
                    pointers.len() - 1
                }
            };
            cells.push((pointer, start - far));
        }
        (pointers, cells)
    }

    /// Emits what runs inside the `level` outermost loops, and the loops inside these.
    fn level(&mut self, loops: &mut Loops, level: usize) {
        let depth = loops.plan.order.len();
        self.body(loops, level, Position { offset: 0, wide: false });
        if level == depth {
            return;
        }
        for i in 0..loops.plan.sum.len() {
            if loops.plan.sum[i] == Some(level) && level + 1 < depth {
                let zero = self.code.constant(0.0, 1);
                loops.totals[i] = Some(self.code.variable(zero));
            }
        }
        if level + 1 == depth {
            self.innermost(loops);
        } else {
            let number = loops.plan.order[level];
            let counter = self.counter(loops.plan.trips[number], loops.plan.is_down(number));
            let value = self.code.get(counter.variable);
            let before: Vec<Value> = loops.pointers.iter().map(|pointer| pointer.value).collect();
            for pointer in &mut loops.pointers {
                if pointer.strides[number] != 0 {
                    let shift = self.code.scale(value, pointer.strides[number]);
                    pointer.value = self.code.add_integers(pointer.value, shift);
                }
            }
            self.level(loops, level + 1);
            for (pointer, value) in loops.pointers.iter_mut().zip(before) {
                pointer.value = value;
            }
            self.next(counter);
        }
        for i in 0..loops.plan.sum.len() {
            if loops.plan.sum[i] != Some(level) {
                continue;
            }
            let sum = match loops.totals[i] {
                Some(total) => self.code.get(total),
                None => loops.rows[i].expect("the innermost loop has set it"),
            };
            if let Instruction::Accumulate { address, .. } = loops.plan.nest.body[i] {
                if let Some(cell) = self.single_cell(loops, address, level) {
                    self.add_to_single(loops, address, cell, sum.into());
                } else {
                    let (pointer, shift) = loops.cells[address as usize];
                    let place = self.near(loops.pointers[pointer].value, None, shift);
                    self.add_to(sum.into(), place);
                }
            }
        }
    }

    /// Emits the instructions of one level once.
    pub(super) fn body(&mut self, loops: &mut Loops, level: usize, at: Position) {
        let nest = loops.plan.nest;
        for (i, instruction) in nest.body.iter().enumerate() {
            if loops.plan.level_of(i) != level {
                continue;
            }
            let operand = |loops: &Loops, operand: u32| {
                let operand = operand as usize;
                let splat = if at.wide { loops.splats[operand] } else { None };
                let splat = splat.filter(|_| loops.plan.level_of(operand) < level).map(Signed::from);
                splat.or(loops.results[operand]).expect("operands come first")
            };
            match *instruction {
                Instruction::Constant(c) => {
                    let value = self.code.constant(self.program.constants[c as usize], loops.lanes(at));
                    loops.results[i] = Some(value.into());
                }
                Instruction::Load(address) => {
                    if let Some(variable) = loops.carried_cell(i) {
                        let value = self.code.get(variable);
                        loops.results[i] = Some(value.into());
                        continue;
                    }
                    let cell = self.single_cell(loops, address, level);
                    let known = cell.and_then(|cell| self.known.get(&cell).copied());
                    let value = known.unwrap_or_else(|| self.load_cell(loops, address, at));
                    if let Some(cell) = cell {
                        self.known.insert(cell, value);
                    }
                    loops.results[i] = Some(value.into());
                }
                Instruction::Apply { op: Op::Guard(guard), a, b } => {
                    let (x, y) = (self.plain(operand(loops, a)), self.plain(operand(loops, b)));
                    self.guard(guard, x, y);
                }
                Instruction::Apply { op, a, b } => {
                    let x = operand(loops, a);
                    let y = if matches!(op, Op::Unary(_)) { x } else { operand(loops, b) };
                    let value = self.apply_signed(op, x, y);
                    debug_assert!(has_result(instruction));
                    loops.results[i] = Some(value);
                }
                Instruction::Store { value, address } => {
                    let value = self.plain(operand(loops, value));
                    self.store_cell(loops, address, at, value, None);
                    if let Some(variable) = loops.carried_cell(i) {
                        self.code.set(variable, value);
                    }
                    if loops.plan.order.is_empty() {
                        self.forget_cells(&loops.plan, address);
                    }
                    if let Some(cell) = self.single_cell(loops, address, level) {
                        self.known.insert(cell, value);
                    }
                }
                Instruction::Accumulate { value, address } => {
                    let value = operand(loops, value);
                    if let Some(partial) = loops.partial.get(i).copied().flatten() {
                        let sum = self.partial_sum(partial, loops.lanes(at));
                        let sum = self.sum(sum.into(), value);
                        self.set_partial_sum(partial, sum);
                    } else if let Some(window) = loops.plan.window_of(i) {
                        self.add_to_window(loops, window, i, value, at);
                    } else if let Some(cell) = self.single_cell(loops, address, level) {
                        self.add_to_single(loops, address, cell, value);
                    } else if let Some(variable) = loops.carried_cell(i) {
                        let place = self.locate(loops, address, at.offset);
                        let sum = self.add_to(value, place);
                        self.code.set(variable, sum);
                    } else {
                        if loops.plan.order.is_empty() {
                            self.forget_cells(&loops.plan, address);
                        }
                        self.store_cell(loops, address, at, value.value, Some(value.negated));
                    }
                }
            }
        }
    }

    /// The place of an address `offset` iterations later.
    pub(super) fn locate(&mut self, loops: &Loops, address: u32, offset: i64) -> Place {
        let (pointer, shift) = loops.cells[address as usize];
        let info = &loops.plan.nest.addresses[address as usize];
        let bytes = if info.table.is_some() { 4 } else { self.target.format.bytes() as i64 };
        let step = loops.plan.step(address) * bytes;
        let index = loops.indices.iter().find(|(known, _)| step != 0 && *known == step).map(|(_, index)| *index);
        let end = if loops.indices.is_empty() { 0 } else { loops.end };
        let place = self.near(loops.pointers[pointer].value, index, shift + (end + offset) * step);
        if info.table.is_none() {
            return place;
        }
        let entry = self.code.load_index(place);
        let scaled = self.code.double(entry, self.target.format.bytes().trailing_zeros() as u8);
        let base = self.spaces[space_number(self.program, info.space)];
        Place { base, index: Some(scaled), shift: 0 }
    }

    /// The same place with a constant that fits into an instruction.
    pub(super) fn near(&mut self, base: Value, index: Option<Value>, shift: i64) -> Place {
        match i32::try_from(shift) {
            Ok(shift) => Place { base, index, shift },
            Err(_) => Place { base: self.code.add_constant(base, shift), index, shift: 0 },
        }
    }

    /// Whether the lanes of a vector at this address are consecutive cells.
    pub(super) fn is_consecutive(&self, loops: &Loops, address: u32) -> bool {
        loops.plan.nest.addresses[address as usize].table.is_none() && loops.plan.step(address) == 1
    }

    pub(super) fn load_cell(&mut self, loops: &Loops, address: u32, at: Position) -> Value {
        let lanes = loops.lanes(at);
        if lanes == 1 || self.is_consecutive(loops, address) {
            let place = self.locate(loops, address, at.offset);
            return self.code.load(lanes, place);
        }
        if loops.plan.step(address) == 0 {
            let place = self.locate(loops, address, at.offset);
            let value = self.code.load(1, place);
            return self.code.splat(value, lanes);
        }
        let mut all = [Value::SLICES; MAX_LANES];
        for lane in 0..lanes {
            let place = self.locate(loops, address, at.offset + lane as i64);
            all[lane as usize] = self.code.load(1, place);
        }
        self.code.join(&all[..lanes as usize])
    }

    /// Stores to a cell, or adds to it (`Some`), with the sign changed if necessary.
    pub(super) fn store_cell(&mut self, loops: &Loops, address: u32, at: Position, value: Value, add: Option<bool>) {
        let one = |this: &mut Self, offset: i64, value: Value| {
            let place = this.locate(loops, address, offset);
            match add {
                Some(negated) => {
                    this.add_to(Signed { value, negated }, place);
                }
                None => this.store(value, place),
            }
        };
        if !at.wide || self.is_consecutive(loops, address) {
            return one(self, at.offset, value);
        }
        for lane in 0..loops.plan.lanes as u8 {
            let single = self.code.lane(value, lane);
            one(self, at.offset + lane as i64, single);
        }
    }

    /// Adds to a cell, or as many cells as the value has lanes.
    pub(super) fn add_to(&mut self, value: Signed, place: Place) -> Value {
        let cell = self.code.load(self.code.lanes(value.value), place);
        let sum = self.sum(cell.into(), value);
        self.store(sum, place);
        sum
    }

    pub(super) fn store(&mut self, value: Value, place: Place) {
        self.code.store(place, value);
    }

    /// Begins a loop.
    fn counter(&mut self, trip: u32, down: bool) -> Counter {
        let start = self.code.integer(if down { trip as i64 - 1 } else { 0 });
        let variable = self.code.variable(start);
        self.code.begin();
        Counter { variable, step: if down { -1 } else { 1 }, end: if down { -1 } else { trip as i64 } }
    }

    /// Ends a loop.
    fn next(&mut self, counter: Counter) {
        let value = self.code.get(counter.variable);
        let next = self.code.add_constant(value, counter.step);
        self.code.set(counter.variable, next);
        self.code.end(next, Limit::Integer(counter.end));
    }

    /// A plain number in as many lanes as `like` has.
    pub(super) fn number(&mut self, number: f64, like: Value) -> Value {
        let lanes = self.code.lanes(like);
        self.code.constant(number, lanes)
    }
}

/// A loop being written.
struct Counter {
    variable: Variable,
    step: i64,
    end: i64,
}

impl Loops<'_> {
    /// The variable that a load reads, or an instruction sets, in place of a cell.
    fn carried_cell(&self, instruction: usize) -> Option<Variable> {
        self.carried_cells.get(instruction).copied().flatten()
    }

    /// Lanes of values in a copy of the body.
    pub(super) fn lanes(&self, at: Position) -> u8 {
        if at.wide { self.plan.lanes as u8 } else { 1 }
    }
}
