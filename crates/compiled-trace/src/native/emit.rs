//! Writes statements as machine code: loops, addresses, reductions in registers.
//!
//! Called by `build` for every function of the code; `plan` orders the loops of a nest, `operation` writes its operations.
//!
//! # Addresses
//! Addresses of the same space with the same strides share a pointer, which is advanced loop by loop; the rest of an address is a
//! constant in the instruction. In the innermost loop one index per distinct stride is added, so an iteration costs one
//! addition and one comparison for all addresses.

use super::check::space_number;
use super::number::Number;
use super::plan::{Plan, has_result};
use super::signed::Signed;
use crate::program::{Instruction, Nest, Program, Space, Statement};
use crate::recording::graph::Op;
use crate::recording::rules::Rules;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// Writes one function.
pub(super) struct Emitter<'p, 'f, S> {
    pub(super) builder: FunctionBuilder<'f>,
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
    signatures: FxHashMap<(usize, bool), SigRef>,
    convention: CallConv,
    failed: Block,
    pub(super) widest: u32,
    /// Cells that must be 0 before the next statement that touches them.
    pub(super) uncleared: Vec<(Space, i64, i64)>,
    /// Single cells outside of all loops whose contents are in a register.
    pub(super) known: FxHashMap<(Space, i64), Value>,
    number: PhantomData<S>,
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
    /// In memory of the function, at this distance in bytes from the start.
    Memory(Value, i32),
}

impl<'p, 'f, S: Number> Emitter<'p, 'f, S> {
    /// Begins a function whose statements are inside loops of these trip counts, which the caller runs.
    pub(super) fn new(
        mut builder: FunctionBuilder<'f>,
        program: &'p Program,
        rules: *const Rules,
        tables: &'f mut Vec<Arc<[u32]>>,
        loops: &[u32],
        has_vectors: bool,
    ) -> Self {
        let convention = builder.func.signature.call_conv;
        let entry = builder.create_block();
        let failed = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.append_block_param(failed, types::I32);
        builder.set_cold_block(failed);
        builder.switch_to_block(entry);
        let slices = builder.block_params(entry)[0];
        let counters = builder.block_params(entry)[1];
        let flags = MemFlagsData::trusted().with_readonly().with_can_move();
        let spaces = 2 + program.inputs.len() + program.outputs.len();
        let spaces = (0..spaces).map(|i| builder.ins().load(types::I64, flags, slices, 8 * i as i32)).collect();
        let counters =
            (0..loops.len()).map(|i| builder.ins().load(types::I64, flags, counters, 8 * i as i32)).collect();
        Emitter {
            builder,
            program,
            rules,
            uses_rules: false,
            tables,
            spaces,
            counters,
            trips: loops.to_vec(),
            signatures: FxHashMap::default(),
            convention,
            failed,
            widest: if has_vectors { 16 / S::TYPE.bytes() } else { 1 },
            uncleared: Vec::new(),
            known: FxHashMap::default(),
            number: PhantomData,
        }
    }

