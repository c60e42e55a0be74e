//! The functions of `nalgebra` and `faer` at zeros: what is right there, and what remains wrong.
//!
//! A chapter of the book lists the same. If the second test fails, a library has changed, and so must
//! `docs/book/src/linear_algebra.md`.

use crate::assert_close;
use crate::shortcuts::{ALONG, POINT, number, vector, weighted};
use differentiation_interface::Scalar;
use differentiation_interface::algebra::decomposition::symmetric_eigen;
use differentiation_interface::algebra::rotation::exp_map;
use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;
use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Quaternion, RealField, Rotation3, UnitQuaternion, Vector3};

/// [[2, 1/2], [x, 3]].
fn triangular<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    DMatrix::from_column_slice(2, 2, &[number(2.0), x[0], number(0.5), number(3.0)])
}
/// [[1, x], [x, 2]].
fn symmetric<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    DMatrix::from_column_slice(2, 2, &[number(1.0), x[0], x[0], number(2.0)])
}
/// [[1, x], [0, 2]].
fn upper<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    DMatrix::from_column_slice(2, 2, &[number(1.0), T::zero(), x[0], number(2.0)])
}
/// A full symmetric matrix but for `x` in a corner, which a reduction to three diagonals meets.
fn cornered(i: usize, j: usize) -> f64 {
    [[1.0, 0.4, 0.0], [0.4, 2.0, 0.3], [0.0, 0.3, 3.0]][i][j]
}
/// [[2, 1/2], [x, 3]] of `faer`.
fn of_faer<T: faer::traits::RealField + Copy>(x: &[T]) -> faer::Mat<T> {
    let plain = [[2.0, 0.5], [0.0, 3.0]].map(|row| row.map(T::from_f64_impl));
    faer::Mat::from_fn(2, 2, |i, j| if (i, j) == (1, 0) { x[0] } else { plain[i][j] })
}

/// The gradient and the differences of a function.
macro_rules! both {
    ($function:expr, $x:expr) => {{
        let x: &[f64] = &$x;
        (gradient(&$function, &AutoForwardDiff::default(), x).unwrap(), crate::differences($function, x))
    }};
}

#[test]
fn factorisations_and_quaternions_of_angles_are_right_at_zeros() {
    fn lu<T: RealField + Copy>(x: &[T]) -> T {
        weighted(triangular(x).lu().solve(&DVector::from_element(2, T::one())).unwrap().iter())
    }
    fn inverse_and_determinant<T: RealField + Copy>(x: &[T]) -> T {
        weighted(triangular(x).try_inverse().unwrap().iter()) + triangular(x).determinant()
    }
    fn cholesky<T: RealField + Copy>(x: &[T]) -> T {
        weighted(symmetric(x).cholesky().unwrap().l().iter())
    }
    fn qr<T: RealField + Copy>(x: &[T]) -> T {
        let qr = triangular(x).qr();
        weighted(qr.r().iter()) + weighted(qr.q().iter())
    }
    fn values<T: RealField + Copy>(x: &[T]) -> T {
        weighted(triangular(x).singular_values().iter()) + weighted(symmetric(x).symmetric_eigenvalues().iter())
    }
    fn reduced<T: RealField + Copy>(x: &[T]) -> T {
        let a = DMatrix::from_fn(3, 3, |i, j| if i + j == 2 && i != j { x[0] } else { number(cornered(i, j)) });
        weighted(a.symmetric_eigenvalues().iter()) + weighted(a.singular_values().iter())
    }
    fn exp<T: RealField + Copy>(x: &[T]) -> T {
        weighted(upper(x).exp().iter())
    }
    fn quaternions<T: RealField + Copy>(x: &[T]) -> T {
        let (p, q) = (
            UnitQuaternion::from_axis_angle(&Vector3::z_axis(), x[0]),
            UnitQuaternion::from_euler_angles(x[0], x[0], x[0]),
        );
        weighted((p * q).coords.iter())
    }
    fn faer_lu<T: faer::traits::RealField + Copy>(x: &[T]) -> T {
        let ones = faer::Mat::from_fn(2, 1, |_, _| T::from_f64_impl(1.0));
        of_faer(x).partial_piv_lu().solve(ones)[(0, 0)]
    }
    let x = [0.0];
    for (name, (found, expected)) in [
        ("lu", both!(lu, x)),
        ("inverse", both!(inverse_and_determinant, x)),
        ("cholesky", both!(cholesky, x)),
        ("qr", both!(qr, x)),
        ("values", both!(values, x)),
        ("reduced", both!(reduced, x)),
        ("exp", both!(exp, x)),
        ("quaternions", both!(quaternions, x)),
        ("faer's lu", both!(faer_lu, x)),
    ] {
        assert_close(name, &found, &expected, 1e-9);
    }
}

