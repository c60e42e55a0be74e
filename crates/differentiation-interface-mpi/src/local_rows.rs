//! The rows of a matrix that one rank holds.
//!
//! Returned by the operators of a [`Distributed`](crate::Distributed) that leaves each rank its rows; read by users, who pass it to PETSc
//! or hypre.

use crate::part::share;
use crate::ranks::Ranks;
use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::matrix::DerivativeMatrix;
use differentiation_interface::scalar::Scalar;
use std::ops::Range;
use std::sync::Arc;

/// Which rows a rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSplit {
    /// Rows in the order of the ranks, whose numbers differ by at most one: those of [`Ranks::range`], as PETSc decides with
    /// `PETSC_DECIDE`.
    Even,
    /// All rows on one rank.
    OnRank(usize),
}

impl RowSplit {
    pub(crate) fn rows(self, ranks: &Ranks, rank: usize, count: usize) -> Range<usize> {
        match self {
            RowSplit::Even => share(count, rank, ranks.size()),
            RowSplit::OnRank(holder) if rank == holder => 0..count,
            RowSplit::OnRank(holder) if rank < holder => 0..0,
            RowSplit::OnRank(_) => count..count,
        }
    }
}

/// Which entries a rank holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    size: (usize, usize),
    rows: Range<usize>,
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl Structure {
    /// The entries of a matrix in some rows.
    pub(crate) fn of<S>(matrix: &impl DerivativeMatrix<S>, rows: Range<usize>) -> Structure {
        let size = matrix.size();
        let (mut starts, mut columns) = (vec![0; rows.len() + 1], Vec::new());
        match matrix.pattern() {
            None => {
                columns.extend(rows.clone().flat_map(|_| 0..size.1));
                (0..=rows.len()).for_each(|i| starts[i] = i * size.1);
            }
            Some(pattern) => {
                for (i, j) in pattern {
                    if rows.contains(&i) {
                        columns.push(j);
                        starts[i - rows.start + 1] += 1;
                    }
                }
                for i in 0..rows.len() {
                    starts[i + 1] += starts[i];
                }
            }
        }
        Structure { size, rows, starts, columns }
    }
}

/// The rows of a Jacobian or Hessian that this rank holds, in compressed rows with the columns of the whole matrix.
///
/// These are the arrays that PETSc takes in `MatCreateMPIAIJWithArrays` and hypre in `HYPRE_IJMatrixSetValues`; see
/// [`indices`](LocalRows::indices).
///
/// As a [`DerivativeMatrix`], its size is that of the whole matrix, and entries of rows that this rank does not hold are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalRows<S> {
    structure: Arc<Structure>,
    values: Vec<S>,
}

