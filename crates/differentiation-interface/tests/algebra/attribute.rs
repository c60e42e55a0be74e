//! `#[differentiable(nalgebra)]`: plain code with vectors, rotations and poses.

use super::{assert_close, differences};
use differentiation_interface::prelude::*;
use nalgebra::{Point3, Vector3};

#[differentiable(nalgebra)]
mod arm {
    use differentiation_interface::algebra::decomposition::symmetric_eigenvalues;
    use differentiation_interface::algebra::rotation::{exp_map, log_map};
    use nalgebra::{
        DMatrix, DVector, Isometry3, Matrix3, Point3, Rotation2, Rotation3, Translation3, Unit, UnitQuaternion,
        Vector2, Vector3,
    };

    const GRAVITY: f64 = 9.81;

    /// A chain of links in space.
    pub(super) struct Arm {
        pub(super) lengths: Vec<f64>,
    }

    impl Arm {
        pub(super) fn tip(&self, angles: &[f64]) -> Vector3<f64> {
            let mut p = Vector3::zeros();
            let mut heading = 0.0;
            for (angle, length) in angles.iter().zip(&self.lengths) {
                heading += angle;
                p += *length * Vector3::new(heading.cos(), heading.sin(), 0.5 * heading);
            }
            p
        }
    }

    /// Half of the squared distance from a goal.
    pub(super) fn reach(angles: &[f64], #[constant] goal: &Vector3<f64>) -> f64 {
        let arm = Arm { lengths: vec![1.0, 0.5, 0.25] };
        let d = arm.tip(angles) - goal;
        0.5 * d.norm_squared() + d.norm().powi(3) * 0.1
    }

    /// Energy of a particle after steps of the explicit Euler method under gravity and drag.
    pub(super) fn flight(x: &[f64]) -> f64 {
        let (mut p, mut v) = (Vector3::new(0.0, 0.0, x[0]), Vector3::new(x[1], x[2], 2.0));
        let g = Vector3::new(0.0, 0.0, -GRAVITY);
        let dt = 0.01;
        for _ in 0..5 {
            let a = g - 0.1 * v.norm() * v;
            p += dt * v + 0.5 * dt * dt * a;
            v += a * dt;
            v *= 0.999;
        }
        p.z * GRAVITY + 0.5 * v.dot(&v) + p.cross(&g).norm() / 2.0
    }

