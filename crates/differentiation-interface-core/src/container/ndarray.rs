//! Arrays of `ndarray` of any dimension as containers. Numbers are in logical order, the last axis fastest, whatever the layout in memory.

use super::{Container, Object};
use crate::recordings::Words;
use crate::scalar::Scalar;
use ndarray::{Array, ArrayRef, ArrayView, ArrayViewMut, Dimension};

/// All numbers, if they lie in logical order.
#[inline]
fn piece<S, D: Dimension>(array: &ArrayRef<S, D>) -> Option<&[S]> {
    #[inline(never)]
    fn of_any<S, D: Dimension>(array: &ArrayRef<S, D>) -> Option<&[S]> {
        array.as_slice()
    }
    // One comparison for one axis with the numbers side by side.
    if D::NDIM == Some(1) && array.strides() == [1] { array.as_slice() } else { of_any(array) }
}

/// Visits the numbers in logical order: one piece if they lie so.
#[inline]
fn pieces<'a, S, D: Dimension>(array: &'a ArrayRef<S, D>, visit: &mut impl FnMut(&'a [S])) {
    match piece(array) {
        Some(all) => visit(all),
        None => array.iter().for_each(|number| visit(std::slice::from_ref(number))),
    }
}

/// What arrays and views of them have in common.
macro_rules! arrays {
    ($($array:ty;)*) => {$(
        impl<S: Scalar, D: Dimension + 'static> Container for $array {
            type Scalar = S;
            type With<N: Scalar> = Array<N, D>;
            const IS_LIST: bool = matches!(D::NDIM, Some(1));
            fn with<N: Scalar>(&self) -> Array<N, D> {
                Array::from_elem(self.raw_dim(), N::default())
            }
            fn fit<N: Scalar>(&self, object: &mut Array<N, D>) {
                // A dimension of known length is compared without a call, one of any length not copied.
                let equal = match D::NDIM {
                    Some(_) => self.raw_dim() == object.raw_dim(),
                    None => self.shape() == object.shape(),
                };
                if !equal {
                    *object = self.with();
                }
            }
            #[inline]
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                // Arrays of any number of axes may lie one after the other.
                (D::NDIM.is_some() || words.length(self.ndim())) && self.shape().iter().all(|length| words.length(*length))
            }
            #[inline]
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
                pieces(self, visit);
            }
            #[inline]
            fn piece(&self) -> Option<&[S]> {
                piece(self)
            }
        }
    )*};
}
arrays! {
    Array<S, D>;
    ArrayView<'_, S, D>;
    ArrayViewMut<'_, S, D>;
}

impl<S: Scalar, D: Dimension + 'static> Object for Array<S, D> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        if self.is_standard_layout() {
            visit(self.as_slice_mut().expect("an array in standard layout is a slice"));
        } else {
            self.iter_mut().for_each(|number| visit(std::slice::from_mut(number)));
        }
    }
    #[inline]
    fn piece_mut(&mut self) -> Option<&mut [S]> {
        #[inline(never)]
        fn of_any<S, D: Dimension>(array: &mut ArrayRef<S, D>) -> Option<&mut [S]> {
            array.as_slice_mut()
        }
        if D::NDIM == Some(1) && self.strides() == [1] { self.as_slice_mut() } else { of_any(self) }
    }
    #[inline]
    fn own_memory(&mut self) -> Option<&mut [S]> {
        self.piece_mut()
    }
}

crate::whole! { [S: Scalar, D: Dimension + 'static] Array<S, D>; }
crate::point_of! {
    ['v, S: Scalar, D: Dimension + 'static] ArrayView<'v, S, D>;
    ['v, S: Scalar, D: Dimension + 'static] ArrayViewMut<'v, S, D>;
}
