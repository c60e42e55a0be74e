//! Flattens the many shapes of functions into the one that backends run.
//!
//! [`Evaluate`] is implemented for every function that an operator accepts; a backend receives a [`Flat`], a function from a flat
//! slice to a flat vector of numbers.

mod accepted;
mod bound;
mod fallible;
mod flat;
mod output;

pub use accepted::{Evaluate, KeptBy};
pub use bound::{Bound, Storage};
pub use flat::Flat;
pub(crate) use flat::handed;
pub use output::{ArrayOutput, NumberOutput, Output};

#[cfg(test)]
mod tests;