    /// A point turned and moved: rotations, poses and unit vectors.
    pub(super) fn turned(x: &[f64], #[constant] target: &Point3<f64>) -> f64 {
        let axis = Unit::new_normalize(Vector3::new(1.0, x[0], 0.5));
        let r = Rotation3::from_axis_angle(&axis, x[1]);
        let q = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), x[2]);
        let pose = Isometry3::from_parts(Translation3::new(x[0], 0.0, 1.0), q);
        let p = pose.transform_point(&Point3::new(1.0, 2.0, 3.0));
        let back = r.inverse() * p.coords;
        let flat = Rotation2::new(x[1]) * Vector2::new(back.x, back.y);
        (p - target).norm() + flat.normalize().x + 2.0 * back.dot(&Vector3::x())
    }

    /// Results that are written through arguments, and constants as references.
    pub(super) fn written(x: &[f64], #[constant] axis: &Vector3<f64>) -> f64 {
        let v = Vector3::new(x[0], x[1], x[2]);
        let mut product = Vector3::zeros();
        Matrix3::from_diagonal(&v).mul_to(&v, &mut product);
        let mut sum = Vector3::repeat(1.0);
        sum.axpy(2.0, &v, 0.5);
        let mut columns = Matrix3::zeros();
        columns.column_mut(1).copy_from(&sum);
        columns.fixed_view_mut::<1, 3>(2, 0).copy_from(&v.transpose());
        columns[(0, 0)] = x[2];
        columns.norm_squared() + product.dot(axis) + sum.dot(&(0.5 * axis)) + v.component_mul(axis).norm()
    }

    /// An update of a Kalman filter: a gain by an inverse, a step by a linear system, a likelihood by a determinant.
    pub(super) fn filtered(x: &[f64]) -> f64 {
        let mut p = Matrix3::new(2.0, x[0], 0.1, x[0], 3.0, x[1], 0.1, x[1], 4.0);
        let h = Matrix3::from_diagonal(&Vector3::new(1.0, x[2], 0.5));
        let s = h * p * h.transpose() + Matrix3::identity() * 0.2;
        let Some(inverse) = s.try_inverse() else { return 0.0 };
        let gain = p * h.transpose() * inverse;
        p = (Matrix3::identity() - gain * h) * p;
        let step = s.lu().solve(&Vector3::new(1.0, 2.0, x[0])).unwrap();
        let factor = p.cholesky().unwrap();
        s.determinant().ln() + step.norm() + factor.solve(&Vector3::x()).y - p.lu().determinant()
    }

    /// Our own functions of rotations and symmetric matrices, at a rotation that is zero.
    pub(super) fn fitted(x: &[f64], #[constant] seen: &[Vector3<f64>]) -> f64 {
        let start = Vector3::new(x[0] - 0.3, x[1] - 0.7, x[2] + 0.4);
        let q = exp_map(start);
        let errors: Vec<Vector3<f64>> = seen.iter().map(|p| q * p - 0.5 * p).collect();
        let covariance = errors.iter().fold(Matrix3::zeros(), |sum, e| sum + e * e.transpose());
        symmetric_eigenvalues(&covariance).max() + log_map(q).x + errors.iter().sum::<Vector3<f64>>().norm()
    }

    const UP: Vector3<f64> = Vector3::new(0.0, 0.0, 1.0);

    struct Link {
        length: f64,
        direction: Vector3<f64>,
    }

    fn push(place: &mut Vector3<f64>, by: &Vector3<f64>) {
        *place += by;
    }

    fn limited(v: &Vector3<f64>) -> Vector3<f64> {
        let n = v.norm();
        if n < 1e-3 {
            return Vector3::new(0.0, 0.0, 1.0);
        }
        v / n
    }

    /// Constant vectors in every position beside active ones.
    pub(super) fn constants(x: &[f64], #[constant] c: &Vector3<f64>) -> f64 {
        let v = Vector3::new(x[0], x[1], x[2]);
        let mut a = Vector3::new(1.0, 2.0, 3.0);
        a += v;
        a.z += x[0];
        a[1] *= x[1];
        let b = Vector3::new(0.5, -1.0, 2.0);
        let mut filled = Vector3::repeat(1.0);
        push(&mut filled, &v);
        let mid = a + (b - a) * 0.25 + b * x[0] + x[1] * b + (v + b * 2.0) * 0.1;
        let chosen = if x[0] > 0.0 { v } else { Vector3::new(1.0, 2.0, 3.0) };
        let mut list = vec![v, Vector3::new(1.0, 0.0, 0.0), UP];
        list.push(Vector3::new(0.0, 1.0, 0.5));
        let total = list.iter().fold(Vector3::new(0.1, 0.2, 0.3), |sum, p| sum + p);
        let link = Link { length: 0.5, direction: Vector3::new(1.0, 1.0, 0.0) };
        let end = Vector3::new(x[0], link.length, 0.0) + link.direction * x[1];
        let (sin, cos) = 0.3_f64.sin_cos();
        let m = Matrix3::new(cos, -sin, 0.0, sin, x[0], 0.0, 0.0, 0.0, 1.0);
        let mut d = *c;
        d += v;
        let columns = Matrix3::from_columns(&[v, b, a]);
        let mut rising = Vector3::new(0.0, 0.0, -9.81);
        rising.z += x[0];
        let mut typed = Vector3::<f64>::zeros();
        typed[1] = x[1];
        let turned = 2.0 * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), x[2]).into_inner();
        let nearest = list.iter().map(|p| p.dot(&v)).fold(0.0, |sum: f64, d| sum.max(d));
        b.dot(&v)
            + UP.dot(&mid)
            + c.cross(&v).x
            + b.lerp(&v, 0.3).y
            + (v - UP * 9.81).norm()
            + (v + c * 0.1).norm()
            + chosen.sum()
            + total.norm()
            + end.norm_squared()
            + (m * filled).dot(&d)
            + columns.trace()
            + nearest
            + limited(&a).x
            + rising.dot(&typed.cross(&v))
            + (0.5 * Point3::from(v)).y * turned.k
    }

    /// vᵀ A v with a matrix of inputs, one of constants, and dynamic ones.
    pub(super) fn quadratic(x: &[f64]) -> f64 {
        let a = Matrix3::new(2.0, x[0], 0.0, x[0], 3.0, x[1], 0.0, x[1], 4.0);
        let b = Matrix3::identity() * 0.5;
        let v = Vector3::new(x[0], x[1], x[2]);
        let d = DVector::from_iterator(3, x.iter().map(|t| t * t));
        let m = DMatrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { x[i] * x[j] });
        let w = x[2] * &d;
        (v.transpose() * (a + b) * v)[(0, 0)] + (m * w).sum() - d.max() + 3.0 * a.trace()
    }
}

