//! Points where `nalgebra` decides by a value, and our rules for them: zero angles, zero entries, equal eigenvalues.

use crate::{assert_close, gradients_are_differences};
use differentiation_interface::algebra::decomposition::{svd, symmetric_eigen};
use differentiation_interface::algebra::rotation::{exp_map, exp_map_matrix, log_map, log_map_matrix};
use differentiation_interface::prelude::*;
use nalgebra::{DMatrix, Matrix3, Matrix3x2, RealField, UnitQuaternion, Vector3, convert};

pub(crate) fn number<T: RealField>(value: f64) -> T {
    convert(value)
}

pub(crate) fn vector<T: RealField>(x: [f64; 3]) -> Vector3<T> {
    Vector3::from(x.map(number))
}

/// A point, and a direction in which its image is measured.
pub(crate) const POINT: [f64; 3] = [0.3, -1.2, 0.8];
pub(crate) const ALONG: [f64; 3] = [0.7, 0.4, -1.9];

fn quaternion_turns<T: Scalar + RealField>(x: &[T]) -> T {
    (exp_map(Vector3::new(x[0], x[1], x[2])) * vector(POINT)).dot(&vector(ALONG))
}
fn matrix_turns<T: Scalar + RealField>(x: &[T]) -> T {
    (exp_map_matrix(Vector3::new(x[0], x[1], x[2])) * vector(POINT)).dot(&vector(ALONG))
}
/// The logarithm of a rotation beside a fixed one.
fn quaternion_error<T: Scalar + RealField>(x: &[T]) -> T {
    let fixed = exp_map(vector([0.5, -0.4, 0.2]));
    log_map(exp_map(Vector3::new(x[0], x[1], x[2])) * fixed).dot(&vector(ALONG))
}
fn matrix_error<T: Scalar + RealField>(x: &[T]) -> T {
    let fixed = exp_map_matrix(vector([0.5, -0.4, 0.2]));
    log_map_matrix(&(exp_map_matrix(Vector3::new(x[0], x[1], x[2])) * fixed)).dot(&vector(ALONG))
}
/// What the book writes instead of `slerp`, between rotations that are equal at zero.
fn interpolated<T: Scalar + RealField>(x: &[T]) -> T {
    let p = exp_map(vector([0.5, -0.4, 0.2]));
    let q = exp_map(Vector3::new(x[0], x[1], x[2])) * p;
    (p * exp_map(log_map(p.inverse() * q) * number::<T>(0.3)) * vector(POINT)).dot(&vector(ALONG))
}
/// The logarithm of the four components, which need not be normalized.
fn logarithm<T: Scalar + RealField>(x: &[T]) -> T {
    let q = nalgebra::Quaternion::new(x[0], x[1], x[2], x[3]);
    log_map(UnitQuaternion::new_unchecked(q)).dot(&vector(ALONG))
}
pub(crate) fn weighted<'a, T: RealField + Copy>(entries: impl IntoIterator<Item = &'a T>) -> T {
    let weight = |i: usize| number::<T>([0.7, -1.3, 0.4, 1.9, -0.6][i % 5] + 0.1 * i as f64);
    entries.into_iter().enumerate().fold(T::zero(), |sum, (i, entry)| sum + *entry * weight(i))
}
/// A block matrix at (0, 0): diag(1, 2, 3) with `x₀` in one place and `x₁` in another.
fn block_eigen<T: Scalar + RealField>(x: &[T]) -> T {
    let (zero, [one, two, three]) = (T::zero(), [1.0, 2.0, 3.0].map(number));
    let eigen = symmetric_eigen(&Matrix3::new(one, x[0], zero, x[0], two, x[1], zero, x[1], three));
    weighted(eigen.eigenvalues.iter()) + weighted(eigen.eigenvectors.iter())
}
fn eigen<T: Scalar + RealField>(x: &[T]) -> T {
    let eigen = symmetric_eigen(&DMatrix::from_column_slice(3, 3, x));
    weighted(eigen.eigenvalues.iter()) + weighted(eigen.eigenvectors.iter())
}
fn tall_svd<T: Scalar + RealField>(x: &[T]) -> T {
    let svd = svd(&Matrix3x2::from_column_slice(x));
    weighted(svd.singular_values.iter()) + weighted(svd.u.unwrap().iter()) + weighted(svd.v_t.unwrap().iter())
}
fn wide_svd<T: Scalar + RealField>(x: &[T]) -> T {
    let svd = svd(&DMatrix::from_column_slice(2, 3, x));
    weighted(svd.singular_values.iter()) + weighted(svd.u.unwrap().iter()) + weighted(svd.v_t.unwrap().iter())
}

