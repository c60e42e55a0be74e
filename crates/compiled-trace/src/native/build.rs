//! Compiles a checked program to steps and machine code.
//!
//! Called by [`Compiled::new`](super::Compiled::new). Consecutive statements become one function; the caller of the code runs custom
//! rules, and loops around them.
//!
//! # Which compiler settings?
//! `emit` hoists out of loops all that can be hoisted, and computes no result twice, so Cranelift's optimiser has nothing to add
//! (measured on the gradients of the benchmark: the same run time, a third more compile time) and is left out. Short functions
//! get the careful register allocator, long ones the single-pass one: irregular code of 260 to 15,000 instructions runs 1.5 to
//! 1.7 times as fast with the careful one, but its time per instruction grows from 3 to 60 microseconds, where the other
//! takes 1 to 2.

use super::call::{Code, Lengths, text};
use super::check::check;
use super::emit::Emitter;
use super::number::Number;
use super::options::{Options, Refused};
use crate::program::{Program, RuleCall, Statement};
use crate::recording::rules::Rules;
use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::sync::{Arc, OnceLock};

/// Statements are combined into one function up to this many instructions.
const MAX_FUNCTION: usize = 600;
/// Maximum stack of a function in bytes: a quarter of the default stack of a thread.
const MAX_STACK: usize = 512 << 10;

/// A step that the caller of the code performs.
#[derive(Debug)]
pub(super) enum Step {
    /// Runs a function.
    Code(usize),
    /// Repeats steps; the functions get the counter.
    Loop { trip: u32, reversed: bool, body: Vec<Step> },
    /// Calls a custom rule.
    Call { call: RuleCall, trips: Vec<u32> },
}

/// The result of compiling a program.
pub(super) struct Built {
    pub(super) code: Code,
    pub(super) steps: Vec<Step>,
    pub(super) instructions: usize,
    pub(super) bytes: usize,
    pub(super) listing: Vec<Listing>,
    /// Whether functions are called through the rules. Some of these may be users' rules, which may panic.
    pub(super) uses_rules: bool,
}

/// How deep the loops are nested.
pub(super) fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Loop { body, .. } => 1 + depth(body),
        _ => 0,
    };
    steps.iter().map(of).max().unwrap_or(0)
}

/// A function before and after compilation.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The function in Cranelift's intermediate language.
    pub text: String,
    /// The machine code: `objdump -D -b binary -m i386:x86-64` shows it on an x86 machine.
    pub code: Vec<u8>,
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

/// Whether vectors of 16 bytes have all the instructions that are used.
fn has_vectors(isa: &dyn TargetIsa) -> bool {
    let on = |name: &str| isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
    match isa.triple().architecture.to_string().as_str() {
        "x86_64" => on("has_sse41"),
        "aarch64" => true,
        _ => false,
    }
}

/// Compiles a program.
pub(super) fn build<S: Number>(program: &Program, options: Options) -> Result<Built, Refused> {
    check(program)?;
    let found = program.instruction_count();
    if found > options.most_instructions {
        return Err(Refused::TooLarge { found, most: options.most_instructions });
    }
    let rules = Arc::new(program.rules.clone());
    let mut builder = Builder::<S> {
        program,
        options,
        rules: Arc::as_ptr(&rules),
        tables: Vec::new(),
        modules: [None, None],
        functions: Vec::new(),
        instructions: 0,
        bytes: 0,
        listing: Vec::new(),
        uses_rules: false,
        number: std::marker::PhantomData,
    };
    let steps = builder.steps(&program.statements, &mut Vec::new())?;
    let Builder { tables, mut modules, functions, instructions, bytes, listing, uses_rules, .. } = builder;
    for module in modules.iter_mut().flatten() {
        module.finalize_definitions().map_err(|error| Refused::Compiler(error.to_string()))?;
    }
    let addresses: Vec<*const u8> = functions
        .iter()
        .filter_map(|(optimised, id)| Some(modules[*optimised as usize].as_ref()?.get_finalized_function(*id)))
        .collect();
    let lengths = Lengths {
        constants: program.constants.len(),
        work: program.work,
        inputs: program.inputs.clone(),
        outputs: program.outputs.clone(),
        loops: depth(&steps),
    };
    let code = Code::new(modules.into_iter().flatten().collect(), &addresses, lengths, rules, tables);
    Ok(Built { code, steps, instructions, bytes, listing, uses_rules })
}

