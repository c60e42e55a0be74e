//! The back end for machines without an own one: Cranelift. Needs the feature `native`.
//!
//! Called by `machine`. Translates intermediate code line by line.
//!
//! # Which compiler settings?
//! The emitter hoists out of loops all that can be hoisted, and computes no result twice, so Cranelift's optimiser has nothing to add
//! (measured on the gradients of the benchmark: the same run time, a third more compile time) and is left out. Short functions
//! get the careful register allocator, long ones the single-pass one: irregular code of 260 to 15,000 instructions runs 1.5 to
//! 1.7 times as fast with the careful one, but its time per instruction grows from 3 to 60 microseconds, where the other
//! takes 1 to 2.

use super::code::{Arithmetic, Call, Condition, Function, Kind, Limit, Line, Operation, Place, Simple, Value};
use super::options::{MAX_STACK, Refused};
use crate::recording::graph::Outcome;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    self, AbiParam, Block, Endianness, InstBuilder, MemFlagsData, SigRef, Signature, StackSlot, StackSlotData,
    StackSlotKind, Type, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Modules with and without the careful register allocator, and their functions.
pub(super) struct Cranelift {
    modules: [Option<JITModule>; 2],
    functions: Vec<(bool, FuncId)>,
}

/// A compiler for this machine.
fn machine(optimised: bool) -> Result<OwnedTargetIsa, Refused> {
    static MACHINES: [OnceLock<Result<OwnedTargetIsa, Refused>>; 2] = [OnceLock::new(), OnceLock::new()];
    let make = || {
        let mut flags = settings::builder();
        let set = [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "none"),
            ("regalloc_algorithm", if optimised { "backtracking" } else { "single_pass" }),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("unwind_info", "false"),
            // A frame larger than a page must not step over the guard page of the stack.
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
        ];
        for (name, value) in set {
            flags.set(name, value).map_err(|error| Refused::Compiler(error.to_string()))?;
        }
        let builder = cranelift_native::builder().map_err(|reason| Refused::Machine(reason.to_string()))?;
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|error| Refused::Machine(error.to_string()))?;
        if isa.pointer_bits() != 64 {
            return Err(Refused::Machine("its pointers are not 64 bits wide".to_string()));
        }
        Ok(isa)
    };
    MACHINES[optimised as usize].get_or_init(make).clone()
}

fn failed(error: impl std::fmt::Display) -> Refused {
    Refused::Compiler(error.to_string())
}

/// The calling convention of functions here: that of `with_convention!` in `number`.
fn convention(isa: &OwnedTargetIsa) -> CallConv {
    if cfg!(target_arch = "x86_64") { CallConv::SystemV } else { isa.default_call_conv() }
}

impl Cranelift {
    pub(super) fn new() -> Cranelift {
        Cranelift { modules: [None, None], functions: Vec::new() }
    }

    /// Whether vectors of 16 bytes have all the instructions that are used.
    pub(super) fn has_vectors() -> Result<bool, Refused> {
        let isa = machine(true)?;
        let on = |name: &str| isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
        Ok(match isa.triple().architecture.to_string().as_str() {
            "x86_64" => on("has_sse41"),
            "aarch64" => true,
            _ => false,
        })
    }

    /// Compiles a function. Returns its bytes if they are wanted, and their number.
    pub(super) fn add(
        &mut self,
        function: &Function,
        optimised: bool,
        listing: bool,
    ) -> Result<(Option<Vec<u8>>, usize), Refused> {
        let isa = machine(optimised)?;
        let convention = convention(&isa);
        let module = self.modules[optimised as usize]
            .get_or_insert_with(|| JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())));
        let mut context = module.make_context();
        let mut signature = Signature::new(convention);
        signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
        signature.returns.push(AbiParam::new(types::I32));
        context.func.signature = signature;
        let mut frontend = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut frontend);
        let translation = Translation::new(builder, function, convention);
        translation.all().finalize(module.target_config());
        let id = module.declare_anonymous_function(&context.func.signature).map_err(failed)?;
        module.define_function(id, &mut context).map_err(failed)?;
        let (mut listed, mut length) = (None, 0);
        if let Some(compiled) = context.compiled_code() {
            let found = compiled.buffer.frame_layout().map_or(0, |frame| frame.frame_to_fp_offset as usize);
            if found > MAX_STACK {
                return Err(Refused::Stack { found, most: MAX_STACK });
            }
            length = compiled.code_buffer().len();
            listed = listing.then(|| compiled.code_buffer().to_vec());
        }
        self.functions.push((optimised, id));
        Ok((listed, length))
    }

    /// Makes the functions executable; returns their owners and addresses.
    pub(super) fn finish(self) -> Result<(Vec<JITModule>, Vec<*const u8>), Refused> {
        let Cranelift { mut modules, functions } = self;
        for module in modules.iter_mut().flatten() {
            module.finalize_definitions().map_err(failed)?;
        }
        let addresses = functions
            .iter()
            .filter_map(|(optimised, id)| Some(modules[*optimised as usize].as_ref()?.get_finalized_function(*id)))
            .collect();
        Ok((modules.into_iter().flatten().collect(), addresses))
    }
}