mod gradients {
    super::gradients_are_differences! {
        quaternion_turns at [0.0, 0.0, 0.0], 1e-10;
        matrix_turns at [0.0, 0.0, 0.0], 1e-10;
        // The rotation is the inverse of the fixed one: zero angle.
        quaternion_error at [-0.5, 0.4, -0.2], 1e-10;
        matrix_error at [-0.5, 0.4, -0.2], 1e-10;
        interpolated at [0.0, 0.0, 0.0], 1e-10;
        logarithm at [-0.4, 0.3, 0.8, -0.5], 1e-9;
        block_eigen at [0.0, 0.0], 1e-10;
        eigen at [2.0, 0.3, -0.8, 0.5, -1.0, 0.6, 0.0, 0.2, 0.4], 1e-9;
        tall_svd at [1.0, 0.0, 0.4, 0.0, 2.0, 0.3], 1e-9;
        wide_svd at [1.0, 0.0, 0.4, 0.0, 0.3, 2.0], 1e-9;
    }
}

/// Matrices at which the iteration of nalgebra returns wrong factors.
#[test]
fn singular_values_of_low_rank_and_nearly_diagonal_matrices_have_derivatives() {
    fn largest<T: Scalar + RealField>(x: &[T]) -> T {
        svd(&DMatrix::from_column_slice(2, 2, x)).singular_values[0]
    }
    // [[9, 9], [6, 6]] is √234 u vᵀ with u = (9, 6)/√117 and v = (1, 1)/√2, and the derivative is u vᵀ.
    let x: &[f64] = &[9.0, 6.0, 9.0, 6.0];
    let (long, short) = (9.0 / 234f64.sqrt(), 6.0 / 234f64.sqrt());
    for found in [
        value_and_gradient(&largest, &AutoForwardDiff::default(), x),
        value_and_gradient(&largest, &AutoReverseDiff::default(), x),
        value_and_gradient(&largest, &AutoReverseDiff::compiled(), x),
    ] {
        let (value, grad) = found.unwrap();
        assert_close("value", &[value], &[234f64.sqrt()], 1e-14);
        assert_close("rank one", &grad, &[long, short, long, short], 1e-14);
    }
    // The largest singular value of u vᵀ is the length of u times that of v; that of nalgebra is 1.088.
    let (u, v): ([f64; 2], [f64; 5]) = ([-0.3, -0.7], [0.6, -0.6, 0.7, 0.6, 0.6]);
    let a = DMatrix::from_fn(2, 5, |i, j| u[i] * v[j]);
    let right = (0.58 * 1.93f64).sqrt();
    assert!((a.clone().svd(true, true).singular_values[0] - right).abs() > 0.01, "nalgebra has mended its iteration");
    assert_close("two rows", svd(&a).singular_values.as_slice(), &[right, 0.0], 1e-15);
    // u₁₂ v₁₂ of [[2, a], [a, 4]] is 1 - a²/4 to fourth order, with the larger singular value first.
    fn product<T: Scalar + RealField>(x: &[T]) -> T {
        let svd = svd(&DMatrix::from_column_slice(2, 2, &[number(2.0), x[0], x[0], number(4.0)]));
        svd.u.unwrap()[(0, 1)] * svd.v_t.unwrap()[(1, 0)]
    }
    for a in [1e-10, 1e-8, 1e-6] {
        let grad = gradient(&product, &AutoForwardDiff::default(), &[a][..]).unwrap();
        assert_close("nearly diagonal", &[grad[0] / a], &[-0.5], 1e-8);
    }
}

