//! The functions of `nalgebra` that write α·(..) + β·y to y, by an active β that is zero, where they leave out the second term.
//!
//! A chapter of the book lists the same. If a test fails, `nalgebra` has changed, and so must `docs/book/src/linear_algebra.md`.

use crate::shortcuts::{number, weighted};
use differentiation_interface::prelude::*;
use nalgebra::{DMatrix, Matrix2, RealField, Vector2};

fn left<T: RealField + Copy>() -> Matrix2<T> {
    Matrix2::new(0.4, -1.1, 0.9, 1.6).map(number)
}
fn right<T: RealField + Copy>() -> Matrix2<T> {
    Matrix2::new(1.2, 0.3, -0.7, 0.8).map(number)
}
fn factors<T: RealField + Copy>() -> Vector2<T> {
    Vector2::new(1.5, -0.6).map(number)
}

/// What is written to, with the sum 0.7·2 - 1.2·(-3) = 5 by the weights of `weighted`.
fn vector<T: RealField + Copy>() -> Vector2<T> {
    Vector2::new(2.0, -3.0).map(number)
}
/// What is written to, with the sum 5 + 0.6·0.5 + 2.2·4 = 14.1. The functions of symmetric matrices write to the lower triangle, with
/// the sum 14.1 - 0.6·0.5 = 13.8.
fn matrix<T: RealField + Copy>() -> Matrix2<T> {
    Matrix2::new(2.0, 0.5, -3.0, 4.0).map(number)
}

/// For each function its slope by β at zero, found and right. The right one is the weighted sum of what is written to.
macro_rules! by_a_factor {
    ($($name:ident of $start:ident, $slope:expr, |$y:ident, $alpha:ident, $beta:ident| $call:expr;)*) => {[$({
        fn $name<T: RealField + Copy>(x: &[T]) -> T {
            let (mut $y, $alpha, $beta) = ($start(), x[0], x[1]);
            $call;
            weighted($y.iter())
        }
        (stringify!($name), slopes(&$name::<f64>, [0.5, 0.0]), $slope, [
            gradient(&$name, &AutoForwardDiff::default(), &[0.5, 0.0][..]).unwrap(),
            gradient(&$name, &AutoReverseDiff::default(), &[0.5, 0.0][..]).unwrap(),
            // Recorded where the factor is not zero.
            prepare_gradient(&$name, &AutoReverseDiff::compiled(), &[0.5, 1.0][..]).unwrap().gradient(&[0.5, 0.0][..]).unwrap(),
        ], gradient(&$name, &AutoForwardDiff::default(), &[0.5, 1e-9][..]).unwrap())
    }),*]};
}
fn slopes(f: &dyn Fn(&[f64]) -> f64, x: [f64; 2]) -> Vec<f64> {
    crate::differences(f, &x)
}

#[test]
fn factors_of_what_is_written_to_lose_their_derivative_at_zero() {
    for (name, differences, slope, at_zero, beside) in by_a_factor! {
        axpy of vector, 5.0, |y, a, b| y.axpy(a, &factors(), b);
        axcpy of vector, 5.0, |y, a, b| y.axcpy(a, &factors(), number(2.0), b);
        gemv of vector, 5.0, |y, a, b| y.gemv(a, &left(), &factors(), b);
        gemv_tr of vector, 5.0, |y, a, b| y.gemv_tr(a, &left(), &factors(), b);
        gemv_ad of vector, 5.0, |y, a, b| y.gemv_ad(a, &left(), &factors(), b);
        sygemv of vector, 5.0, |y, a, b| y.sygemv(a, &left(), &factors(), b);
        hegemv of vector, 5.0, |y, a, b| y.hegemv(a, &left(), &factors(), b);
        ger of matrix, 14.1, |y, a, b| y.ger(a, &factors(), &vector(), b);
        gerc of matrix, 14.1, |y, a, b| y.gerc(a, &factors(), &vector(), b);
        syger of matrix, 13.8, |y, a, b| y.syger(a, &factors(), &vector(), b);
        hegerc of matrix, 13.8, |y, a, b| y.hegerc(a, &factors(), &vector(), b);
        gemm of matrix, 14.1, |y, a, b| y.gemm(a, &left(), &right(), b);
        gemm_tr of matrix, 14.1, |y, a, b| y.gemm_tr(a, &left(), &right(), b);
        gemm_ad of matrix, 14.1, |y, a, b| y.gemm_ad(a, &left(), &right(), b);
        cmpy of matrix, 14.1, |y, a, b| y.cmpy(a, &left(), &right(), b);
        cdpy of matrix, 14.1, |y, a, b| y.cdpy(a, &left(), &right(), b);
        quadform_tr of matrix, 14.1, |y, a, b| y.quadform_tr(a, &left(), &right(), b);
        quadform of matrix, 14.1, |y, a, b| y.quadform(a, &left(), &right(), b);
    } {
        crate::assert_close(name, &differences[1..], &[slope], 1e-9);
        for found in at_zero {
            // The other factor has its derivative.
            crate::assert_close(name, &found[..1], &differences[..1], 1e-9);
            assert_eq!(found[1], 0.0, "{name}");
        }
        crate::assert_close(name, &beside, &differences, 1e-8);
    }
}

/// The product of large matrices, which `nalgebra` leaves to another crate for plain numbers.
#[test]
fn large_products_lose_the_derivative_by_a_factor_that_is_zero_too() {
    fn sum<T: RealField + Copy>(x: &[T]) -> T {
        let a = DMatrix::from_fn(7, 7, |i, j| number((i + 2 * j) as f64));
        let mut y = DMatrix::from_element(7, 7, number(3.0));
        y.gemm(T::one(), &a, &a, x[0]);
        y.sum()
    }
    // 49 entries 3.
    crate::assert_close("differences", &crate::differences(sum, &[0.0]), &[147.0], 1e-7);
    assert_eq!(gradient(&sum, &AutoForwardDiff::default(), &[0.0][..]).unwrap(), [0.0]);
    assert_eq!(gradient(&sum, &AutoForwardDiff::default(), &[0.25][..]).unwrap(), [147.0]);
}
