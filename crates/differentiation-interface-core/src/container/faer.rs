//! Vectors and matrices of `faer` as containers. Numbers are in the order of faer, column by column.

use super::{Container, Object};
use crate::recordings::Words;
use crate::scalar::Scalar;
use faer::{Col, ColRef, Mat, MatRef};

/// Visits the columns of a matrix.
#[inline]
fn columns<'a, S>(matrix: MatRef<'a, S>, visit: &mut impl FnMut(&'a [S])) {
    match matrix.try_as_col_major() {
        Some(matrix) => (0..matrix.ncols()).for_each(|j| visit(matrix.col(j).as_slice())),
        None => {
            for j in 0..matrix.ncols() {
                (0..matrix.nrows()).for_each(|i| visit(std::slice::from_ref(matrix.get(i, j))));
            }
        }
    }
}

/// Visits the numbers of a vector.
#[inline]
fn entries<'a, S>(vector: ColRef<'a, S>, visit: &mut impl FnMut(&'a [S])) {
    match vector.try_as_col_major() {
        Some(vector) => visit(vector.as_slice()),
        None => (0..vector.nrows()).for_each(|i| visit(std::slice::from_ref(vector.get(i)))),
    }
}

/// The numbers of a matrix of one column. Columns of others are padded.
#[inline]
fn column<S>(matrix: MatRef<'_, S>) -> Option<&[S]> {
    if matrix.ncols() == 1 { vector(matrix.col(0)) } else { None }
}

/// The numbers of a vector whose entries lie one after the other.
#[inline]
fn vector<S>(vector: ColRef<'_, S>) -> Option<&[S]> {
    vector.try_as_col_major().map(|vector| vector.as_slice())
}

/// What matrices and views of them have in common.
macro_rules! containers {
    ($($container:ty => $owned:ident, $from:ident($($size:ident),*), $visit:ident, $piece:ident, $is_list:literal;)*) => {$(
        impl<S: Scalar> Container for $container {
            type Scalar = S;
            type With<N: Scalar> = $owned<N>;
            const IS_LIST: bool = $is_list;
            fn with<N: Scalar>(&self) -> $owned<N> {
                containers!(@zero $owned, $(self.$size()),*)
            }
            fn fit<N: Scalar>(&self, object: &mut $owned<N>) {
                if [$(self.$size()),*] != [$(object.$size()),*] {
                    *object = self.with();
                }
            }
            #[inline]
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                words.lengths([$(self.$size()),*])
            }
            #[inline]
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
                $visit(self.as_ref(), visit);
            }
            #[inline]
            fn piece(&self) -> Option<&[S]> {
                $piece(self.as_ref())
            }
        }
    )*};
    (@zero Mat, $rows:expr, $columns:expr) => { Mat::from_fn($rows, $columns, |_, _| N::default()) };
    (@zero Col, $rows:expr) => { Col::from_fn($rows, |_| N::default()) };
}
containers! {
    Mat<S> => Mat, from_fn(nrows, ncols), columns, column, false;
    MatRef<'_, S> => Mat, from_fn(nrows, ncols), columns, column, false;
    Col<S> => Col, from_fn(nrows), entries, vector, true;
    ColRef<'_, S> => Col, from_fn(nrows), entries, vector, true;
}

impl<S: Scalar> Object for Mat<S> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        self.as_mut().col_iter_mut().for_each(|column| {
            visit(column.try_as_col_major_mut().expect("columns of an owned matrix are contiguous").as_slice_mut());
        });
    }
    #[inline]
    fn piece_mut(&mut self) -> Option<&mut [S]> {
        let column = if self.ncols() == 1 { Some(self.as_mut().col_mut(0)) } else { None };
        column.and_then(|column| column.try_as_col_major_mut()).map(|column| column.as_slice_mut())
    }
    #[inline]
    fn own_memory(&mut self) -> Option<&mut [S]> {
        self.piece_mut()
    }
}

impl<S: Scalar> Object for Col<S> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(self.as_mut().try_as_col_major_mut().expect("an owned vector is contiguous").as_slice_mut());
    }
    #[inline]
    fn own_memory(&mut self) -> Option<&mut [S]> {
        self.as_mut().try_as_col_major_mut().map(|vector| vector.as_slice_mut())
    }
}

crate::whole! {
    [S: Scalar] Mat<S>;
    [S: Scalar] Col<S>;
}
crate::point_of! {
    ['v, S: Scalar] MatRef<'v, S>;
    ['v, S: Scalar] ColRef<'v, S>;
}
