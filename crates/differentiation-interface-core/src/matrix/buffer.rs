//! Where an operator writes a dense matrix: [`MatrixBuffer`].
//!
//! The `_into` variants of `jacobian` and `hessian` call it; matrices of other crates implement it behind features.

use super::Matrix;
#[cfg(any(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
use crate::scalar::Scalar;

/// Takes the entries of a Jacobian or Hessian: the matrix `M` that the backend makes, or, if that is a dense [`Matrix`], one of
/// `nalgebra`, `ndarray` or `faer` with the feature of this name.
///
/// # For authors
/// 1. [`write`](Self::write) passes a matrix of the size of `self` to `fill`. If `fill` succeeds, the entries of `self` are what it wrote.
/// 2. After an error `self` keeps its size.
/// 3. It allocates only what `memory` lacks.
#[diagnostic::on_unimplemented(
    message = "a matrix with entries `{S}` cannot be written into `{Self}`",
    note = "pass the matrix that `jacobian` and `hessian` return with this backend: `Matrix` for most, `SparseMatrix` for `AutoSparse`",
    note = "dense matrices of `nalgebra`, `ndarray` and `faer` are filled with the features of these names"
)]
pub trait MatrixBuffer<S, M = Matrix<S>> {
    /// Passes a matrix of this size to `fill`, in own memory if its entries lie row by row, else in `memory`.
    ///
    /// # Errors
    /// That of `fill`.
    fn write<R, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut M) -> Result<R, E>) -> Result<R, E>;
}

impl<S, M> MatrixBuffer<S, M> for M {
    #[inline]
    fn write<R, E>(&mut self, _: &mut Vec<S>, fill: impl FnOnce(&mut M) -> Result<R, E>) -> Result<R, E> {
        fill(self)
    }
}

/// Fills a matrix in `memory`, whose entries `place` then receives row by row.
#[cfg(any(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
pub(super) fn write_through<S: Scalar, R, E>(
    (rows, columns): (usize, usize),
    memory: &mut Vec<S>,
    fill: impl FnOnce(&mut Matrix<S>) -> Result<R, E>,
    mut place: impl FnMut(usize, &[S]),
) -> Result<R, E> {
    memory.resize(rows * columns, S::default());
    let mut matrix = Matrix::of(rows, columns, std::mem::take(memory));
    let result = fill(&mut matrix);
    if result.is_ok() {
        (0..rows).for_each(|i| place(i, matrix.row(i)));
    }
    *memory = matrix.data;
    result
}
