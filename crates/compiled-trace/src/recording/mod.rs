//! Recordings: the number that records, the resulting graph, and the rules and custom calls in it.
//!
//! Made by [`record`](recorder::record); read by `compile`, `derive` and by graph evaluation.

pub(crate) mod absence;
mod arithmetic;
mod call;
pub(crate) mod constants;
pub(crate) mod custom;
pub(crate) mod fingerprint;
pub(crate) mod fold;
pub(crate) mod graph;
pub(crate) mod limits;
pub(crate) mod number;
pub(crate) mod operation;
pub(crate) mod recorder;
pub(crate) mod rewrite;
pub mod rules;
pub(crate) mod template;
