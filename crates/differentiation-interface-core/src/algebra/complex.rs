//! Roots, powers and inverse functions of complex numbers, differentiable on the axes too.
//!
//! Called by users in place of the methods of `num-complex`. Those return early where a part of the number is zero, and their result
//! then no longer depends on that part, so that every tool for automatic differentiation returns wrong derivatives there. The functions here have
//! the same branch cuts and, to rounding, the same values. They do not branch, so sparsity patterns of functions that call them can be found.
//!
//! Where a function has no derivative, as roots at 0 and on the cuts from the other side, infinity or NaN is what the formula gives.
//!
//! ```
//! use differentiation_interface::algebra::complex;
//! use differentiation_interface::prelude::*;
//! use num_complex::{Complex, Complex64};
//!
//! let root = |z: &Complex<_>| complex::sqrt(*z);
//! let slope = derivative(&root, &AutoForwardDiff::default(), Complex64::new(0.0, 4.0))?;
//! assert!((slope - 0.5 / Complex64::new(0.0, 4.0).sqrt()).norm() < 1e-16);
//! # Ok::<(), Error>(())
//! ```

use crate::scalar::{Base, Relation, Scalar};
use num_complex::Complex;
use num_traits::Float;

/// The principal square root √z. The cut is the negative real axis, continuous from above.
pub fn sqrt<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    // With r = |x|: t = √((|z| + r)/2), and y/2t is the other part. The sign of y, also of a zero, is that of the imaginary part.
    let (zero, half) = (T::zero(), constant::<T>(0.5));
    let is_right = |right: T, left: T| Scalar::select(z.re, Relation::GreaterOrEqual, zero, right, left);
    let large = (half * z.norm() + half * is_right(z.re, -z.re)).sqrt();
    let quotient = half * z.im / large;
    // At 0 both parts are 0.
    let small = Scalar::select(large, Relation::Greater, zero, quotient, z.im);
    let sign = T::one().copysign(z.im);
    Complex::new(is_right(large, sign * small), is_right(small, sign * large))
}

/// The principal cube root of z, which for a negative real number is not the real one. The cut is that of [`sqrt`].
pub fn cbrt<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    let (radius, angle) = z.to_polar();
    Complex::from_polar(radius.cbrt(), angle / constant(3.0))
}

/// The principal value of zᵖ for a real exponent, also differentiable by it.
pub fn powf<T: Scalar + Float>(z: Complex<T>, p: T) -> Complex<T> {
    let (radius, angle) = z.to_polar();
    Complex::from_polar(radius.powf(p), angle * p)
}

/// The principal value of zʷ = exp(w ln z), also differentiable by the exponent. At z = w = 0 it is NaN.
pub fn powc<T: Scalar + Float>(z: Complex<T>, w: Complex<T>) -> Complex<T> {
    (w * z.ln()).exp()
}

/// The principal value of arcsin z = -i ln(√(1 - z²) + iz). The cuts are the real axis beyond -1 and beyond 1.
pub fn asin<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    -times_i((sqrt(one::<T>() - z * z) + times_i(z)).ln())
}

/// The principal value of arccos z = -i ln(i √(1 - z²) + z). The cuts are those of [`asin`].
pub fn acos<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    -times_i((times_i(sqrt(one::<T>() - z * z)) + z).ln())
}

/// The principal value of arsinh z = ln(z + √(1 + z²)). The cuts are the imaginary axis beyond -i and beyond i.
pub fn asinh<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    (z + sqrt(one::<T>() + z * z)).ln()
}

/// The principal value of arcosh z = 2 ln(√((z + 1)/2) + √((z - 1)/2)). The cut is the real axis below 1.
pub fn acosh<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    // A complex divisor clears the sign of a zero imaginary part, as in `num-complex`: on the cut the value is that from above.
    let two = one::<T>() + one();
    let sum = sqrt((z + one()) / two) + sqrt((z - one()) / two);
    sum.ln().scale(constant(2.0))
}

fn constant<T: Scalar>(value: f64) -> T {
    T::constant(T::Base::from_f64(value))
}
fn one<T: Scalar + Float>() -> Complex<T> {
    Complex::new(T::one(), T::zero())
}
fn times_i<T: Scalar + Float>(z: Complex<T>) -> Complex<T> {
    Complex::new(-z.im, z.re)
}
