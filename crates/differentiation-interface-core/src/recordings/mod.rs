//! What engines that keep a recording of a function, to run it in later calls, ask beyond what every engine needs.
//!
//! Everything here is optional: a function, number, route or backend that says nothing is never recorded for a later call. One
//! pointer leads here from each:
//!
//! | from | by | to |
//! |---|---|---|
//! | [`Flat`](crate::evaluate::Flat) | [`recordable`](crate::evaluate::Flat::recordable) | [`Recordable`]: what a recording depends on |
//! | [`Scalar`](crate::Scalar), [`Core`](crate::Core) | `INTERNALS` | [`Internals`]: parameters, tangents, the value unobserved |
//! | [`Backend`](crate::backend::Backend) | [`recordings`](crate::backend::Backend::recordings) | [`Recordings`]: that it keeps any, and on one branch alone |
//! | [`MatrixRoute`](crate::backend::MatrixRoute) | [`recorded`](crate::backend::MatrixRoute::recorded) | [`RecordedMatrix`]: a matrix without running the function |
//!
//! Called by such engines, by the wrappers that pass their questions on, and by operators, which offer the shorter way first.

mod backend;
mod function;
mod internals;
mod matrix;
mod number;

pub use backend::Recordings;
pub use function::Recordable;
pub use internals::{Internals, PlainSlices, Tangents};
pub use matrix::RecordedMatrix;
pub use number::EngineScalar;