#[test]
fn rotations_and_vectors_are_wrong_at_zeros() {
    fn from_scaled_axis<T: RealField + Copy>(x: &[T]) -> T {
        (UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2])) * vector(POINT)).dot(&vector(ALONG))
    }
    fn rotation3<T: RealField + Copy>(x: &[T]) -> T {
        (Rotation3::new(Vector3::new(x[0], x[1], x[2])) * vector(POINT)).dot(&vector(ALONG))
    }
    fn isometry3<T: RealField + Copy>(x: &[T]) -> T {
        (Isometry3::new(Vector3::zeros(), Vector3::new(x[0], x[1], x[2])) * vector(POINT)).dot(&vector(ALONG))
    }
    fn scaled_axis<T: Scalar + RealField>(x: &[T]) -> T {
        exp_map(Vector3::new(x[0], x[1], x[2])).scaled_axis().dot(&vector(ALONG))
    }
    fn slerp<T: Scalar + RealField>(x: &[T]) -> T {
        let q = exp_map(Vector3::new(x[0], x[1], x[2]));
        (UnitQuaternion::identity().slerp(&q, number(0.3)) * vector(POINT)).dot(&vector(ALONG))
    }
    for (name, (found, expected)) in [
        ("from_scaled_axis", both!(from_scaled_axis, [0.0; 3])),
        ("Rotation3::new", both!(rotation3, [0.0; 3])),
        ("Isometry3::new", both!(isometry3, [0.0; 3])),
        ("scaled_axis", both!(scaled_axis, [0.0; 3])),
        ("slerp", both!(slerp, [0.0; 3])),
    ] {
        assert!(found.iter().all(|entry| *entry == 0.0) && expected.iter().all(|entry| entry.abs() > 0.1), "{name}");
    }
    fn about_an_axis<T: RealField + Copy>(x: &[T]) -> T {
        (Rotation3::from_axis_angle(&Vector3::z_axis(), x[0]) * Vector3::x())[1]
    }
    fn rotation_between<T: RealField + Copy>(x: &[T]) -> T {
        let q = UnitQuaternion::rotation_between(&Vector3::new(T::one(), x[0], T::zero()), &Vector3::x());
        (q.expect("the vectors are not opposite") * Vector3::y())[0]
    }
    fn power<T: RealField + Copy>(x: &[T]) -> T {
        (UnitQuaternion::from_euler_angles(T::zero(), T::zero(), x[0]).powf(number(0.5)) * Vector3::x())[1]
    }
    fn exponential<T: RealField + Copy>(x: &[T]) -> T {
        Quaternion::new(T::zero(), x[0], T::zero(), T::zero()).exp().i
    }
    fn nearest_rotation<T: RealField + Copy>(x: &[T]) -> T {
        let mut matrix = Matrix3::identity();
        matrix[(0, 1)] = x[0];
        (Rotation3::from_matrix(&matrix) * Vector3::x())[1]
    }
    for (name, (found, expected)) in [
        ("Rotation3::from_axis_angle", both!(about_an_axis, [0.0])),
        ("rotation_between", both!(rotation_between, [0.0])),
        ("powf", both!(power, [0.0])),
        ("Quaternion::exp", both!(exponential, [0.0])),
        ("Rotation3::from_matrix", both!(nearest_rotation, [0.0])),
    ] {
        assert!(found == [0.0] && expected[0].abs() > 0.1, "{name}: {found:?}, differences {expected:?}");
    }
    fn angle<T: Scalar + RealField>(x: &[T]) -> T {
        exp_map(Vector3::new(x[0], x[1], x[2])).angle()
    }
    fn angle_between<T: Scalar + RealField>(x: &[T]) -> T {
        UnitQuaternion::identity().angle_to(&exp_map(Vector3::new(x[0], x[1], x[2])))
    }
    fn angle_to<T: Scalar + RealField>(x: &[T]) -> T {
        let fixed = vector([0.5, -0.4, 0.2]);
        exp_map(fixed).angle_to(&exp_map(Vector3::new(x[0], x[1], x[2])))
    }
    fn left_vectors<T: RealField + Copy>(x: &[T]) -> T {
        weighted(upper(x).svd(true, true).u.unwrap().iter())
    }
    /// The inverse is [[1, -x/2], [0, 1/2]], whose entry above the diagonal has the weight 0.6.
    fn pseudo_inverse<T: RealField + Copy>(x: &[T]) -> T {
        weighted(upper(x).pseudo_inverse(number(1e-9)).unwrap().iter())
    }
    fn eigenvectors<T: RealField + Copy>(x: &[T]) -> T {
        weighted(symmetric(x).symmetric_eigen().eigenvectors.iter())
    }
    fn complex_eigenvalues<T: RealField + Copy>(x: &[T]) -> T {
        triangular(x).complex_eigenvalues()[0].re
    }
    fn faer_qr<T: faer::traits::RealField + Copy>(x: &[T]) -> T {
        let ones = faer::Mat::from_fn(2, 1, |_, _| T::from_f64_impl(1.0));
        of_faer(x).qr().solve(ones)[(0, 0)]
    }
    fn faer_singular_values<T: faer::traits::RealField + Copy>(x: &[T]) -> T {
        of_faer(x).singular_values().unwrap()[0]
    }
    fn faer_eigenvalues<T: faer::traits::RealField + Copy>(x: &[T]) -> T {
        let a = faer::Mat::from_fn(3, 3, |i, j| match i + j == 2 && i != j {
            true => x[0],
            false => T::from_f64_impl(cornered(i, j)),
        });
        a.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0]
    }
    fn values_of_a_diagonal<T: RealField + Copy>(x: &[T]) -> T {
        nalgebra::Matrix3::from_diagonal(&Vector3::new(x[0], number(3.0), number(1.0))).singular_values()[0]
    }
    assert!(both!(values_of_a_diagonal, [2.0]).0[0].is_nan());
    assert!(both!(angle, [0.0; 3]).0[0].is_nan());
    assert!(both!(angle_between, [0.0; 3]).0.iter().all(|entry| entry.is_nan()));
    // Between equal rotations that are not the identity, rounding errors may give the kink a direction.
    let along = DVector::from_vec(both!(angle_to, [0.5, -0.4, 0.2]).0).norm();
    assert!(along.is_nan() || (along - 1.0).abs() < 0.1, "{along}");
    assert!(both!(eigenvectors, [0.0]).0[0].is_nan());
    assert_eq!(both!(left_vectors, [0.0]).0, [0.0]);
    let (found, expected) = both!(pseudo_inverse, [0.0]);
    assert_close("differences", &expected, &[-0.3], 1e-8);
    assert_eq!(found, [0.0]);
    assert_eq!(both!(complex_eigenvalues, [0.0]).0, [0.0]);
    for (name, (found, expected)) in [
        ("qr", both!(faer_qr, [0.0])),
        ("singular values", both!(faer_singular_values, [0.0])),
        ("eigenvalues", both!(faer_eigenvalues, [0.0])),
    ] {
        assert!(found == [0.0] && expected[0].abs() > 0.01, "{name} of faer: {found:?}, differences {expected:?}");
    }
}

