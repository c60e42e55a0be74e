//! The portable executor: an interpreter that works on blocks of iterations.
//!
//! Called by users of a [`Program`]; calls kernels that the compiler vectorises, chosen once per block for the vector width of
//! the machine by `pulp`. Nests whose work is the same for many iterations run a block of [`BLOCK`] iterations (fewer if the
//! body needs many buffers) instruction by instruction, so that results stay in cache; the rest runs number by number. Small
//! programs are written out as one list of operations when they are made ready, see [`unrolled`]: then a run has next to
//! nothing to do besides the operations, where nests in blocks cost some hundred nanoseconds each time.
//!
//! # Which answers?
//! The order of additions is fixed by the program, and the same for every machine and vector width: a sum over a vectorised
//! dimension adds term `i` to partial sum `i mod 16`, and adds these pairwise at the end of the row. No operations are
//! contracted. Cells that several instructions accumulate to get their terms block by block.

mod block;
mod evaluate;
mod plan;
mod single;
#[cfg(test)]
mod tests;
mod unrolled;

use crate::program::{Address, GuardFailed, Program, RuleCall, Space, Statement};
use crate::recording::custom::{call_as_rule, is_plain};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};
use plan::Plan;
use std::any::Any;
use std::sync::Arc;
pub use unrolled::Single;
use unrolled::{Flat, Slots, flat};

/// Most iterations of a block.
pub const BLOCK: usize = 256;

/// A program made ready for the portable executor. Immutable; share it between threads in an `Arc`.
#[derive(Clone, Debug)]
pub struct Executable {
    program: Program,
    plans: Vec<Plan>,
    /// The statements with nests replaced by plan numbers.
    steps: Vec<Step>,
    /// The same for plain numbers, if it is small.
    flat: Option<Arc<Flat>>,
    buffers: usize,
    values: usize,
    sums: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Nest(usize),
    Loop { trip: u32, reversed: bool, body: Vec<Step> },
    Zero { space: Space, start: usize, length: usize },
    Call { call: RuleCall, trips: Vec<u32> },
}

/// The memory of one run after another of one executable, on the scalar `S`. One per thread.
#[derive(Clone, Debug)]
pub struct Workspace<S> {
    /// Of a small program on plain numbers.
    slots: Slots<S>,
    cells: Vec<S>,
    constants: Vec<S>,
    buffers: Vec<Vec<S>>,
    values: Vec<S>,
    sums: Vec<[S; 16]>,
    rows: Vec<i64>,
    counters: Vec<u32>,
    call: [Vec<S>; 2],
}

/// The memory a statement sees.
struct Memory<'a, 'i, 'o, S> {
    constants: &'a [S],
    inputs: &'a [&'i [S]],
    cells: &'a mut [S],
    outputs: &'a mut [&'o mut [S]],
}

impl<S: Scalar> Memory<'_, '_, '_, S> {
    #[inline(always)]
    fn slice(&self, space: Space) -> &[S] {
        match space {
            Space::Constant => self.constants,
            Space::Input(i) => self.inputs[i as usize],
            Space::Work => self.cells,
            Space::Output(i) => self.outputs[i as usize],
        }
    }
    #[inline(always)]
    fn slice_mut(&mut self, space: Space) -> &mut [S] {
        match space {
            Space::Output(i) => self.outputs[i as usize],
            _ => self.cells,
        }
    }
}

impl Program {
    /// Makes the program ready for the portable executor.
    pub fn executable(self) -> Executable {
        let mut plans = Vec::new();
        let steps = steps(&self.statements, &mut Vec::new(), &mut plans);
        let buffers = plans.iter().map(|plan: &Plan| plan.buffers).max().unwrap_or(0);
        let values = plans.iter().map(|plan: &Plan| plan.nest.body.len()).max().unwrap_or(0);
        let sums = plans.iter().map(|plan: &Plan| plan.sums).max().unwrap_or(0);
        let flat = flat(&self, &steps, &plans).map(Arc::new);
        let mut program = self;
        // The plans own the nests.
        program.statements = Vec::new();
        Executable { program, plans, steps, flat, buffers, values, sums }
    }
}

fn steps(statements: &[Statement], loops: &mut Vec<u32>, plans: &mut Vec<Plan>) -> Vec<Step> {
    let mut out = Vec::with_capacity(statements.len());
    for statement in statements {
        out.push(match statement {
            Statement::Nest(nest) => {
                plans.push(Plan::new(nest.clone(), loops));
                Step::Nest(plans.len() - 1)
            }
            Statement::Loop { trip, reversed, body } => {
                loops.push(*trip);
                let body = steps(body, loops, plans);
                loops.pop();
                Step::Loop { trip: *trip, reversed: *reversed, body }
            }
            Statement::Zero { space, start, length } => {
                Step::Zero { space: *space, start: *start as usize, length: *length as usize }
            }
            Statement::Call(call) => Step::Call { call: call.clone(), trips: loops.clone() },
        });
    }
    out
}

