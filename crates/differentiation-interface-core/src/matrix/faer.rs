//! Dense results as matrices of `faer`.

use super::buffer::write_through;
use super::{Matrix, MatrixBuffer};
use crate::scalar::Scalar;
use faer::{Mat, MatMut, MatRef};

impl<S> Matrix<S> {
    /// A view of this matrix for `faer`. Nothing is copied: the view has the strides of a row-major matrix.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface_core::matrix::Matrix;
    /// let jac = Matrix::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// let view = jac.as_faer();
    /// assert_eq!((view.nrows(), view.ncols(), view[(1, 0)]), (2, 3, 4.0));
    /// ```
    pub fn as_faer(&self) -> MatRef<'_, S> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.columns)
    }

    /// The same view for writing.
    pub fn as_faer_mut(&mut self) -> MatMut<'_, S> {
        let (rows, columns) = (self.rows, self.columns);
        MatMut::from_row_major_slice_mut(self.data_mut(), rows, columns)
    }
}

/// Copies: `faer` stores columns.
impl<S: Copy> From<Matrix<S>> for Mat<S> {
    fn from(matrix: Matrix<S>) -> Self {
        Mat::from_fn(matrix.rows, matrix.columns, |i, j| matrix[(i, j)])
    }
}

/// Copies.
impl<S: Copy> From<MatRef<'_, S>> for Matrix<S> {
    fn from(matrix: MatRef<'_, S>) -> Self {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let data = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)])).collect();
        Matrix::of(rows, columns, data)
    }
}

/// Copies.
impl<S: Copy> From<&Mat<S>> for Matrix<S> {
    fn from(matrix: &Mat<S>) -> Self {
        matrix.as_ref().into()
    }
}

impl<S: Scalar> MatrixBuffer<S> for Mat<S> {
    fn write<R, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut Matrix<S>) -> Result<R, E>) -> Result<R, E> {
        self.as_mut().write(memory, fill)
    }
}

impl<S: Scalar> MatrixBuffer<S> for MatMut<'_, S> {
    fn write<R, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut Matrix<S>) -> Result<R, E>) -> Result<R, E> {
        write_through((self.nrows(), self.ncols()), memory, fill, |i, row| {
            row.iter().enumerate().for_each(|(j, entry)| self[(i, j)] = *entry);
        })
    }
}
