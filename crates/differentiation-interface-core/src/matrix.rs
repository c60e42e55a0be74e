//! A dense matrix, the result of `jacobian` and `hessian`, and what all such results have in common.
//!
//! Operators make and fill it, or another matrix of the user, a [`MatrixBuffer`].

mod buffer;
#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;

pub use buffer::MatrixBuffer;

use crate::backend::{ConstantEntries, Rows};
use crate::scalar::Scalar;
use std::fmt;
use std::ops::{Index, IndexMut, Range};

/// A dense row-major matrix: entry `(i, j)` of a Jacobian is ∂fᵢ/∂xⱼ, row `i` is contiguous.
///
/// Rows are contiguous because both modes of differentiation write contiguous parts of a row: a chunk of forward mode a few columns,
/// a sweep of reverse mode a whole row.
///
/// With the features of these names it is viewed as a matrix of `ndarray` or `faer` and, transposed, of `nalgebra` without a copy
/// (`as_ndarray`, `as_faer`, `as_nalgebra_transposed`), and converted by `From`; the `_into` operators also fill a matrix of these crates, see
/// [`MatrixBuffer`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// let jac = jacobian(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((jac.size(), jac.row(0), jac[(1, 0)]), ((2, 2), &[5.0, 2.0][..], 1.0));
/// assert_eq!(jac, Matrix::from_rows(2, 2, vec![5.0, 2.0, 1.0, 1.0]));
/// assert_eq!(jac.to_column_major(), [5.0, 1.0, 2.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Matrix<S> {
    rows: usize,
    columns: usize,
    data: Vec<S>,
    /// Those of the program that last filled it, if nothing else has written to it since.
    constants: ConstantEntries,
}

impl<S> Matrix<S> {
    /// A matrix of as many entries.
    fn of(rows: usize, columns: usize, data: Vec<S>) -> Self {
        Matrix { rows, columns, data, constants: ConstantEntries::default() }
    }

    /// The entries, of which nothing is known from here on.
    #[inline]
    fn data_mut(&mut self) -> &mut [S] {
        self.constants = ConstantEntries::default();
        &mut self.data
    }
}

impl<S: Copy> Matrix<S> {
    /// A matrix with every entry equal to `value`.
    pub fn filled(rows: usize, columns: usize, value: S) -> Self {
        Matrix::of(rows, columns, vec![value; rows * columns])
    }

    /// A matrix from its entries row by row.
    ///
    /// # Panics
    /// If there are not `rows * columns` entries.
    pub fn from_rows(rows: usize, columns: usize, data: Vec<S>) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} x {columns} matrix needs {} entries", rows * columns);
        Matrix::of(rows, columns, data)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }
    /// Row `i`, one entry per column.
    ///
    /// # Panics
    /// If `i` is not less than the number of rows, in a matrix that has columns.
    pub fn row(&self, i: usize) -> &[S] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }
    /// All entries, row by row.
    pub fn as_slice(&self) -> &[S] {
        &self.data
    }
    /// All entries, row by row, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [S] {
        self.data_mut()
    }
    /// The matrix for a primitive to fill.
    pub fn rows_to_fill(&mut self) -> Rows<'_, S>
    where
        S: Scalar,
    {
        Rows::fixed(&mut self.data, self.columns).with_constants(&mut self.constants)
    }
    /// The entries in these rows and columns.
    ///
    /// # Panics
    /// If the matrix has fewer rows or columns.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<S> {
        let data = rows.clone().flat_map(|i| &self.row(i)[columns.clone()]).copied().collect();
        Matrix::from_rows(rows.len(), columns.len(), data)
    }
    /// The entries row by row.
    pub fn into_vec(self) -> Vec<S> {
        self.data
    }
    /// The entries column by column, as column-major libraries expect them.
    pub fn to_column_major(&self) -> Vec<S> {
        (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| self[(i, j)])).collect()
    }
}

impl<S> Index<(usize, usize)> for Matrix<S> {
    type Output = S;
    fn index(&self, (i, j): (usize, usize)) -> &S {
        assert!(i < self.rows && j < self.columns, "entry ({i}, {j}) of a {} x {} matrix", self.rows, self.columns);
        &self.data[i * self.columns + j]
    }
}

impl<S> IndexMut<(usize, usize)> for Matrix<S> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut S {
        assert!(i < self.rows && j < self.columns, "entry ({i}, {j}) of a {} x {} matrix", self.rows, self.columns);
        let columns = self.columns;
        &mut self.data_mut()[i * columns + j]
    }
}

/// Compares with rows written out: `jac == [[1.0, 0.0], [0.0, 2.0]]`.
impl<S: PartialEq, const M: usize, const N: usize> PartialEq<[[S; N]; M]> for Matrix<S> {
    fn eq(&self, other: &[[S; N]; M]) -> bool {
        self.rows == M && (self.columns == N) && self.data.iter().eq(other.iter().flatten())
    }
}

impl<S: fmt::Debug> fmt::Debug for Matrix<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.columns == 0 {
            return write!(f, "[{} x 0]", self.rows);
        }
        f.debug_list().entries(self.data.chunks(self.columns)).finish()
    }
}

/// What `jacobian` and `hessian` return: a dense [`Matrix`], or the matrix of a wrapper such as `AutoSparse`.
pub trait DerivativeMatrix<S> {
    /// Rows and columns.
    fn size(&self) -> (usize, usize);
    /// Entry `(i, j)`, zero if it is not stored.
    fn entry(&self, i: usize, j: usize) -> S;
    /// The stored numbers, in the order of the matrix type, for writing.
    fn stored(&mut self) -> &mut [S];
    /// The stored entries as `(row, column)`, row by row; `None` if all entries are stored.
    fn pattern(&self) -> Option<Vec<(usize, usize)>>;
}

impl<S: Scalar> DerivativeMatrix<S> for Matrix<S> {
    fn size(&self) -> (usize, usize) {
        Matrix::size(self)
    }
    fn entry(&self, i: usize, j: usize) -> S {
        self[(i, j)]
    }
    fn stored(&mut self) -> &mut [S] {
        self.as_mut_slice()
    }
    fn pattern(&self) -> Option<Vec<(usize, usize)>> {
        None
    }
}
