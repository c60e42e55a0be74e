//! The portable executor: an interpreter that works on blocks of iterations.
//!
//! Called by users of a [`Program`]; calls kernels that the compiler vectorises. One is chosen per block for the vector
//! width of the machine. Nests with the same work in many iterations run a block of [`BLOCK`] iterations (fewer if the body needs
//! many buffers) instruction by instruction, so that results stay in cache; the rest runs number by number.
//!
//! It is the fallback of machine code, which is the default where there is a code generator, and is kept simple: a program of ten
//! numbers takes some hundred nanoseconds. [`Executable::work`] estimates the time.
//!
//! # Which result?
//! The order of additions is fixed by the program, and the same for every machine and vector width: a sum over a vectorised
//! dimension adds term `i` to partial sum `i mod 16`, and adds these pairwise at the end of the row; a nest that is a product of matrices of doubles
//! adds 256 terms of an entry to each other in order, then to the cell, as machine code does. No operations are
//! contracted. Cells that several instructions accumulate to receive their terms block by block.

mod block;
mod error;
mod evaluate;
mod executable;
mod plan;
mod run;
mod single;
#[cfg(test)]
mod tests;
mod work;

pub use error::RunError;
pub use executable::{Executable, Workspace};
pub use plan::BLOCK;
pub use work::Work;
