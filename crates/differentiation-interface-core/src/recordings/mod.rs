//! Interfaces for engines that keep a recording of a function and replay it in later calls.
//!
//! All of it is optional: the defaults mean that nothing is recorded for later calls. These items lead here:
//!
//! | from | by | to |
//! |---|---|---|
//! | [`Flat`](crate::evaluate::Flat) | [`recordable`](crate::evaluate::Flat::recordable) | [`Recordable`]: what a recording depends on |
//! | [`Scalar`](crate::Scalar), [`Core`](crate::Core) | `INTERNALS` | [`Internals`]: parameters, tangents, reading the value without observing it |
//! | [`Backend`](crate::backend::Backend) | [`recordings`](crate::backend::Backend::recordings) | [`Recordings`]: whether it keeps recordings, and whether for one branch only |
//! | [`MatrixRoute`](crate::backend::MatrixRoute) | [`recorded`](crate::backend::MatrixRoute::recorded) | [`RecordedMatrix`]: a matrix without running the function |
//!
//! Called by such engines, by wrappers that forward the calls, and by operators, which try recordings before the route.

mod backend;
mod function;
mod internals;
mod matrix;
mod number;
mod plain_data;
mod report;
mod scope;
mod shape;
mod sync;
mod words;

pub use backend::Recordings;
pub use function::Recordable;
pub use internals::{Internals, PlainSlices, Tangents};
pub use matrix::RecordedMatrix;
pub use number::EngineScalar;
pub use plain_data::PlainData;
pub use report::Reports;
pub use scope::ParameterScope;
pub use shape::OutputShape;
pub(crate) use sync::is_sync;
#[doc(hidden)]
pub use words::Wordwise;
pub use words::{Word, Words};