#[test]
fn plain_code_with_vectors_is_differentiated() {
    let x = [0.3, 0.7, -0.4];
    let (goal, target) = (Vector3::new(0.5, 1.0, 0.0), Point3::new(1.0, 0.0, -1.0));
    let seen = [Vector3::new(1.0, 0.5, 0.0), Vector3::new(0.0, 2.0, 1.0), Vector3::new(-1.0, 0.0, 1.0)];
    let expected = [
        differences(|x| arm::reach(x, &goal), &x),
        differences(arm::flight, &x),
        differences(|x| arm::turned(x, &target), &x),
        differences(arm::quadratic, &x),
        differences(|x| arm::written(x, &goal), &x),
        differences(arm::filtered, &x),
        differences(|x| arm::fitted(x, &seen), &x),
        differences(|x| arm::constants(x, &goal), &x),
    ];
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let backend = $backend;
            let found = [
                gradient(&arm::Reach, &backend, (&x, Constant(&goal))).unwrap(),
                gradient(&arm::Flight, &backend, &x).unwrap().into(),
                gradient(&arm::Turned, &backend, (&x, Constant(&target))).unwrap(),
                gradient(&arm::Quadratic, &backend, &x).unwrap().into(),
                gradient(&arm::Written, &backend, (&x, Constant(&goal))).unwrap(),
                gradient(&arm::Filtered, &backend, &x).unwrap().into(),
                gradient(&arm::Fitted, &backend, (&x, Constant(&seen[..]))).unwrap(),
                gradient(&arm::Constants, &backend, (&x, Constant(&goal))).unwrap(),
            ];
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(&format!("{backend:?}"), found, expected, 1e-9);
            }
        })*};
    }
    check!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
}

/// The same bodies without the attribute: the attribute changes what plain numbers compute, too, if it is wrong.
mod plain {
    use nalgebra::{Matrix3, Vector3};

    pub(super) fn written(x: &[f64], axis: &Vector3<f64>) -> f64 {
        let v = Vector3::new(x[0], x[1], x[2]);
        let mut product = Vector3::zeros();
        Matrix3::from_diagonal(&v).mul_to(&v, &mut product);
        let mut sum = Vector3::repeat(1.0);
        sum.axpy(2.0, &v, 0.5);
        let mut columns = Matrix3::zeros();
        columns.column_mut(1).copy_from(&sum);
        columns.fixed_view_mut::<1, 3>(2, 0).copy_from(&v.transpose());
        columns[(0, 0)] = x[2];
        columns.norm_squared() + product.dot(axis) + sum.dot(&(0.5 * axis)) + v.component_mul(axis).norm()
    }

