//! Interfaces for engines that keep a recording of a function and replay it in later calls.
//!
//! All of it is optional: the defaults mean that nothing is recorded for later calls. These methods of other traits are for such engines:
//!
//! | trait | method | why |
//! |---|---|---|
//! | [`Flat`](crate::evaluate::Flat) | [`recordable`](crate::evaluate::Flat::recordable) | returns a [`Recordable`]: what a recording depends on |
//! | | [`remember_shape`](crate::evaluate::Flat::remember_shape) | names the [`OutputShape`] of a run, which a call that a recording serves shows again, because numbers alone do not tell it |
//! | [`Scalar`](crate::Scalar), [`Core`](crate::Core) | `INTERNALS` | [`Internals`]: parameters, tangents, reading the value without observing it |
//! | [`Backend`](crate::backend::Backend) | [`recordings`](crate::backend::Backend::recordings) | returns [`Recordings`]: a preparation makes a new state if the old one has any, and a sparse backend holds them to one branch |
//! | | [`steady`](crate::backend::Backend::steady) | inside another operator, and where threads may divide the work, a call must not depend on the number of earlier ones |
//! | [`MatrixRoute`](crate::backend::MatrixRoute) | [`recorded`](crate::backend::MatrixRoute::recorded) | returns a [`RecordedMatrix`]: a matrix without running the function, which the operator tries before the route |
//! | | [`restart`](crate::backend::MatrixRoute::restart) | a preparation of `second_derivative` calls `matrix` in place of `prepare`, which would forget what earlier calls have shown |
//! | [`PushforwardRoute`](crate::backend::PushforwardRoute), [`PullbackRoute`](crate::backend::PullbackRoute), [`HvpRoute`](crate::backend::HvpRoute) | [`adapt`](crate::backend::PushforwardRoute::adapt) | ends a preparation: later calls may switch to a recording. Not called for a state inside another operator |
//! | | [`entries`](crate::backend::PushforwardRoute::entries) | a program computes the entries of a sparse matrix themselves, where that takes less time than products by colours |
//! | [`SecondAdjointPrimitive`](crate::backend::SecondAdjointPrimitive) | [`adapt`](crate::backend::SecondAdjointPrimitive::adapt), [`hessian_entries`](crate::backend::SecondAdjointPrimitive::hessian_entries) | the same for the primitive of second order |
//! | [`SecondDerivativeRoute`](crate::backend::SecondDerivativeRoute) | [`restart`](crate::backend::SecondDerivativeRoute::restart) | passes it on to the outer backend |
//! | [`Rows`](crate::backend::Rows) | [`data_and_constants`](crate::backend::Rows::data_and_constants) | a program writes the entries that no input changes once per matrix |
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