/// Second derivatives against differences of gradients.
macro_rules! hessians_are_differences {
    ($($name:ident: $function:ident at $point:expr;)*) => {$(
        #[test]
        fn $name() {
            let x: &[f64] = &$point;
            let n = x.len();
            let rows: Vec<Vec<f64>> = (0..n).map(|i| {
                let entry = |x: &[f64]| gradient(&$function, &AutoForwardDiff::default(), x).unwrap()[i];
                crate::differences(entry, x)
            }).collect();
            let expected = rows.concat();
            let by_rows = |hessian: Matrix<f64>| (0..n * n).map(|k| hessian[(k / n, k % n)]).collect::<Vec<_>>();
            let nested = hessian(&$function, &SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()), x);
            assert_close("forward over reverse", &by_rows(nested.unwrap()), &expected, 1e-8);
            let compiled = hessian(&$function, &AutoReverseDiff::compiled(), x);
            assert_close("compiled", &by_rows(compiled.unwrap()), &expected, 1e-8);
        }
    )*};
}
hessians_are_differences! {
    the_hessian_of_the_exponential_map_is_right_at_zero_angle: quaternion_turns at [0.0, 0.0, 0.0];
    the_hessian_of_the_logarithm_is_right_at_zero_angle: quaternion_error at [-0.5, 0.4, -0.2];
    the_hessian_of_eigenvectors_is_right_at_zero_entries: block_eigen at [0.0, 0.0];
    the_hessian_of_singular_vectors_is_right_at_zero_entries: tall_svd at [1.0, 0.0, 0.4, 0.0, 2.0, 0.3];
}

/// w·R(v)p has at v = 0 the gradient p × w and the Hessian (w pᵀ + p wᵀ)/2 - w·p I.
#[test]
fn the_exponential_map_has_its_closed_derivatives_at_and_near_zero_angle() {
    let (p, w) = (Vector3::from(POINT), Vector3::from(ALONG));
    for angle in [0.0, 1e-170, 1e-9] {
        let x = [angle, 0.0, -angle];
        let grad = gradient(&quaternion_turns, &AutoForwardDiff::default(), &x[..]).unwrap();
        assert_close("quaternion", &grad, p.cross(&w).as_slice(), 1e-8);
        let grad = gradient(&matrix_turns, &AutoForwardDiff::default(), &x[..]).unwrap();
        assert_close("matrix", &grad, p.cross(&w).as_slice(), 1e-8);
        let hessian =
            hessian(&quaternion_turns, &SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()), &x[..])
                .unwrap();
        let expected = (w * p.transpose() + p * w.transpose()) * 0.5 - Matrix3::identity() * w.dot(&p);
        let found: Vec<f64> = (0..9).map(|k| hessian[(k / 3, k % 3)]).collect();
        assert_close("hessian", &found, expected.as_slice(), 1e-8);
    }
}

/// The map and its inverse, from zero to nearly π, beside `nalgebra`'s own values.
#[test]
fn the_logarithm_inverts_the_exponential_map() {
    for angle in [0.0, 1e-160, 1e-8, 1e-3, 1.0, 2.0, 3.0, 3.13] {
        let v = Vector3::new(0.6, 0.0, -0.8) * angle;
        let (q, r) = (exp_map(v), exp_map_matrix(v));
        assert!((q.coords - UnitQuaternion::from_scaled_axis(v).coords).norm() < 1e-15);
        assert!((r.matrix() - q.to_rotation_matrix().matrix()).norm() < 2e-15);
        for found in [log_map(q), log_map(UnitQuaternion::new_unchecked(-q.into_inner())), log_map_matrix(&r)] {
            assert!((found - v).norm() <= 4e-15 * angle, "{found} for the angle {angle}");
        }
    }
}

