//! Decompositions of `nalgebra` as functions of the number type, for `square`.

use crate::scalar::{Core, Num};
use nalgebra::allocator::Allocator;
use nalgebra::{Cholesky, DefaultAllocator, Dim, DimMin, OMatrix};
use simba::simd::SimdComplexField;

/// What a number type calls of `nalgebra`.
#[doc(hidden)]
pub trait Decomposed: SimdComplexField {
    fn try_inverse<D: Dim>(a: OMatrix<Self, D, D>) -> Option<OMatrix<Self, D, D>>
    where
        DefaultAllocator: Allocator<D, D>;
    fn determinant<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> Self
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D>;
    fn cholesky<D: Dim>(a: OMatrix<Self, D, D>) -> Option<Cholesky<Self, D>>
    where
        DefaultAllocator: Allocator<D, D>;
    fn solve<D: DimMin<D, Output = D>, K: Dim>(
        a: OMatrix<Self, D, D>,
        b: OMatrix<Self, D, K>,
    ) -> Option<OMatrix<Self, D, K>>
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D> + Allocator<D, K>;
    /// Inverse and determinant by the decomposition, for which `nalgebra` has formulas in the methods of small matrices.
    fn by_lu<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> (Option<OMatrix<Self, D, D>>, Self)
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D>;
}

macro_rules! decomposed {
    ([$($generics:tt)*] $number:ty) => {
        impl<$($generics)*> Decomposed for $number {
            fn try_inverse<D: Dim>(a: OMatrix<Self, D, D>) -> Option<OMatrix<Self, D, D>>
            where
                DefaultAllocator: Allocator<D, D>,
            {
                a.try_inverse()
            }
            fn determinant<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> Self
            where
                DefaultAllocator: Allocator<D, D> + Allocator<D>,
            {
                a.determinant()
            }
            fn cholesky<D: Dim>(a: OMatrix<Self, D, D>) -> Option<Cholesky<Self, D>>
            where
                DefaultAllocator: Allocator<D, D>,
            {
                a.cholesky()
            }
            fn solve<D: DimMin<D, Output = D>, K: Dim>(
                a: OMatrix<Self, D, D>,
                b: OMatrix<Self, D, K>,
            ) -> Option<OMatrix<Self, D, K>>
            where
                DefaultAllocator: Allocator<D, D> + Allocator<D> + Allocator<D, K>,
            {
                let mut x = b;
                a.lu().solve_mut(&mut x).then_some(x)
            }
            fn by_lu<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> (Option<OMatrix<Self, D, D>>, Self)
            where
                DefaultAllocator: Allocator<D, D> + Allocator<D>,
            {
                let lu = a.lu();
                (lu.try_inverse(), lu.determinant())
            }
        }
    };
}
decomposed! { [] f64 }
decomposed! { [C: Core<Base = f64>] Num<C> }
