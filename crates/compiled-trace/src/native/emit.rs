//! Statements as machine code: loops, addresses, sums in registers.
//!
//! Called by `build` for every function of the code; `plan` says how a nest is looped over, `operation` writes its operations.
//!
//! # Addresses
//! Addresses of the same space that move alike share a pointer, which is advanced loop by loop; the rest of an address is a
//! constant in the instruction. In the innermost loop one index per distinct stride is added, so an iteration costs one
//! addition and one comparison for all addresses.

use super::check::space_number;
use super::functions::Number;
use super::operation::Signed;
use super::plan::{Plan, WRITTEN_OUT, has_result};
use crate::graph::Op;
use crate::program::{Instruction, Nest, Program, Space, Statement};
use crate::rule::Rules;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// Cells cleared without a loop.
const CLEARED_AT_ONCE: i64 = 64;

/// Writes one function.
pub(super) struct Emitter<'p, 'f, S> {
    pub(super) builder: FunctionBuilder<'f>,
    pub(super) program: &'p Program,
    /// Where the rules are, for functions that are reached through them.
    pub(super) rules: *const Rules,
    /// Whether any is.
    pub(super) uses_rules: bool,
    tables: &'f mut Vec<Arc<[u32]>>,
    spaces: Vec<Value>,
    /// Counters of the enclosing loops.
    counters: Vec<Value>,
    trips: Vec<u32>,
    signatures: FxHashMap<(usize, bool), SigRef>,
    convention: CallConv,
    failed: Block,
    widest: u32,
    /// Cells that must be 0 before the next statement that touches them.
    uncleared: Vec<(Space, i64, i64)>,
    number: PhantomData<S>,
}

/// A pointer that several addresses share.
struct Pointer {
    value: Value,
    /// Bytes per iteration of each counter.
    strides: Vec<i64>,
}

/// A nest on its way into code.
struct Loops<'a> {
    plan: Plan<'a>,
    pointers: Vec<Pointer>,
    /// Per address, its pointer and the bytes beyond it.
    cells: Vec<(usize, i64)>,
    results: Vec<Option<Signed>>,
    /// Results from outside the innermost loop, in all lanes.
    splats: Vec<Option<Value>>,
    /// Terms of windows: per window and number of iterations ahead, those of the present copy of the body.
    terms: Vec<Vec<Option<Signed>>>,
    /// Terms of earlier iterations, in vectors of the iterations they come from, and one by one per cell.
    carried: [Vec<Vec<Variable>>; 2],
    /// Sums over more than the innermost loop, and finished ones.
    totals: Vec<Option<Variable>>,
    rows: Vec<Option<Value>>,
    /// Indices of the innermost loop by their step in bytes. They run up to 0.
    indices: Vec<(i64, Value)>,
    /// Iterations of the innermost loop that are done when the indices are 0.
    end: i64,
}

/// Where in the innermost loop a copy of the body stands.
#[derive(Clone, Copy)]
struct Position {
    /// Iterations beyond the indices.
    offset: i64,
    wide: bool,
}

