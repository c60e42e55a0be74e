//! The numbers functions run on: [`Base`], [`Scalar`], [`Real`], and the wrapper [`Num`].
//!
//! Users write functions against [`Real`]; engines nest over [`Scalar`]; the two base numbers `f64` and `f32` are
//! [`Base`]. A differentiation number (dual, tape variable, tracer, ...) implements the small trait [`Core`], and
//! [`Num`] turns it into something that has every trait numeric code asks for.

mod base;
mod condition;
mod formatting;
mod real;
mod wrapper;
mod wrapper_float;
mod wrapper_ops;

pub use crate::arithmetic::{Base, Scalar};
pub use crate::relation::Relation;
pub use condition::Condition;
pub use real::{Imply, Real, Same};
pub use wrapper::{Core, Num};
