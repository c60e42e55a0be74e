//! Sparse Jacobians and Hessians: detection, colouring, compressed derivatives, decompression.
//!
//! [`AutoSparse`] is a backend for `jacobian` and `hessian` that holds a dense backend, a detector and a colouring algorithm.
//! It calls the dense backend's routes with one seed per colour, all at once, unless the dense backend computes entries directly.

mod arguments;
mod convert;
mod detectors;
#[cfg(feature = "compiled")]
mod graph;
mod hessian;
mod jacobian;
mod lanes;
mod matrix;
mod name;
mod sides;
#[cfg(all(test, feature = "any", not(feature = "native")))]
mod tests;

pub use detectors::{DenseMethod, DenseSparsityDetector, KnownPattern, NoSparsityDetector};
#[cfg(feature = "compiled")]
pub use graph::{GraphLocalSparsityDetector, GraphSparsityDetector};
pub use hessian::SparseHessianState;
pub use jacobian::SparseJacobianState;
#[cfg(feature = "rayon")]
pub(crate) use jacobian::{SparseEvaluate, StateOf};
pub use matrix::SparseMatrix;
/// Colouring algorithms and decompressions for [`AutoSparse`].
#[doc(no_inline)]
pub use matrix_coloring;
pub use sides::{JacobianSides, MixedMode, Partition};
/// Tracers as detectors for [`AutoSparse`].
#[doc(no_inline)]
pub use sparsity_tracer;

use differentiation_interface_core::error::{Error, ErrorKind};
use matrix_coloring::{Direct, GreedyColoring};
use sparsity_tracer::TracerSparsityDetector;

/// Sparse derivatives by the dense backend `D`, the detector `S` and the colouring algorithm `A`.
///
/// Works with `jacobian` (`D` is a backend or [`MixedMode`]) and `hessian` (`D` is a backend or `SecondOrder`), in all variants. The
/// result is a [`SparseMatrix`]. A preparation computes the pattern and the colours once; an unprepared call does so each time. `K` is the
/// decompression, see [`with_decompression`](Self::with_decompression).
///
/// The derivatives are products with one seed per colour, unless the dense backend computes entries directly at a lower cost, as
/// [`AutoReverseDiff::compiled()`](crate::backends::AutoCompiledReverseDiff) does.
///
/// The pattern belongs to the function and the length of the point. A prepared call with other
/// [constants](differentiation_interface_core::context::Constant) than those of the detection, or with constants of a type that cannot be
/// compared, detects again, and takes over the entries that are new.
///
/// With a detector for one point the pattern is valid there only: with a compiled dense backend, a call that takes another branch is an error
/// of kind [`ErrorKind::OtherPattern`]; other backends cannot detect it.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// #[differentiable]
/// fn differences(y: &mut [f64], x: &[f64]) {
///     for i in 0..y.len() {
///         y[i] = (x[i + 1] - x[i]).powi(2);
///     }
/// }
/// let f = in_place(Differences, 3);
/// let backend = AutoSparse::new(AutoForwardDiff::default());
/// let mut prepared = prepare_jacobian(&f, &backend, &[0.0; 4])?;
/// assert_eq!(prepared.state().ncolors(), 2); // one pass with two lanes, whatever the length
/// let jac = prepared.jacobian(&[1.0, 2.0, 4.0, 8.0])?;
/// assert_eq!(jac.values(), [-2.0, 2.0, -4.0, 4.0, -8.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AutoSparse<D, S = TracerSparsityDetector, A = GreedyColoring, K = Direct> {
    dense: D,
    detector: S,
    coloring: A,
    decompression: K,
}

impl<D> AutoSparse<D> {
    /// Sparse derivatives by `dense`, with the tracer for all points and [`GreedyColoring::fast`].
    pub fn new(dense: D) -> Self {
        AutoSparse { dense, detector: TracerSparsityDetector, coloring: GreedyColoring::fast(), decompression: Direct }
    }
}

impl<D, S, A, K> AutoSparse<D, S, A, K> {
    /// The same with another detector.
    pub fn with_detector<T>(self, detector: T) -> AutoSparse<D, T, A, K> {
        AutoSparse { dense: self.dense, detector, coloring: self.coloring, decompression: self.decompression }
    }
    /// The same with another colouring algorithm; `GreedyColoring::default()` tries many and takes its time.
    pub fn with_coloring<T>(self, coloring: T) -> AutoSparse<D, S, T, K> {
        AutoSparse { dense: self.dense, detector: self.detector, coloring, decompression: self.decompression }
    }
    /// The same with decompression by [`Substitution`](matrix_coloring::Substitution), which needs fewer colours for
    /// Hessians and mixed mode, and loses entries beside others that are larger by many orders of magnitude.
    pub fn with_decompression<T>(self, decompression: T) -> AutoSparse<D, S, A, T> {
        AutoSparse { dense: self.dense, detector: self.detector, coloring: self.coloring, decompression }
    }
    /// The dense backend.
    pub fn dense(&self) -> &D {
        &self.dense
    }
}

/// The name of a sparse Jacobian with the dense part `D` in errors.
#[cfg(feature = "rayon")]
pub(crate) fn jacobian_name<D: JacobianSides>() -> &'static str {
    name::JacobianName::<D>::NAME
}

/// The name of a sparse Hessian with the dense part `D` in errors.
#[cfg(feature = "rayon")]
pub(crate) fn hessian_name<D: differentiation_interface_core::backend::SecondOrderBackend>() -> &'static str {
    name::HessianName::<D>::NAME
}

/// Converts an error about another branch to one about a pattern for one point.
fn other_pattern(error: Error) -> Error {
    match error.kind() {
        ErrorKind::OtherBranch { place } => ErrorKind::OtherPattern { place }.into(),
        _ => error,
    }
}

/// A chunk size that is too large although it fits the inputs, which was checked before, exceeds the number of colours.
fn chunk_error(error: Error, colors: usize) -> Error {
    match error.kind() {
        ErrorKind::ChunkTooLarge { chunk, inputs } if chunk <= inputs => {
            ErrorKind::ChunkExceedsColors { chunk, colors }.into()
        }
        _ => error,
    }
}

/// Converts an error of a colouring to one of the operator.
pub(crate) fn coloring_error(error: matrix_coloring::Error) -> Error {
    match error.kind() {
        matrix_coloring::ErrorKind::InvalidColoring { row, column, .. } => {
            ErrorKind::InvalidColoring { row: *row, column: *column }
        }
        matrix_coloring::ErrorKind::NotSymmetric { row, column } => {
            ErrorKind::UnsymmetricPattern { row: *row, column: *column }
        }
        matrix_coloring::ErrorKind::NotSquare { nrows, ncols } => {
            ErrorKind::PatternSize { expected: (*ncols, *ncols), found: (*nrows, *ncols) }
        }
        matrix_coloring::ErrorKind::Length { expected, found, .. } => {
            ErrorKind::BufferLength { expected: *expected, found: *found }
        }
        matrix_coloring::ErrorKind::Unsupported { problem, .. } => ErrorKind::UnsupportedColoring { problem },
        matrix_coloring::ErrorKind::NotAPermutation { position }
        | matrix_coloring::ErrorKind::NotExtremal { position } => ErrorKind::ColoringOrder { position: *position },
        matrix_coloring::ErrorKind::TooLarge { what, size, limit } => {
            ErrorKind::ColoringSize { what, size: *size, limit: *limit }
        }
        matrix_coloring::ErrorKind::Memory { bytes } => ErrorKind::PatternMemory { bytes: *bytes },
        _ => ErrorKind::ColoringFailed,
    }
    .into()
}
