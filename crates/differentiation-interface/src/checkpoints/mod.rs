//! Loops that carry a state, differentiated in reverse mode with a limited memory.
//!
//! Called by users inside functions that are differentiated. A loop is a custom rule for engines that record: its pullback runs the steps
//! again from kept states, in the order of the binomial schedule in `schedule.rs`, and differentiates one step at a time by the tape.

mod schedule;
#[cfg(test)]
mod tests;

use crate::backends::forward_diff::{Dual, DualCore};
use crate::backends::reverse_diff::{AutoReverseDiff, Var, VarCore};
use differentiation_interface_core::backend::{Lane, PullbackPrimitive, Rows, Seeds};
use differentiation_interface_core::custom::{Custom, CustomRule, Halves};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Num, Real, Scalar};
use num_traits::Float;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// One step of a loop that carries a state.
///
/// # For users
/// Implement it for a type that holds the plain data of the steps. A step reads nothing but its number, the state, the parameters and
/// that data: numbers that are differentiated are passed as parameters, and what the loop adds up is part of the state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of a loop",
    note = "a closure has one number type; implement `Step` for a type of your own, with `fn step<T: Real>(&self, i: usize, state: &mut [T], parameters: &[T])`"
)]
pub trait Step: Send + Sync + 'static {
    /// Replaces `state` by the state after step `i`, counted from 0.
    fn step<T: Real>(&self, i: usize, state: &mut [T], parameters: &[T]);
}

/// A loop of steps whose reverse sweep keeps a few states and runs the steps between them again: `state` after `steps` times
/// `state = step(i, state, parameters)`.
///
/// A tape of a long loop stores every operation of every step. This loop stores s states and the operations of one step at a time, and
/// runs steps again as often as that takes: with s snapshots each of l steps is run again at most r times, where r is the least number
/// with l ≤ (s + r)! / (s! r!), and [`repeated_steps`](Self::repeated_steps) times in total, the least possible (Griewank, Walther 2000).
///
/// | snapshots | each step is run again at most | for 10⁶ steps |
/// |---|---|---|
/// | l - 1 | once | 999 999 |
/// | √(2 l) | twice | 1413 |
/// | ∛(6 l), the default | three times | 180 |
/// | 1 | l - 1 times | 1 |
///
/// It runs on any number. Plain numbers and dual numbers over them run the loop itself, as reverse mode does in second order for the values between
/// snapshots. For other numbers it is a custom rule, whose tangents are a loop of this kind again (reverse over forward mode; not once more,
/// in third order), so that the derivative takes the value of the loop, the repeated steps, and once the derivative of each step by a tape.
/// Steps may contain other loops of this kind. Over `f64`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::checkpoints::{Checkpointed, Step};
///
/// /// u' = -p u by Euler's method.
/// struct Decay {
///     h: f64,
/// }
/// impl Step for Decay {
///     fn step<T: Real>(&self, _: usize, u: &mut [T], p: &[T]) {
///         u[0] -= self.h * p[0] * u[0];
///     }
/// }
/// let decay = Checkpointed::new(Decay { h: 0.5 }, 1, 3).with_snapshots(2); // u after 3 steps is (1 - p / 2)³ u₀
/// let f = |x: &[_]| decay.run(&x[..1], &x[1..])[0];
/// assert_eq!(gradient(&f, &AutoReverseDiff::default(), &[2.0, 1.0])?, [0.125, -0.75]);
/// # Ok::<(), Error>(())
/// ```
pub struct Checkpointed<F> {
    step: Arc<F>,
    rule: Custom<Loop<F>>,
}

impl<F> Clone for Checkpointed<F> {
    fn clone(&self) -> Self {
        Checkpointed { step: Arc::clone(&self.step), rule: self.rule.clone() }
    }
}

impl<F> Debug for Checkpointed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loop { states, steps, snapshots, .. } = self.rule.rule();
        write!(f, "Checkpointed({states} states, {steps} steps, {snapshots} snapshots)")
    }
}

/// How often steps are run again by default.
const MOST_REPEATS: usize = 3;

impl<F: Step> Checkpointed<F> {
    /// A loop of `steps` steps with a state of `states` numbers, and so many snapshots that each step is run again at most three times.
    pub fn new(step: F, states: usize, steps: usize) -> Self {
        Self::with(Arc::new(step), states, steps, schedule::snapshots_for(steps, MOST_REPEATS))
    }

    /// The same with so many snapshots, the initial state among them; 0 counts as 1, and more than steps as one for each step. A snapshot
    /// takes as much memory as a state.
    pub fn with_snapshots(self, snapshots: usize) -> Self {
        let Loop { states, steps, .. } = *self.rule.rule();
        Self::with(self.step, states, steps, snapshots.clamp(1, steps.max(1)))
    }