impl Executable {
    /// Memory to run it in.
    pub fn workspace<S: Scalar>(&self) -> Workspace<S> {
        let zero = S::default();
        let constants = self.program.constants.iter().map(|c| S::constant(S::Base::from_f64(*c))).collect();
        let addresses = self.plans.iter().map(|plan| plan.nest.addresses.len()).max().unwrap_or(0);
        let counters = self.plans.iter().map(|plan| plan.trips.len()).max().unwrap_or(0);
        let flat = self.flat.as_ref().filter(|_| is_plain::<S>());
        Workspace {
            slots: flat.map(|flat| flat.workspace()).unwrap_or_default(),
            cells: vec![zero; self.program.work],
            constants,
            buffers: vec![vec![zero; BLOCK]; self.buffers],
            values: vec![zero; self.values],
            sums: vec![[zero; 16]; self.sums],
            rows: vec![0; addresses],
            counters: vec![0; counters + 1],
            call: [Vec::new(), Vec::new()],
        }
    }

    /// Lengths of the input slices.
    pub fn inputs(&self) -> &[usize] {
        &self.program.inputs
    }
    /// Lengths of the output slices.
    pub fn outputs(&self) -> &[usize] {
        &self.program.outputs
    }

    /// Runs the program on input slices and writes the output slices.
    ///
    /// # Errors
    /// [`RunError::Guard`] if the recording does not hold at this point; the outputs are then without meaning.
    /// [`RunError::Length`] if slices are missing or of other lengths than [`inputs`](Executable::inputs) and
    /// [`outputs`](Executable::outputs).
    pub fn run<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), RunError> {
        check(&self.program.inputs, inputs.iter().map(|slice| slice.len()))?;
        check(&self.program.outputs, outputs.iter().map(|slice| slice.len()))?;
        // Constants decide, so that a crate that runs programs on doubles compiles none of the executor.
        let done = if const { S::DEPTH == 0 && S::Base::IS_DOUBLE } {
            self.run_given_doubles(workspace, inputs, outputs)
        } else if const { S::DEPTH == 0 } {
            self.run_plain(workspace, inputs, outputs)
        } else {
            // Blocks of numbers that carry derivatives gain nothing, and their kernels would take minutes to compile.
            self.run_by(workspace, inputs, outputs, one_by_one)
        };
        done.map_err(RunError::Guard)
    }

    /// The program with memory of its own, for calls on plain numbers in which little else happens; `None` if it is not a small
    /// one, has other numbers of slices, or the numbers are not plain.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[1.0, 2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[1] + 3.0))?;
    /// let mut single = compile(&graph)?.executable().single::<f64, 2, 1>().unwrap();
    /// let mut y = [0.0];
    /// assert!(single.run(&[&[4.0, 5.0], &[]], &mut [&mut y]));
    /// assert_eq!(y, [23.0]);
    /// assert!(!single.run(&[&[4.0], &[]], &mut [&mut y]), "a number is missing");
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn single<S: Scalar, const INPUTS: usize, const OUTPUTS: usize>(&self) -> Option<Single<S, INPUTS, OUTPUTS>> {
        let flat = self.flat.as_ref().filter(|_| is_plain::<S>())?;
        Single::new(flat, &self.program.inputs, &self.program.outputs)
    }

    /// Runs on doubles, of which the caller knows only that they are.
    #[inline(always)]
    fn run_given_doubles<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), GuardFailed> {
        let workspace = (workspace as &mut dyn Any).downcast_mut::<Workspace<f64>>();
        let inputs = S::as_plain(inputs).and_then(S::Base::as_doubles);
        let outputs = S::as_plain_mut(outputs).and_then(S::Base::as_doubles_mut);
        match (workspace, inputs, outputs) {
            (Some(workspace), Some(inputs), Some(outputs)) => self.run_doubles(workspace, inputs, outputs),
            _ => unreachable!("a scalar without nesting over `f64` is `f64`"),
        }
    }

    /// Runs on doubles. Not generic and out of line, so that it is compiled once, in this crate.
    #[inline(never)]
    fn run_doubles(
        &self,
        workspace: &mut Workspace<f64>,
        inputs: &[&[f64]],
        outputs: &mut [&mut [f64]],
    ) -> Result<(), GuardFailed> {
        self.run_plain(workspace, inputs, outputs)
    }

    /// Runs on plain numbers.
    #[inline(always)]
    fn run_plain<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), GuardFailed> {
        match &self.flat {
            Some(flat) => flat.run(workspace.slots.numbers(), inputs, outputs).map_err(|guard| self.failed(guard)),
            None => self.run_by(workspace, inputs, outputs, in_blocks),
        }
    }

    /// Where the guard is that failed.
    #[cold]
    fn failed(&self, guard: u16) -> GuardFailed {
        let (place, _) = crate::recording::graph::guard_parts(guard);
        GuardFailed { place: self.program.places.get(place).copied() }
    }

    fn run_by<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        nest: RunNest<S>,
    ) -> Result<(), GuardFailed> {
        let Workspace { cells, constants, slots: _, buffers, values, sums, rows, counters, call } = workspace;
        let mut run = Run {
            executable: self,
            memory: Memory { constants, inputs, cells, outputs },
            buffers,
            values,
            sums,
            rows,
            counters,
            call,
        };
        run.steps(&self.steps, 0, nest)
    }
}

