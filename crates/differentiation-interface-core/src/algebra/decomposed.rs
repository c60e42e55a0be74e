//! Decompositions of `nalgebra` as functions of the number type, for `square`.

use crate::scalar::{Core, Num};
use nalgebra::allocator::Allocator;
use nalgebra::{Cholesky, ComplexField, DefaultAllocator, Dim, DimMin, LU, Matrix, OMatrix, Storage, StorageMut};
use simba::simd::SimdComplexField;
use std::fmt::Debug;

/// What a number type calls of `nalgebra`.
#[doc(hidden)]
pub trait Decomposed: SimdComplexField {
    /// `LU<Self, D, D>`, which can only be named of a `ComplexField`.
    type Lu<D: DimMin<D, Output = D>>: LuOfReal<Self, D>
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D>;
    fn try_inverse<D: Dim>(a: OMatrix<Self, D, D>) -> Option<OMatrix<Self, D, D>>
    where
        DefaultAllocator: Allocator<D, D>;
    fn determinant<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> Self
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D>;
    fn cholesky<D: Dim>(a: OMatrix<Self, D, D>) -> Option<Cholesky<Self, D>>
    where
        DefaultAllocator: Allocator<D, D>;
    fn lu<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> Self::Lu<D>
    where
        DefaultAllocator: Allocator<D, D> + Allocator<D>;
}

macro_rules! decomposed {
    ([$($generics:tt)*] $number:ty) => {
        impl<$($generics)*> Decomposed for $number {
            type Lu<D: DimMin<D, Output = D>>
                = LU<Self, D, D>
            where
                DefaultAllocator: Allocator<D, D> + Allocator<D>;
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
            fn lu<D: DimMin<D, Output = D>>(a: OMatrix<Self, D, D>) -> LU<Self, D, D>
            where
                DefaultAllocator: Allocator<D, D> + Allocator<D>,
            {
                a.lu()
            }
        }
    };
}
decomposed! { [] f64 }
decomposed! { [C: Core<Base = f64>] Num<C> }

/// The methods of the LU decomposition of a square matrix, for code over [`NalgebraReal`](super::NalgebraReal): those of
/// [`LU`](nalgebra::LU), which ask for a `ComplexField`. `#[differentiable(nalgebra)]` imports it.
pub trait LuOfReal<T: nalgebra::Scalar, D: Dim>: Clone + Debug
where
    DefaultAllocator: Allocator<D, D>,
{
    /// The solution X of A X = B, or `None` if A is singular.
    fn solve<K: Dim, S: Storage<T, D, K>>(&self, b: &Matrix<T, D, K, S>) -> Option<OMatrix<T, D, K>>
    where
        DefaultAllocator: Allocator<D, K>;
    /// Replaces B by the solution X of A X = B. Returns whether A is not singular; if it is, the content of B has no meaning.
    fn solve_mut<K: Dim, S: StorageMut<T, D, K>>(&self, b: &mut Matrix<T, D, K, S>) -> bool;
    /// The inverse, or `None` if the matrix is singular.
    fn try_inverse(&self) -> Option<OMatrix<T, D, D>>;
    /// The determinant.
    fn determinant(&self) -> T;
    /// Whether the matrix is not singular.
    fn is_invertible(&self) -> bool;
}

impl<T: ComplexField, D: DimMin<D, Output = D>> LuOfReal<T, D> for LU<T, D, D>
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    fn solve<K: Dim, S: Storage<T, D, K>>(&self, b: &Matrix<T, D, K, S>) -> Option<OMatrix<T, D, K>>
    where
        DefaultAllocator: Allocator<D, K>,
    {
        LU::solve(self, b)
    }
    fn solve_mut<K: Dim, S: StorageMut<T, D, K>>(&self, b: &mut Matrix<T, D, K, S>) -> bool {
        LU::solve_mut(self, b)
    }
    fn try_inverse(&self) -> Option<OMatrix<T, D, D>> {
        LU::try_inverse(self)
    }
    fn determinant(&self) -> T {
        LU::determinant(self)
    }
    fn is_invertible(&self) -> bool {
        LU::is_invertible(self)
    }
}
