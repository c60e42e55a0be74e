#![doc = include_str!("../README.md")]

mod engine;
mod function;
mod leaf;

pub use engine::{AutoBurn, Burn};
pub use function::{Outputs, TensorFunction};
pub use leaf::Leaf;

#[cfg(test)]
mod tests;