/// [[1, x], [x, 2]] has the eigenvalues 3/2 ∓ √(1/4 + x²), and near x = 0 the first eigenvector (1 - x²/2, -x).
#[test]
fn eigenvectors_turn_at_a_zero_entry() {
    let entry = |k: usize| {
        move |x: &[_]| {
            let eigen =
                symmetric_eigen(&DMatrix::from_column_slice(2, 2, &[1.0 + 0.0 * x[0], x[0], x[0], 2.0 + 0.0 * x[0]]));
            [eigen.eigenvalues[0], eigen.eigenvalues[1], eigen.eigenvectors[(0, 0)], eigen.eigenvectors[(1, 0)]][k]
        }
    };
    let second_order = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let found: Vec<[f64; 2]> = (0..4)
        .map(|k| {
            let (_, grad, hess) = value_gradient_and_hessian(&entry(k), &second_order, &[0.0][..]).unwrap();
            [grad[0], hess[(0, 0)]]
        })
        .collect();
    assert_eq!(found, [[0.0, -2.0], [0.0, 2.0], [0.0, -1.0], [-1.0, 0.0]]);
}

/// Forward mode and the tape, each twice by its own numbers.
#[test]
fn engines_that_nest_in_themselves_agree() {
    // The eigenvalues 1, 2, 3 have second derivatives 2/(λᵢ - λⱼ); the weights are those of `weighted`.
    fn values<T: Scalar + RealField>(x: &[T]) -> T {
        let (zero, [one, two, three]) = (T::zero(), [1.0, 2.0, 3.0].map(number));
        let eigen = symmetric_eigen(&Matrix3::new(one, x[0], zero, x[0], two, x[1], zero, x[1], three));
        eigen.eigenvalues.dot(&vector([1.0, 10.0, 100.0]))
    }
    let x: &[f64] = &[0.0, 0.0];
    for found in [hessian(&values, &AutoForwardDiff::default(), x), hessian(&values, &AutoReverseDiff::default(), x)] {
        assert_eq!(found.unwrap(), [[-2.0 + 20.0, 0.0], [0.0, -20.0 + 200.0]]);
    }
}

/// Our rules have no branch that a value decides.
#[test]
fn sparsity_detection_accepts_the_rules() {
    struct Turned;
    impl<T: Scalar + RealField> Function<[T]> for Turned {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            let q = exp_map(Vector3::new(x[0], x[1], x[2]));
            let eigen = symmetric_eigen(&DMatrix::from_column_slice(1, 1, &x[3..]));
            [log_map(q).as_slice(), eigen.eigenvalues.as_slice()].concat()
        }
    }
    let jac = jacobian(&Turned, &AutoSparse::new(AutoForwardDiff::default()), &[0.0; 4][..]).unwrap();
    // Three by three entries, and one.
    assert_eq!(jac.nnz(), 10);
    assert_eq!(
        jac.to_dense(),
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    );
}

#[test]
fn single_precision_has_the_same_derivatives() {
    fn turns<T: Scalar<Base = f32> + RealField>(x: &[T]) -> T {
        quaternion_turns(x)
    }
    let grad = gradient(&turns, &AutoForwardDiff::default(), &[0.0_f32; 3][..]).unwrap();
    let expected = Vector3::from(POINT).cross(&Vector3::from(ALONG));
    assert_close(
        "single precision",
        &grad.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(),
        expected.as_slice(),
        1e-6,
    );
    let values = |x: &[_]| symmetric_eigen(&DMatrix::from_column_slice(2, 2, x)).eigenvalues[0];
    assert_eq!(
        gradient(&values, &AutoReverseDiff::default(), &[1.0_f32, 0.0, 0.0, 2.0][..]),
        Ok(vec![1.0, 0.0, 0.0, 0.0])
    );
}
