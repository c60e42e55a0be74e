//! Patterns from `faer` sparse matrices (feature `faer`).

use faer::Index;
use faer::sparse::{SymbolicSparseColMatRef, SymbolicSparseRowMatRef};

use crate::error::Error;
use crate::pattern::Pattern;

impl<I: Index> TryFrom<SymbolicSparseColMatRef<'_, I>> for Pattern {
    type Error = Error;

    /// The pattern of a compressed column matrix; its values are in CSC order.
    ///
    /// # Example
    /// ```
    /// use faer::sparse::{SparseColMat, Triplet};
    /// use matrix_coloring::Pattern;
    ///
    /// let entries = [Triplet::new(0, 0, 1.0), Triplet::new(1, 2, 2.0)];
    /// let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(2, 3, &entries).unwrap();
    /// let pattern = Pattern::try_from(matrix.symbolic())?;
    /// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    fn try_from(matrix: SymbolicSparseColMatRef<'_, I>) -> Result<Pattern, Error> {
        let (mut pointers, mut indices) = (vec![0], Vec::new());
        for j in 0..matrix.ncols() {
            indices.extend(matrix.row_idx_of_col(j));
            pointers.push(indices.len());
        }
        Pattern::from_csc(matrix.nrows(), matrix.ncols(), &pointers, &indices)
    }
}

impl<I: Index> TryFrom<SymbolicSparseRowMatRef<'_, I>> for Pattern {
    type Error = Error;

    /// The pattern of a compressed row matrix; its values are in CSR order.
    fn try_from(matrix: SymbolicSparseRowMatRef<'_, I>) -> Result<Pattern, Error> {
        let (mut pointers, mut indices) = (vec![0], Vec::new());
        for i in 0..matrix.nrows() {
            indices.extend(matrix.col_idx_of_row(i));
            pointers.push(indices.len());
        }
        Pattern::from_csr(matrix.nrows(), matrix.ncols(), &pointers, &indices)
    }
}

#[cfg(test)]
mod tests {
    use ::faer::sparse::{SparseColMat, SparseRowMat, Triplet};

    use super::*;

    #[test]
    fn both_orientations_give_the_pattern() {
        let entries = [(2, 0), (0, 1), (2, 3), (1, 3)];
        let triplets: Vec<_> = entries.iter().map(|&(i, j)| Triplet::new(i, j, 0.0)).collect();
        let expected = Pattern::from_triplets(3, 4, entries).unwrap();
        let columns = SparseColMat::<usize, f64>::try_new_from_triplets(3, 4, &triplets).unwrap();
        assert_eq!(Pattern::try_from(columns.symbolic()).unwrap(), expected);
        let triplets: Vec<_> = entries.iter().map(|&(i, j)| Triplet::new(i as u32, j as u32, 0.0)).collect();
        let rows = SparseRowMat::<u32, f64>::try_new_from_triplets(3, 4, &triplets).unwrap();
        assert_eq!(Pattern::try_from(rows.symbolic()).unwrap(), expected);
    }
}
