//! The engines under test: for each pair of a backend and an operator a candidate that prepares and calls it.
//!
//! Called by `check`. Each candidate is one instantiation of the operator, so this list determines the compile time of the crate.

mod all;
mod batches;
mod candidate;
mod constants;
mod first_order;
mod rounds;
mod second_order;
mod sparse;

pub use all::all;
pub use candidate::{Answers, Call, Candidate, Precision, Quantity};
