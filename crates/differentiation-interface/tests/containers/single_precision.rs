//! Points of `f32`: structs, complex numbers, vectors and matrices of other crates. All answers are exact in single precision.

use differentiation_interface::prelude::*;
use faer::{Col, Mat};
use nalgebra::{DMatrix, DVector, Matrix2, Quaternion};
use ndarray::{Array1, Array2, array};
use num_complex::{Complex, Complex32};

#[derive(Clone, Debug, PartialEq, Container)]
struct Pose<T = f64> {
    at: [T; 2],
    angles: Vec<T>,
    #[constant]
    scale: f32,
}

#[test]
fn structs() {
    // s·(x₀² x₁ + a₀ a₁)
    fn energy<T: Real<f32>>(p: &Pose<T>) -> T {
        (p.at[0] * p.at[0] * p.at[1] + p.angles[0] * p.angles[1]) * p.scale
    }
    let pose = Pose { at: [3.0_f32, 0.5], angles: vec![4.0, -2.0], scale: 2.0 };
    let expected = Pose { at: [6.0_f32, 18.0], angles: vec![-4.0, 8.0], scale: 2.0 };
    every_engine!(backend => {
        let f = |p: &Pose<_>| energy(p);
        assert_eq!(value_and_gradient(&f, &backend, &pose).unwrap(), (-7.0, expected.clone()));
        let mut prepared = prepare_gradient(&f, &backend, &pose).unwrap();
        let other = Pose { scale: 1.0, ..pose.clone() };
        for _ in 0..3 {
            assert_eq!(prepared.gradient(&other).unwrap(), Pose { at: [3.0, 9.0], angles: vec![-2.0, 4.0], scale: 1.0 });
            assert_eq!(prepared.gradient(&pose).unwrap(), expected);
        }
        let hess: Matrix<f32> = hessian(&|p: &Pose<_>| energy(p), &backend, &pose).unwrap();
        assert_eq!(hess, [[2.0, 12.0, 0.0, 0.0], [12.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, 0.0]]);
    });
}

#[test]
fn complex_numbers() {
    // With z = 1 + 2i: z² = -3 + 4i.
    let (z, seed) = (Complex32::new(1.0, 2.0), Complex32::new(0.0, 1.0));
    /// The slopes by the parts of 2xy are 2y and 2x.
    fn imaginary<T: Real<f32>>(z: &Complex<T>) -> T {
        (z * z).im
    }
    every_engine!(backend => {
        let f = |z: &Complex<_>| *z * *z * *z;
        let found: Complex32 = derivative(&f, &backend, z).unwrap();
        assert_eq!(found, Complex32::new(-9.0, 12.0));
        let f = |z: &Complex<_>| imaginary(z);
        assert_eq!(gradient(&f, &backend, &z).unwrap(), Complex32::new(4.0, 2.0));
        let f = |z: &Complex<_>| *z * *z;
        assert_eq!(pushforward(&f, &backend, &z, [&seed]).unwrap(), [Complex32::new(-4.0, 2.0)]);
        // The conjugate of 2z times the seed.
        let f = |z: &Complex<_>| *z * *z;
        assert_eq!(pullback(&f, &backend, &z, [&seed]).unwrap(), [Complex32::new(4.0, 2.0)]);
        assert_eq!(second_derivative(&|z: &Complex<_>| *z * *z * *z, &backend, z).unwrap(), z * 6.0);
        let points = vec![z, seed];
        let f = |z: &Vec<Complex<_>>| z[0] * z[1];
        let jac: Matrix<f32> = jacobian(&f, &backend, &points).unwrap();
        assert_eq!(jac, [[0.0, -1.0, 1.0, -2.0], [1.0, 0.0, 2.0, 1.0]]);
    });
}

/// Σ i · xᵢ² over any numbers.
fn weighted<'a, T: Real<f32> + 'a>(x: impl IntoIterator<Item = &'a T>) -> T {
    x.into_iter().enumerate().map(|(i, v)| *v * *v * (i + 1) as f32).sum()
}

#[test]
fn vectors_and_matrices_of_nalgebra() {
    let x = DVector::from_vec(vec![1.0_f32, 2.0]);
    let m = Matrix2::new(1.0_f32, 2.0, 3.0, 4.0);
    let dynamic = DMatrix::from_row_slice(1, 2, &[3.0_f32, -1.0]);
    every_engine!(backend => {
        let f = |x: &DVector<_>| weighted(x);
        assert_eq!(gradient(&f, &backend, &x).unwrap(), DVector::from_vec(vec![2.0, 8.0]));
        assert_eq!(hvp(&|x: &DVector<_>| weighted(x), &backend, &x, [&x]).unwrap(), [DVector::from_vec(vec![2.0, 8.0])]);
        // Column by column: 1, 3, 2, 4.
        let f = |m: &Matrix2<_>| weighted(m);
        assert_eq!(gradient(&f, &backend, &m).unwrap(), Matrix2::new(2.0, 12.0, 12.0, 32.0));
        let f = |m: &DMatrix<_>| m.transpose() * m;
        let jac: Matrix<f32> = jacobian(&f, &backend, &dynamic).unwrap();
        assert_eq!(jac, [[6.0, 0.0], [-1.0, 3.0], [-1.0, 3.0], [0.0, -2.0]]);
        let f = |q: &Quaternion<_>| q.w * q.i;
        let q = Quaternion::new(1.0_f32, 2.0, 3.0, 4.0);
        assert_eq!(gradient(&f, &backend, &q).unwrap(), Quaternion::new(2.0, 1.0, 0.0, 0.0));
    });
}

#[test]
fn arrays_of_ndarray() {
    let x = array![1.0_f32, 2.0, 3.0];
    let m = array![[1.0_f32, 2.0], [3.0, 4.0]];
    every_engine!(backend => {
        let f = |x: &Array1<_>| weighted(x);
        assert_eq!(gradient(&f, &backend, &x).unwrap(), array![2.0, 8.0, 18.0]);
        let f = |m: &Array2<_>| weighted(m);
        assert_eq!(gradient(&f, &backend, &m).unwrap(), array![[2.0, 8.0], [18.0, 32.0]]);
        assert_eq!(gradient(&f, &backend, &m.t()).unwrap(), array![[2.0, 12.0], [12.0, 32.0]]);
    });
}

#[test]
fn matrices_of_faer() {
    let m = Mat::from_fn(2, 2, |i, j| [[1.0_f32, 2.0], [3.0, 4.0]][i][j]);
    let x = Col::from_fn(2, |i| [5.0_f32, -1.0][i]);
    every_engine!(backend => {
        let f = |m: &Mat<_>| m[(0, 1)] * m[(1, 0)] * m[(1, 0)];
        let grad = gradient(&f, &backend, &m).unwrap();
        assert_eq!(grad, Mat::from_fn(2, 2, |i, j| [[0.0, 9.0], [12.0, 0.0]][i][j]));
        let f = |x: &Col<_>| x[0] * x[0] * x[1];
        assert_eq!(gradient(&f, &backend, &x).unwrap(), Col::from_fn(2, |i| [-10.0, 25.0][i]));
    });
}
