//! Patterns of sparse Jacobians and Hessians, found by running a function once on numbers that record what they depend on.
//!
//! ```
//! use differentiation_interface_core::Real;
//! use sparsity_tracer::{TracerSparsityDetector, jacobian_sparsity};
//!
//! fn differences<T: Real>(x: &[T]) -> Vec<T> {
//!     x.windows(2).map(|w| w[1] * w[1] - w[0] * w[0]).collect()
//! }
//! let pattern = jacobian_sparsity(&differences, &TracerSparsityDetector, &[0.0; 4])?;
//! assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3)]);
//! # Ok::<(), sparsity_tracer::Error>(())
//! ```
//!
//! # For all points, or for one
//! [`TracerSparsityDetector`] finds a pattern that holds everywhere, and refuses a function that branches on a value, naming
//! the line. [`TracerLocalSparsityDetector`] follows the branches taken at one point and drops what is exactly zero there.
//!
//! # Which rules are supported?
//! Those of the table in [`rules`](differentiation_interface_core::rules), and users' rules. This crate does not list what a rule depends
//! on: it evaluates the derivative on a probing number that records dependence. A user's rule whose derivative is
//! [`Partial::Zero`](differentiation_interface_core::rules::Partial) in some places and not in others is recognised if it is
//! not zero at one of twenty sample points with magnitudes from 1e-300 to 1e300; write a narrower one as a
//! [`CustomRule`](differentiation_interface_core::custom::CustomRule), which counts as dense.
//!
//! # What does it cost?
//! One evaluation, some nanoseconds per operation, and about the same time again to write the pattern; twelve bytes of
//! memory per operation, kept for the next detection on the thread until [`release_memory`].
//!
//! # Limits
//! - If a function of the standard library compares (`sort_by`, `max_by`, `&a < &b`), the error names a place in that library.
//! - Formatting a tracer without value reads the value, and is refused like a branch.
//! - Computing with tracers on other threads is refused with an error that says so.

mod arena;
mod class;
mod detector;
mod events;
mod handles;
mod number;
mod probe;
#[cfg(feature = "recordings")]
mod recordings;
mod sets;

pub use arena::release_memory;
pub use detector::{
    BaseOf, SparsityDetector, TracerLocalSparsityDetector, TracerSparsityDetector, hessian_sparsity, jacobian_sparsity,
};
pub use differentiation_interface_core::error::{Error, ErrorKind};
pub use handles::{Gradient, Hessian};
pub use matrix_coloring::Pattern;
pub use number::{Global, Local, Scope, Tracer, TracerCore, dense_dependence};
#[cfg(feature = "recordings")]
pub use recordings::{hessian_of_recording, jacobian_of_recording};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
