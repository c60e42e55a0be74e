//! Drivers: one operator of one backend on one scenario, with all types erased.
//!
//! Checks, benchmarks and the choice of a backend are written once, against [`Driver`], which hides the types of function, backend and point.
//! [`Run`] decides which backend supports which scenario, and makes the driver; each operator has a file with its kernel, the calls
//! of the core.

mod buffers;
mod derivative;
mod evaluations;
mod gradient;
mod hessian;
mod hvp;
mod jacobian;
mod products;
mod rig;
mod second_derivative;

use crate::candidate::Candidate;
use crate::operator::Operator;
use crate::point::OwnedPoint;
use crate::scenario::{Expected, Place, Scenario};
use differentiation_interface_core::error::Error;

/// The variant of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Returns the result.
    Plain,
    /// Writes the result into a buffer.
    Into,
    /// Returns the value too (and the first-order result, in second order).
    ValueAnd,
    /// The same into buffers.
    ValueAndInto,
    /// Returns the gradient too (`hvp` only).
    GradientAnd,
    /// The same into buffers.
    GradientAndInto,
}

impl Variant {
    /// The four variants every operator has.
    pub const ALL: [Variant; 4] = [Variant::Plain, Variant::Into, Variant::ValueAnd, Variant::ValueAndInto];
    /// Those of `hvp`.
    pub const OF_HVP: [Variant; 6] = [
        Variant::Plain,
        Variant::Into,
        Variant::GradientAnd,
        Variant::GradientAndInto,
        Variant::ValueAnd,
        Variant::ValueAndInto,
    ];

    /// Whether the result is written into a buffer.
    pub fn is_into(self) -> bool {
        matches!(self, Variant::Into | Variant::ValueAndInto | Variant::GradientAndInto)
    }
    /// Whether it returns the value too.
    pub fn has_value(self) -> bool {
        matches!(self, Variant::ValueAnd | Variant::ValueAndInto)
    }
    /// Whether it returns the first-order result too, in second order.
    pub fn has_first(self) -> bool {
        self.has_value() || matches!(self, Variant::GradientAnd | Variant::GradientAndInto)
    }
    /// Whether a scenario of this place includes it.
    pub fn is_in(self, place: Place) -> bool {
        match place {
            Place::Both => true,
            Place::Out => !self.is_into(),
            Place::Into => self.is_into(),
        }
    }

    /// Name of the function of the core.
    pub fn entry(self, operator: &str) -> String {
        let head = match (self, operator) {
            (Variant::Plain | Variant::Into, _) => "",
            (Variant::GradientAnd | Variant::GradientAndInto, _) => "gradient_and_",
            (_, "second_derivative") => "value_derivative_and_",
            (_, "hvp" | "hessian") => "value_gradient_and_",
            _ => "value_and_",
        };
        format!("{head}{operator}{}", if self.is_into() { "_into" } else { "" })
    }
}

/// How an operator is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Without preparation.
    OneShot,
    /// By the prepared object.
    Prepared,
    /// By the object prepared at the point.
    SamePoint,
}

/// The points of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The point of the scenario.
    Point,
    /// The point of its preparation.
    Preparation,
    /// The point of another length.
    OtherSize,
    /// The point with one more coordinate.
    TooLong,
    /// The point that was last moved to.
    Moved,
}

/// An argument of the wrong length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLength {
    /// The first seed.
    Seed,
    /// The buffer of the result.
    Buffer,
    /// The buffer of the first-order result beside a second-order one.
    FirstBuffer,
}

/// The results of a call, as flat numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The value, if the variant returns it.
    pub value: Vec<f64>,
    /// The first-order result, if there is one.
    pub first: Vec<f64>,
    /// The second-order result, if there is one.
    pub second: Vec<f64>,
    /// The places that the matrix stores, if it is sparse.
    pub pattern: Option<Vec<(usize, usize)>>,
}

/// The part of a scenario that is independent of types.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the operator.
    pub operator: &'static str,
    /// Order of the derivative.
    pub order: u8,
    /// Number of seeds.
    pub seeds: usize,
    /// Length of the point.
    pub inputs: usize,
    /// Length of the output.
    pub outputs: usize,
    /// Which variants are run.
    pub place: Place,
    /// The expected results.
    pub expected: Expected,
    /// The expected pattern, for sparse matrices.
    pub pattern: Option<Vec<(usize, usize)>>,
    /// The allowed error, relative to the largest entry expected.
    pub tolerance: f64,
    /// Whether the value is an object of its own, for which a call with value may allocate what an evaluation does.
    pub makes_values: bool,
    /// Machine epsilon of the number type.
    pub epsilon: f64,
    /// The largest number of evaluations of the function that the method needs for the variants without and with value, if
    /// the backend's mode determines it.
    pub calls: Option<(usize, usize)>,
    /// The variants of the operator.
    pub variants: &'static [Variant],
    /// Whether the scenario has a point of another length.
    pub has_other_size: bool,
}