    /// Ends the function; returns the number of its instructions.
    pub(super) fn finish(mut self, config: cranelift_codegen::isa::TargetFrontendConfig) -> usize {
        self.clear_all();
        let zero = self.builder.ins().iconst(types::I32, 0);
        self.builder.ins().return_(&[zero]);
        self.builder.switch_to_block(self.failed);
        let code = self.builder.block_params(self.failed)[0];
        self.builder.ins().return_(&[code]);
        self.builder.seal_all_blocks();
        let count = self.builder.func.dfg.num_insts();
        self.builder.finalize(config);
        count
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
            Statement::Zero { space, start, length } => self.uncleared.push((*space, *start as i64, *length as i64)),
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
        let value = self.builder.use_var(counter.variable);
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
        let mut plan = Plan::new(nest, &self.trips, self.widest, &self.program.rules);
        self.clear_for(&mut plan);
        if !plan.order.is_empty() {
            self.forget(&plan);
        }
        let length = nest.body.len();
        let (pointers, cells) = self.pointers(&plan);
        let mut loops = Loops {
            plan,
            pointers,
            cells,
            results: vec![None; length],
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
            let bytes = if address.table.is_some() { 4 } else { S::TYPE.bytes() as i64 };
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
                            self.builder.ins().iconst(types::I64, place as i64)
                        }
                        None => self.spaces[place],
                    };
                    if far != 0 {
                        value = self.builder.ins().iadd_imm_s(value, far);
                    }
                    for (counter, stride) in self.counters.iter().zip(&key.2) {
                        if *stride != 0 {
                            let shift = self.builder.ins().imul_imm_s(*counter, *stride);
                            value = self.builder.ins().iadd(value, shift);
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
                let total = self.builder.declare_var(S::TYPE);
                let zero = self.constant_of(0.0, false);
                self.builder.def_var(total, zero);
                loops.totals[i] = Some(total);
            }
        }
        if level + 1 == depth {
            self.innermost(loops);
        } else {
            let number = loops.plan.order[level];
            let counter = self.counter(loops.plan.trips[number], loops.plan.is_down(number));
            let value = self.builder.use_var(counter.variable);
            let before: Vec<Value> = loops.pointers.iter().map(|pointer| pointer.value).collect();
            for pointer in &mut loops.pointers {
                if pointer.strides[number] != 0 {
                    let shift = self.builder.ins().imul_imm_s(value, pointer.strides[number]);
                    pointer.value = self.builder.ins().iadd(pointer.value, shift);
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
                Some(total) => self.builder.use_var(total),
                None => loops.rows[i].expect("the innermost loop has set it"),
            };
            if let Instruction::Accumulate { address, .. } = loops.plan.nest.body[i] {
                if let Some(cell) = self.single_cell(loops, address, level) {
                    self.add_to_single(loops, address, cell, sum.into());
                } else {
                    let (pointer, shift) = loops.cells[address as usize];
                    self.add_to(sum.into(), loops.pointers[pointer].value, shift);
                }
            }
        }
    }