/// One function being translated.
struct Translation<'f> {
    builder: FunctionBuilder<'f>,
    function: &'f Function,
    values: Vec<Option<ir::Value>>,
    failed: Block,
    memory: Option<StackSlot>,
    signatures: HashMap<(u8, bool), SigRef>,
    /// Bodies of open loops.
    open: Vec<Block>,
    convention: CallConv,
    /// The last call.
    called: Option<&'f Call>,
}

impl<'f> Translation<'f> {
    fn new(mut builder: FunctionBuilder<'f>, function: &'f Function, convention: CallConv) -> Translation<'f> {
        let entry = builder.create_block();
        let failed = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.append_block_param(failed, types::I32);
        builder.set_cold_block(failed);
        builder.switch_to_block(entry);
        let mut values = vec![None; function.kinds.len()];
        for (value, argument) in values.iter_mut().zip(builder.block_params(entry)) {
            *value = Some(*argument);
        }
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, function.memory, 4);
        let memory = (function.memory > 0).then(|| builder.create_sized_stack_slot(slot));
        Translation {
            builder,
            function,
            values,
            failed,
            memory,
            signatures: HashMap::new(),
            open: Vec::new(),
            convention,
            called: None,
        }
    }

    fn all(mut self) -> FunctionBuilder<'f> {
        let function = self.function;
        for Line { operation, result } in &function.lines {
            let value = self.line(operation, *result);
            if let Some(result) = result {
                self.values[result.index()] = value;
            }
        }
        let zero = self.builder.ins().iconst(types::I32, 0);
        self.builder.ins().return_(&[zero]);
        self.builder.switch_to_block(self.failed);
        let code = self.builder.block_params(self.failed)[0];
        self.builder.ins().return_(&[code]);
        self.builder.seal_all_blocks();
        self.builder
    }

    fn single(&self) -> Type {
        if self.function.bytes == 4 { types::F32 } else { types::F64 }
    }

    fn kind(&self, kind: Kind) -> Type {
        match kind {
            Kind::Integer => types::I64,
            Kind::Numbers(1) => self.single(),
            Kind::Numbers(lanes) => self.single().by(lanes.into()).expect("vectors have 16 bytes"),
        }
    }

    fn value(&mut self, value: Value) -> ir::Value {
        let Some(index) = value.pool() else {
            return self.values[value.index()].expect("definitions come first");
        };
        let (bits, lanes) = self.function.pool[index];
        let bytes = self.function.bytes as usize;
        if lanes == 1 {
            return match bytes {
                4 => self.builder.ins().f32const(f32::from_bits(bits as u32)),
                _ => self.builder.ins().f64const(f64::from_bits(bits)),
            };
        }
        let all = bits.to_le_bytes()[..bytes].repeat(lanes.into());
        let constant = self.builder.func.dfg.constants.insert(all.into());
        let kind = self.kind(Kind::Numbers(lanes));
        self.builder.ins().vconst(kind, constant)
    }

    fn place(&mut self, place: &Place) -> (ir::Value, i32) {
        let base = self.value(place.base);
        match place.index {
            Some(index) => {
                let index = self.value(index);
                (self.builder.ins().iadd(base, index), place.shift)
            }
            None => (base, place.shift),
        }
    }

    fn is_wide(&self, value: Value) -> bool {
        self.function.lanes(value) > 1
    }

    fn reinterpret(&mut self, to: Type, value: ir::Value) -> ir::Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.builder.ins().bitcast(to, flags, value)
    }

    fn arguments(values: impl Iterator<Item = ir::Value>) -> Vec<ir::BlockArg> {
        values.map(ir::BlockArg::from).collect()
    }

    fn line(&mut self, operation: &Operation, result: Option<Value>) -> Option<ir::Value> {
        let kind = result.map_or(types::I64, |result| self.kind(self.function.kind(result)));
        let plain = MemFlagsData::new().with_notrap();
        let constant = MemFlagsData::trusted().with_readonly();
        Some(match operation {
            Operation::Integer(value) => self.builder.ins().iconst(types::I64, *value),
            Operation::Memory(start) => {
                let slot = self.memory.expect("the function has memory");
                self.builder.ins().stack_addr(types::I64, slot, *start as i32)
            }
            Operation::LoadInteger(place) => {
                let (pointer, shift) = self.place(place);
                self.builder.ins().load(types::I64, constant.with_can_move(), pointer, shift)
            }
            Operation::LoadIndex(place) => {
                let (pointer, shift) = self.place(place);
                self.builder.ins().uload32(constant, pointer, shift)
            }
            Operation::AddIntegers(x, y) => {
                let (x, y) = (self.value(*x), self.value(*y));
                self.builder.ins().iadd(x, y)
            }
            Operation::AddConstant(x, constant) => {
                let x = self.value(*x);
                self.builder.ins().iadd_imm_s(x, *constant)
            }
            Operation::Scale(x, factor) => {
                let x = self.value(*x);
                self.builder.ins().imul_imm_s(x, *factor)
            }
            Operation::Double(x, times) => {
                let x = self.value(*x);
                self.builder.ins().ishl_imm_u(x, *times as i64)
            }
            Operation::Load(place) => {
                let (pointer, shift) = self.place(place);
                self.builder.ins().load(kind, plain, pointer, shift)
            }
            Operation::Store(place, value) => {
                let (pointer, shift) = self.place(place);
                let value = self.value(*value);
                self.builder.ins().store(plain, value, pointer, shift);
                return None;
            }
            Operation::Arithmetic(which, x, y) => {
                let (x, y) = (self.value(*x), self.value(*y));
                match which {
                    Arithmetic::Add => self.builder.ins().fadd(x, y),
                    Arithmetic::Subtract => self.builder.ins().fsub(x, y),
                    Arithmetic::Multiply => self.builder.ins().fmul(x, y),
                    Arithmetic::Divide => self.builder.ins().fdiv(x, y),
                }
            }
            Operation::Simple(which, x) => {
                let x = self.value(*x);
                match which {
                    Simple::Sqrt => self.builder.ins().sqrt(x),
                    Simple::Abs => self.builder.ins().fabs(x),
                    Simple::Floor => self.builder.ins().floor(x),
                    Simple::Ceil => self.builder.ins().ceil(x),
                    Simple::Trunc => self.builder.ins().trunc(x),
                }
            }
            Operation::CopySign(magnitude, sign) => {
                let wide = self.is_wide(*magnitude);
                let (magnitude, sign) = (self.value(*magnitude), self.value(*sign));
                if !wide {
                    self.builder.ins().fcopysign(magnitude, sign)
                } else {
                    let bit = match self.function.bytes {
                        4 => self.builder.ins().f32const(-0.0),
                        _ => self.builder.ins().f64const(-0.0),
                    };
                    let bits = self.builder.ins().splat(kind, bit);
                    self.builder.ins().bitselect(bits, sign, magnitude)
                }
            }
            Operation::Choose(condition, all) => {
                let wide = self.is_wide(all[0]);
                let [left, right, then, otherwise] = all.map(|value| self.value(value));
                let condition = match condition {
                    Condition::Less => FloatCC::LessThan,
                    Condition::LessOrEqual => FloatCC::LessThanOrEqual,
                    Condition::Greater => FloatCC::GreaterThan,
                    Condition::GreaterOrEqual => FloatCC::GreaterThanOrEqual,
                    Condition::Equal => FloatCC::Equal,
                    Condition::NotEqual => FloatCC::NotEqual,
                    Condition::Unordered => FloatCC::Unordered,
                };
                let holds = self.builder.ins().fcmp(condition, left, right);
                if !wide {
                    self.builder.ins().select(holds, then, otherwise)
                } else {
                    let mask = self.reinterpret(kind, holds);
                    self.builder.ins().bitselect(mask, then, otherwise)
                }
            }
            Operation::Splat(x) => {
                let x = self.value(*x);
                self.builder.ins().splat(kind, x)
            }
            Operation::Lane(vector, lane) => {
                let vector = self.value(*vector);
                self.builder.ins().extractlane(vector, *lane)
            }
            Operation::Join { start, count } => {
                let lanes = &self.function.joined[*start as usize..][..*count as usize];
                let first = self.value(lanes[0]);
                let mut vector = self.builder.ins().scalar_to_vector(kind, first);
                for (lane, value) in lanes.iter().enumerate().skip(1) {
                    let value = self.value(*value);
                    vector = self.builder.ins().insertlane(vector, value, lane as u8);
                }
                vector
            }
            Operation::Later(before, now, ahead) => {
                let (before, now) = (self.value(*before), self.value(*now));
                let first = 16 - ahead * self.function.bytes as u8;
                let mask: Vec<u8> = (first..first + 16).collect();
                let mask = self.builder.func.dfg.immediates.push(mask.into());
                let (before, now) = (self.reinterpret(types::I8X16, before), self.reinterpret(types::I8X16, now));
                let shuffled = self.builder.ins().shuffle(before, now, mask);
                self.reinterpret(kind, shuffled)
            }
            Operation::Call(call) => {
                let call = &self.function.calls[*call as usize];
                self.called = Some(call);
                self.call(call)
            }
            Operation::Second(_) => {
                let call = self.called?;
                let second = call.second.filter(|second| second.is_wanted)?;
                self.call(&Call { address: second.alone, rule: second.rule, ..*call })
            }
            Operation::Guard(outcome, x, y, guard) => {
                self.guard(*outcome, *x, *y, *guard);
                return None;
            }
            Operation::Begin(number) => {
                let carried = &self.function.loops[*number as usize].carried;
                let first: Vec<ir::Value> = carried.iter().map(|carried| self.value(carried.first)).collect();
                let body = self.builder.create_block();
                for carried in carried {
                    let kind = self.kind(self.function.kind(carried.parameter));
                    self.values[carried.parameter.index()] = Some(self.builder.append_block_param(body, kind));
                }
                self.builder.ins().jump(body, &Translation::arguments(first.into_iter()));
                self.builder.switch_to_block(body);
                self.open.push(body);
                return None;
            }
            Operation::End(number) => {
                let repeat = &self.function.loops[*number as usize];
                let next: Vec<ir::Value> = repeat.carried.iter().map(|carried| self.value(carried.next)).collect();
                let counter = self.value(repeat.counter);
                let more = match repeat.limit {
                    Limit::Integer(limit) => self.builder.ins().icmp_imm_s(IntCC::NotEqual, counter, limit),
                    Limit::Value(limit) => {
                        let limit = self.value(limit);
                        self.builder.ins().icmp(IntCC::NotEqual, counter, limit)
                    }
                };
                let after = self.builder.create_block();
                let body = self.open.pop().expect("the loop was begun");
                self.builder.ins().brif(more, body, &Translation::arguments(next.into_iter()), after, &[]);
                self.builder.switch_to_block(after);
                return None;
            }
        })
    }

    fn guard(&mut self, outcome: Outcome, x: Value, y: Value, guard: u16) {
        let (wide, kind) = (self.is_wide(x), self.kind(self.function.kind(x)));
        let (x, y) = (self.value(x), self.value(y));
        let holds = match outcome {
            Outcome::Less => self.builder.ins().fcmp(FloatCC::LessThan, x, y),
            Outcome::Equal => self.builder.ins().fcmp(FloatCC::Equal, x, y),
            Outcome::Greater => self.builder.ins().fcmp(FloatCC::GreaterThan, x, y),
            Outcome::Unordered => self.builder.ins().fcmp(FloatCC::Unordered, x, y),
            Outcome::Same => {
                let (left, right) = (self.reinterpret(kind.as_int(), x), self.reinterpret(kind.as_int(), y));
                let same = self.builder.ins().icmp(IntCC::Equal, left, right);
                let left = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
                let right = self.builder.ins().fcmp(FloatCC::Unordered, y, y);
                let neither = self.builder.ins().band(left, right);
                self.builder.ins().bor(same, neither)
            }
        };
        let holds = if wide { self.builder.ins().vall_true(holds) } else { holds };
        let code = self.builder.ins().iconst(types::I32, guard as i64 + 1);
        let after = self.builder.create_block();
        self.builder.ins().brif(holds, after, &[], self.failed, &[code.into()]);
        self.builder.switch_to_block(after);
    }

    fn call(&mut self, call: &Call) -> ir::Value {
        let through_rules = call.rules.is_some();
        let number = self.single();
        let (convention, builder) = (self.convention, &mut self.builder);
        let signature = *self.signatures.entry((call.count, through_rules)).or_insert_with(|| {
            let mut signature = Signature::new(convention);
            if through_rules {
                signature.params.push(AbiParam::new(types::I64));
                signature.params.push(AbiParam::new(types::I32));
            }
            signature.params.extend((0..call.count).map(|_| AbiParam::new(number)));
            signature.returns.push(AbiParam::new(number));
            builder.import_signature(signature)
        });
        let callee = self.builder.ins().iconst(types::I64, call.address as i64);
        let mut all = Vec::with_capacity(4);
        if let Some(rules) = call.rules {
            all.push(self.builder.ins().iconst(types::I64, rules as i64));
            all.push(self.builder.ins().iconst(types::I32, call.rule as i64));
        }
        for argument in &call.arguments[..call.count as usize] {
            all.push(self.value(*argument));
        }
        let call = self.builder.ins().call_indirect(signature, callee, &all);
        self.builder.inst_results(call)[0]
    }
}
