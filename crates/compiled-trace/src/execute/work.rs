//! Estimates how long a program takes in the portable executor.
//!
//! Called by engines that choose between a program and another method without measuring time.

use super::executable::{Executable, Step};
use super::plan::Plan;
use crate::program::Instruction;
use crate::recording::graph::{Graph, Op};
use crate::recording::rules::{self, Rules};

/// The amount of work of a run, for comparison with other methods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Iteration domains with more than one iteration.
    pub loops: usize,
    /// Instructions of all bodies.
    pub instructions: usize,
    /// Estimated time, in that of an operation on a tape with its sweep, some 5 ns.
    pub time: f64,
}

/// Additional time of a function of the mathematical library, of a division or root.
const PER_FUNCTION: f64 = 4.0;
const PER_DIVISION: f64 = 1.0;

/// The additional time of an operation that takes longer than an addition.
fn extra(op: Op, rules: &Rules) -> f64 {
    use rules::*;
    match op {
        Op::Unary(SQRT | RECIP | ATAN_SLOPE | HYPOT_ONE) | Op::Binary(OVER) => PER_DIVISION,
        Op::Unary(NEGATE | ABS | SIGNUM | FLOOR | CEIL | ROUND | TRUNC | FRACT | ONE_MINUS_SQUARE) => 0.0,
        Op::Unary(DEGREES | RADIANS) => 0.0,
        Op::Unary(number) => match rules.other_unary(number) {
            Some(OtherUnary::Powi(n)) if n.unsigned_abs() <= 64 => 0.0,
            _ => PER_FUNCTION,
        },
        Op::Binary(PLUS | MINUS | TIMES | TOGETHER | PRODUCT_ERROR | SUM_ERROR | ODD_SUM) => 0.0,
        Op::Binary(MAX | MIN | AT_LEAST | AT_MOST | COPYSIGN | ABS_SUB | DIRECTION) => 0.0,
        Op::Binary(_) => PER_FUNCTION,
        _ => 0.0,
    }
}

impl Graph {
    /// The time that its functions take beyond that of additions, in that of an operation that is interpreted by itself: 4 for an
    /// exponential, 1 for a division.
    pub fn time_of_functions(&self) -> f64 {
        self.nodes().iter().map(|node| extra(node.op, self.rules())).sum()
    }
}

/// Time of a run, and of a row of blocks: a program of ten numbers takes little else. Fitted, like those below, to the gradients of the
/// benchmarks' W1 and W2 with 10 to 1000 numbers and I1.
const PER_RUN: f64 = 10.0;
const PER_ROW: f64 = 25.0;
/// Time of an instruction by itself; 3.3 to 3.6 ns in programs of 100,000 of them.
const PER_SINGLE: f64 = 0.7;
/// Time of the work on one number of a block.
const PER_NUMBER: f64 = 0.04;
/// Time of beginning one instruction of a block.
const OVERHEAD: f64 = 3.5;

impl Executable {
    /// The work of one run.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, Recorded, compile, record};
    /// use num_traits::Float;
    /// let work = |n: usize| {
    ///     let graph = record(&vec![1.0; n], &[], Limits::default(), |x: &[Recorded], _, y| {
    ///         y.push(x.iter().fold(x[0], |state, v| (state + *v).sqrt()))
    ///     })?;
    ///     Ok::<_, differentiation_interface_core::error::Error>(compile(&graph)?.executable().work())
    /// };
    /// let (short, long) = (work(1000)?, work(2000)?);
    /// assert_eq!((long.loops, long.instructions), (short.loops, short.instructions));
    /// assert!(long.time > 1.9 * short.time && long.time < 2.1 * short.time);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn work(&self) -> Work {
        let time = PER_RUN + self.plans.iter().map(Plan::time).sum::<f64>() + calls(&self.steps, 1.0);
        let functions: f64 = self.plans.iter().map(|plan| plan.time_of_functions(&self.program.rules)).sum();
        let (loops, instructions) = (self.program.loop_count(), self.program.instruction_count());
        Work { loops, instructions, time: time + functions }
    }
}

impl Plan {
    /// The number of iterations, those of enclosing loops included.
    fn iterations(&self) -> f64 {
        self.trips.iter().map(|trip| f64::from(*trip)).product()
    }

    /// The time of functions beyond that of additions.
    fn time_of_functions(&self, rules: &Rules) -> f64 {
        let times = self.nest.body.iter().enumerate().map(|(i, instruction)| {
            let Instruction::Apply { op, .. } = instruction else { return 0.0 };
            // What is the same for a whole vector is computed once.
            let is_uniform = self.vector.is_some() && self.uniform.contains(&(i as u32));
            let trip = if is_uniform { self.vector.map_or(1.0, |v| f64::from(self.trips[v])) } else { 1.0 };
            extra(*op, rules) / trip
        });
        self.iterations() * times.sum::<f64>()
    }

    fn time(&self) -> f64 {
        let Some(vector) = self.vector else { return PER_SINGLE * self.iterations() * self.nest.body.len() as f64 };
        let trip = f64::from(self.trips[vector]);
        let rows = self.iterations() / trip;
        let blocks = (trip / self.block as f64).ceil();
        let steps = self.steps.len() as f64;
        rows * (PER_ROW + self.uniform.len() as f64 + steps * (OVERHEAD * blocks + PER_NUMBER * trip))
    }
}

/// The time of calling custom rules, without that of the rules themselves.
fn calls(steps: &[Step], iterations: f64) -> f64 {
    let time = |step: &Step| match step {
        Step::Call(call) => iterations * call.cells() as f64,
        Step::Loop { trip, body, .. } => calls(body, iterations * f64::from(*trip)),
        Step::Nest(_) | Step::Zero { .. } => 0.0,
    };
    steps.iter().map(time).sum()
}
