//! The portable executor: an interpreter that works on blocks of iterations.
//!
//! Called by users of a [`Program`]; calls kernels that the compiler vectorises, chosen once per block for the vector width of
//! the machine by `pulp`. Nests whose work is the same for many iterations run a block of [`BLOCK`] iterations (fewer if the
//! body needs many buffers) instruction by instruction, so that results stay in cache; the rest runs number by number. Small
//! programs are written out as one list of operations when they are made ready, see `unrolled`: then a run has next to
//! nothing to do besides the operations, where nests in blocks cost some hundred nanoseconds each time.
//!
//! # Which answers?
//! The order of additions is fixed by the program, and the same for every machine and vector width: a sum over a vectorised
//! dimension adds term `i` to partial sum `i mod 16`, and adds these pairwise at the end of the row. No operations are
//! contracted. Cells that several instructions accumulate to get their terms block by block.

mod block;
mod error;
mod evaluate;
mod executable;
mod plan;
mod run;
mod single;
#[cfg(test)]
mod tests;
mod unrolled;

pub use error::RunError;
pub use executable::{Executable, Workspace};
pub use plan::BLOCK;
pub use unrolled::Single;
