//! Programs as the steps of a loop with checkpoints.
//!
//! Called by `engines::all`. Each step moves the inputs on by one place and adds the outputs to the state with alternating signs, so that
//! the state after an odd number of steps holds the outputs of the program, exactly.

use super::candidate::Quantity::{First, Gradient, Hessian, Pushforward, Value};
use super::candidate::{Call, Candidate, Precision, candidate, rounded};
use crate::function::{self, TANGENTS};
use crate::program::Program;
use differentiation_interface::checkpoints::{Checkpointed, Step};
use differentiation_interface::prelude::*;

const STEPS: usize = 7;

/// The state: half of the inputs, moved on by the number of steps, and sums of outputs. The other inputs are parameters.
struct Round(Program);

impl Round {
    /// The number of inputs that are part of the state.
    fn moved(&self) -> usize {
        self.0.inputs.div_ceil(2)
    }
}

impl Step for Round {
    fn step<T: Real>(&self, i: usize, state: &mut [T], parameters: &[T]) {
        let (moved, sums) = state.split_at_mut(self.moved());
        let mut x = moved.to_vec();
        x.rotate_right(i % moved.len());
        x.extend_from_slice(parameters);
        for (sum, y) in sums.iter_mut().zip(function::run(&self.0, &x)) {
            *sum = if i.is_multiple_of(2) { *sum + y } else { *sum - y };
        }
        moved.rotate_left(1);
    }
}

/// All outputs of a program after `STEPS` steps.
struct Rounds(Checkpointed<Round>, Program);

impl Rounds {
    fn new(program: &Program) -> Rounds {
        let round = Round(program.clone());
        let states = round.moved() + program.outputs.len();
        Rounds(Checkpointed::new(round, states, STEPS).with_snapshots(2), program.clone())
    }

    fn outputs<T: Real>(&self, x: &[T]) -> Vec<T> {
        let moved = self.1.inputs.div_ceil(2);
        let mut state = x[..moved].to_vec();
        state.extend(std::iter::repeat_n(T::constant(0.0), self.1.outputs.len()));
        self.0.run(&state, &x[moved..]).split_off(moved)
    }
}

impl<T: Real> Function<[T]> for Rounds {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        self.outputs(x)
    }
}

/// The first output of the same.
struct FirstOfRounds(Rounds);

impl<T: Real> Function<[T]> for FirstOfRounds {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.outputs(x)[0]
    }
}

macro_rules! gradient {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("gradient ", $name, ", checkpoints"),
            f64,
            |program, x| prepare_gradient(Box::new(FirstOfRounds(Rounds::new(program))), &$backend, &x)?,
            |prepared, x| {
                let (y, grad) = prepared.value_and_gradient(&x)?;
                vec![(First, vec![y]), (Gradient, grad)]
            }
        )
    };
}

macro_rules! hessian {
    ($name:literal, $backend:expr) => {
        candidate!(
            concat!("hessian ", $name, ", checkpoints"),
            f64,
            |program, x| prepare_hessian(Box::new(FirstOfRounds(Rounds::new(program))), &$backend, &x)?,
            |prepared, x| {
                let (y, grad, hess) = prepared.value_gradient_and_hessian(&x)?;
                vec![(First, vec![y]), (Gradient, grad), (Hessian, hess.as_slice().to_vec())]
            }
        )
    };
}

/// The candidates with checkpoints.
pub(super) fn candidates() -> Vec<Candidate> {
    vec![
        gradient!("tape", AutoReverseDiff::tape()),
        gradient!("compiled", AutoReverseDiff::compiled()),
        hessian!("forward over tape", SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape())),
        candidate!(
            "pushforward forward, checkpoints",
            f64,
            |program, x| {
                let seed = TANGENTS[0][..program.inputs].to_vec();
                (prepare_pushforward(Box::new(Rounds::new(program)), &AutoForwardDiff::default(), &x, [&seed])?, seed)
            },
            |prepared, x| {
                let (prepared, seed) = &mut prepared;
                let (y, [product]) = prepared.value_and_pushforward(&x, [&seed[..]])?;
                vec![(Value, y), (Pushforward(0), product)]
            }
        ),
    ]
}
