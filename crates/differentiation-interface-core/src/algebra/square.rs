//! Inverses, determinants, LU and Cholesky decompositions of `nalgebra` for code over [`NalgebraReal`].
//!
//! The methods of `nalgebra` ask for a `ComplexField`, whose methods have the names of those of `Real`. Each number type is one, but code that is
//! generic over both bounds has ambiguous calls. Here the number type makes the call. The compiler takes these methods where those of
//! `nalgebra` do not fit, and the others on `f64`.

use super::vectors::NalgebraReal;
use nalgebra::allocator::Allocator;
use nalgebra::{Cholesky, DefaultAllocator, Dim, DimMin, Matrix, OMatrix, Storage};

/// Methods of square matrices that the bound [`NalgebraReal`] does not give, with the names, results and panics of `nalgebra`.
/// `#[differentiable(nalgebra)]` imports it.
///
/// # Example
/// ```
/// use differentiation_interface_core::algebra::{LuOfReal, MatrixOfReal, NalgebraReal};
/// use nalgebra::{Matrix2, Vector2};
///
/// fn first<T: NalgebraReal>(a: Matrix2<T>, b: Vector2<T>) -> T {
///     a.lu().solve(&b).map_or(T::constant(f64::NAN), |x| x.x) * a.determinant()
/// }
/// assert_eq!(first(Matrix2::new(2.0, 1.0, 0.0, 4.0), Vector2::new(3.0, 4.0)), 8.0);
/// ```
pub trait MatrixOfReal<T: NalgebraReal, D: Dim>: Sized
where
    DefaultAllocator: Allocator<D, D>,
{
    /// The inverse, or `None` if the matrix is singular.
    fn try_inverse(self) -> Option<OMatrix<T, D, D>>;
    /// The determinant.
    fn determinant(&self) -> T
    where
        D: DimMin<D, Output = D>,
        DefaultAllocator: Allocator<D>;
    /// The Cholesky decomposition, or `None` if the matrix is not positive definite.
    fn cholesky(self) -> Option<Cholesky<T, D>>;
    /// The LU decomposition with partial pivoting; [`LuOfReal`](super::LuOfReal) has its methods.
    fn lu(self) -> T::Lu<D>
    where
        D: DimMin<D, Output = D>,
        DefaultAllocator: Allocator<D>;
}

impl<T: NalgebraReal, D: Dim, S: Storage<T, D, D>> MatrixOfReal<T, D> for Matrix<T, D, D, S>
where
    DefaultAllocator: Allocator<D, D>,
{
    fn try_inverse(self) -> Option<OMatrix<T, D, D>> {
        T::try_inverse(self.into_owned())
    }
    fn determinant(&self) -> T
    where
        D: DimMin<D, Output = D>,
        DefaultAllocator: Allocator<D>,
    {
        T::determinant(self.clone_owned())
    }
    fn cholesky(self) -> Option<Cholesky<T, D>> {
        T::cholesky(self.into_owned())
    }
    fn lu(self) -> T::Lu<D>
    where
        D: DimMin<D, Output = D>,
        DefaultAllocator: Allocator<D>,
    {
        T::lu(self.into_owned())
    }
}