impl<S: Scalar> LocalRows<S> {
    pub(crate) fn zeros(structure: Arc<Structure>) -> Self {
        let values = vec![S::default(); structure.columns.len()];
        LocalRows { structure, values }
    }
    /// Whether the entries are those of the structure.
    pub(crate) fn has(&self, structure: &Arc<Structure>) -> bool {
        Arc::ptr_eq(&self.structure, structure) || *self.structure == **structure
    }
    /// The number of rows and columns of the whole matrix.
    pub fn size(&self) -> (usize, usize) {
        self.structure.size
    }
    /// The rows of the whole matrix that this rank holds.
    pub fn rows(&self) -> Range<usize> {
        self.structure.rows.clone()
    }
    /// Where each row of this rank starts among its entries, followed by their number.
    pub fn starts(&self) -> &[usize] {
        &self.structure.starts
    }
    /// The column in the whole matrix of each entry, ascending in each row.
    pub fn columns(&self) -> &[usize] {
        &self.structure.columns
    }
    /// The entries, row by row.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// The entries, row by row, to write.
    pub fn values_mut(&mut self) -> &mut [S] {
        &mut self.values
    }
    /// The entries of row `i` of the whole matrix as `(column, value)`.
    ///
    /// # Panics
    /// If this rank does not hold the row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, S)> + '_ {
        let Structure { rows, starts, columns, .. } = &*self.structure;
        assert!(rows.contains(&i), "row {i} is on another rank; this one holds {rows:?}");
        let entries = starts[i - rows.start]..starts[i - rows.start + 1];
        columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }
    /// [`starts`](LocalRows::starts) and [`columns`](LocalRows::columns) as the integers of another library, `i32` or `i64`.
    ///
    /// # Errors
    /// [`ErrorKind::RankMessage`] if they do not fit.
    pub fn indices<I: TryFrom<usize>>(&self) -> Result<(Vec<I>, Vec<I>), Error> {
        let narrow = |&size: &usize| {
            let limit = usize::MAX >> (usize::BITS.saturating_sub(8 * size_of::<I>() as u32 - 1));
            I::try_from(size).map_err(|_| Error::new(ErrorKind::RankMessage { size, limit }))
        };
        let convert = |sizes: &[usize]| sizes.iter().map(narrow).collect::<Result<Vec<I>, Error>>();
        Ok((convert(&self.structure.starts)?, convert(&self.structure.columns)?))
    }
    /// The product of these rows with a vector.
    ///
    /// # Panics
    /// If the vector is not as long as the matrix has columns.
    pub fn times(&self, vector: &[S]) -> Vec<S> {
        assert_eq!(vector.len(), self.structure.size.1, "the vector has one entry per column");
        let product = |row: std::ops::Range<usize>| {
            let entries = self.structure.columns[row.clone()].iter().zip(&self.values[row]);
            entries.fold(S::default(), |sum, (&j, &value)| sum + value * vector[j])
        };
        self.structure.starts.windows(2).map(|row| product(row[0]..row[1])).collect()
    }
}

impl<S: Scalar> DerivativeMatrix<S> for LocalRows<S> {
    fn size(&self) -> (usize, usize) {
        self.structure.size
    }
    fn entry(&self, i: usize, j: usize) -> S {
        if !self.structure.rows.contains(&i) {
            return S::default();
        }
        self.row(i).find(|&(column, _)| column == j).map_or(S::default(), |(_, value)| value)
    }
    fn stored(&mut self) -> &mut [S] {
        &mut self.values
    }
    fn pattern(&self) -> Option<Vec<(usize, usize)>> {
        let rows = self.structure.rows.clone();
        Some(rows.flat_map(|i| self.row(i).map(move |(j, _)| (i, j))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use differentiation_interface::matrix::Matrix;

    #[test]
    fn rows_have_global_columns_and_local_starts() {
        let whole = Matrix::from_rows(3, 2, vec![0.0; 6]);
        let mut rows = LocalRows::<f64>::zeros(Arc::new(Structure::of(&whole, 1..3)));
        rows.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(
            (rows.size(), rows.rows(), rows.starts(), rows.columns()),
            ((3, 2), 1..3, &[0, 2, 4][..], &[0, 1, 0, 1][..])
        );
        assert_eq!(rows.row(2).collect::<Vec<_>>(), [(0, 3.0), (1, 4.0)]);
        assert_eq!(rows.times(&[1.0, 10.0]), [21.0, 43.0]);
        assert_eq!((rows.entry(0, 0), rows.entry(1, 1)), (0.0, 2.0));
        assert_eq!(rows.indices::<i32>().unwrap(), (vec![0, 2, 4], vec![0, 1, 0, 1]));
        assert_eq!(rows.pattern().unwrap(), [(1, 0), (1, 1), (2, 0), (2, 1)]);
    }

    #[test]
    fn indices_that_do_not_fit_are_refused() {
        let whole = Matrix::from_rows(1, 200, vec![0.0; 200]);
        let rows = LocalRows::<f64>::zeros(Arc::new(Structure::of(&whole, 0..1)));
        let error = rows.indices::<i8>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RankMessage { size: 200, limit: 127 });
    }
}
