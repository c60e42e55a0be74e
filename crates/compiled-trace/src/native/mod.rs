//! The native executor: programs compiled to machine code.
//!
//! Called by users of a [`Program`] where the portable executor is not fast enough. [`Compiled::new`] refuses what it cannot
//! compile (a machine without a code generator, a program that would become too much code); the caller then falls back to
//! [`Program::executable`]. For x86-64 under Unix and Windows there is a code generator here; other machines need the feature `native`, with
//! which Cranelift generates code.
//!
//! `fills`, `boxes`, `pieces`, `layout` and `constant_entries` rewrite the program; `build` leaves products of matrices to `products`, by way of `product`; `plan` orders the loops
//! of a nest; `emit`, `row`, `window`, `operation` and `cells` write intermediate code (`code`), whose straight part `code/superword` puts into
//! another order; `x64` or `cranelift` makes machine code of it. Code of a program that was compiled before in this process is used again.
//!
//! # Which result?
//! Every operation has the value it has in the portable executor: arithmetic and roots are instructions of the machine without
//! contraction, elementary functions are those of the rule table, with two exceptions. There are own functions over `f64` in three groups: sine
//! and cosine; x^y, y x^(y - 1) and x^y ln x; exp, ln, tanh, 1 / cosh², erf and exp(-x²). In a program in which a loop that may run in any order has at least
//! four iterations and calls one of a group, all calls of this group are of own functions, with errors of less than 1 ulp (1 / cosh² and
//! y x^(y - 1): 2, x^y ln x: 3), of four numbers at once where the processor has AVX2 and FMA and of eight where it has AVX-512. One number, four and
//! eight have the same bits, so values do not depend on the place in the loop; those of processors without AVX2 and FMA may differ in the last bit. In other programs sines and cosines are own
//! functions if straight code has several angles that do not depend on each other and the processor has AVX2 and FMA. A program with guards that hold if two numbers are
//! equal keeps the rule table, with which it was recorded. The order of additions differs:
//! - a reduction whose cell stays the same in the innermost loop of a nest is kept in registers (in memory of the function if there
//!   are more than 12): with *L* lanes (1, or as many as fill 16, 32 or, for doubles, 64 bytes) and *C* copies of the body (C ≤ 4; both are 1 unless the loop may run in any order)
//!   term `i` goes to partial sum `i/L mod C`, lane `i mod L`; copies are added pairwise, then lanes, then the last terms one by
//!   one, and the total of the row is added to the cell when the loops in which the cell stays the same have ended;
//! - terms for neighbouring cells (`y[i] += a; y[i + 1] += b`) are added to each other first, then to the cell;
//! - other terms are added to their cells one by one, as in the program, in the order of the loops chosen.
//! - a nest that is a product of matrices runs as one, outside of the code: 256 terms of an entry are added to each other in order, then to the cell,
//!   as in the portable executor.
//!
//! The order is fixed when a program is compiled, and the same on every run. If several guards fail in one run, this executor may
//! report a different one than the portable executor.
//!
//! # Threads
//! With the feature `rayon` and `Options::threads`, large nests are cut into chunks (`chunks`) that are proved not to disturb each
//! other (`owner`) and run on the threads of `rayon`. Which chunks there are depends on the program alone, and each has sums of its own,
//! so the results are those of one thread that runs all chunks.
//!
//! # How is it checked?
//! The code itself checks no index: every address is compared with the lengths of the slices when the program is compiled, and
//! these lengths with those of the slices at every run. Miri cannot run machine code, so every rule, every operation and random
//! programs are compared with direct evaluation instead; random programs and random functions of intermediate code have the
//! bits of an evaluator of that code; own functions are compared with arithmetic of twice the precision. All unsafe code of
//! this folder is in two files, `call.rs`, and `elementary/lanes.rs` for instructions of AVX2 and AVX-512; its tests call own functions in `functions.rs`.

