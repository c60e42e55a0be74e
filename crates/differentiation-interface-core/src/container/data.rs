//! Plain data as numbers without derivatives.
//!
//! Called by code that `#[differentiable]` writes, where constants meet active numbers. The attribute implements [`Data`] for the structs and
//! enums of a module that are lifted in it.

use crate::scalar::Scalar;

/// Data with a copy that holds numbers `N` in place of `f64`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "constants in a `{Self}` cannot become numbers that are differentiated",
    note = "mark the field of this type, or the argument that takes the data, `#[constant]`"
)]
pub trait Data<N> {
    /// The copy.
    type Lifted;

    /// Makes the copy.
    fn lifted(&self) -> Self::Lifted;
}

/// A copy of the data with numbers `N`.
#[doc(hidden)]
#[inline]
pub fn lifted<N, D: Data<N> + ?Sized>(data: &D) -> D::Lifted {
    data.lifted()
}

impl<N: Scalar<Base = f64>> Data<N> for f64 {
    type Lifted = N;
    #[inline]
    fn lifted(&self) -> N {
        N::constant(*self)
    }
}

impl<N, D: Data<N> + ?Sized> Data<N> for &D {
    type Lifted = D::Lifted;
    #[inline]
    fn lifted(&self) -> D::Lifted {
        (**self).lifted()
    }
}

impl<N, D: Data<N>, const K: usize> Data<N> for [D; K] {
    type Lifted = [D::Lifted; K];
    #[inline]
    fn lifted(&self) -> [D::Lifted; K] {
        std::array::from_fn(|i| self[i].lifted())
    }
}

impl<N, D: Data<N>> Data<N> for [D] {
    type Lifted = Vec<D::Lifted>;
    fn lifted(&self) -> Vec<D::Lifted> {
        self.iter().map(D::lifted).collect()
    }
}

impl<N, D: Data<N>> Data<N> for Vec<D> {
    type Lifted = Vec<D::Lifted>;
    fn lifted(&self) -> Vec<D::Lifted> {
        self[..].lifted()
    }
}

impl<N, D: Data<N>> Data<N> for Option<D> {
    type Lifted = Option<D::Lifted>;
    fn lifted(&self) -> Option<D::Lifted> {
        self.as_ref().map(D::lifted)
    }
}

macro_rules! tuples {
    ($(($($D:ident $i:tt),*))*) => {$(
        impl<N, $($D: Data<N>),*> Data<N> for ($($D,)*) {
            type Lifted = ($($D::Lifted,)*);
            fn lifted(&self) -> Self::Lifted {
                ($(self.$i.lifted(),)*)
            }
        }
    )*};
}

tuples!((A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5));

/// Types without numbers.
macro_rules! themselves {
    ($($D:ty),*) => {$(
        impl<N> Data<N> for $D {
            type Lifted = $D;
            fn lifted(&self) -> $D {
                self.clone()
            }
        }
    )*};
}

themselves!(bool, char, String, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32);