    pub(super) fn small(x: f64) -> f64 {
        let a = Matrix3::from_diagonal_element(x);
        f64::from(a.lu().is_invertible()) + a.lu().determinant()
    }
}

#[differentiable(nalgebra)]
fn small(x: f64) -> f64 {
    let a = nalgebra::Matrix3::from_diagonal_element(x);
    let one = if a.lu().is_invertible() { 1.0 } else { 0.0 };
    one + a.lu().determinant()
}

#[test]
fn values_are_those_of_the_code_without_the_attribute() {
    let (x, axis) = ([0.3, 0.7, -0.4], Vector3::new(0.5, 1.0, 0.0));
    assert_eq!(arm::written(&x, &axis), plain::written(&x, &axis));
    // Singular for the formulas of small matrices, which underflow, and not for the decomposition.
    for at in [2.0, 1e-120] {
        assert_eq!(small(at), plain::small(at));
        assert_eq!(value_and_derivative(&Small, &AutoForwardDiff::default(), at).unwrap().0, plain::small(at));
    }
}

#[differentiable(nalgebra)]
mod in_place {
    use nalgebra::{DMatrix, DVector, Matrix2, Matrix2x3, Vector2};

    fn matrix(x: &[f64]) -> Matrix2<f64> {
        Matrix2::new(x[0], x[1], 0.0, x[2])
    }
    /// The first component of the solution of [[x₀, x₁], [0, x₂]] y = (1, 1): (1 - x₁/x₂)/x₀; and -1 if there is none.
    pub(super) fn fixed(x: &[f64]) -> f64 {
        let mut b = Vector2::new(1.0, 1.0);
        if !matrix(x).lu().solve_mut(&mut b) {
            return -1.0;
        }
        b.x
    }
    pub(super) fn dynamic(x: &[f64]) -> f64 {
        let a = DMatrix::from_row_slice(2, 2, &[x[0], x[1], 0.0, x[2]]);
        let mut b = DVector::from_element(2, 1.0);
        let is_solved = a.lu().solve_mut(&mut b);
        if is_solved { b[0] } else { -1.0 }
    }
    /// Several right sides, one of which is active: the inverse is [[1/x₀, -x₁/(x₀x₂)], [0, 1/x₂]].
    pub(super) fn several(x: &[f64]) -> f64 {
        let mut b = Matrix2x3::new(1.0, 0.0, x[0], 0.0, 1.0, x[2]);
        matrix(x).lu().solve_mut(&mut b);
        // -x₁/(x₀x₂) + 2 (1 - x₁/x₀)
        b[(0, 1)] + 2.0 * b[(0, 2)]
    }
}

#[test]
fn systems_are_solved_in_place() {
    let (x, singular) = ([2.0, 1.0, 4.0], [0.0, 1.0, 4.0]);
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let backend = $backend;
            let solution = (0.375, vec![-0.1875, -0.125, 0.03125]);
            assert_eq!(value_and_gradient(&in_place::Fixed, &backend, &x).unwrap(), solution);
            assert_eq!(value_and_gradient(&in_place::Dynamic, &backend, &x).unwrap(), solution);
            assert_eq!(value_and_gradient(&in_place::Fixed, &backend, &singular).unwrap(), (-1.0, vec![0.0; 3]));
            assert_eq!(value_and_gradient(&in_place::Dynamic, &backend, &singular).unwrap(), (-1.0, vec![0.0; 3]));
            let (value, slopes) = (-0.125 + 1.0, vec![0.0625 + 0.5, -0.125 - 1.0, 0.03125]);
            assert_eq!(value_and_gradient(&in_place::Several, &backend, &x).unwrap(), (value, slopes));
        })*};
    }
    check!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    assert_eq!((in_place::fixed(&x), in_place::dynamic(&x), in_place::fixed(&singular)), (0.375, 0.375, -1.0));
}