impl<'p, 'f, S: Number> Emitter<'p, 'f, S> {
    /// Begins a function whose statements are inside loops of these trip counts, run by the caller.
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
            number: PhantomData,
        }
    }

    /// Ends the function; the number of its instructions.
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
                self.repeat(*trip, *reversed, body);
                self.clear_all();
            }
            Statement::Zero { space, start, length } => self.uncleared.push((*space, *start as i64, *length as i64)),
            // Run by the caller.
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

    /// Clears what is left to clear.
    fn clear_all(&mut self) {
        for (space, start, length) in std::mem::take(&mut self.uncleared) {
            self.clear(space, start, length);
        }
    }

    /// Clears what a nest touches, except for the cells it sets anyway because all that it does to them is to add once.
    fn clear_for(&mut self, plan: &mut Plan) {
        let nest = plan.nest;
        for (space, start, length) in std::mem::take(&mut self.uncleared) {
            let touches: Vec<(usize, i64, i64)> = nest
                .body
                .iter()
                .enumerate()
                .filter_map(|(i, instruction)| match *instruction {
                    Instruction::Load(a)
                    | Instruction::Store { address: a, .. }
                    | Instruction::Accumulate { address: a, .. } => {
                        let (low, high) = plan.ranges[a as usize];
                        let meets = nest.addresses[a as usize].space == space && low < start + length && start <= high;
                        meets.then_some((i, low, high))
                    }
                    _ => None,
                })
                .collect();
            if touches.is_empty() {
                self.uncleared.push((space, start, length));
                continue;
            }
            let window = plan.window[touches[0].0];
            let alone = window.is_some() && touches.iter().all(|touch| plan.window[touch.0] == window);
            let cells = window.filter(|_| alone).and_then(|w| plan.dense(&plan.windows[w]));
            match (window, cells) {
                (Some(w), Some((low, high))) if start <= low && high < start + length && self.counters.is_empty() => {
                    plan.windows[w].fresh = true;
                    self.uncleared.push((space, start, low - start));
                    self.uncleared.push((space, high + 1, start + length - high - 1));
                    self.uncleared.retain(|rest| rest.2 > 0);
                }
                _ => self.clear(space, start, length),
            }
        }
    }

    fn clear(&mut self, space: Space, start: i64, length: i64) {
        let bytes = S::TYPE.bytes() as i64;
        let lanes = self.widest as i64;
        let zero = self.constant_of(0.0, self.widest > 1);
        let single = self.constant_of(0.0, false);
        let mut pointer = self.spaces[space_number(self.program, space)];
        let mut done = 0;
        const COPIES: i64 = 8;
        if length > CLEARED_AT_ONCE {
            let blocks = length / (COPIES * lanes);
            pointer = self.builder.ins().iadd_imm_s(pointer, start * bytes);
            let end = self.builder.ins().iadd_imm_s(pointer, blocks * COPIES * lanes * bytes);
            let variable = self.builder.declare_var(types::I64);
            self.builder.def_var(variable, pointer);
            let (body, after) = (self.builder.create_block(), self.builder.create_block());
            self.builder.ins().jump(body, &[]);
            self.builder.switch_to_block(body);
            let place = self.builder.use_var(variable);
            for k in 0..COPIES {
                self.store(zero, place, k * lanes * bytes);
            }
            let next = self.builder.ins().iadd_imm_s(place, COPIES * lanes * bytes);
            self.builder.def_var(variable, next);
            let more = self.builder.ins().icmp(IntCC::NotEqual, next, end);
            self.builder.ins().brif(more, body, &[], after, &[]);
            self.builder.switch_to_block(after);
            done = blocks * COPIES * lanes;
        }
        let shift = if length > CLEARED_AT_ONCE { 0 } else { start };
        while done < length {
            let wide = length - done >= lanes;
            self.store(if wide { zero } else { single }, pointer, (shift + done) * bytes);
            done += if wide { lanes } else { 1 };
        }
    }

    fn nest(&mut self, nest: &'p Nest) {
        if nest.dimensions.iter().any(|d| d.trip == 0) {
            return;
        }
        let mut plan = Plan::new(nest, &self.trips, self.widest, &self.program.rules);
        self.clear_for(&mut plan);
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
            // What does not fit into an instruction becomes part of the pointer.
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

    /// What runs inside the `level` outermost loops, and the loops inside these.
    fn level(&mut self, loops: &mut Loops, level: usize) {
        let depth = loops.plan.order.len();
        self.body(loops, level, Position { offset: 0, wide: false }, None);
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
                let (pointer, shift) = loops.cells[address as usize];
                self.add_to(sum.into(), loops.pointers[pointer].value, shift);
            }
        }
    }

    fn innermost(&mut self, loops: &mut Loops) {
        let depth = loops.plan.order.len();
        let number = loops.plan.order[depth - 1];
        let trip = loops.plan.trips[number] as i64;
        let (lanes, copies) = (loops.plan.lanes as i64, loops.plan.copies as i64);
        let down = loops.plan.is_down(number);
        let sign = if down { -1 } else { 1 };
        let before: Vec<Value> = loops.pointers.iter().map(|pointer| pointer.value).collect();
        for pointer in &mut loops.pointers {
            if down && pointer.strides[number] != 0 {
                pointer.value = self.builder.ins().iadd_imm_s(pointer.value, (trip - 1) * pointer.strides[number]);
            }
        }
        if lanes > 1 {
            self.splat_outer(loops);
        }
        let sums: Vec<usize> = (0..loops.plan.sum.len()).filter(|i| loops.plan.sum[*i].is_some()).collect();
        let variables: Vec<Vec<Variable>> = sums
            .iter()
            .map(|_| {
                let zero = self.constant_of(0.0, lanes > 1);
                let kind = self.builder.func.dfg.value_type(zero);
                (0..copies.min(trip / lanes))
                    .map(|_| {
                        let variable = self.builder.declare_var(kind);
                        self.builder.def_var(variable, zero);
                        variable
                    })
                    .collect()
            })
            .collect();
        let wide = lanes > 1;
        let vectors = trip / lanes;
        self.begin_windows(loops, wide);
        let mut blocks = vectors / copies;
        let size = loops.plan.inner_instructions() as u32;
        if (vectors as u32).saturating_mul(size) <= WRITTEN_OUT {
            blocks = 0;
        }
        let of_copy = |copy: i64| -> Vec<(usize, Variable)> {
            sums.iter().zip(&variables).map(|(i, variables)| (*i, variables[copy as usize % variables.len()])).collect()
        };
        if blocks > 0 {
            let mut steps: Vec<i64> =
                loops.cells.iter().map(|cell| sign * loops.pointers[cell.0].strides[number]).collect();
            steps.retain(|step| *step != 0);
            steps.sort_unstable();
            steps.dedup();
            if steps.is_empty() {
                steps.push(1);
            }
            let variables: Vec<Variable> = steps.iter().map(|_| self.builder.declare_var(types::I64)).collect();
            for (variable, step) in variables.iter().zip(&steps) {
                let start = self.builder.ins().iconst(types::I64, -step * lanes * copies * blocks);
                self.builder.def_var(*variable, start);
            }
            let (body, after) = (self.builder.create_block(), self.builder.create_block());
            self.builder.ins().jump(body, &[]);
            self.builder.switch_to_block(body);
            loops.end = lanes * copies * blocks;
            loops.indices = steps.iter().zip(&variables).map(|(s, v)| (*s, self.builder.use_var(*v))).collect();
            for copy in 0..copies {
                self.body(loops, depth, Position { offset: copy * lanes, wide }, Some(&of_copy(copy)));
            }
            let mut more = None;
            for ((step, index), variable) in loops.indices.iter().zip(&variables) {
                let next = self.builder.ins().iadd_imm_s(*index, step * lanes * copies);
                self.builder.def_var(*variable, next);
                more = more.or(Some(next));
            }
            let more = more.expect("there is at least one index");
            self.builder.ins().brif(more, body, &[], after, &[]);
            self.builder.switch_to_block(after);
            loops.indices.clear();
            loops.end = 0;
        }
        for vector in blocks * copies..vectors {
            self.body(loops, depth, Position { offset: vector * lanes, wide }, Some(&of_copy(vector % copies)));
        }
        // Partial sums are added pairwise, then lanes, then what is left over.
        let mut singles = Vec::new();
        for (i, variables) in sums.iter().zip(&variables) {
            let mut partial: Vec<Value> = variables.iter().map(|variable| self.builder.use_var(*variable)).collect();
            if wide {
                let vector = self.pairwise(partial);
                partial = (0..lanes).map(|lane| self.builder.ins().extractlane(vector, lane as u8)).collect();
            }
            let row = self.pairwise(partial);
            let variable = self.builder.declare_var(S::TYPE);
            self.builder.def_var(variable, row);
            singles.push((*i, variable));
        }
        if wide {
            self.split_carried(loops);
        }
        for offset in vectors * lanes..trip {
            self.body(loops, depth, Position { offset, wide: false }, Some(&singles));
        }
        self.finish_windows(loops, trip);
        for (i, variable) in singles {
            let row = self.builder.use_var(variable);
            match loops.totals[i] {
                Some(total) => {
                    let sum = self.builder.use_var(total);
                    let sum = self.builder.ins().fadd(sum, row);
                    self.builder.def_var(total, sum);
                }
                None => loops.rows[i] = Some(row),
            }
        }
        for (pointer, value) in loops.pointers.iter_mut().zip(before) {
            pointer.value = value;
        }
    }

    /// Puts what the innermost loop uses from outside into all lanes.
    fn splat_outer(&mut self, loops: &mut Loops) {
        let depth = loops.plan.order.len();
        for (i, instruction) in loops.plan.nest.body.iter().enumerate() {
            if loops.plan.level[i] < depth {
                continue;
            }
            let kind = self.wide_type();
            instruction.operands(|operand| {
                let operand = operand as usize;
                if loops.plan.level[operand] < depth {
                    let value = loops.results[operand].expect("outer levels are written before inner ones");
                    let value = self.plain(value);
                    loops.splats[operand] = Some(self.builder.ins().splat(kind, value));
                }
            });
        }
    }

    fn pairwise(&mut self, mut values: Vec<Value>) -> Value {
        while values.len() > 1 {
            let half = values.len().div_ceil(2);
            for i in half..values.len() {
                values[i - half] = self.builder.ins().fadd(values[i - half], values[i]);
            }
            values.truncate(half);
        }
        values[0]
    }

    /// The instructions of one level, once.
    fn body(&mut self, loops: &mut Loops, level: usize, at: Position, sums: Option<&[(usize, Variable)]>) {
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
                    let value = self.load_cell(loops, address, at);
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
                }
                Instruction::Accumulate { value, address } => {
                    let value = operand(loops, value);
                    if let Some((_, variable)) = sums.and_then(|sums| sums.iter().find(|(sum, _)| *sum == i)) {
                        let sum = self.builder.use_var(*variable);
                        let sum = self.sum(sum.into(), value);
                        self.builder.def_var(*variable, sum);
                    } else if let Some(window) = loops.plan.window[i] {
                        self.add_to_window(loops, window, i, value, at);
                    } else {
                        self.store_cell(loops, address, at, value.value, Some(value.negated));
                    }
                }
            }
        }
    }

    /// Nothing is carried into a row.
    fn begin_windows(&mut self, loops: &mut Loops, wide: bool) {
        for (kind, wide) in [(0, wide), (1, false)] {
            loops.carried[kind].clear();
            for w in 0..loops.plan.windows.len() {
                let zero = self.constant_of(0.0, wide);
                let number = self.builder.func.dfg.value_type(zero);
                let variables = (0..loops.plan.windows[w].reach).map(|_| {
                    let variable = self.builder.declare_var(number);
                    self.builder.def_var(variable, zero);
                    variable
                });
                let variables = variables.collect();
                loops.carried[kind].push(variables);
            }
        }
    }

    /// Takes a term; after the last one of an iteration, what is complete goes to its cells.
    fn add_to_window(&mut self, loops: &mut Loops, w: usize, instruction: usize, term: Signed, at: Position) {
        let window = &loops.plan.windows[w];
        let (address, fresh) = (window.address, window.fresh);
        let ahead = window.members.iter().find(|member| member.0 == instruction).map_or(0, |member| member.1) as usize;
        let is_last = window.members.last().is_some_and(|member| member.0 == instruction);
        loops.terms[w][ahead] = Some(match loops.terms[w][ahead] {
            Some(sum) => self.sum(sum, term).into(),
            None => term,
        });
        if !is_last {
            return;
        }
        let terms: Vec<Option<Signed>> = loops.terms[w].iter_mut().map(Option::take).collect();
        let mut complete = terms[0];
        if at.wide {
            for (ahead, term) in terms.iter().enumerate().skip(1) {
                let variable = loops.carried[0][w][ahead - 1];
                let before = self.builder.use_var(variable);
                let now = match term {
                    Some(term) => self.plain(*term),
                    None => self.constant_of(0.0, true),
                };
                self.builder.def_var(variable, now);
                let arriving = self.later(before, now, ahead as u32).into();
                complete = Some(match complete {
                    Some(sum) => self.sum(sum, arriving).into(),
                    None => arriving,
                });
            }
        }
        if !at.wide && terms.len() > 1 {
            let before: Vec<Value> =
                loops.carried[1][w].iter().map(|variable| self.builder.use_var(*variable)).collect();
            complete = Some(match complete {
                Some(sum) => self.sum(sum, before[0].into()).into(),
                None => before[0].into(),
            });
            for ahead in 1..terms.len() {
                let earlier = before.get(ahead).copied();
                let sum = match (terms[ahead], earlier) {
                    (Some(term), Some(earlier)) => self.sum(term, earlier.into()),
                    (Some(term), None) => self.plain(term),
                    (None, Some(earlier)) => earlier,
                    (None, None) => self.constant_of(0.0, false),
                };
                self.builder.def_var(loops.carried[1][w][ahead - 1], sum);
            }
        }
        let Some(complete) = complete else { return };
        if fresh {
            let complete = self.plain(complete);
            self.store_cell(loops, address, at, complete, None);
        } else {
            self.store_cell(loops, address, at, complete.value, Some(complete.negated));
        }
    }

    /// The lanes of two vectors in a row, from `ahead` lanes before the second on.
    fn later(&mut self, before: Value, now: Value, ahead: u32) -> Value {
        let lanes = 16 / S::TYPE.bytes();
        if ahead == lanes {
            return before;
        }
        let first = ((lanes - ahead) * S::TYPE.bytes()) as u8;
        let mask: Vec<u8> = (first..first + 16).collect();
        let mask = self.builder.func.dfg.immediates.push(mask.into());
        let (before, now) = (self.reinterpret(types::I8X16, before), self.reinterpret(types::I8X16, now));
        let shuffled = self.builder.ins().shuffle(before, now, mask);
        let kind = self.wide_type();
        self.reinterpret(kind, shuffled)
    }

    /// From vectors of terms to one sum per cell to come.
    fn split_carried(&mut self, loops: &mut Loops) {
        let lanes = loops.plan.lanes as usize;
        for w in 0..loops.plan.windows.len() {
            let vectors: Vec<Value> =
                loops.carried[0][w].iter().map(|variable| self.builder.use_var(*variable)).collect();
            for cell in 0..vectors.len() {
                let mut sum = None;
                for ahead in cell + 1..=vectors.len() {
                    let term = self.builder.ins().extractlane(vectors[ahead - 1], (lanes - ahead + cell) as u8);
                    sum = Some(match sum {
                        Some(sum) => self.builder.ins().fadd(sum, term),
                        None => term,
                    });
                }
                if let Some(sum) = sum {
                    self.builder.def_var(loops.carried[1][w][cell], sum);
                }
            }
        }
    }

    /// What is carried out of a row goes to the cells behind it.
    fn finish_windows(&mut self, loops: &mut Loops, trip: i64) {
        for w in 0..loops.plan.windows.len() {
            let (address, fresh) = (loops.plan.windows[w].address, loops.plan.windows[w].fresh);
            for cell in 0..loops.plan.windows[w].reach as usize {
                let sum = self.builder.use_var(loops.carried[1][w][cell]);
                let at = Position { offset: trip + cell as i64, wide: false };
                self.store_cell(loops, address, at, sum, (!fresh).then_some(false));
            }
        }
    }

    /// Pointer and bytes beyond it of an address, some iterations on.
    fn locate(&mut self, loops: &Loops, address: u32, offset: i64) -> (Value, i64) {
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

    /// The same place with bytes that fit into an instruction.
    fn near(&mut self, pointer: Value, shift: i64) -> (Value, i64) {
        if i32::try_from(shift).is_ok() { (pointer, shift) } else { (self.builder.ins().iadd_imm_s(pointer, shift), 0) }
    }

    /// Whether a vector of this address is consecutive cells.
    fn is_consecutive(&self, loops: &Loops, address: u32) -> bool {
        loops.plan.nest.addresses[address as usize].table.is_none() && loops.plan.step(address) == 1
    }

    fn load_cell(&mut self, loops: &Loops, address: u32, at: Position) -> Value {
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

    /// Stores to a cell, or adds to it (`Some`), perhaps with the other sign.
    fn store_cell(&mut self, loops: &Loops, address: u32, at: Position, value: Value, add: Option<bool>) {
        let one = |this: &mut Self, offset: i64, value: Value| {
            let (pointer, shift) = this.locate(loops, address, offset);
            match add {
                Some(negated) => this.add_to(Signed { value, negated }, pointer, shift),
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

    fn add_to(&mut self, value: Signed, pointer: Value, shift: i64) {
        let (pointer, shift) = self.near(pointer, shift);
        let kind = self.builder.func.dfg.value_type(value.value);
        let cell = self.builder.ins().load(kind, MemFlagsData::new().with_notrap(), pointer, shift as i32);
        let sum = self.sum(cell.into(), value);
        self.store(sum, pointer, shift);
    }

    fn store(&mut self, value: Value, pointer: Value, shift: i64) {
        let (pointer, shift) = self.near(pointer, shift);
        self.builder.ins().store(MemFlagsData::new().with_notrap(), value, pointer, shift as i32);
    }

    /// Begins a loop and stands in its body.
    fn counter(&mut self, trip: u32, down: bool) -> Counter {
        let variable = self.builder.declare_var(types::I64);
        let start = self.builder.ins().iconst(types::I64, if down { trip as i64 - 1 } else { 0 });
        self.builder.def_var(variable, start);
        let body = self.builder.create_block();
        self.builder.ins().jump(body, &[]);
        self.builder.switch_to_block(body);
        Counter { variable, body, step: if down { -1 } else { 1 }, end: if down { -1 } else { trip as i64 } }
    }

    /// Ends a loop and stands after it.
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

    /// The signature of functions of some numbers, behind rules and a rule number or not.
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

    fn constant_of(&mut self, number: f64, wide: bool) -> Value {
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
