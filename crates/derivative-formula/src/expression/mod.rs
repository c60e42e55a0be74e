//! Expressions: the operations of recordings and of their derivatives, each stored once.
//!
//! Filled by `read` from a recording and by `derive` with derivatives; read by `write`, which makes a recording again, and by the
//! normal form, from which formulas are printed and simplified.

mod arena;
mod derive;
mod evaluate;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use arena::{Expressions, Id, Node};
pub(crate) use evaluate::Rounding;
pub(crate) use read::Read;