struct Builder<'p, S> {
    program: &'p Program,
    options: Options,
    rules: *const Rules,
    tables: Vec<Arc<[u32]>>,
    modules: [Option<JITModule>; 2],
    functions: Vec<(bool, FuncId)>,
    instructions: usize,
    bytes: usize,
    listing: Vec<Listing>,
    uses_rules: bool,
    number: std::marker::PhantomData<S>,
}

impl<'p, S: Number> Builder<'p, S> {
    fn steps(&mut self, statements: &'p [Statement], loops: &mut Vec<u32>) -> Result<Vec<Step>, Refused> {
        let mut steps = Vec::new();
        let mut together: Vec<&Statement> = Vec::new();
        let mut length = 0;
        for statement in statements {
            if !has_call(statement) {
                let own = instructions(statement);
                if !together.is_empty() && length + own > MAX_FUNCTION {
                    self.flush(&mut together, loops, &mut steps)?;
                    length = 0;
                }
                together.push(statement);
                length += own;
                continue;
            }
            self.flush(&mut together, loops, &mut steps)?;
            length = 0;
            match statement {
                Statement::Loop { trip, reversed, body } => {
                    loops.push(*trip);
                    let body = self.steps(body, loops)?;
                    loops.pop();
                    steps.push(Step::Loop { trip: *trip, reversed: *reversed, body });
                }
                Statement::Call(call) => steps.push(Step::Call { call: call.clone(), trips: loops.clone() }),
                Statement::Nest(_) | Statement::Zero { .. } => {}
            }
        }
        self.flush(&mut together, loops, &mut steps)?;
        Ok(steps)
    }

    fn flush(
        &mut self,
        together: &mut Vec<&'p Statement>,
        loops: &[u32],
        steps: &mut Vec<Step>,
    ) -> Result<(), Refused> {
        if together.is_empty() {
            return Ok(());
        }
        let statements = std::mem::take(together);
        let size: usize = statements.iter().map(|statement| instructions(statement)).sum();
        let optimised = size <= self.options.optimised;
        let isa = machine(optimised)?;
        let vectors = has_vectors(&*isa) && self.options.vectors;
        let module = self.modules[optimised as usize]
            .get_or_insert_with(|| JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())));
        let mut context = module.make_context();
        let mut signature = module.make_signature();
        signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
        signature.returns.push(AbiParam::new(types::I32));
        context.func.signature = signature;
        let mut frontend = FunctionBuilderContext::new();
        let builder = FunctionBuilder::new(&mut context.func, &mut frontend);
        let mut emitter = Emitter::<S>::new(builder, self.program, self.rules, &mut self.tables, loops, vectors);
        for statement in statements {
            emitter.statement(statement);
        }
        self.uses_rules |= emitter.uses_rules;
        self.instructions += emitter.finish(module.target_config());
        // Copies of bodies count as well.
        if self.instructions > 4 * self.options.most_instructions {
            return Err(Refused::TooLarge { found: self.instructions, most: 4 * self.options.most_instructions });
        }
        let listing = self.options.listing.then(|| text(&context.func));
        let compiler = |error: cranelift_module::ModuleError| Refused::Compiler(error.to_string());
        let id = module.declare_anonymous_function(&context.func.signature).map_err(compiler)?;
        module.define_function(id, &mut context).map_err(compiler)?;
        if let Some(compiled) = context.compiled_code() {
            let found = compiled.buffer.frame_layout().map_or(0, |frame| frame.frame_to_fp_offset as usize);
            if found > MAX_STACK {
                return Err(Refused::Stack { found, most: MAX_STACK });
            }
            self.bytes += compiled.code_buffer().len();
            if let Some(text) = listing {
                self.listing.push(Listing { text, code: compiled.code_buffer().to_vec() });
            }
        }
        steps.push(Step::Code(self.functions.len()));
        self.functions.push((optimised, id));
        Ok(())
    }
}

fn has_call(statement: &Statement) -> bool {
    match statement {
        Statement::Call(_) => true,
        Statement::Loop { body, .. } => body.iter().any(has_call),
        _ => false,
    }
}

fn instructions(statement: &Statement) -> usize {
    match statement {
        Statement::Nest(nest) => nest.body.len() + 8,
        Statement::Loop { body, .. } => body.iter().map(instructions).sum(),
        _ => 8,
    }
}
