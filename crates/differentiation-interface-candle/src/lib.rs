#![doc = include_str!("../README.md")]

mod engine;
mod function;
#[cfg(any(test, feature = "kit"))]
mod kit;
mod leaf;

pub use engine::{AutoCandle, Candle};
pub use function::TensorFunction;
pub use leaf::Leaf;

#[cfg(test)]
mod tests;
