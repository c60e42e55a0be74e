//! The normal form of an expression: sums and products without nesting, like terms and powers of equal bases collected.
//!
//! Made by `convert` from expressions and by the simplifier; turned into text by `print` and into expressions again by `build`.

mod build;
mod convert;
mod normal;
mod number;
mod roll;
#[cfg(test)]
mod tests;

pub(crate) use build::build;
pub(crate) use convert::convert;
pub(crate) use normal::{Aim, Form, Function, LEVELS, Leaf, Power};
pub(crate) use number::{Number, exact_power, exact_product, exact_sum};
pub(crate) use roll::rolled;
