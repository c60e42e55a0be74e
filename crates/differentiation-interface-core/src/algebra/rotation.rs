//! The exponential map and the logarithm of rotations, differentiable at every angle below π.
//!
//! Called by users in place of `UnitQuaternion::from_scaled_axis`, `Rotation3::new` and `scaled_axis` of `nalgebra`. Those branch at
//! zero angle to a constant, so that every tool for automatic differentiation returns derivatives that are zero there instead of
//! right. The functions here are made of rules that are analytic at zero angle: values, first and higher derivatives
//! are right at and near it.
//!
//! ```
//! use differentiation_interface::algebra::rotation;
//! use differentiation_interface::prelude::*;
//! use nalgebra::Vector3;
//!
//! // The height of a point on the x axis after a rotation by the vector v. A small rotation about the y axis moves it down.
//! let height = |v: &[_; 3]| (rotation::exp_map(Vector3::from(*v)) * Vector3::x()).z;
//! assert_eq!(gradient(&height, &AutoForwardDiff::default(), [0.0; 3])?, [0.0, -1.0, 0.0]);
//! # Ok::<(), Error>(())
//! ```

use super::angles::{AngleOverSine, SphericalBessel};
use crate::scalar::{Base, Relation, Scalar};
use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use simba::simd::SimdRealField;

/// The rotation about the axis of `v` by its length in radians, as a quaternion.
pub fn exp_map<T: Scalar + SimdRealField<Element: SimdRealField>>(v: Vector3<T>) -> UnitQuaternion<T> {
    // With the half angle h, h² = v·v/4: (cos h, sin h / h · v/2).
    let square = times(0.25, v.dot(&v));
    let factor = times(0.5, square.apply(SphericalBessel(0)));
    UnitQuaternion::new_unchecked(Quaternion::from_parts(square.apply(SphericalBessel(-1)), v * factor))
}

/// The rotation about the axis of `v` by its length in radians, as a matrix.
pub fn exp_map_matrix<T: Scalar + SimdRealField<Element: SimdRealField>>(v: Vector3<T>) -> Rotation3<T> {
    // Rodrigues' formula I + sin a/a V + (1 - cos a)/a² V² for the matrix V of the cross product with v, by 1 - cos a = 2 sin²(a/2).
    let square = v.dot(&v);
    let half = times(0.25, square).apply(SphericalBessel(0));
    let cross = v.cross_matrix();
    let rotation =
        Matrix3::identity() + cross * square.apply(SphericalBessel(0)) + cross * cross * times(0.5, half * half);
    Rotation3::from_matrix_unchecked(rotation)
}

/// The vector along the axis of the rotation `q` whose length is the angle, between 0 and π: the inverse of [`exp_map`].
///
/// `q` and `-q` are the same rotation and have the same logarithm. The derivative is that of the logarithm of the normalized
/// quaternion. At angle π the logarithm jumps, so that no derivative exists.
pub fn log_map<T: Scalar + SimdRealField<Element: SimdRealField>>(q: UnitQuaternion<T>) -> Vector3<T> {
    let Quaternion { coords } = q.into_inner();
    let norm = coords.norm();
    let (w, zero) = (coords.w / norm, T::default());
    let sign = Scalar::select(w, Relation::Less, zero, -one::<T>(), one());
    // With the half angle h: h / sin h · 2 (x, y, z) / |q|, h between 0 and π/2.
    coords.xyz() * (times(2.0, sign * (sign * w).apply(AngleOverSine(0))) / norm)
}

/// The vector along the axis of the rotation matrix whose length is the angle, between 0 and π: the inverse of [`exp_map_matrix`].
///
/// The matrix is taken to be orthogonal, and so are its derivatives: a derivative by a single entry has no meaning. At angle π the
/// logarithm jumps, so that no derivative exists.
pub fn log_map_matrix<T: Scalar + SimdRealField<Element: SimdRealField>>(rotation: &Rotation3<T>) -> Vector3<T> {
    // The conversion divides by the component of the quaternion that is not small.
    log_map(UnitQuaternion::from_rotation_matrix(rotation))
}

fn one<T: Scalar>() -> T {
    T::constant(T::Base::ONE)
}

fn times<T: Scalar>(factor: f64, x: T) -> T {
    Scalar::scale(x, T::Base::from_f64(factor))
}
