//! Prepares programs and runs them: statements in order, nests in blocks or number by number.
//!
//! Called by users of a [`Program`]; calls `block` and `single`.

use super::error::RunError;
use super::executable::{Executable, Run, Step, Workspace};
use super::plan::{BLOCK, Plan};
use crate::products::Product;
use crate::program::{GuardFailed, Memory, PlacedCall, Program, Statement};
use crate::recording::custom::{call_as_rule, is_plain};
use crate::recording::graph::guard_parts;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::Any;

impl Program {
    /// Prepares the program for the portable executor.
    pub fn executable(self) -> Executable {
        let mut plans = Vec::new();
        let steps = steps(&self.statements, &mut Vec::new(), &mut plans);
        let buffers = plans.iter().map(|plan: &Plan| plan.buffers).max().unwrap_or(0);
        let values = plans.iter().map(|plan: &Plan| plan.nest.body.len()).max().unwrap_or(0);
        let sums = plans.iter().map(|plan: &Plan| plan.sums).max().unwrap_or(0);
        let products = plans.iter().flat_map(|plan| &plan.products);
        let copies = products.map(Product::memory).max().unwrap_or(0);
        let mut program = self;
        // The plans own the nests.
        program.statements = Vec::new();
        Executable { program, plans, steps, buffers, values, sums, copies }
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
            Statement::Call(call) => Step::Call(PlacedCall::new(call, loops)),
        });
    }
    out
}

impl Executable {
    /// Allocates the memory for its runs.
    pub fn workspace<S: Scalar>(&self) -> Workspace<S> {
        let zero = S::default();
        let constants = self.program.constants.iter().map(|c| S::constant(S::Base::from_f64(*c))).collect();
        let addresses = self.plans.iter().map(|plan| plan.nest.addresses.len()).max().unwrap_or(0);
        let counters = self.plans.iter().map(|plan| plan.trips.len()).max().unwrap_or(0);
        Workspace {
            cells: vec![zero; self.program.work],
            constants,
            buffers: vec![vec![zero; BLOCK]; self.buffers],
            values: vec![zero; self.values],
            sums: vec![[zero; 16]; self.sums],
            rows: vec![0; addresses],
            counters: vec![0; counters + 1],
            call: [Vec::new(), Vec::new()],
            copies: if const { S::DEPTH == 0 && S::Base::IS_DOUBLE } { vec![0.0; self.copies] } else { Vec::new() },
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
    /// [`RunError::Guard`] if the recording is not valid at this point; the outputs are then meaningless.
    /// [`RunError::Length`] if slices are missing or their lengths differ from [`inputs`](Executable::inputs) and
    /// [`outputs`](Executable::outputs).
    pub fn run<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), RunError> {
        check(&self.program.inputs, inputs.iter().map(|slice| slice.len()))?;
        check(&self.program.outputs, outputs.iter().map(|slice| slice.len()))?;
        // The condition is constant, so that a crate that runs programs on doubles compiles no executor.
        let done = if const { S::DEPTH == 0 && S::Base::IS_DOUBLE } {
            self.run_given_doubles(workspace, inputs, outputs)
        } else if const { S::DEPTH == 0 } {
            self.run_by(workspace, inputs, outputs, in_blocks)
        } else {
            // Blocks of numbers that carry derivatives gain nothing, and their kernels would take minutes to compile.
            self.run_by(workspace, inputs, outputs, one_by_one)
        };
        done.map_err(RunError::Guard)
    }

    /// Runs on doubles; the caller has checked that `S` is `f64`.
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
        self.run_by(workspace, inputs, outputs, with_products)
    }

    /// The place of the guard that failed.
    #[cold]
    fn failed(&self, guard: u16) -> GuardFailed {
        let (place, _) = guard_parts(guard);
        GuardFailed { place: self.program.places.get(place).copied() }
    }

    pub(super) fn run_by<S: Scalar>(
        &self,
        workspace: &mut Workspace<S>,
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
        nest: RunNest<S>,
    ) -> Result<(), GuardFailed> {
        let Workspace { cells, constants, buffers, values, sums, rows, counters, call, copies } = workspace;
        let mut run = Run {
            executable: self,
            memory: Memory { constants, inputs, cells, outputs },
            buffers,
            values,
            sums,
            rows,
            counters,
            call,
            copies,
        };
        run.steps(&self.steps, 0, nest)
    }
}

/// How a nest runs: in blocks where that pays, or number by number.
pub(super) type RunNest<S> =
    for<'r, 'a, 'i, 'o, 'p> fn(&'r mut Run<'a, 'i, 'o, S>, &'p Plan) -> Result<(), GuardFailed>;

pub(super) fn in_blocks<S: Scalar>(run: &mut Run<'_, '_, '_, S>, plan: &Plan) -> Result<(), GuardFailed> {
    run.nest(plan)
}

/// In blocks, products of matrices as such.
fn with_products(run: &mut Run<'_, '_, '_, f64>, plan: &Plan) -> Result<(), GuardFailed> {
    if plan.products.is_empty() {
        return run.nest(plan);
    }
    for product in &plan.products {
        product.run(&mut run.memory, run.copies);
    }
    Ok(())
}

pub(super) fn one_by_one<S: Scalar>(run: &mut Run<'_, '_, '_, S>, plan: &Plan) -> Result<(), GuardFailed> {
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
                Step::Call(call) => self.custom(call)?,
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

    pub(super) fn failed(&self, guard: u16) -> GuardFailed {
        self.executable.failed(guard)
    }

    fn custom(&mut self, placed: &PlacedCall) -> Result<(), GuardFailed> {
        let (call, counters) = (&placed.call, &self.counters[..placed.depth()]);
        let [data, out] = &mut *self.call;
        placed.gather(&self.memory, counters, data);
        let presence = call.take_presence(data);
        if is_plain::<S>() {
            call.rule.call(call.function, call.inputs, call.outputs, data, out);
        } else {
            call_as_rule(&call.rule, call.function, [call.inputs, call.outputs], data, out);
        }
        if call.has_other_outputs(out.len()) {
            return Err(GuardFailed { place: None });
        }
        call.append_marks(presence, out);
        placed.scatter(&mut self.memory, counters, out);
        Ok(())
    }
}
