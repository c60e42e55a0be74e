//! Vectors, matrices and quaternions of `nalgebra` as containers. Numbers are in the order of nalgebra, column by column.

use super::{Container, Object};
use crate::recordings::Words;
use crate::scalar::Scalar;
use nalgebra::{Const, DMatrix, DVector, Dim, Dyn, Matrix, Quaternion, RowDVector, SMatrix, U1, Vector4, ViewStorage};

impl<S: Scalar, const R: usize, const C: usize> Container for SMatrix<S, R, C> {
    type Scalar = S;
    type With<N: Scalar> = SMatrix<N, R, C>;
    fn with<N: Scalar>(&self) -> SMatrix<N, R, C> {
        SMatrix::from_element(N::default())
    }
    #[inline]
    fn fit<N: Scalar>(&self, _: &mut SMatrix<N, R, C>) {}
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
        visit(self.as_slice());
    }
}

impl<S: Scalar, const R: usize, const C: usize> Object for SMatrix<S, R, C> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(self.as_mut_slice());
    }
}

/// Vectors and matrices whose size is known at run time.
macro_rules! dynamic {
    ($($owned:ident($($size:ident),*), $is_list:literal;)*) => {$(
        impl<S: Scalar> Container for $owned<S> {
            type Scalar = S;
            type With<N: Scalar> = $owned<N>;
            const IS_LIST: bool = $is_list;
            fn with<N: Scalar>(&self) -> $owned<N> {
                $owned::from_element($(self.$size(),)* N::default())
            }
            fn fit<N: Scalar>(&self, object: &mut $owned<N>) {
                if self.shape() != object.shape() {
                    *object = self.with();
                }
            }
            #[inline]
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                words.lengths([$(self.$size()),*])
            }
            #[inline]
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
                visit(self.as_slice());
            }
        }
        impl<S: Scalar> Object for $owned<S> {
            #[inline]
            fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
                visit(self.as_mut_slice());
            }
            #[inline]
            fn own_memory(&mut self) -> Option<&mut [S]> {
                Some(self.as_mut_slice())
            }
        }
    )*};
}
dynamic! {
    DVector(len), true;
    RowDVector(len), true;
    DMatrix(nrows, ncols), false;
}

/// Views, whose numbers may lie apart.
macro_rules! views {
    ($([$($generics:tt)*] $rows:ty, $columns:ty => $owned:ident<$($arguments:ident),*>($($size:ident),*);)*) => {$(
        impl<S: Scalar, $($generics)* RowStride: Dim, ColumnStride: Dim> Container
            for Matrix<S, $rows, $columns, ViewStorage<'_, S, $rows, $columns, RowStride, ColumnStride>>
        {
            type Scalar = S;
            type With<N: Scalar> = $owned<N $(, $arguments)*>;
            fn with<N: Scalar>(&self) -> Self::With<N> {
                $owned::from_element($(self.$size(),)* N::default())
            }
            fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
                if self.shape() != object.shape() {
                    *object = self.with();
                }
            }
            #[inline]
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                words.lengths([$(self.$size()),*])
            }
            #[inline]
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
                self.iter().for_each(|number| visit(std::slice::from_ref(number)));
            }
        }
        crate::point_of! {
            ['v, S: Scalar, $($generics)* RowStride: Dim, ColumnStride: Dim]
                Matrix<S, $rows, $columns, ViewStorage<'v, S, $rows, $columns, RowStride, ColumnStride>>;
        }
    )*};
}
views! {
    [] Dyn, Dyn => DMatrix<>(nrows, ncols);
    [] Dyn, U1 => DVector<>(len);
    [] U1, Dyn => RowDVector<>(len);
    [const R: usize, const C: usize,] Const<R>, Const<C> => SMatrix<R, C>();
}

/// Four numbers in the order of memory: i, j, k, w.
impl<S: Scalar> Container for Quaternion<S> {
    type Scalar = S;
    type With<N: Scalar> = Quaternion<N>;
    fn with<N: Scalar>(&self) -> Quaternion<N> {
        Quaternion::from(Vector4::from_element(N::default()))
    }
    #[inline]
    fn fit<N: Scalar>(&self, _: &mut Quaternion<N>) {}
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
        visit(self.coords.as_slice());
    }
}

impl<S: Scalar> Object for Quaternion<S> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(self.coords.as_mut_slice());
    }
}

crate::whole! {
    [S: Scalar, const R: usize, const C: usize] SMatrix<S, R, C>;
    [S: Scalar] DVector<S>;
    [S: Scalar] RowDVector<S>;
    [S: Scalar] DMatrix<S>;
    [S: Scalar] Quaternion<S>;
}
