//! Compiles a checked program to steps and machine code.
//!
//! Called by [`Compiled::new`](super::Compiled::new). Consecutive statements become one function; the caller of the code runs custom
//! rules, and loops around them.

use super::call::{Code, Lengths};
use super::check::check;
use super::code::Function;
use super::emit::{Emitter, Target};
use super::functions::Calls;
use super::machine::{Machine, most_instructions};
use super::number::Format;
use super::options::{Options, Refused};
use super::time;
use crate::products::{Product, products};
use crate::program::{PlacedCall, Program, Statement};
use crate::recording::rules::Rules;
use std::ops::Range;
use std::sync::Arc;

/// Statements are combined into one function up to this many instructions.
const MAX_FUNCTION: usize = 600;

/// A step that the caller of the code performs.
#[derive(Debug)]
pub(super) enum Step {
    /// Runs a function.
    Code(usize),
    /// Repeats steps; the functions get the counter.
    Loop { trip: u32, reversed: bool, body: Vec<Step> },
    /// Runs each function so many times with the number of the time as its counter, all at once.
    #[cfg(feature = "rayon")]
    AtOnce(Vec<(usize, u32)>),
    /// Adds products of matrices.
    Products(Vec<Product>),
    /// Calls a custom rule.
    Call(PlacedCall),
}

/// The result of compiling a program.
pub(super) struct Built {
    pub(super) code: Arc<Code>,
    pub(super) steps: Arc<[Step]>,
    /// How many of the steps are of the leading statements.
    pub(super) leading: usize,
    pub(super) instructions: usize,
    pub(super) bytes: usize,
    /// Estimated time of a run, in that of an operation on a tape.
    pub(super) time: f64,
    pub(super) listing: Vec<Listing>,
    /// Whether functions are called through the rules. Some of these may be users' rules, which may panic.
    pub(super) uses_rules: bool,
}

/// How deep the loops are nested.
pub(super) fn depth(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Loop { body, .. } => 1 + depth(body),
        #[cfg(feature = "rayon")]
        Step::AtOnce(_) => 1,
        _ => 0,
    };
    steps.iter().map(of).max().unwrap_or(0)
}

/// The length of the memory for copies of the factors of products.
pub(super) fn copies(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Products(products) => products.iter().map(Product::memory).max().unwrap_or(0),
        _ => 0,
    };
    steps.iter().map(of).max().unwrap_or(0)
}

/// Time of a run of a program with nothing to do: 15 ns.
const PER_RUN: f64 = 3.0;
/// Time of a term of a product of matrices.
const PER_TERM: f64 = 0.02;
/// Time of a call of a custom rule, and of an argument or result of it.
const PER_RULE: f64 = 9.0;
const PER_NUMBER: f64 = 0.3;

/// The time of these steps, with that of each function; without that of custom rules themselves.
fn time_of(steps: &[Step], functions: &[f64]) -> f64 {
    let of = |step: &Step| match step {
        Step::Code(function) => functions[*function],
        Step::Loop { trip, body, .. } => f64::from(*trip) * time_of(body, functions),
        #[cfg(feature = "rayon")]
        Step::AtOnce(all) => all.iter().map(|(function, trip)| f64::from(*trip) * functions[*function]).sum(),
        Step::Products(products) => products.iter().map(|product| PER_TERM * product.terms()).sum(),
        Step::Call(call) => PER_RULE + PER_NUMBER * call.cells() as f64,
    };
    steps.iter().map(of).sum()
}

/// A function before and after compilation.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The function in intermediate code.
    pub text: String,
    /// The machine code: `objdump -D -b binary -m i386:x86-64` shows it on an x86 machine.
    pub code: Vec<u8>,
}

/// Compiles a program whose first `leading` statements have steps of their own, and of which the iterations of some groups of loops may run
/// at once.
pub(super) fn build(
    format: Format,
    program: &Program,
    leading: usize,
    groups: &[Range<usize>],
    options: Options,
) -> Result<Built, Refused> {
    check(program)?;
    let rules = Arc::new(program.rules.clone());
    let machine = Machine::new(&options)?;
    let (widest, can_round) = machine.abilities(format.bytes())?;
    let target = Target {
        format,
        widest: if options.vectors { widest } else { 1 },
        can_round,
        calls: Calls::of(format, program, widest),
    };
    let mut builder = Builder {
        target,
        program,
        options,
        rules: Arc::as_ptr(&rules),
        tables: Vec::new(),
        machine,
        instructions: 0,
        bytes: 0,
        times: Vec::new(),
        listing: Vec::new(),
        uses_rules: false,
    };
    let mut steps = builder.steps(&program.statements[..leading], &mut Vec::new())?;
    let (mut done, leading) = (leading, steps.len());
    for group in groups {
        steps.append(&mut builder.steps(&program.statements[done..group.start], &mut Vec::new())?);
        builder.at_once(&program.statements[group.clone()], &mut steps)?;
        done = group.end;
    }
    steps.append(&mut builder.steps(&program.statements[done..], &mut Vec::new())?);
    let Builder { tables, machine, instructions, bytes, times, listing, uses_rules, .. } = builder;
    let time = PER_RUN + time_of(&steps, &times).max(time::to_fetch(bytes));
    let lengths = Lengths {
        constants: program.constants.len(),
        work: program.work,
        inputs: program.inputs.clone(),
        outputs: program.outputs.clone(),
        loops: depth(&steps),
    };
    let code = Code::new(machine.finish()?, lengths, rules, tables)?;
    Ok(Built { code: Arc::new(code), steps: steps.into(), leading, instructions, bytes, time, listing, uses_rules })
}

