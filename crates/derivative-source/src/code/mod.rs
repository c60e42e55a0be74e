//! What is printed: a function as loops and straight-line blocks, with its operations by name.
//!
//! Made by `lower` from a program of `compiled-trace`; rewritten by the other passes; read by the printers.
//!
//! It differs from a program in what source code needs and executors do not: conditions are apart from numbers, loops begin anywhere,
//! results that were not asked for are dropped, and arrays have names.

mod block;
mod fields;
mod gather;
mod ir;
mod lower;
mod products;
mod sweep;
mod tables;

pub(crate) use block::{fused, lowered};
pub(crate) use fields::by_fields;
pub(crate) use gather::gathered;
pub(crate) use ir::{Address, Array, Code, Node, Step, Unary, each_node, each_node_mut};
pub(crate) use lower::lower;
pub(crate) use products::by_unit_seeds;
pub(crate) use sweep::unlooped;
pub(crate) use tables::{Item, Shape, leaves, pieces_of, without_tables};