mod boxes;
mod build;
mod cache;
mod call;
mod cells;
mod check;
#[cfg(feature = "rayon")]
mod chunks;
mod code;
mod constant_entries;
mod cost;
#[cfg(feature = "native")]
mod cranelift;
mod dependence;
#[cfg(target_arch = "x86_64")]
mod elementary;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_elementary.rs"]
mod elementary;
mod emit;
mod fills;
mod functions;
mod layout;
mod machine;
mod nearby;
mod number;
mod operation;
mod options;
#[cfg(feature = "rayon")]
mod owner;
mod pieces;
mod plan;
mod row;
mod signed;
#[cfg(all(test, any(feature = "native", all(target_arch = "x86_64", any(unix, windows), not(miri)))))]
mod tests;
mod time;
mod window;
#[cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows), not(miri))),
    expect(dead_code, reason = "other machines are not asked what they have")
)]
mod x64;

pub use build::Listing;
pub use call::Single;
pub use options::{Options, Refused};

use crate::execute::RunError;
use crate::program::{GuardFailed, Memory, PlacedCall, Program};
use crate::recording::graph::guard_parts;
use build::{Built, Step, build};
use call::Code;
use differentiation_interface_core::scalar::Base;
use functions::Calls;
use machine::Machine;
use number::Format;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program as machine code, for numbers of type `S`. Immutable; share it between threads in an `Arc`, with one
/// [`Workspace`] per thread. Dropping it frees the code.
///
/// # Example
/// ```
/// use compiled_trace::{Limits, compile, native, record};
/// let graph = record(&[1.0, 2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[1] + 3.0))?;
/// let program = compile(&graph)?;
/// match native::Compiled::<f64>::new(&program, native::Options::default()) {
///     Ok(compiled) => {
///         let mut workspace = compiled.workspace();
///         let mut y = [0.0];
///         compiled.run(&mut workspace, &[&[4.0, 5.0], &[]], &mut [&mut y])?;
///         assert_eq!(y, [23.0]);
///     }
///     Err(refused) => println!("{refused}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compiled<S> {
    shared: Shared,
    constants: Vec<S>,
}

/// What is the same for numbers of both types, and is made by code that is compiled once.
#[derive(Debug)]
struct Shared {
    code: Arc<Code>,
    steps: Arc<[Step]>,
    /// Steps that store constants to the output that may be kept.
    leading: usize,
    number: Option<NonZeroU64>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    work: usize,
    loops: usize,
    /// Memory for copies of the factors of products.
    copies: usize,
    uses_rules: bool,
    places: Vec<&'static Location<'static>>,
    instructions: usize,
    bytes: usize,
    time: f64,
    listing: Vec<Listing>,
    #[cfg(feature = "rayon")]
    threads: usize,
}

/// The memory for runs of a [`Compiled`] program, reused from run to run. One per thread.
#[derive(Clone, Debug, Default)]
pub struct Workspace<S> {
    cells: Vec<S>,
    counters: Vec<u64>,
    call: [Vec<S>; 2],
    copies: Vec<f64>,
}

