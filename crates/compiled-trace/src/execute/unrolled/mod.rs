//! Small programs as one list of operations on one array.
//!
//! Made by `emit` when a program is made ready and is small enough; run on plain numbers by `kernel`. All counters are known
//! by then, so loops and nests are written out, and every operand is a place in one array of slots: constants, copies of the
//! inputs, work, outputs, results. A run has no counters, addresses or borrowed buffers left to look after, which is most of
//! what a small program costs in blocks.
//!
//! # Wide operations
//! An operation on neighbouring iterations works on `LANES` slots at a time. The last group may read slots beyond its operands,
//! whose numbers go nowhere: results have room for whole groups, as inputs and outputs have, and cells of the program are
//! written by whole groups only where the cells beyond are still to be cleared or written; else `Code::Put` takes results
//! to where they belong.
//!
//! # Straight lines
//! A step costs a jump to the code for its operation, which the machine cannot foresee where operations follow each other without
//! pattern. Long straight lines of scalar operations are therefore reordered: operations of one kind become neighbours, a batch,
//! which is one loop.

mod code;
mod emit;
mod kernel;
mod run;
mod slots;

pub(super) use code::Flat;
pub(super) use emit::flat;
pub use run::Single;
pub(super) use slots::Slots;
