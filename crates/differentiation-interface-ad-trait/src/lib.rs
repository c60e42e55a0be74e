#![doc = include_str!("../README.md")]

mod backend;
mod number;
#[cfg(test)]
mod tests;

pub use backend::AutoAdTrait;
pub use differentiation_interface_core::foreign::{Raw, raw, raw_array, raw_number};
pub use number::Lanewise;
