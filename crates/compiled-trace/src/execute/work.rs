//! Estimates how long a program takes in the portable executor.
//!
//! Called by engines that choose between a program and another method without measuring time.

use super::executable::{Executable, Step};
use super::plan::Plan;

/// The amount of work of a run, for comparison with other methods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Iteration domains with more than one iteration.
    pub loops: usize,
    /// Instructions of all bodies.
    pub instructions: usize,
    /// Estimated time, in that of an operation that is interpreted by itself.
    pub time: f64,
}

/// Time of the work on one number of a block, whose [`OVERHEAD`] is that of an operation by itself.
const PER_NUMBER: f64 = 0.1;
/// Time of beginning one instruction of a block.
const OVERHEAD: f64 = 1.0;
/// Time of an instruction of an unrolled program.
const PER_UNROLLED: f64 = 0.15;

impl Executable {
    /// The work of one run.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, Recorded, compile, record};
    /// let work = |n: usize| {
    ///     let graph = record(&vec![1.0; n], &[], Limits::default(), |x: &[Recorded], _, y| {
    ///         y.push(x.iter().fold(x[0], |state, v| (state + *v).sqrt()))
    ///     })?;
    ///     Ok(compile(&graph)?.executable().work())
    /// };
    /// let (short, long) = (work(1000)?, work(2000)?);
    /// assert_eq!((long.loops, long.instructions), (short.loops, short.instructions));
    /// assert!(long.time > 1.9 * short.time && long.time < 2.1 * short.time);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn work(&self) -> Work {
        let bodies: usize = self.plans.iter().map(|plan| plan.nest.body.len()).sum();
        let loops = self.plans.iter().filter(|plan| plan.iterations() > 1.0).count();
        let time = if self.unrolled.is_some() {
            self.plans.iter().map(|plan| plan.iterations() * plan.nest.body.len() as f64 * PER_UNROLLED).sum()
        } else {
            self.plans.iter().map(Plan::time).sum::<f64>() + calls(&self.steps, 1.0)
        };
        Work { loops, instructions: bodies, time }
    }
}

impl Plan {
    /// The number of iterations, those of enclosing loops included.
    fn iterations(&self) -> f64 {
        self.trips.iter().map(|trip| f64::from(*trip)).product()
    }

    fn time(&self) -> f64 {
        let Some(vector) = self.vector else { return self.iterations() * self.nest.body.len() as f64 };
        let trip = f64::from(self.trips[vector]);
        let rows = self.iterations() / trip;
        let blocks = (trip / self.block as f64).ceil();
        let steps = self.steps.len() as f64;
        rows * (self.uniform.len() as f64 + steps * (OVERHEAD * blocks + PER_NUMBER * trip))
    }
}

/// The time of calling custom rules, without that of the rules themselves.
fn calls(steps: &[Step], iterations: f64) -> f64 {
    let time = |step: &Step| match step {
        Step::Call { call, .. } => iterations * (call.arguments.len() + call.results.len()) as f64,
        Step::Loop { trip, body, .. } => calls(body, iterations * f64::from(*trip)),
        Step::Nest(_) | Step::Zero { .. } => 0.0,
    };
    steps.iter().map(time).sum()
}