impl Shared {
    /// The code, and the constants of the program that it is of.
    fn new(format: Format, program: &Program, options: Options) -> Result<(Shared, Vec<f64>), Refused> {
        let (found, most) = (program.instruction_count(), machine::most_instructions(&options));
        if found > most {
            return Err(Refused::TooLarge { found, most });
        }
        let mut rewritten = rewritten(format, program, &options)?;
        let mut leading = 0;
        if let Some(output) = options.kept
            && let Some((statements, count)) = constant_entries::in_front(&rewritten, output)
        {
            rewritten = Cow::Owned(Program { statements, ..rewritten.into_owned() });
            leading = count;
        }
        let program = &*rewritten;
        #[cfg(feature = "rayon")]
        let threads = options.threads;
        // Code does not depend on the number of threads.
        #[cfg(feature = "rayon")]
        let options = Options { threads: threads.min(1), ..options };
        #[cfg(feature = "rayon")]
        let divided = if threads > 0 { chunks::divide(program, leading, options.least) } else { None }
            .filter(|divided| divided.program.instruction_count() <= machine::most_instructions(&options));
        #[cfg(feature = "rayon")]
        let (program, groups) = match &divided {
            Some(divided) => (&divided.program, &divided.groups[..]),
            None => (program, &[][..]),
        };
        #[cfg(not(feature = "rayon"))]
        let groups = &[];
        let make = || build(format, program, leading, groups, options);
        let Built { code, steps, leading, instructions, bytes, time, listing, uses_rules } =
            cache::find_or_make(format, program, options, make)?;
        let shared = Shared {
            code,
            loops: build::depth(&steps),
            copies: build::copies(&steps),
            steps,
            leading,
            number: if leading > 0 { NonZeroU64::new(NUMBERS.fetch_add(1, Ordering::Relaxed)) } else { None },
            inputs: program.inputs.clone(),
            outputs: program.outputs.clone(),
            work: program.work,
            uses_rules,
            places: program.places.clone(),
            instructions,
            bytes,
            time,
            listing,
            #[cfg(feature = "rayon")]
            threads,
        };
        Ok((shared, program.constants.clone()))
    }

    #[cold]
    fn failed(&self, code: u32) -> RunError {
        let (place, _) = guard_parts((code - 1) as u16);
        RunError::Guard(GuardFailed { place: self.places.get(place).copied() })
    }
}

impl<S: Base> Compiled<S> {
    /// Compiles a program.
    ///
    /// # Errors
    /// [`Refused`] if there is no code generator for this machine or it does not take the program; the portable executor runs it.
    pub fn new(program: &Program, options: Options) -> Result<Compiled<S>, Refused> {
        let format = Format::of::<S>()
            .ok_or_else(|| Refused::Machine(format!("no machine has code for numbers of type {}", S::NAME)))?;
        let (shared, constants) = Shared::new(format, program, options)?;
        Ok(Compiled { shared, constants: constants.into_iter().map(S::from_f64).collect() })
    }

    /// Allocates the memory for its runs.
    pub fn workspace(&self) -> Workspace<S> {
        Workspace {
            cells: vec![S::ZERO; self.shared.work],
            counters: vec![0; self.shared.loops],
            call: [Vec::new(), Vec::new()],
            copies: vec![0.0; self.shared.copies],
        }
    }

    /// Lengths of the input slices.
    pub fn inputs(&self) -> &[usize] {
        &self.shared.inputs
    }
    /// Lengths of the output slices.
    pub fn outputs(&self) -> &[usize] {
        &self.shared.outputs
    }
    /// Instructions of the intermediate code that was compiled, copies included.
    pub fn instructions(&self) -> usize {
        self.shared.instructions
    }
    /// Bytes of machine code.
    pub fn bytes(&self) -> usize {
        self.shared.bytes
    }
    /// Estimated time of a run on one thread, in that of [`Work::time`](crate::Work::time).
    pub fn time(&self) -> f64 {
        self.shared.time
    }
    /// The functions, if [`Options::listing`] was set; empty otherwise.
    pub fn listing(&self) -> &[Listing] {
        &self.shared.listing
    }

    /// Runs the program on input slices and writes the output slices.
    ///
    /// # Errors
    /// [`RunError::Guard`] if the recording is not valid at this point; the outputs are then meaningless.
    /// [`RunError::Length`] if slices are missing or their lengths differ from [`inputs`](Compiled::inputs) and
    /// [`outputs`](Compiled::outputs).
    #[inline(always)]
    pub fn run(&self, workspace: &mut Workspace<S>, inputs: &[&[S]], outputs: &mut [&mut [S]]) -> Result<(), RunError> {
        self.run_from(0, workspace, inputs, outputs)
    }

