//! What `#[differentiable(nalgebra)]` needs of numbers beside [`Real`]: the geometry of `nalgebra`, products with a number on the left, and constants.
//!
//! Called by code that the attribute writes.

use super::decomposed::Decomposed;
use crate::container::Data;
use crate::scalar::{Core, Num, Real, Scalar};
use nalgebra::allocator::Allocator;
use nalgebra::{
    Const, DMatrix, DVector, DefaultAllocator, Dim, Dyn, Isometry, Matrix, Matrix2, Matrix2x3, Matrix3, Matrix3x2,
    Matrix4, Matrix6, OMatrix, Point, Point2, Point3, Quaternion, Rotation, RowVector2, RowVector3, RowVector4,
    Storage, Translation, Unit, Vector1, Vector2, Vector3, Vector4, Vector5, Vector6,
};
use simba::simd::{SimdRealField, SimdValue};
use std::ops::Mul;

/// A [`Real`] that is a number of the vectors, matrices and rotations of `nalgebra`. The bound of code under `#[differentiable(nalgebra)]`, and of generic code that
/// needs methods of [`Real`] and `v.norm()`, `v.normalize()`, `q * v`, `2.0 * x * v` in one function.
///
/// A function of `nalgebra` with the bound `T: ComplexField` or `T: RealField` cannot be called: its methods have the names of [`Real`]'s.
/// [`MatrixOfReal`](super::MatrixOfReal) has inverses, determinants, `lu` and `cholesky`; write a function with other decompositions over `T: RealField` alone.
///
/// # Example
/// ```
/// use differentiation_interface_core::{Real, algebra::NalgebraReal};
/// use nalgebra::Vector3;
///
/// /// The height of a unit vector that begins as (x, 0, 1), in units of its length.
/// fn height<T: NalgebraReal>(x: T) -> T {
///     let v = Vector3::new(x.sin(), T::constant(0.0), T::constant(1.0));
///     (x * v.normalize()).z / x
/// }
/// assert!((height(0.3_f64) - 1.0 / (1.0 + 0.3_f64.sin().powi(2)).sqrt()).abs() < 1e-15);
/// ```
pub trait NalgebraReal:
    Real + SimdRealField + SimdValue<Element = Self, SimdBool = bool> + LeftFactor + Decomposed
{
}

impl NalgebraReal for f64 {}
impl<C: Core<Base = f64>> NalgebraReal for Num<C> {}

/// The number times a vector or matrix of a type that code names, both by value and by reference.
macro_rules! products {
    ($($M:ident),*) => {
        #[doc(hidden)]
        pub trait LeftFactor: Scalar
            $(+ Mul<$M<Self>, Output = $M<Self>> + for<'a> Mul<&'a $M<Self>, Output = $M<Self>>)* {}
        impl LeftFactor for f64 {}
        impl<C: Core<Base = f64>> LeftFactor for Num<C> {}
    };
}
products! { Vector1, Vector2, Vector3, Vector4, Vector5, Vector6, DVector, Matrix2, Matrix3, Matrix4, Matrix6, Matrix2x3, Matrix3x2, DMatrix, RowVector2, RowVector3, RowVector4, Point2, Point3, Quaternion }

impl<C: Core, R: Dim, K: Dim, S: Storage<Self, R, K>> Mul<Matrix<Self, R, K, S>> for Num<C>
where
    DefaultAllocator: Allocator<R, K>,
{
    type Output = OMatrix<Self, R, K>;
    #[inline]
    fn mul(self, right: Matrix<Self, R, K, S>) -> Self::Output {
        &right * self
    }
}

impl<C: Core, R: Dim, K: Dim, S: Storage<Self, R, K>> Mul<&Matrix<Self, R, K, S>> for Num<C>
where
    DefaultAllocator: Allocator<R, K>,
{
    type Output = OMatrix<Self, R, K>;
    #[inline]
    fn mul(self, right: &Matrix<Self, R, K, S>) -> Self::Output {
        right * self
    }
}

macro_rules! products_of_objects {
    ($([$($generics:tt)*] $right:ty;)*) => {$(
        impl<C: Core, $($generics)*> Mul<$right> for Num<C> {
            type Output = $right;
            #[inline]
            fn mul(self, right: $right) -> $right {
                right * self
            }
        }
        impl<C: Core, $($generics)*> Mul<&$right> for Num<C> {
            type Output = $right;
            #[inline]
            fn mul(self, right: &$right) -> $right {
                right * self
            }
        }
    )*};
}
products_of_objects! {
    [const D: usize] Point<Num<C>, D>;
    [] Quaternion<Num<C>>;
}

/// A view that is written through cannot be cloned and is no data: what is written to a copy would be lost.
///
/// ```
/// let view = nalgebra::MatrixView3x1::from_slice(&[0.0; 3]);
/// differentiation_interface_core::container::lifted::<f64, _>(&view);
/// ```
/// ```compile_fail,E0277
/// let mut buffer = [0.0; 3];
/// let view = nalgebra::MatrixViewMut3x1::from_slice(&mut buffer);
/// differentiation_interface_core::container::lifted::<f64, _>(&view);
/// ```
impl<N: Scalar<Base = f64>, R: Dim, K: Dim, S: Storage<f64, R, K> + Clone> Data<N> for Matrix<f64, R, K, S>
where
    DefaultAllocator: Allocator<R, K>,
{
    type Lifted = OMatrix<N, R, K>;
    fn lifted(&self) -> Self::Lifted {
        self.map(N::constant)
    }
}

impl<N: Scalar<Base = f64>, const D: usize> Data<N> for Point<f64, D> {
    type Lifted = Point<N, D>;
    fn lifted(&self) -> Self::Lifted {
        self.map(N::constant)
    }
}

impl<N: Scalar<Base = f64>, const D: usize> Data<N> for Translation<f64, D> {
    type Lifted = Translation<N, D>;
    fn lifted(&self) -> Self::Lifted {
        Translation { vector: self.vector.map(N::constant) }
    }
}

impl<N: Scalar<Base = f64>, const D: usize> Data<N> for Rotation<f64, D> {
    type Lifted = Rotation<N, D>;
    fn lifted(&self) -> Self::Lifted {
        Rotation::from_matrix_unchecked(self.matrix().map(N::constant))
    }
}

impl<N: Scalar<Base = f64>> Data<N> for Quaternion<f64> {
    type Lifted = Quaternion<N>;
    fn lifted(&self) -> Self::Lifted {
        Quaternion { coords: self.coords.map(N::constant) }
    }
}

impl<N, D: Data<N>> Data<N> for Unit<D> {
    type Lifted = Unit<D::Lifted>;
    fn lifted(&self) -> Self::Lifted {
        Unit::new_unchecked(self.as_ref().lifted())
    }
}

impl<N, Q: Data<N>, const D: usize> Data<N> for Isometry<f64, Q, D>
where
    N: Scalar<Base = f64>,
{
    type Lifted = Isometry<N, Q::Lifted, D>;
    fn lifted(&self) -> Self::Lifted {
        Isometry { translation: self.translation.lifted(), rotation: self.rotation.lifted() }
    }
}

impl<N> Data<N> for Dyn {
    type Lifted = Dyn;
    fn lifted(&self) -> Dyn {
        *self
    }
}

impl<N, const D: usize> Data<N> for Const<D> {
    type Lifted = Const<D>;
    fn lifted(&self) -> Const<D> {
        *self
    }
}
