//! Prints code as Rust or C.
//!
//! Called by [`Source`](crate::Source); `printer` prints steps, `expressions` blocks, `math` the elementary functions, `signature` what is
//! before the body. Names and order depend on the code alone, so that the same function gives the same bytes.

mod dialect;
mod expressions;
mod functions;
mod math;
mod names;
mod printer;
mod signature;
mod tables;

pub use dialect::Precision;
pub(crate) use dialect::{Dialect, Language};
pub(crate) use math::Used;
pub(crate) use printer::Printer;
pub(crate) use signature::{Output, Signature, is_snake_case, takes_work};
