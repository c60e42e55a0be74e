//! The work of one derivative on several threads: a wrapper around another backend.
//!
//! Reached by operators through their backend traits; calls the inner backend's routes, on each thread with a part of the seeds. The
//! type and its settings are in `setting.rs`, the parts in `division.rs`, and there is one file for each group of operators.

mod columns;
mod dense;
mod division;
mod gradient;
mod hessian;
mod hvp;
mod jacobian;
#[cfg(feature = "sparse")]
mod lanes;
mod pullback;
mod pushforward;
mod rows;
mod second_order;
mod setting;
mod single_variable;
#[cfg(feature = "sparse")]
mod sparse;
#[cfg(feature = "sparse")]
mod sparse_hessian;

pub use gradient::ThreadedGradientState;
pub use hvp::ThreadedHvpState;
pub use jacobian::ThreadedJacobianState;
pub use pullback::ThreadedPullbackState;
pub use pushforward::ThreadedPushforwardState;
pub use second_order::HessianShares;
pub use setting::AutoThreaded;
#[cfg(feature = "sparse")]
pub use sparse::ThreadedSparseState;
#[cfg(feature = "sparse")]
pub use sparse_hessian::ThreadedSparseHessianState;
