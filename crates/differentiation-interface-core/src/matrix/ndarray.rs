//! Dense results as arrays of `ndarray`.

use super::buffer::write_through;
use super::{Matrix, MatrixBuffer};
use crate::scalar::Scalar;
use ndarray::{Array2, ArrayRef2, ArrayView2, ArrayViewMut2};

impl<S> Matrix<S> {
    /// A view of this matrix for `ndarray`. Nothing is copied.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface_core::matrix::Matrix;
    /// use ndarray::array;
    ///
    /// let jac = Matrix::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(jac.as_ndarray().dot(&array![1.0, 0.0, -1.0]), array![-2.0, -2.0]);
    /// ```
    pub fn as_ndarray(&self) -> ArrayView2<'_, S> {
        ArrayView2::from_shape((self.rows, self.columns), &self.data).expect("a matrix has rows * columns entries")
    }

    /// The same view for writing.
    pub fn as_ndarray_mut(&mut self) -> ArrayViewMut2<'_, S> {
        let size = (self.rows, self.columns);
        ArrayViewMut2::from_shape(size, self.data_mut()).expect("a matrix has rows * columns entries")
    }

    /// An array with these entries. Nothing is copied.
    pub fn into_ndarray(self) -> Array2<S> {
        Array2::from_shape_vec((self.rows, self.columns), self.data).expect("a matrix has rows * columns entries")
    }
}

/// Nothing is copied.
impl<S> From<Matrix<S>> for Array2<S> {
    fn from(matrix: Matrix<S>) -> Self {
        matrix.into_ndarray()
    }
}

/// Copies only if the entries do not lie row by row.
impl<S: Clone> From<Array2<S>> for Matrix<S> {
    fn from(array: Array2<S>) -> Self {
        let (rows, columns) = array.dim();
        let array = if array.is_standard_layout() { array } else { array.as_standard_layout().into_owned() };
        let (mut data, first) = array.into_raw_vec_and_offset();
        data.drain(..first.unwrap_or(0));
        data.truncate(rows * columns);
        Matrix::of(rows, columns, data)
    }
}

/// Copies any array of two dimensions, views among them.
impl<S: Clone> From<&ArrayRef2<S>> for Matrix<S> {
    fn from(array: &ArrayRef2<S>) -> Self {
        let (rows, columns) = array.dim();
        Matrix::of(rows, columns, array.iter().cloned().collect())
    }
}

/// The memory of the array is lent to the matrix, so that nothing is copied, unless the array is transposed or a part of a larger one.
impl<S: Scalar> MatrixBuffer<S> for Array2<S> {
    fn write<T, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut Matrix<S>) -> Result<T, E>) -> Result<T, E> {
        if !self.is_standard_layout() {
            return self.view_mut().write(memory, fill);
        }
        let mut matrix =
            Matrix::from(std::mem::replace(self, Array2::from_shape_vec((0, 0), Vec::new()).expect("an empty array")));
        let result = fill(&mut matrix);
        *self = matrix.into_ndarray();
        result
    }
}

impl<S: Scalar> MatrixBuffer<S> for ArrayViewMut2<'_, S> {
    fn write<T, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut Matrix<S>) -> Result<T, E>) -> Result<T, E> {
        write_through(self.dim(), memory, fill, |i, row| {
            self.row_mut(i).iter_mut().zip(row).for_each(|(place, entry)| *place = *entry);
        })
    }
}