    /// Does the same where the output of [`Options::kept`] is as a run of a program with this [`number`](Compiled::number) has left it: its
    /// constants are not stored again.
    ///
    /// # Errors
    /// Those of [`run`](Compiled::run). After an error the output is not as a run leaves it.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, native, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| {
    ///     y.resize(100, 7.0.into());
    ///     y.push(x[0] * x[0]);
    /// })?;
    /// let mut options = native::Options::default();
    /// options.kept = Some(0);
    /// if let Ok(compiled) = native::Compiled::<f64>::new(&compile(&graph)?, options) {
    ///     let (mut workspace, mut y) = (compiled.workspace(), [0.0; 101]);
    ///     compiled.run(&mut workspace, &[&[3.0], &[]], &mut [&mut y])?;
    ///     assert_eq!((y[0], y[100]), (7.0, 9.0));
    ///     compiled.run_again(&mut workspace, &[&[4.0], &[]], &mut [&mut y])?;
    ///     assert_eq!((y[0], y[100]), (7.0, 16.0));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn run_again(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), RunError> {
        self.run_from(self.shared.leading, workspace, inputs, outputs)
    }

    /// A number that no other program in this process has, if constants are stored before everything else so that
    /// [`run_again`](Compiled::run_again) has less to do than [`run`](Compiled::run).
    #[inline(always)]
    pub fn number(&self) -> Option<NonZeroU64> {
        self.shared.number
    }

    #[inline(always)]
    fn run_from(
        &self,
        first: usize,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), RunError> {
        if workspace.cells.len() != self.shared.work || workspace.counters.len() != self.shared.loops {
            self.fit(workspace);
        }
        let steps = &self.shared.steps[first..];
        let ([Step::Code(entry)], false) = (steps, self.shared.uses_rules) else {
            return self.run_steps(steps, workspace, inputs, outputs);
        };
        let Workspace { cells, counters, .. } = workspace;
        let mut memory = Memory { constants: &self.constants, cells, inputs, outputs };
        match self.shared.code.run(*entry, &mut memory, counters)? {
            0 => Ok(()),
            code => Err(self.shared.failed(code)),
        }
    }

    /// The program with its own memory, for short calls; `None` if it is more than one function and one that stores constants, calls custom
    /// rules, has a different number of slices, or has more than 2¹⁶ constants and work cells, which would be kept twice.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, native, record};
    /// let graph = record(&[1.0, 2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[1] + 3.0))?;
    /// let program = compile(&graph)?;
    /// if let Ok(compiled) = native::Compiled::<f64>::new(&program, native::Options::default()) {
    ///     let mut single = compiled.single().unwrap();
    ///     let mut y = [0.0];
    ///     assert!(single.run(&[&[4.0, 5.0], &[]], &mut [&mut y]));
    ///     assert_eq!(y, [23.0]);
    ///     assert!(!single.run(&[&[4.0], &[]], &mut [&mut y]), "a number is missing");
    /// }
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn single<const INPUTS: usize, const OUTPUTS: usize>(&self) -> Option<Single<S, INPUTS, OUTPUTS>> {
        let is_small = self.constants.len() + self.shared.work <= MOST_OF_SINGLE;
        let entries = match (&*self.shared.steps, self.shared.leading) {
            ([Step::Code(entry)], 0) => [None, Some(*entry)],
            ([Step::Code(leading)], _) => [Some(*leading), None],
            ([Step::Code(leading), Step::Code(entry)], 1) => [Some(*leading), Some(*entry)],
            _ => return None,
        };
        match is_small && !self.shared.uses_rules {
            true => Single::new(&self.shared.code, entries, self.shared.number, &self.constants),
            false => None,
        }
    }

    /// Resizes a workspace of another program.
    #[cold]
    fn fit(&self, workspace: &mut Workspace<S>) {
        workspace.cells.resize(self.shared.work, S::ZERO);
        workspace.counters.resize(self.shared.loops, 0);
    }

    /// Runs a program that is more than one function. Out of line, to keep callers of small programs short.
    #[inline(never)]
    fn run_steps(
        &self,
        steps: &[Step],
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), RunError> {
        if workspace.copies.len() < self.shared.copies {
            workspace.copies.resize(self.shared.copies, 0.0);
        }
        let Workspace { cells, counters, call, copies } = workspace;
        let memory = Memory { constants: &self.constants, cells, inputs, outputs };
        self.shared.code.check(&memory)?;
        let result = Run { shared: &self.shared, memory, counters, call, copies }.steps(steps, 0);
        if self.shared.uses_rules {
            call::resume_panic();
        }
        result
    }
}