/// Σ λ² is the sum of the squares of the entries, whose Hessian has the diagonal 2, 4, 4, 2, 4, 2.
#[test]
fn second_derivatives_of_eigenvalues_are_wrong_at_zeros() {
    fn matrix<T: RealField + Copy>(x: &[T]) -> Matrix3<T> {
        Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5])
    }
    fn theirs<T: RealField + Copy>(x: &[T]) -> T {
        matrix(x).symmetric_eigenvalues().iter().fold(T::zero(), |sum, value| sum + *value * *value)
    }
    fn ours<T: Scalar + RealField + Copy>(x: &[T]) -> T {
        symmetric_eigen(&matrix(x)).eigenvalues.iter().fold(T::zero(), |sum, value| sum + *value * *value)
    }
    let exact = [2.0, 4.0, 4.0, 2.0, 4.0, 2.0];
    let diagonal = |hess: Matrix<f64>| (0..6).map(|i| hess[(i, i)]).collect::<Vec<f64>>();
    let fd = AutoForwardDiff::default();
    let (apart, equal) = ([1.0, 0.0, 0.0, 2.0, 0.0, 3.0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    assert_close("forward", &diagonal(hessian(&|x: &[_]| ours(x), &fd, &apart).unwrap()), &exact, 1e-12);
    let wrong = diagonal(hessian(&|x: &[_]| theirs(x), &fd, &apart).unwrap());
    assert!((wrong[1] - exact[1]).abs() > 1.0, "{wrong:?}");
    let spoilt = diagonal(hessian(&|x: &[_]| ours(x), &fd, &equal).unwrap());
    assert!(spoilt.iter().any(|entry| entry.is_nan()), "{spoilt:?}");
}

/// Permutations of pivots, zeros that remain zeros, and columns of zeros, with the cofactors as derivatives.
#[test]
fn determinants_of_faer_are_right_at_zeros_but_for_a_column_of_zeros() {
    fn determinant<T: faer::traits::RealField + Copy>(x: &[T]) -> T {
        faer::Mat::from_fn(3, 3, |i, j| x[3 * i + j]).determinant()
    }
    for (name, x, value, cofactors) in [
        (
            "diagonal",
            [2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0],
            30.0,
            [15.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 6.0],
        ),
        (
            "permuted",
            [0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 5.0, 0.0, 0.0],
            30.0,
            [0.0, 15.0, 0.0, 0.0, 0.0, 10.0, 6.0, 0.0, 0.0],
        ),
        ("lower", [1.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 6.0, 1.0], 4.0, [4.0, -2.0, 12.0, 0.0, 1.0, -6.0, 0.0, 0.0, 4.0]),
        // Only the last column is eliminated to zeros: row 2 is the sum of the others.
        (
            "singular",
            [1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 5.0],
            0.0,
            [2.0, 3.0, -1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 1.0],
        ),
    ] {
        for found in [
            value_and_gradient(&determinant, &AutoForwardDiff::default(), &x[..]),
            value_and_gradient(&determinant, &AutoReverseDiff::default(), &x[..]),
        ] {
            let (found, grad) = found.unwrap();
            assert_close(name, &[found], &[value], 1e-14);
            assert_close(name, &grad, &cofactors, 1e-14);
        }
    }
    // The first column is zero, and the second is one once the first is eliminated.
    for x in [[0.0_f64, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 5.0, 7.0], [1.0, 2.0, 3.0, 1.0, 2.0, 4.0, 1.0, 2.0, 7.0]] {
        let (value, grad) = value_and_gradient(&determinant, &AutoForwardDiff::default(), &x[..]).unwrap();
        assert!(
            value.is_nan() && determinant(&x).is_nan() && grad.iter().any(|entry| entry.is_nan()),
            "{value} {grad:?}"
        );
    }
}
