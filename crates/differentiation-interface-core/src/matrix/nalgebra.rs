//! Dense results as matrices of `nalgebra`.

use super::buffer::write_through;
use super::{Matrix, MatrixBuffer};
use crate::scalar::Scalar;
use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, Dim, RawStorage, RawStorageMut};

impl<S: nalgebra::Scalar> Matrix<S> {
    /// A view of the transposed matrix for `nalgebra`, which stores columns: the columns of the view are the rows of this matrix. Nothing is
    /// copied.
    ///
    /// There is no view of the matrix itself: products of a view whose columns are not contiguous, `view * vector`, read and write out of bounds in
    /// `nalgebra` 0.35 (`axcpy_uninit` takes the length of the slice for that of the column). `transposed.tr_mul(&vector)` is the product
    /// of this matrix with a vector.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface_core::matrix::Matrix;
    /// use nalgebra::DVector;
    ///
    /// let jac = Matrix::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// let transposed = jac.as_nalgebra_transposed();
    /// assert_eq!(transposed.shape(), (3, 2));
    /// let product = transposed.tr_mul(&DVector::from_vec(vec![1.0, 0.0, -1.0]));
    /// assert_eq!(product, DVector::from_vec(vec![-2.0, -2.0]));
    /// ```
    pub fn as_nalgebra_transposed(&self) -> DMatrixView<'_, S> {
        DMatrixView::from_slice(&self.data, self.columns, self.rows)
    }

    /// The same view for writing.
    pub fn as_nalgebra_transposed_mut(&mut self) -> DMatrixViewMut<'_, S> {
        let (rows, columns) = (self.rows, self.columns);
        DMatrixViewMut::from_slice(self.data_mut(), columns, rows)
    }
}

/// Copies: `nalgebra` stores columns.
impl<S: nalgebra::Scalar> From<Matrix<S>> for DMatrix<S> {
    fn from(matrix: Matrix<S>) -> Self {
        DMatrix::from_row_iterator(matrix.rows, matrix.columns, matrix.data)
    }
}

/// Copies any matrix of `nalgebra`, views among them.
impl<S, R, C, V> From<&nalgebra::Matrix<S, R, C, V>> for Matrix<S>
where
    S: nalgebra::Scalar,
    R: Dim,
    C: Dim,
    V: RawStorage<S, R, C>,
{
    fn from(matrix: &nalgebra::Matrix<S, R, C, V>) -> Self {
        let (rows, columns) = matrix.shape();
        let data = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)].clone())).collect();
        Matrix::of(rows, columns, data)
    }
}

/// Any matrix of `nalgebra` of the size of the result, static ones and views among them.
impl<S, R, C, V> MatrixBuffer<S> for nalgebra::Matrix<S, R, C, V>
where
    S: Scalar,
    R: Dim,
    C: Dim,
    V: RawStorageMut<S, R, C>,
{
    fn write<T, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut Matrix<S>) -> Result<T, E>) -> Result<T, E> {
        write_through(self.shape(), memory, fill, |i, row| {
            row.iter().enumerate().for_each(|(j, entry)| self[(i, j)] = *entry);
        })
    }
}
