//! Reads results of any shape as flat numbers, for code that is generic over operators.
//!
//! Implemented by every type that operators return; called by the test kit.

use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// A number, array, vector or slice of numbers, read as a slice. Every value, gradient and product that an operator returns implements it.
///
/// ```
/// use differentiation_interface_core::Numbers;
///
/// assert_eq!(2.0.numbers(), [2.0]);
/// assert_eq!([1.0, 2.0].numbers(), vec![1.0, 2.0].numbers());
/// ```
pub trait Numbers<S> {
    /// The numbers, one after the other.
    fn numbers(&self) -> &[S];
}

impl<S: Scalar> Numbers<S> for S {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers(&self) -> &[S] {
        std::slice::from_ref(self)
    }
}
impl<S: Scalar, const K: usize> Numbers<S> for [S; K] {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers(&self) -> &[S] {
        self
    }
}
impl<S: Scalar> Numbers<S> for Vec<S> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers(&self) -> &[S] {
        self
    }
}
impl<S: Scalar> Numbers<S> for &[S] {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers(&self) -> &[S] {
        self
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
