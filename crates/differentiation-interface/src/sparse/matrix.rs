//! The sparse matrix that `jacobian` and `hessian` return with `AutoSparse`.

use differentiation_interface_core::DerivativeMatrix;
use differentiation_interface_core::backend::{ConstantEntries, Rows};
use differentiation_interface_core::matrix::Matrix;
use differentiation_interface_core::scalar::Scalar;
use matrix_coloring::Pattern;
use std::fmt;
use std::sync::Arc;

/// A sparse matrix in compressed rows: a shared pattern and one value per stored entry, row by row.
///
/// All matrices of a preparation share its pattern, so a result costs no more than its values.
///
/// # Matrices of other crates
/// | feature | borrowed | owned |
/// |:--|:--|:--|
/// | `faer` | `as_faer`: nothing is copied | `into_faer` |
/// | `sprs` | `as_sprs`: nothing is copied | `into_sprs` |
/// | `nalgebra-sparse` | | `into_nalgebra_sparse`: its indices are wider, so the pattern is copied |
///
/// The owned ones move the values, and treat the pattern as [`into_csr`](SparseMatrix::into_csr) does. Each checks the pattern
/// once, in time proportional to the entries.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// #[differentiable]
/// fn differences(x: &[f64]) -> Vec<f64> {
///     x.windows(2).map(|w| w[1] - w[0]).collect()
/// }
/// let jac = jacobian(&Differences, &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0, 4.0])?;
/// assert_eq!((jac.rows(), jac.columns(), jac.nnz()), (2, 3, 4));
/// assert_eq!(jac.csr(), (&[0, 2, 4][..], &[0, 1, 1, 2][..], &[-1.0, 1.0, -1.0, 1.0][..]));
/// assert_eq!((jac.get(1, 0), jac.get(1, 2)), (0.0, 1.0));
/// assert_eq!(jac.times(&[1.0, 2.0, 4.0]), [1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct SparseMatrix<S> {
    pub(super) pattern: Arc<Pattern>,
    pub(super) values: Vec<S>,
    /// Those of the program that last filled it, if nothing else has written to it since.
    constants: ConstantEntries,
}

impl<S: Scalar> SparseMatrix<S> {
    /// A matrix of zeros with this pattern.
    pub fn zeros(pattern: Arc<Pattern>) -> Self {
        SparseMatrix { values: vec![S::default(); pattern.nnz()], pattern, constants: ConstantEntries::default() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.nrows()
    }
    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.pattern.ncols()
    }
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Which entries are stored.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }
    /// The stored values, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// The stored values, row by row, to write.
    pub fn values_mut(&mut self) -> &mut [S] {
        self.constants = ConstantEntries::default();
        &mut self.values
    }
    /// The stored values as one row, for a primitive to fill.
    pub(super) fn rows_to_fill(&mut self) -> Rows<'_, S> {
        let count = self.values.len();
        Rows::fixed(&mut self.values, count).with_constants(&mut self.constants)
    }
    /// The compressed rows: where each row starts among the entries, the column of each entry, its value.
    pub fn csr(&self) -> (&[u32], &[u32], &[S]) {
        let (starts, columns) = self.pattern.csr();
        (starts, columns, &self.values)
    }
    /// The compressed rows as owned arrays, in the order of [`csr`](SparseMatrix::csr). The values are moved. The other two arrays are
    /// moved if no other matrix and no preparation shares the pattern, else copied.
    pub fn into_csr(self) -> (Vec<u32>, Vec<u32>, Vec<S>) {
        let (starts, columns) = Arc::unwrap_or_clone(self.pattern).into_csr();
        (starts, columns, self.values)
    }
    /// Entry `(i, j)`, zero if it is not stored.
    pub fn get(&self, i: usize, j: usize) -> S {
        self.pattern.position(i, j).map_or(S::default(), |k| self.values[k])
    }
    /// The stored entries as `(row, column, value)`, row by row.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, S)> + '_ {
        self.pattern.entries().zip(&self.values).map(|((i, j), v)| (i, j, *v))
    }
    /// The dense matrix with the same entries.
    pub fn to_dense(&self) -> Matrix<S> {
        let mut dense = Matrix::filled(self.rows(), self.columns(), S::default());
        for (i, j, value) in self.entries() {
            dense[(i, j)] = value;
        }
        dense
    }
    /// The product with a vector.
    ///
    /// # Panics
    /// If the vector is not as long as the matrix has columns.
    pub fn times(&self, vector: &[S]) -> Vec<S> {
        assert_eq!(vector.len(), self.columns(), "the vector has one entry per column");
        let mut product = vec![S::default(); self.rows()];
        for (i, j, value) in self.entries() {
            product[i] += value * vector[j];
        }
        product
    }
}

impl<S: Scalar> DerivativeMatrix<S> for SparseMatrix<S> {
    fn size(&self) -> (usize, usize) {
        (self.rows(), self.columns())
    }
    fn entry(&self, i: usize, j: usize) -> S {
        self.get(i, j)
    }
    fn stored(&mut self) -> &mut [S] {
        self.values_mut()
    }
    fn pattern(&self) -> Option<Vec<(usize, usize)>> {
        Some(self.pattern.entries().collect())
    }
}

impl<S: Scalar> fmt::Debug for SparseMatrix<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} with {} entries ", self.rows(), self.columns(), self.nnz())?;
        f.debug_list().entries(self.entries()).finish()
    }
}
