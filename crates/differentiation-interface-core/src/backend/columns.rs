//! Columns of a row-major matrix that several threads fill.
//!
//! Made by wrappers that divide the columns of a derivative, and written through [`Rows`](super::Rows). The unsafe code of this crate, beside that of a test in `algebra/vector_state.rs`, is here, in `container/joined.rs` and in
//! `foreign/unwrapped.rs`: columns of a row-major matrix are no slice, and a copy from memory in between took a third of the time of a dense Jacobian on two threads.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

/// Some columns of a row-major matrix, borrowed for writing.
///
/// ```
/// use differentiation_interface_core::backend::MatrixColumns;
///
/// let mut matrix = [0.0; 6];
/// let (mut first, mut others) = MatrixColumns::new(&mut matrix, 3).split_at(1);
/// first.row(0).fill(1.0);
/// others.row(1).copy_from_slice(&[2.0, 3.0]);
/// assert_eq!(matrix, [1.0, 0.0, 0.0, 0.0, 2.0, 3.0]);
/// ```
#[derive(Debug)]
pub struct MatrixColumns<'a, S> {
    /// Invariant: for each row i below `rows`, the `columns` entries from `start + i * stride` lie in the slice of `new`, and no other value of this type
    /// and no other reference accesses them during `'a`.
    start: NonNull<S>,
    rows: usize,
    stride: usize,
    columns: usize,
    matrix: PhantomData<&'a mut [S]>,
}

/// It is sent as the slice that it was made of would be.
#[expect(unsafe_code, reason = "the pointer stands for a mutable borrow of these entries")]
// SAFETY: no other value accesses the entries.
unsafe impl<S: Send> Send for MatrixColumns<'_, S> {}

impl<'a, S> MatrixColumns<'a, S> {
    /// All `columns` columns of a matrix.
    pub fn new(matrix: &'a mut [S], columns: usize) -> Self {
        let rows = matrix.len().checked_div(columns).unwrap_or(0);
        MatrixColumns { start: NonNull::from(matrix).cast(), rows, stride: columns, columns, matrix: PhantomData }
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// The columns before `column`, and the others.
    #[expect(unsafe_code, reason = "the columns from the given one on begin within the matrix")]
    pub fn split_at(self, column: usize) -> (Self, Self) {
        let column = column.min(self.columns);
        let others = self.columns - column;
        // SAFETY: if there are entries after the offset, they are in the first row, which lies in the matrix by the invariant.
        let start = if self.rows > 0 && others > 0 { unsafe { self.start.add(column) } } else { self.start };
        (MatrixColumns { columns: column, ..self }, MatrixColumns { start, columns: others, ..self })
    }

    /// Some of the columns, for a shorter time. Those beyond the last one are left out.
    pub fn range(&mut self, columns: Range<usize>) -> MatrixColumns<'_, S> {
        let all = MatrixColumns { matrix: PhantomData, ..*self };
        all.split_at(columns.end).0.split_at(columns.start).1
    }

    /// A row.
    ///
    /// # Panics
    /// If there are not that many rows.
    #[expect(unsafe_code, reason = "the row is a slice of the matrix")]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn row(&mut self, row: usize) -> &mut [S] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        // SAFETY: by the invariant the entries lie in the matrix, and the borrow of `self` keeps others from them.
        unsafe { slice::from_raw_parts_mut(self.start.add(row * self.stride).as_ptr(), self.columns) }
    }

    /// The entries in one slice, if the rows follow one another without a gap.
    #[expect(unsafe_code, reason = "rows without a gap are a slice of the matrix")]
    pub(super) fn into_slice(self) -> Result<&'a mut [S], Self> {
        if self.rows > 1 && self.stride != self.columns {
            return Err(self);
        }
        // SAFETY: as there is no gap, these are the entries of the invariant, and `self` is used up.
        Ok(unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.rows * self.columns) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_fill_their_columns() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 0), (4, 5), (7, 2)] {
            for first in 0..=columns {
                let mut matrix = vec![0; rows * columns];
                let (mut left, mut right) = MatrixColumns::new(&mut matrix, columns).split_at(first);
                assert_eq!((left.ncols(), right.ncols()), (first, columns - first));
                std::thread::scope(|scope| {
                    scope.spawn(move || (0..left.nrows()).for_each(|row| left.row(row).fill(1)));
                    scope.spawn(move || (0..right.nrows()).for_each(|row| right.row(row).fill(2)));
                });
                for (i, entry) in matrix.iter().enumerate() {
                    assert_eq!(*entry, if i % columns < first { 1 } else { 2 });
                }
                let mut all = MatrixColumns::new(&mut matrix, columns);
                let part = all.range(1..columns + 3);
                assert_eq!(part.ncols(), columns.saturating_sub(1));
            }
        }
    }

    #[test]
    #[should_panic(expected = "row 2 of 2")]
    fn rows_beyond_the_last_one_are_refused() {
        MatrixColumns::new(&mut [0.0; 4], 2).row(2);
    }
}