/// The [number](Compiled::number) of the next program.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The largest number of constants and work cells that a [`Single`] copies.
const MOST_OF_SINGLE: usize = 1 << 16;

/// The program as it is compiled: with constants stored at once, with nests split where tables are regular, and with work cells where
/// vectors find them.
fn rewritten<'p>(format: Format, program: &'p Program, options: &Options) -> Result<Cow<'p, Program>, Refused> {
    let program = fills::gather(program).map_or(Cow::Borrowed(program), Cow::Owned);
    let program = match boxes::split(&program.statements, &mut Vec::new()) {
        Some(statements) => Cow::Owned(Program { statements, ..program.into_owned() }),
        None => program,
    };
    let program = pieces::cut(&program, format.bytes()).map_or(program, Cow::Owned);
    let (widest, _) = Machine::new(options)?.abilities(format.bytes())?;
    if !options.vectors || widest == 1 {
        return Ok(program);
    }
    let calls = Calls::of(format, &program, widest);
    Ok(match layout::transposed(&program, plan::widths(format, widest), calls) {
        Some(made) => Cow::Owned(made),
        None => program,
    })
}

/// One run.
struct Run<'a, 'i, 'o, S> {
    shared: &'a Shared,
    memory: Memory<'a, 'i, 'o, S>,
    counters: &'a mut [u64],
    call: &'a mut [Vec<S>; 2],
    copies: &'a mut [f64],
}

impl<S: Base> Run<'_, '_, '_, S> {
    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<(), RunError> {
        for step in steps {
            match step {
                Step::Code(entry) => {
                    let code = self.shared.code.run(*entry, &mut self.memory, self.counters)?;
                    if code != 0 {
                        return Err(self.shared.failed(code));
                    }
                }
                #[cfg(feature = "rayon")]
                Step::AtOnce(functions) => {
                    let code = self.shared.code.run_at_once(functions, self.shared.threads, &mut self.memory)?;
                    if code != 0 {
                        return Err(self.shared.failed(code));
                    }
                }
                Step::Loop { trip, reversed, body } => {
                    for i in 0..*trip {
                        self.counters[depth] = if *reversed { trip - 1 - i } else { i } as u64;
                        self.steps(body, depth + 1)?;
                    }
                }
                Step::Products(products) => {
                    products.iter().for_each(|product| product.run(&mut self.memory, self.copies));
                }
                Step::Call(call) => self.custom(call)?,
            }
        }
        Ok(())
    }

    fn custom(&mut self, placed: &PlacedCall) -> Result<(), RunError> {
        let call = &placed.call;
        let counters: Vec<u32> = self.counters[..placed.depth()].iter().map(|counter| *counter as u32).collect();
        let [data, out] = &mut *self.call;
        placed.gather(&self.memory, &counters, data);
        let presence = call.take_presence(data);
        call.rule.call(call.function, call.inputs, call.outputs, data, out);
        if call.has_other_outputs(out.len()) {
            return Err(RunError::Guard(GuardFailed { place: None }));
        }
        call.append_marks(presence, out);
        placed.scatter(&mut self.memory, &counters, out);
        Ok(())
    }
}
