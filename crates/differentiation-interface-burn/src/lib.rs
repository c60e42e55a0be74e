#![doc = include_str!("../README.md")]

mod engine;
mod function;
#[cfg(any(test, feature = "kit"))]
mod kit;
mod leaf;

pub use engine::{AutoBurn, Burn};
pub use function::{Outputs, TensorFunction};
pub use leaf::Leaf;

#[cfg(test)]
mod tests;

/// The book's chapter on tensor libraries, whose code runs as tests of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../book/tensors.md")]
    mod tensors {}
}