    fn with(step: Arc<F>, states: usize, steps: usize, snapshots: usize) -> Self {
        let rule = Custom::new(Loop { step: Arc::clone(&step), states, steps, snapshots });
        Checkpointed { step, rule }
    }

    /// The number of snapshots.
    pub fn snapshots(&self) -> usize {
        self.rule.rule().snapshots
    }

    /// The number of steps that a reverse sweep runs again, beside one for each step that it differentiates; `u64::MAX` if it is larger.
    pub fn repeated_steps(&self) -> u64 {
        schedule::repeated_steps(self.rule.rule().steps, self.rule.rule().snapshots)
    }

    /// Returns the state after all steps.
    ///
    /// # Panics
    /// If the length of `state` is not the one that the loop was made for, or if a step panics.
    pub fn run<T: Real>(&self, state: &[T], parameters: &[T]) -> Vec<T> {
        let of = self.rule.rule();
        assert_eq!(
            state.len(),
            of.states,
            "`run` got a state of {} numbers, for a loop with {}",
            state.len(),
            of.states
        );
        if keeps_nothing::<T>() {
            let mut state = state.to_vec();
            of.advance(0, of.steps, &mut state, parameters);
            return state;
        }
        self.rule.call(&[state, parameters].concat())
    }
}

/// The rule: arguments are the state and the parameters.
struct Loop<F> {
    step: Arc<F>,
    states: usize,
    steps: usize,
    snapshots: usize,
}

impl<F: Step> Loop<F> {
    /// Runs steps `first..end`.
    fn advance<T: Real>(&self, first: usize, end: usize, state: &mut [T], parameters: &[T]) {
        for i in first..end {
            self.step.step(i, state, parameters);
        }
    }
}

/// Step `i` as a flat function of state and parameters.
struct OneStep<'a, F> {
    of: &'a Loop<F>,
    i: usize,
}

impl<F: Step, T: Real> Flat<T> for OneStep<'_, F> {
    fn call(&mut self, x: &[T], y: &mut Vec<T>) {
        let (state, parameters) = x.split_at(self.of.states);
        y.clear();
        y.extend_from_slice(state);
        self.of.step.step(self.i, y, parameters);
    }
    fn has_work_memory(&self) -> bool {
        false
    }
}

/// The numbers of a reverse sweep.
struct Sweep<'a, F, S: Scalar> {
    of: &'a Loop<F>,
    /// The kept states, one after the other.
    kept: Vec<S>,
    /// State and parameters at a step.
    x: Vec<S>,
    /// The same as constants of the tape.
    lifted: Vec<Var<S>>,
    /// The adjoints of the state after that step.
    adjoints: Vec<S>,
    /// Their products with the derivative of the step: adjoints of the state before it, and its share of those of the parameters.
    products: Vec<S>,
    /// Adjoints of the parameters.
    sums: &'a mut [S],
    tape: <AutoReverseDiff as PullbackPrimitive>::PullbackState<S, Lane<1>>,
    outputs: Vec<S>,
}

impl<F: Step, S: Scalar<Base = f64>> Sweep<'_, F, S> {
    /// Sets the state to a kept one, and runs steps `first..end` from it: on plain numbers if `S` is one, else on constants of the tape.
    fn restore(&mut self, place: usize, first: usize, end: usize) {
        let n = self.of.states;
        let (state, parameters) = self.x.split_at_mut(n);
        state.copy_from_slice(&self.kept[place * n..][..n]);
        if let (Some([state]), Some([parameters])) = (S::as_plain_mut(&mut [state]), S::as_plain(&[parameters])) {
            return self.of.advance(first, end, state, parameters);
        }
        self.lifted.clear();
        self.lifted.extend(self.x.iter().map(|v| Num(VarCore::inert(*v))));
        let (state, parameters) = self.lifted.split_at_mut(n);
        self.of.advance(first, end, state, parameters);
        for (v, lifted) in self.x.iter_mut().zip(state) {
            *v = lifted.0.value();
        }
    }

    /// Keeps the state.
    fn keep(&mut self, place: usize) {
        let n = self.of.states;
        self.kept[place * n..][..n].copy_from_slice(&self.x[..n]);
    }

    /// Propagates the adjoints back through step `i` from the state before it.
    fn pull(&mut self, i: usize) -> Result<(), Error> {
        let (backend, n) = (AutoReverseDiff::tape(), self.of.states);
        let f = &mut OneStep { of: self.of, i };
        backend.record::<S, Lane<1>, _>(&mut self.tape, f, &self.x, &mut self.outputs)?;
        let (seeds, width) = ([&self.adjoints[..]], self.x.len());
        let rows = Rows::fixed(&mut self.products, width);
        backend.sweep::<S, Lane<1>, _>(&mut self.tape, f, Seeds::Vectors(&seeds), rows)?;
        self.adjoints.copy_from_slice(&self.products[..n]);
        for (sum, product) in self.sums.iter_mut().zip(&self.products[n..]) {
            *sum += *product;
        }
        Ok(())
    }

    /// Propagates the adjoints back through all steps.
    fn run(&mut self) -> Result<(), Error> {
        // Parts of the loop that are not differentiated yet, each from a kept state on: first step and number of steps.
        let mut parts = vec![(0, self.of.steps)];
        while let Some((first, steps)) = parts.last().copied() {
            let place = parts.len() - 1;
            let snapshots = self.of.snapshots - place;
            let left = match (steps, snapshots) {
                (0, _) => 0,
                (1, _) | (_, 1) => {
                    self.restore(place, first, first + steps - 1);
                    self.pull(first + steps - 1)?;
                    steps - 1
                }
                _ => {
                    let lead = schedule::lead(steps, snapshots);
                    self.restore(place, first, first + lead);
                    self.keep(place + 1);
                    parts.push((first + lead, steps - lead));
                    lead
                }
            };
            parts[place].1 = left;
            if left == 0 {
                parts.pop();
            }
        }
        Ok(())
    }
}

