//! Small programs as one list of operations on one array.
//!
//! Made by `emit` when a small program is prepared; run on plain numbers by `kernel`. All counters are known then, so loops and
//! nests are unrolled, and every operand is a place in one array of slots: constants, copies of the inputs, work, outputs,
//! results. A run has no counters, addresses or borrowed buffers to manage, which is most of the cost of a small program in
//! blocks.
//!
//! # Wide operations
//! An operation on neighbouring iterations processes `LANES` slots at a time. The last group may read slots beyond its operands;
//! the extra numbers are not used. Results have room for whole groups, as inputs and outputs have, and cells of the program are
//! written by whole groups only if the cells beyond are still to be cleared or written; otherwise `Code::Put` copies results
//! to their cells.
//!
//! # Straight lines
//! A step costs a jump to the code of its operation, which the machine cannot predict if operations follow each other without
//! pattern. Long straight lines of scalar operations are therefore reordered: operations of one kind become neighbours, a batch,
//! which runs as one loop.

mod code;
mod emit;
mod kernel;
mod run;
mod slots;

pub(super) use code::Unrolled;
pub(super) use emit::unrolled;
pub use run::Single;
pub(super) use slots::Slots;
