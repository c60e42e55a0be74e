//! Patterns from `sprs` matrices (feature `sprs`).

use sprs::{CsMatViewI, SpIndex};

use crate::error::Error;
use crate::pattern::Pattern;

impl<N, I: SpIndex, P: SpIndex> TryFrom<CsMatViewI<'_, N, I, P>> for Pattern {
    type Error = Error;

    /// The pattern of a compressed matrix in either storage; its values keep their storage order.
    ///
    /// # Example
    /// ```
    /// use matrix_coloring::Pattern;
    /// use sprs::CsMat;
    ///
    /// let matrix = CsMat::new((2, 3), vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]);
    /// let pattern = Pattern::try_from(matrix.view())?;
    /// assert_eq!(pattern.row(0), [0, 2]);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    fn try_from(matrix: CsMatViewI<'_, N, I, P>) -> Result<Pattern, Error> {
        let pointers = matrix.proper_indptr();
        let pointers: Vec<usize> = pointers.iter().map(|p| p.index()).collect();
        let indices: Vec<usize> = matrix.indices().iter().map(|i| i.index()).collect();
        let build = if matrix.is_csr() { Pattern::from_csr } else { Pattern::from_csc };
        build(matrix.rows(), matrix.cols(), &pointers, &indices)
    }
}

#[cfg(test)]
mod tests {
    use ::sprs::TriMat;

    use super::*;

    #[test]
    fn both_storages_give_the_pattern() {
        let mut triplets = TriMat::new((3, 4));
        let entries = [(2, 0), (0, 1), (2, 3), (1, 3)];
        entries.iter().for_each(|&(i, j)| triplets.add_triplet(i, j, 1.0));
        let expected = Pattern::from_triplets(3, 4, entries).unwrap();
        let rows = triplets.to_csr::<usize>();
        assert_eq!(Pattern::try_from(rows.view()).unwrap(), expected);
        assert_eq!(Pattern::try_from(triplets.to_csc::<u32>().view()).unwrap(), expected);
        assert_eq!(Pattern::try_from(rows.slice_outer(1..3)).unwrap().row(1), [0, 3]);
    }
}
