//! `#[differentiable] mod` and `impl`: whole programs as they are written for `f64`, without edits.
#![allow(
    clippy::clone_on_copy,
    clippy::derive_ord_xor_partial_ord,
    clippy::needless_range_loop,
    clippy::op_ref,
    clippy::too_many_arguments,
    clippy::unnecessary_lazy_evaluations,
    clippy::useless_vec,
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "code as it is written for f64"
)]

#[macro_use]
mod both;
#[path = "../dual/mod.rs"]
mod dual;

mod bounds;
mod closures_and_containers;
mod collections;
mod constants_and_places;
mod everyday;
mod generic_types;
mod idioms;
mod iterators;
mod operands_and_strategies;
mod programs;
mod qualified;
mod reduced;
mod science;
mod text;
mod traits_and_constants;
mod written;
