#![doc = include_str!("../README.md")]

mod engine;
mod function;
mod leaf;

pub use engine::{AutoCandle, Candle};
pub use function::TensorFunction;
pub use leaf::Leaf;

#[cfg(test)]
mod tests;
