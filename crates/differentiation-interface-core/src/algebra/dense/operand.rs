//! What the operations take: matrices and vectors of `faer`, owned or borrowed.

use crate::container::Container;
use crate::scalar::Scalar;
use faer::{Col, ColRef, Mat, MatRef};

/// A matrix or vector of numbers. Implemented for `Mat`, `MatRef`, `Col` and `ColRef` of `faer`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of linear algebra",
    note = "operands are `Mat`, `MatRef`, `Col` and `ColRef` of `faer` with plain numbers or the numbers of a differentiated function"
)]
pub trait Operand {
    /// The numbers.
    type Number: Scalar;
    /// A matrix for a matrix, a vector for a vector.
    type Owned;
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);
    /// Appends the numbers, column by column.
    fn append_entries(&self, entries: &mut Vec<Self::Number>);
    /// The numbers, column by column.
    fn entries(&self) -> Vec<Self::Number> {
        let (rows, columns) = self.shape();
        let mut entries = Vec::with_capacity(rows * columns);
        self.append_entries(&mut entries);
        entries
    }
    /// Makes a matrix or vector of the same shape, entry by entry.
    fn each(&self, of: impl FnMut(Self::Number) -> Self::Number) -> Self::Owned;
    /// Makes a result from its numbers, column by column.
    fn owned(rows: usize, columns: usize, entries: &[Self::Number]) -> Self::Owned;
}

/// A matrix from its numbers, column by column.
pub(super) fn matrix<S: Scalar>(rows: usize, columns: usize, entries: &[S]) -> Mat<S> {
    Mat::from_fn(rows, columns, |i, j| entries[i + rows * j])
}

macro_rules! operands {
    ($($operand:ty => $owned:ident: |$self:ident| $shape:expr, |$of:ident| $each:expr, |$rows:pat_param, $columns:pat_param, $entries:ident| $make:expr;)*) => {$(
        impl<S: Scalar> Operand for $operand {
            type Number = S;
            type Owned = $owned<S>;
            fn shape(&$self) -> (usize, usize) {
                $shape
            }
            fn append_entries(&self, entries: &mut Vec<S>) {
                self.pieces(&mut |piece| entries.extend_from_slice(piece));
            }
            fn each(&$self, mut $of: impl FnMut(S) -> S) -> $owned<S> {
                $each
            }
            fn owned($rows: usize, $columns: usize, $entries: &[S]) -> $owned<S> {
                $make
            }
        }
    )*};
}
operands! {
    Mat<S> => Mat: |self| (self.nrows(), self.ncols()), |of| Mat::from_fn(self.nrows(), self.ncols(), |i, j| of(self[(i, j)])), |rows, columns, entries| matrix(rows, columns, entries);
    MatRef<'_, S> => Mat: |self| (self.nrows(), self.ncols()), |of| Mat::from_fn(self.nrows(), self.ncols(), |i, j| of(self[(i, j)])), |rows, columns, entries| matrix(rows, columns, entries);
    Col<S> => Col: |self| (self.nrows(), 1), |of| Col::from_fn(self.nrows(), |i| of(self[i])), |rows, _, entries| Col::from_fn(rows, |i| entries[i]);
    ColRef<'_, S> => Col: |self| (self.nrows(), 1), |of| Col::from_fn(self.nrows(), |i| of(self[i])), |rows, _, entries| Col::from_fn(rows, |i| entries[i]);
}