/// How a nest is run: in blocks where that pays, or number by number.
type RunNest<S> = for<'r, 'a, 'i, 'o, 'p> fn(&'r mut Run<'a, 'i, 'o, S>, &'p Plan) -> Result<(), GuardFailed>;

fn in_blocks<S: Scalar>(run: &mut Run<'_, '_, '_, S>, plan: &Plan) -> Result<(), GuardFailed> {
    run.nest(plan)
}

fn one_by_one<S: Scalar>(run: &mut Run<'_, '_, '_, S>, plan: &Plan) -> Result<(), GuardFailed> {
    run.singly(plan)
}

fn check(expected: &[usize], found: impl ExactSizeIterator<Item = usize>) -> Result<(), RunError> {
    if found.len() != expected.len() {
        return Err(RunError::Length { expected: expected.len(), found: found.len() });
    }
    for (expected, found) in expected.iter().zip(found) {
        if *expected != found {
            return Err(RunError::Length { expected: *expected, found });
        }
    }
    Ok(())
}

/// Why a program did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The recording does not hold at this point.
    Guard(GuardFailed),
    /// A slice has the wrong length, or there is a wrong number of slices.
    Length {
        /// The length or number it must have.
        expected: usize,
        /// The one it has.
        found: usize,
    },
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Guard(guard) => guard.fmt(f),
            RunError::Length { expected, found } => {
                write!(
                    f,
                    "the program takes slices of length {expected} where it got {found}; pass slices as `inputs()` and `outputs()` say"
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

/// One run.
struct Run<'a, 'i, 'o, S> {
    executable: &'a Executable,
    memory: Memory<'a, 'i, 'o, S>,
    buffers: &'a mut [Vec<S>],
    values: &'a mut [S],
    sums: &'a mut [[S; 16]],
    rows: &'a mut [i64],
    counters: &'a mut [u32],
    call: &'a mut [Vec<S>; 2],
}

impl<S: Scalar> Run<'_, '_, '_, S> {
    fn steps(&mut self, steps: &[Step], depth: usize, nest: RunNest<S>) -> Result<(), GuardFailed> {
        for step in steps {
            match step {
                Step::Nest(plan) => nest(self, &self.executable.plans[*plan])?,
                Step::Loop { trip, reversed, body } => {
                    for i in 0..*trip {
                        self.counters[depth] = if *reversed { trip - 1 - i } else { i };
                        self.steps(body, depth + 1, nest)?;
                    }
                }
                Step::Zero { space, start, length } => {
                    self.memory.slice_mut(*space)[*start..start + length].fill(S::default());
                }
                Step::Call { call, trips } => self.custom(call, trips),
            }
        }
        Ok(())
    }

    fn nest(&mut self, plan: &Plan) -> Result<(), GuardFailed> {
        match plan.vector {
            Some(_) => self.blocks(plan),
            None => self.singly(plan),
        }
    }

    fn failed(&self, guard: u16) -> GuardFailed {
        self.executable.failed(guard)
    }

    fn custom(&mut self, call: &RuleCall, trips: &[u32]) {
        let counters = &self.counters[..trips.len()];
        let cell = |address: &Address| address.cell(counters, trips);
        let [data, out] = &mut *self.call;
        data.clear();
        data.extend(call.arguments.iter().map(|a| self.memory.slice(a.space)[cell(a)]));
        if is_plain::<S>() {
            call.rule.call(call.half, call.inputs, call.outputs, data, out);
        } else {
            call_as_rule(&call.rule, call.half, [call.inputs, call.outputs], data, out);
        }
        out.resize(call.results.len(), S::default());
        for (address, value) in call.results.iter().zip(out) {
            let cell = cell(address);
            let target = &mut self.memory.slice_mut(address.space)[cell];
            if call.accumulate { *target += *value } else { *target = *value }
        }
    }
}

/// The error of a run as the error of an operator.
impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Length { expected, found } => ErrorKind::BufferLength { expected, found }.into(),
            RunError::Guard(GuardFailed { place }) => ErrorKind::OtherBranch { place }.into(),
        }
    }
}