struct Builder<'p> {
    target: Target,
    program: &'p Program,
    options: Options,
    rules: *const Rules,
    tables: Vec<Arc<[u32]>>,
    machine: Machine,
    instructions: usize,
    bytes: usize,
    /// Of each function.
    times: Vec<f64>,
    listing: Vec<Listing>,
    uses_rules: bool,
}

impl<'p> Builder<'p> {
    fn steps(&mut self, statements: &'p [Statement], loops: &mut Vec<u32>) -> Result<Vec<Step>, Refused> {
        let mut steps = Vec::new();
        let mut together: Vec<&Statement> = Vec::new();
        let mut length = 0;
        for statement in statements {
            if let (Statement::Nest(nest), true, true) =
                (statement, loops.is_empty(), self.target.format == Format::Double)
                && let Some(products) = products(nest)
            {
                self.flush(&mut together, loops, &mut steps)?;
                length = 0;
                steps.push(Step::Products(products));
                continue;
            }
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
                Statement::Call(call) => steps.push(Step::Call(PlacedCall::new(call, loops))),
                Statement::Nest(_) | Statement::Zero { .. } => {}
            }
        }
        self.flush(&mut together, loops, &mut steps)?;
        Ok(steps)
    }

    /// Makes a function of the body of each loop.
    #[cfg(feature = "rayon")]
    fn at_once(&mut self, loops: &'p [Statement], steps: &mut Vec<Step>) -> Result<(), Refused> {
        let mut functions = Vec::with_capacity(loops.len());
        for statement in loops {
            let Statement::Loop { trip, body, .. } = statement else { return Err(Refused::Inconsistent) };
            let write = |emitter: &mut Emitter<'p, '_>| emitter.chunk(body);
            let function = self.function(&[*trip], body.iter().map(instructions).sum(), write)?;
            functions.push((function, *trip));
        }
        steps.push(Step::AtOnce(functions));
        Ok(())
    }

    /// Without threads there are no groups.
    #[cfg(not(feature = "rayon"))]
    fn at_once(&mut self, loops: &'p [Statement], steps: &mut Vec<Step>) -> Result<(), Refused> {
        steps.append(&mut self.steps(loops, &mut Vec::new())?);
        Ok(())
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
        let write = |emitter: &mut Emitter<'p, '_>| {
            for statement in statements {
                emitter.statement(statement);
            }
        };
        let function = self.function(loops, size, write)?;
        steps.push(Step::Code(function));
        Ok(())
    }

    /// Makes a function inside loops of these trip counts, of about so many instructions, and returns its number.
    fn function(
        &mut self,
        loops: &[u32],
        size: usize,
        write: impl FnOnce(&mut Emitter<'p, '_>),
    ) -> Result<usize, Refused> {
        let mut emitter = Emitter::new(self.target, self.program, self.rules, &mut self.tables, loops);
        write(&mut emitter);
        self.uses_rules |= emitter.uses_rules;
        let mut function = emitter.finish();
        // Vectors of 32 bytes and more say that the processor has AVX2, whose instructions take operands that are not aligned from memory.
        if self.target.widest * self.target.format.bytes() >= 32 {
            function = function.with_superwords(Function::LEAST_GAIN);
        }
        self.instructions += function.len();
        // Copies of bodies count as well.
        let most = 4 * most_instructions(&self.options);
        if self.instructions > most {
            return Err(Refused::TooLarge { found: self.instructions, most });
        }
        let optimised = size <= self.options.optimised;
        let (code, length) = self.machine.add(&function, optimised, self.options.listing)?;
        self.bytes += length;
        if let Some(code) = code {
            self.listing.push(Listing { text: function.to_string(), code });
        }
        self.times.push(time::time(&function));
        Ok(self.times.len() - 1)
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
