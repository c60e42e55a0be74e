//! Rotations, factorisations and decompositions of `nalgebra` at points without special values.

use crate::gradients_are_differences;
use differentiation_interface::prelude::*;
use nalgebra::{DMatrix, DVector, Isometry3, Point3, RealField, Rotation3, UnitQuaternion, Vector3, convert};

fn number<T: RealField>(value: f64) -> T {
    convert(value)
}

/// A sum of the entries with different factors, so that each entry counts.
fn weighted<'a, T: RealField + Copy>(entries: impl IntoIterator<Item = &'a T>) -> T {
    let weight = |i: usize| number::<T>([0.7, -1.3, 0.4, 1.9, -0.6][i % 5] + 0.1 * i as f64);
    entries.into_iter().enumerate().fold(T::zero(), |sum, (i, entry)| sum + *entry * weight(i))
}

fn point<T: RealField>() -> Point3<T> {
    Point3::new(number(0.3), number(-1.2), number(0.8))
}

/// A 3 x 3 matrix that is far from singular.
fn matrix<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    DMatrix::from_fn(3, 3, |i, j| x[3 * i + j] + if i == j { number(2.0) } else { T::zero() })
}

/// A symmetric, positive definite one.
fn definite<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    matrix(x) * matrix(x).transpose()
}

fn rotation3<T: RealField + Copy>(x: &[T]) -> T {
    weighted((Rotation3::new(Vector3::new(x[0], x[1], x[2])) * point()).coords.iter())
}
fn unit_quaternion<T: RealField + Copy>(x: &[T]) -> T {
    let q = UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2]));
    weighted((q * point()).coords.iter()) + weighted((q * q).scaled_axis().iter())
}
fn slerp<T: RealField + Copy>(x: &[T]) -> T {
    let p = UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2]));
    let q = UnitQuaternion::from_scaled_axis(Vector3::new(x[3], x[4], x[5]));
    weighted((p.slerp(&q, number(0.3)) * point()).coords.iter())
}
fn angle_to<T: RealField + Copy>(x: &[T]) -> T {
    let p = UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2]));
    p.angle_to(&UnitQuaternion::from_scaled_axis(Vector3::new(x[3], x[4], x[5])))
}
fn isometry3<T: RealField + Copy>(x: &[T]) -> T {
    let motion = Isometry3::new(Vector3::new(x[0], x[1], x[2]), Vector3::new(x[3], x[4], x[5]));
    weighted((motion.inverse() * (motion * (motion * point()))).coords.iter())
}
fn norm_and_normalize<T: RealField + Copy>(x: &[T]) -> T {
    let v = DVector::from_column_slice(x);
    v.norm() + weighted(v.normalize().iter())
}
fn lu_solve<T: RealField + Copy>(x: &[T]) -> T {
    weighted(matrix(x).lu().solve(&DVector::from_column_slice(&x[..3])).unwrap().iter())
}
fn determinant_and_inverse<T: RealField + Copy>(x: &[T]) -> T {
    matrix(x).determinant() + weighted(matrix(x).try_inverse().unwrap().iter())
}
fn cholesky<T: RealField + Copy>(x: &[T]) -> T {
    weighted(definite(x).cholesky().unwrap().l().iter())
}
fn qr<T: RealField + Copy>(x: &[T]) -> T {
    let qr = matrix(x).qr();
    weighted(qr.q().iter()) + weighted(qr.r().iter())
}
fn svd<T: RealField + Copy>(x: &[T]) -> T {
    let svd = matrix(x).svd(true, true);
    weighted(svd.singular_values.iter()) + weighted(svd.u.unwrap().iter()) + weighted(svd.v_t.unwrap().iter())
}
fn symmetric_eigen<T: RealField + Copy>(x: &[T]) -> T {
    let eigen = definite(x).symmetric_eigen();
    weighted(eigen.eigenvalues.iter()) + weighted(eigen.eigenvectors.iter())
}
fn exp<T: RealField + Copy>(x: &[T]) -> T {
    weighted(matrix(x).exp().iter())
}

const ENTRIES: [f64; 9] = [0.31, -0.72, 0.53, 0.94, 0.65, -0.26, 0.47, 0.38, 1.19];

mod gradients {
    super::gradients_are_differences! {
        rotation3 at [0.3, -0.5, 0.8], 1e-9;
        unit_quaternion at [0.3, -0.5, 0.8], 1e-9;
        slerp at [0.3, -0.5, 0.8, 0.9, 0.2, -0.4], 1e-9;
        angle_to at [0.3, -0.5, 0.8, 0.9, 0.2, -0.4], 1e-9;
        isometry3 at [1.3, -0.5, 0.8, 0.9, 0.2, -0.4], 1e-9;
        norm_and_normalize at [0.3, -0.5, 0.8], 1e-9;
        lu_solve at super::ENTRIES, 1e-8;
        determinant_and_inverse at super::ENTRIES, 1e-8;
        cholesky at super::ENTRIES, 1e-8;
        qr at super::ENTRIES, 1e-8;
        svd at super::ENTRIES, 1e-7;
        symmetric_eigen at super::ENTRIES, 1e-7;
        exp at super::ENTRIES, 1e-8;
    }
}

