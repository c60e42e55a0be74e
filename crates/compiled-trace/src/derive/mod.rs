//! Derivatives of programs and recordings: adjoints and tangents statement by statement, entries of Jacobians and Hessians as graphs.
//!
//! Called by the methods of [`Program`](crate::Program) and [`Graph`](crate::Graph).

pub(crate) mod absence;
mod activity;
mod adjoint_tangent;
pub(crate) mod builder;
mod calls;
mod entries;
pub(crate) mod expressions;

pub(crate) use entries::check_pattern;