    /// Emits the instructions of one level once.
    pub(super) fn body(&mut self, loops: &mut Loops, level: usize, at: Position) {
        let nest = loops.plan.nest;
        for (i, instruction) in nest.body.iter().enumerate() {
            if loops.plan.level[i] != level {
                continue;
            }
            let operand = |loops: &Loops, operand: u32| {
                let operand = operand as usize;
                let splat = if at.wide { loops.splats[operand] } else { None };
                let splat = splat.filter(|_| loops.plan.level[operand] < level).map(Signed::from);
                splat.or(loops.results[operand]).expect("operands come first")
            };
            match *instruction {
                Instruction::Constant(c) => {
                    let value = self.constant_of(self.program.constants[c as usize], at.wide);
                    loops.results[i] = Some(value.into());
                }
                Instruction::Load(address) => {
                    if let Some(variable) = loops.carried_cells[i] {
                        let value = self.builder.use_var(variable);
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
                    if let Some(variable) = loops.carried_cells[i] {
                        self.builder.def_var(variable, value);
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
                    if let Some(partial) = loops.partial[i] {
                        let sum = self.partial_sum(partial, at.wide);
                        let sum = self.sum(sum.into(), value);
                        self.set_partial_sum(partial, sum);
                    } else if let Some(window) = loops.plan.window[i] {
                        self.add_to_window(loops, window, i, value, at);
                    } else if let Some(cell) = self.single_cell(loops, address, level) {
                        self.add_to_single(loops, address, cell, value);
                    } else if let Some(variable) = loops.carried_cells[i] {
                        let (pointer, shift) = self.locate(loops, address, at.offset);
                        let sum = self.add_to(value, pointer, shift);
                        self.builder.def_var(variable, sum);
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

    /// The pointer of an address `offset` iterations later, and the distance in bytes from it.
    pub(super) fn locate(&mut self, loops: &Loops, address: u32, offset: i64) -> (Value, i64) {
        let (pointer, shift) = loops.cells[address as usize];
        let mut value = loops.pointers[pointer].value;
        let bytes =
            if loops.plan.nest.addresses[address as usize].table.is_some() { 4 } else { S::TYPE.bytes() as i64 };
        let step = loops.plan.step(address) * bytes;
        if step != 0
            && let Some((_, index)) = loops.indices.iter().find(|(known, _)| *known == step)
        {
            value = self.builder.ins().iadd(value, *index);
        }
        let end = if loops.indices.is_empty() { 0 } else { loops.end };
        let shift = shift + (end + offset) * step;
        let (value, shift) = self.near(value, shift);
        let info = &loops.plan.nest.addresses[address as usize];
        if info.table.is_none() {
            return (value, shift);
        }
        let flags = MemFlagsData::trusted().with_readonly();
        let entry = self.builder.ins().uload32(flags, value, shift as i32);
        let scaled = self.builder.ins().ishl_imm_u(entry, S::TYPE.bytes().trailing_zeros() as i64);
        let space = self.spaces[space_number(self.program, info.space)];
        (self.builder.ins().iadd(space, scaled), 0)
    }

    /// The same place with an offset that fits into an instruction.
    pub(super) fn near(&mut self, pointer: Value, shift: i64) -> (Value, i64) {
        if i32::try_from(shift).is_ok() { (pointer, shift) } else { (self.builder.ins().iadd_imm_s(pointer, shift), 0) }
    }

    /// Whether the lanes of a vector at this address are consecutive cells.
    pub(super) fn is_consecutive(&self, loops: &Loops, address: u32) -> bool {
        loops.plan.nest.addresses[address as usize].table.is_none() && loops.plan.step(address) == 1
    }

    pub(super) fn load_cell(&mut self, loops: &Loops, address: u32, at: Position) -> Value {
        let constant = matches!(loops.plan.nest.addresses[address as usize].space, Space::Constant | Space::Input(_));
        let one = |this: &mut Self, offset: i64, kind: Type| {
            let (pointer, shift) = this.locate(loops, address, offset);
            let mut flags = MemFlagsData::new().with_notrap();
            if constant {
                flags = flags.with_readonly();
            }
            this.builder.ins().load(kind, flags, pointer, shift as i32)
        };
        if !at.wide {
            return one(self, at.offset, S::TYPE);
        }
        if self.is_consecutive(loops, address) {
            return one(self, at.offset, self.wide_type());
        }
        if loops.plan.step(address) == 0 {
            let value = one(self, at.offset, S::TYPE);
            let kind = self.wide_type();
            return self.builder.ins().splat(kind, value);
        }
        let lanes: Vec<Value> = (0..self.lanes() as i64).map(|lane| one(self, at.offset + lane, S::TYPE)).collect();
        self.join(&lanes)
    }

    /// Stores to a cell, or adds to it (`Some`), with the sign changed if necessary.
    pub(super) fn store_cell(&mut self, loops: &Loops, address: u32, at: Position, value: Value, add: Option<bool>) {
        let one = |this: &mut Self, offset: i64, value: Value| {
            let (pointer, shift) = this.locate(loops, address, offset);
            match add {
                Some(negated) => {
                    this.add_to(Signed { value, negated }, pointer, shift);
                }
                None => this.store(value, pointer, shift),
            }
        };
        if !at.wide || self.is_consecutive(loops, address) {
            return one(self, at.offset, value);
        }
        for lane in 0..self.lanes() {
            let single = self.builder.ins().extractlane(value, lane as u8);
            one(self, at.offset + lane as i64, single);
        }
    }

    pub(super) fn add_to(&mut self, value: Signed, pointer: Value, shift: i64) -> Value {
        let (pointer, shift) = self.near(pointer, shift);
        let kind = self.builder.func.dfg.value_type(value.value);
        let cell = self.builder.ins().load(kind, MemFlagsData::new().with_notrap(), pointer, shift as i32);
        let sum = self.sum(cell.into(), value);
        self.store(sum, pointer, shift);
        sum
    }

    pub(super) fn store(&mut self, value: Value, pointer: Value, shift: i64) {
        let (pointer, shift) = self.near(pointer, shift);
        self.builder.ins().store(MemFlagsData::new().with_notrap(), value, pointer, shift as i32);
    }

    /// Begins a loop and moves to its body.
    fn counter(&mut self, trip: u32, down: bool) -> Counter {
        let variable = self.builder.declare_var(types::I64);
        let start = self.builder.ins().iconst(types::I64, if down { trip as i64 - 1 } else { 0 });
        self.builder.def_var(variable, start);
        let body = self.builder.create_block();
        self.builder.ins().jump(body, &[]);
        self.builder.switch_to_block(body);
        Counter { variable, body, step: if down { -1 } else { 1 }, end: if down { -1 } else { trip as i64 } }
    }

    /// Ends a loop and moves behind it.
    fn next(&mut self, counter: Counter) {
        let value = self.builder.use_var(counter.variable);
        let next = self.builder.ins().iadd_imm_s(value, counter.step);
        self.builder.def_var(counter.variable, next);
        let more = self.builder.ins().icmp_imm_s(IntCC::NotEqual, next, counter.end);
        let after = self.builder.create_block();
        self.builder.ins().brif(more, counter.body, &[], after, &[]);
        self.builder.switch_to_block(after);
    }

    /// Returns `code` unless the condition holds.
    pub(super) fn leave_unless(&mut self, holds: Value, code: Value) {
        let after = self.builder.create_block();
        self.builder.ins().brif(holds, after, &[], self.failed, &[code.into()]);
        self.builder.switch_to_block(after);
    }

    /// The signature of functions of this many numbers, called directly or through a rule number.
    pub(super) fn signature(&mut self, arguments: usize, through_rules: bool) -> SigRef {
        if let Some(known) = self.signatures.get(&(arguments, through_rules)) {
            return *known;
        }
        let mut signature = Signature::new(self.convention);
        if through_rules {
            signature.params.push(AbiParam::new(types::I64));
            signature.params.push(AbiParam::new(types::I32));
        }
        signature.params.extend((0..arguments).map(|_| AbiParam::new(S::TYPE)));
        signature.returns.push(AbiParam::new(S::TYPE));
        let imported = self.builder.import_signature(signature);
        self.signatures.insert((arguments, through_rules), imported);
        imported
    }

    /// Lanes of a vector.
    pub(super) fn lanes(&self) -> u32 {
        self.widest
    }

    pub(super) fn wide_type(&self) -> Type {
        S::TYPE.by(16 / S::TYPE.bytes()).expect("numbers are 4 or 8 bytes long")
    }

    pub(super) fn is_wide(&self, value: Value) -> bool {
        self.builder.func.dfg.value_type(value).is_vector()
    }

    /// A plain number in as many lanes as `like` has.
    pub(super) fn number(&mut self, number: f64, like: Value) -> Value {
        self.constant_of(number, self.is_wide(like))
    }

    pub(super) fn constant_of(&mut self, number: f64, wide: bool) -> Value {
        let single = S::TYPE == types::F32;
        if !wide {
            return if single {
                self.builder.ins().f32const(number as f32)
            } else {
                self.builder.ins().f64const(number)
            };
        }
        let bytes: Vec<u8> =
            if single { (number as f32).to_le_bytes().repeat(4) } else { number.to_le_bytes().repeat(2) };
        let constant = self.builder.func.dfg.constants.insert(bytes.into());
        let kind = self.wide_type();
        self.builder.ins().vconst(kind, constant)
    }

    /// A vector of these lanes.
    pub(super) fn join(&mut self, lanes: &[Value]) -> Value {
        let kind = self.wide_type();
        let mut vector = self.builder.ins().scalar_to_vector(kind, lanes[0]);
        for (lane, value) in lanes.iter().enumerate().skip(1) {
            vector = self.builder.ins().insertlane(vector, *value, lane as u8);
        }
        vector
    }
}

/// A loop being written.
struct Counter {
    variable: Variable,
    body: Block,
    step: i64,
    end: i64,
}