/// With A = diag(2, 3) + (x₀, x₁; 0, x₂): the determinant (2 + x₀)(3 + x₂), and the solution for (1, 1) in closed form.
#[test]
fn the_hessian_of_a_solution_is_right() {
    fn first<T: RealField + Copy>(x: &[T]) -> T {
        let a = DMatrix::from_row_slice(2, 2, &[x[0], x[1], T::zero(), x[2]]);
        a.lu().solve(&DVector::from_element(2, T::one())).unwrap()[0]
    }
    // (1 - x₁/x₂)/x₀ at (2, 1, 4): 0.375.
    let hessian =
        hessian(&first, &SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()), &[2.0, 1.0, 4.0]);
    let expected: [[f64; 3]; 3] = [
        [2.0 * 0.375 / 4.0, 1.0 / 16.0, -1.0 / 64.0],
        [1.0 / 16.0, 0.0, 1.0 / 32.0],
        [-1.0 / 64.0, 1.0 / 32.0, -1.0 / 64.0],
    ];
    let hessian = hessian.unwrap();
    for (i, row) in expected.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            assert!(
                (hessian[(i, j)] - entry).abs() < 1e-15,
                "entry ({i}, {j}) is {}, expected {entry}",
                hessian[(i, j)]
            );
        }
    }
}

/// Values that decide are comparisons: sparsity detection refuses them instead of guessing.
#[test]
fn sparsity_detection_refuses_a_pivot() {
    struct Solve;
    impl<T: Scalar + RealField> Function<[T]> for Solve {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            let a = DMatrix::from_row_slice(2, 2, &x[..4]);
            a.lu().solve(&DVector::from_column_slice(&x[4..])).map_or(Vec::new(), |y| y.iter().copied().collect())
        }
    }
    let sparse = AutoSparse::new(AutoForwardDiff::default());
    let error = jacobian(&Solve, &sparse, &[3.0_f64, 1.0, 1.0, 2.0, 1.0, 0.0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueDecides { .. }), "{error}");
}

/// sin(x)/x = 1 - x²/3! + x⁴/5! - .. and sinh(x)/x with all signs positive, both with a quotient 0/0 at zero.
#[test]
fn quotients_of_sines_have_all_derivatives_at_zero() {
    fn sinc<T: RealField>(x: T) -> T {
        nalgebra::ComplexField::sinc(x)
    }
    fn sinhc<T: RealField>(x: T) -> T {
        nalgebra::ComplexField::sinhc(x)
    }
    macro_rules! check {
        ($($order:literal)*) => {$(
            // The derivative of order n of xⁿ/(n + 1)! is 1/(n + 1).
            let slope = if $order % 2 == 0 { 1.0 / ($order as f64 + 1.0) } else { 0.0 };
            let sign = if $order % 4 == 0 { 1.0 } else { -1.0 };
            let found = [
                nth_derivative(&sinc, &AutoForwardDiff::default(), 0.0, Order::<$order>).unwrap(),
                nth_derivative(&sinc, &AutoReverseDiff::default(), 0.0, Order::<$order>).unwrap(),
                nth_derivative(&sinhc, &AutoForwardDiff::default(), 0.0, Order::<$order>).unwrap(),
                nth_derivative(&sinhc, &AutoReverseDiff::default(), 0.0, Order::<$order>).unwrap(),
            ];
            crate::assert_close(concat!("order ", $order), &found, &[sign * slope, sign * slope, slope, slope], 1e-14);
        )*};
    }
    check!(1 2 3 4 5 6);
    for x in [1e-200_f64, 1e-5, 0.3, -2.0, 7.0] {
        // From the quotients, with the series where they lose digits.
        let (values, slopes) = if x.abs() < 1e-3 {
            ([1.0 - x * x / 6.0, 1.0 + x * x / 6.0], [-x / 3.0, x / 3.0])
        } else {
            let values = [x.sin() / x, x.sinh() / x];
            (values, [(x.cos() - values[0]) / x, (x.cosh() - values[1]) / x])
        };
        for (value, slope) in [
            value_and_derivative(&sinc, &AutoForwardDiff::default(), x).map(|found| (found, [values[0], slopes[0]])),
            value_and_derivative(&sinc, &AutoReverseDiff::compiled(), x).map(|found| (found, [values[0], slopes[0]])),
            value_and_derivative(&sinhc, &AutoForwardDiff::default(), x).map(|found| (found, [values[1], slopes[1]])),
            value_and_derivative(&sinhc, &AutoReverseDiff::compiled(), x).map(|found| (found, [values[1], slopes[1]])),
        ]
        .map(|found| found.unwrap())
        {
            crate::assert_close(&format!("at {x}"), &[value.0, value.1], &slope, 1e-13);
        }
    }
}
