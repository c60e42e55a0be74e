//! A candidate: an operator of a backend, prepared and called on a program.
//!
//! Made by the lists beside this file, run by `check`.

use crate::program::Program;
use differentiation_interface::prelude::Error;
use differentiation_interface::scalar::Base;

/// The quantity that an engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// All outputs.
    Value,
    /// The first output.
    First,
    Gradient,
    Jacobian,
    /// By tangent `TANGENTS[k]`.
    Pushforward(usize),
    /// By cotangent `COTANGENTS[k]`.
    Pullback(usize),
    /// By tangent `TANGENTS[k]`.
    Hvp(usize),
    Hessian,
    /// All outputs, along the line.
    LineValue,
    LineFirst,
    LineSecond,
}

/// The numbers of an engine, by quantity.
pub type Answers = Vec<(Quantity, Vec<f64>)>;

/// A prepared operator, called at one point after the other.
pub type Call<'p> = Box<dyn FnMut(&[f64]) -> Result<Answers, Error> + 'p>;

/// The plain numbers that an engine computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Double,
    Single,
}

/// A backend with an operator.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub name: &'static str,
    pub precision: Precision,
    /// Prepares at a point.
    pub start: for<'p> fn(&'p Program, &[f64]) -> Result<Call<'p>, Error>,
}

/// A point in the engine's numbers.
pub(super) fn rounded<B: Base>(x: &[f64]) -> Vec<B> {
    x.iter().map(|x| B::from_f64(*x)).collect()
}

/// An engine's numbers as doubles.
pub(super) fn widened<B: Base>(y: &[B]) -> Vec<f64> {
    y.iter().map(|y| y.as_f64()).collect()
}

/// Makes a [`Candidate`] from an expression that prepares with `program` and the point `x`, and a closure's body that calls at `x`.
macro_rules! candidate {
    ($name:expr, $base:ty, |$program:ident, $x:ident| $prepare:expr, |$prepared:ident, $at:ident| $call:expr) => {{
        fn start<'p>($program: &'p Program, x: &[f64]) -> Result<Call<'p>, Error> {
            let $x: Vec<$base> = rounded(x);
            #[allow(unused_mut, reason = "one-shot calls have nothing to change")]
            let mut $prepared = $prepare;
            Ok(Box::new(move |x: &[f64]| {
                let $at: Vec<$base> = rounded(x);
                Ok($call)
            }))
        }
        let precision = if size_of::<$base>() == 8 { Precision::Double } else { Precision::Single };
        Candidate { name: $name, precision, start }
    }};
}
pub(super) use candidate;
