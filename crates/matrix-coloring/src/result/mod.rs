//! Results of colouring: colours, groups, compression and decompression.
//!
//! Made by [`coloring`](crate::coloring). One type per structure of the problem; all of them share the gather of
//! `program`.

mod bidirectional;
mod decompress;
mod one_sided;
mod symmetric;

#[cfg(test)]
mod tests;

pub use bidirectional::{AcyclicBicoloring, BidirectionalColoring, StarBicoloring};
pub use decompress::Recovers;
pub use one_sided::{ColumnColoring, RowColoring};
pub use symmetric::{AcyclicColoring, StarColoring, SymmetricColoring};