/// One operator of one backend on one scenario.
///
/// A driver owns the buffers of its operator; [`results`](Driver::results) reads them. Inside, everything has the types of the
/// scenario, so that timing and counting measure the operator alone.
pub trait Driver {
    /// Calls the operator.
    ///
    /// # Errors
    /// Those of the operator.
    fn call(&mut self, call: Call, variant: Variant, at: At) -> Result<(), Error>;
    /// Calls the operator a number of times at the point of the scenario.
    ///
    /// # Errors
    /// The first error stops it.
    fn repeat(&mut self, call: Call, variant: Variant, times: usize) -> Result<(), Error>;
    /// Prepares anew a number of times, dropping all but the last.
    ///
    /// # Errors
    /// Those of the preparation.
    fn prepare(&mut self, at: At, times: usize) -> Result<(), Error>;
    /// Prepares again in place; `false` if the operator has no such method.
    ///
    /// # Errors
    /// Those of the preparation.
    fn prepare_again(&mut self, at: At) -> Result<bool, Error>;
    /// Prepares at the point of the scenario; `false` if the operator has no such preparation.
    ///
    /// # Errors
    /// Those of the preparation.
    fn prepare_same_point(&mut self) -> Result<bool, Error>;
    /// Replaces the object prepared at the point by its clone.
    fn take_clone_of_same_point(&mut self);
    /// Calls the operator at the point with seeds of other values.
    ///
    /// # Errors
    /// Those of the operator.
    fn call_with_other_seeds(&mut self, call: Call, variant: Variant) -> Result<(), Error>;
    /// Clones the prepared object, calls the clone on another thread, and returns its results.
    ///
    /// # Errors
    /// Those of the operator.
    fn call_clone_on_another_thread(&mut self, variant: Variant) -> Result<Results, Error>;
    /// Fills all buffers with NaN.
    fn poison(&mut self);
    /// Whether the type of the point can hold one more coordinate.
    fn has_too_long(&self) -> bool;
    /// Gives an argument the wrong length, until [`restore_lengths`](Driver::restore_lengths); `false` if the operator has no such argument.
    fn set_wrong_length(&mut self, argument: WrongLength) -> bool;
    /// Restores the lengths of all arguments.
    fn restore_lengths(&mut self);
    /// The results of the last call.
    fn results(&self) -> Results;
    /// Moves [`At::Moved`] to the point plus `step` times `direction`.
    fn move_along(&mut self, direction: &[f64], step: f64);
    /// The value of the function on plain numbers.
    fn plain_value(&mut self, at: At) -> Vec<f64>;
    /// How often one evaluation of the function on plain numbers allocates, if allocations are counted.
    fn allocations_of_function(&mut self) -> usize;
    /// The number of evaluations of the function so far.
    fn calls(&self) -> usize;
    /// Whether points, contexts and seeds are still those of the scenario.
    fn is_untouched(&self) -> bool;
    /// The seeds.
    fn seeds(&self) -> Vec<Vec<f64>>;
    /// One product of the other kind: a pullback of `seed` for a pushforward and vice versa; `None` for other operators.
    fn product_of_the_other_kind(&mut self, seed: &[f64]) -> Option<Result<Vec<f64>, Error>>;
}

/// Work on drivers: checks, benchmarks, answers.
pub trait Task {
    /// Receives the driver of a scenario with a backend.
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver);
    /// Receives a scenario that the backend does not support.
    fn skip(&mut self, backend: &dyn Candidate, scenario: &str, operator: &'static str, reason: &str);
}

/// A backend that accepts scenarios of the operator `O` on the function `F` at points `P`, if only to skip them.
///
/// Implemented for every backend whose numbers the function can run on; users do not implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be tested with the scenario `{O}` on `{F}`",
    note = "the function must run on the numbers of every backend of the list: write it over `T: Real`, or put `#[differentiable]` on the `fn`; functions over plain `f64` serve `AutoFiniteDiff` only",
    note = "backends without first-order operators are wrapped: `second_order_only(..)`, `jacobian_only(..)`, `hessian_only(..)`, `matrices_only(..)`"
)]
pub trait Run<O, F, P: OwnedPoint>: Candidate {
    /// Makes the driver and passes it to the task.
    fn run(&self, scenario: &Scenario<O, F, P>, task: &mut dyn Task);
}

/// Reports a scenario that the backend does not support.
pub(crate) fn skipped<O: Operator, F, P: OwnedPoint>(
    backend: &dyn Candidate,
    scenario: &Scenario<O, F, P>,
    task: &mut dyn Task,
    reason: &str,
) {
    task.skip(backend, &scenario.full_name(), O::NAME, reason);
}
