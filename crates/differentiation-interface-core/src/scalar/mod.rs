//! The numbers that functions run on: [`Base`], [`Scalar`], [`Real`], and the wrapper [`Num`].
//!
//! Users write functions over [`Real`]; engines nest over [`Scalar`]; the plain numbers `f64` and `f32` are [`Base`]. An active
//! number type (dual number, tape variable, tracer, ...) implements the small trait [`Core`], and the wrapper [`Num`] adds the
//! traits that numeric code needs.

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