impl<F: Step> Loop<F> {
    /// Fills `y` with the state after all steps.
    fn run(&self, x: &[f64], y: &mut Vec<f64>) {
        let (state, parameters) = x.split_at(self.states);
        y.clear();
        y.extend_from_slice(state);
        self.advance(0, self.steps, y, parameters);
    }

    /// Fills `dy` with the tangent of the state after all steps.
    fn push<S: Scalar<Base = f64>>(&self, x: &[S], dx: &[S], dy: &mut [S]) {
        let mut numbers: Vec<_> = x.iter().zip(dx).map(|(x, dx)| along_if(!dx.is_inert_zero(), *x, *dx)).collect();
        let (state, parameters) = numbers.split_at_mut(self.states);
        self.advance(0, self.steps, state, parameters);
        for (dy, number) in dy.iter_mut().zip(state) {
            *dy = number.0.slope().unwrap_or_default();
        }
    }

    /// Fills `dx` with the cotangents of state and parameters.
    fn pull<S: Scalar<Base = f64>>(&self, x: &[S], dy: &[S], dx: &mut [S]) {
        let zero = S::default();
        let (adjoints, sums) = dx.split_at_mut(self.states);
        sums.fill(zero);
        let mut run = || {
            let mut kept = vec![zero; self.snapshots * self.states];
            kept[..self.states].copy_from_slice(&x[..self.states]);
            let mut sweep = Sweep {
                of: self,
                kept,
                x: x.to_vec(),
                lifted: Vec::new(),
                adjoints: dy.to_vec(),
                products: vec![zero; x.len()],
                sums,
                tape: AutoReverseDiff::tape().pullback_state::<S, Lane<1>>(x.len())?,
                outputs: Vec::new(),
            };
            sweep.run()?;
            adjoints.copy_from_slice(&sweep.adjoints);
            Ok(())
        };
        let result: Result<(), Error> = run();
        if let Err(error) = result {
            fault::report_error(error);
            // On a thread without an operator only the result can show the fault.
            dx.fill(S::constant(f64::nan()));
        }
    }
}

/// A number, with its tangent if it has one: an absent one must not be multiplied by an infinite derivative.
fn along_if<S: Scalar>(moves: bool, x: S, dx: S) -> Dual<S, Lane<1>> {
    Num(if moves { DualCore::along(x, dx) } else { DualCore::inert(x) })
}

/// Whether a number is known to keep nothing of the operations on it: a plain one, or a dual number over one.
fn keeps_nothing<T: Scalar>() -> bool {
    T::as_plain(&[]).is_some() || T::tangents().is_some()
}

impl<F: Step> CustomRule for Loop<F> {
    const NAME: &'static str = "checkpointed loop";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        self.run(x, y);
    }

    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
        if keeps_nothing::<S>() {
            return self.push(x, dx, dy);
        }
        // Numbers that another engine may record: the tangents run through a loop that is a rule again.
        let moves = dx.iter().map(|dx| !dx.is_inert_zero()).collect();
        let Loop { ref step, states, steps, snapshots } = *self;
        let tangents = Tangents { of: Loop { step: Arc::clone(step), states, steps, snapshots }, moves };
        let arguments = [&x[..states], &dx[..states], &x[states..], &dx[states..]].concat();
        let found = Custom::new(tangents).call(&arguments);
        dy.copy_from_slice(&found[states..]);
    }

    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
        self.pull(x, dy, dx);
    }
}

/// The rule of the tangents of a loop: arguments are the state, its tangents, the parameters and theirs. Its own tangents are those of all operations: one rule
/// in another has to end somewhere, as each is a type of its own.
struct Tangents<F> {
    of: Loop<F>,
    /// Which numbers of the initial state, and which parameters, have a tangent.
    moves: Vec<bool>,
}

impl<F: Step> Tangents<F> {
    /// State and parameters with their tangents.
    fn numbers<S: Scalar<Base = f64>>(&self, x: &[S]) -> Vec<Dual<f64, Lane<1>>> {
        let n = self.of.states;
        let (state, parameters) = x.split_at(2 * n);
        let (state, parameters) = (state.split_at(n), parameters.split_at(parameters.len() / 2));
        let values = state.0.iter().chain(parameters.0);
        let tangents = state.1.iter().chain(parameters.1);
        let number = |((x, dx), &moves): ((&S, &S), &bool)| along_if(moves, x.peek(), dx.peek());
        values.zip(tangents).zip(&self.moves).map(number).collect()
    }

    /// The loop of state, tangents and marks of the tangents that are present.
    fn doubled(&self) -> Loop<Doubled<F>> {
        let Loop { ref step, states, steps, snapshots } = self.of;
        let step = Doubled { step: Arc::clone(step), moves: self.moves[states..].to_vec() };
        Loop { step: Arc::new(step), states: 3 * states, steps, snapshots }
    }

    /// Numbers for the arguments of that loop, from those for the arguments of this rule, with a number for each mark of the initial state.
    fn with_marks<S: Copy>(&self, numbers: &[S], mark: impl Fn(bool) -> S) -> Vec<S> {
        let (state, parameters) = numbers.split_at(2 * self.of.states);
        let marks = self.moves[..self.of.states].iter().map(|&moves| mark(moves));
        state.iter().copied().chain(marks).chain(parameters.iter().copied()).collect()
    }
}

impl<F: Step> CustomRule for Tangents<F> {
    const NAME: &'static str = "tangents of a checkpointed loop";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        let mut numbers = self.numbers(x);
        let (state, parameters) = numbers.split_at_mut(self.of.states);
        self.of.advance(0, self.of.steps, state, parameters);
        y.clear();
        y.extend(state.iter().map(|number| number.0.value()));
        y.extend(state.iter().map(|number| number.0.slope().unwrap_or_default()));
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
        let mut tangents = vec![S::default(); 3 * self.of.states];
        let dx = self.with_marks(dx, |_| S::default());
        self.doubled().push(&self.with_marks(x, mark), &dx, &mut tangents);
        dy.copy_from_slice(&tangents[..dy.len()]);
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
        let n = self.of.states;
        let x = self.with_marks(x, mark);
        let (dy, mut adjoints) = ([dy, &vec![S::default(); n]].concat(), vec![S::default(); x.len()]);
        self.doubled().pull(&x, &dy, &mut adjoints);
        dx[..2 * n].copy_from_slice(&adjoints[..2 * n]);
        dx[2 * n..].copy_from_slice(&adjoints[3 * n..]);
    }
}

/// A mark of a tangent.
fn mark<S: Scalar<Base = f64>>(is_present: bool) -> S {
    S::constant(if is_present { 1.0 } else { 0.0 })
}

/// A step for a state, its tangents, and marks of those that are present, from parameters and their tangents. Which are present depends on the step, and on
/// branches in those before it; the marks are part of the state, so that they are kept with it.
struct Doubled<F> {
    step: Arc<F>,
    /// Which parameters have a tangent.
    moves: Vec<bool>,
}

impl<F: Step> Step for Doubled<F> {
    fn step<T: Real>(&self, i: usize, state: &mut [T], parameters: &[T]) {
        let n = state.len() / 3;
        let mut numbers: Vec<_> =
            (0..n).map(|k| along_if(state[2 * n + k].peek() != 0.0, state[k], state[n + k])).collect();
        let (parameters, of_parameters) = parameters.split_at(parameters.len() / 2);
        let of_parameters = parameters.iter().zip(of_parameters).zip(&self.moves);
        let parameters: Vec<_> = of_parameters.map(|((p, dp), &moves)| along_if(moves, *p, *dp)).collect();
        self.step.step(i, &mut numbers, &parameters);
        for (k, number) in numbers.iter().enumerate() {
            let slope = number.0.slope();
            (state[k], state[n + k]) = (number.0.value(), slope.unwrap_or_default());
            state[2 * n + k] = mark(slope.is_some());
        }
    }
}
