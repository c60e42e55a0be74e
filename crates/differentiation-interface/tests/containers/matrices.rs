//! Vectors and matrices of `nalgebra`, `ndarray` and `faer` as points, outputs, seeds and results.

use differentiation_interface::container::flat;
use differentiation_interface::prelude::*;
use faer::{Col, ColRef, Mat, MatRef};
use nalgebra::{
    DMatrix, DVector, DVectorView, Matrix2x3, Quaternion, RowDVector, RowVector3, SMatrix, SVector, Vector3,
};
use ndarray::{Array1, Array2, Array3, ArrayD, ArrayView1, ArrayViewMut1, ArrayViewMut2, IxDyn, s};

/// Runs a body with each engine.
/// Σ i · xᵢ² over any numbers.
fn weighted<'a, T: Real + 'a>(x: impl IntoIterator<Item = &'a T>) -> T {
    x.into_iter().enumerate().map(|(i, v)| *v * *v * (i + 1) as f64).sum()
}

#[test]
fn vectors_of_nalgebra() {
    every_engine!(backend => {
        let x = Vector3::new(1.0, 2.0, 3.0);
        let f = |x: &SVector<_, 3>| weighted(x);
        assert_eq!(gradient(&f, &backend, &x).unwrap(), Vector3::new(2.0, 8.0, 18.0));
        let x = DVector::from_vec(vec![1.0, 2.0]);
        let f = |x: &DVector<_>| weighted(x);
        let (y, grad) = value_and_gradient(&f, &backend, &x).unwrap();
        assert_eq!((y, grad), (9.0, DVector::from_vec(vec![2.0, 8.0])));
        let mut grad = DVector::zeros(2);
        gradient_into(&f, &mut grad, &backend, &x).unwrap();
        assert_eq!(grad, DVector::from_vec(vec![2.0, 8.0]));
    });
}

#[test]
fn rows_of_nalgebra() {
    every_engine!(backend => {
        let x = RowDVector::from_vec(vec![1.0, 2.0, 3.0]);
        let f = |x: &RowDVector<_>| weighted(x);
        let expected = RowDVector::from_vec(vec![2.0, 8.0, 18.0]);
        assert_eq!(value_and_gradient(&f, &backend, &x).unwrap(), (36.0, expected.clone()));
        let mut grad = RowDVector::zeros(3);
        gradient_into(&f, &mut grad, &backend, &x).unwrap();
        assert_eq!(grad, expected);
        assert_eq!(hvp(&|x: &RowDVector<_>| weighted(x), &backend, &x, [&x]).unwrap(), [expected]);
        // A row of a matrix, whose numbers are not beside each other.
        let m = Matrix2x3::new(0.0, 0.0, 0.0, 1.0, 2.0, 3.0);
        let f = |x: &RowVector3<_>| weighted(x);
        assert_eq!(gradient(&f, &backend, &m.row(1)).unwrap(), RowVector3::new(2.0, 8.0, 18.0));
    });
}

#[test]
fn matrices_of_nalgebra_are_column_major() {
    every_engine!(backend => {
        let m = Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
        let f = |m: &SMatrix<_, 2, 3>| weighted(m.row(0).iter());
        assert_eq!(gradient(&f, &backend, &m).unwrap(), Matrix2x3::new(2.0, 8.0, 18.0, 0.0, 0.0, 0.0));
        let dynamic = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let times = |m: &DMatrix<_>| m * m.transpose();
        // Entry (0, 1) of M·Mᵀ is m₀ · m₁; outputs and inputs are column by column.
        let jac = jacobian(&times, &backend, &dynamic).unwrap();
        assert_eq!(jac.size(), (4, 6));
        assert_eq!(jac.row(2), [4.0, 1.0, 5.0, 2.0, 6.0, 3.0]);
        let (y, _) = value_and_jacobian(&times, &backend, &dynamic).unwrap();
        assert_eq!(y, DMatrix::from_row_slice(2, 2, &[14.0, 32.0, 32.0, 77.0]));
    });
}

#[test]
fn views_and_quaternions_of_nalgebra() {
    every_engine!(backend => {
        let m = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let f = |m: &DMatrix<_>| weighted(m.row(1).iter());
        let grad = gradient(&f, &backend, &m.view((0, 1), (2, 2))).unwrap();
        assert_eq!(grad, DMatrix::from_row_slice(2, 2, &[0.0, 0.0, 10.0, 24.0]));
        let q = Quaternion::new(1.0, 2.0, 3.0, 4.0);
        let f = |q: &Quaternion<_>| q.coords[3] * q.coords[0];
        assert_eq!(gradient(&f, &backend, &q).unwrap(), Quaternion::new(2.0, 1.0, 0.0, 0.0));
    });
}

/// Tangents, points and buffers may be views and owned vectors by turns.
#[test]
fn views_meet_owned_vectors() {
    let (x, v) = (DVector::from_vec(vec![1.0, 2.0]), DVector::from_vec(vec![1.0, 10.0]));
    let (x_view, v_view): (DVectorView<f64>, DVectorView<f64>) = (x.as_view(), v.as_view());
    every_engine!(backend => {
        let f = |x: &DVector<_>| weighted(x);
        let tangents = |found: Result<(f64, [f64; 1]), Error>| assert_eq!(found.unwrap(), (9.0, [82.0]));
        tangents(value_and_pushforward(&f, &backend, &x, [&v]));
        tangents(value_and_pushforward(&f, &backend, &x_view, [&v]));
        tangents(value_and_pushforward(&f, &backend, &x, [&v_view]));
        tangents(value_and_pushforward(&f, &backend, &x_view, [&v_view]));
        let f = |x: &DVector<_>| weighted(x);
        let [product] = hvp(&f, &backend, &x_view, [&v]).unwrap();
        assert_eq!(product, DVector::from_vec(vec![2.0, 40.0]));
        let f = |x: &DVector<_>| weighted(x);
        let mut prepared = prepare_gradient(&f, &backend, &x_view).unwrap();
        let mut grad = DVector::zeros(2);
        prepared.gradient_into(&mut grad, &x_view).unwrap();
        assert_eq!(grad, DVector::from_vec(vec![2.0, 8.0]));
        let found = prepared.gradient_into(&mut DVector::zeros(3), &x_view).unwrap_err();
        assert_eq!(found.kind(), ErrorKind::BufferLength { expected: 2, found: 3 });
    });
}

#[test]
fn arrays_of_ndarray_are_in_logical_order() {
    every_engine!(backend => {
        let x = Array1::from(vec![1.0, 2.0, 3.0, 4.0]);
        let f = |x: &Array1<_>| weighted(x);
        assert_eq!(gradient(&f, &backend, &x).unwrap(), Array1::from(vec![2.0, 8.0, 18.0, 32.0]));
        // A strided view; the function takes an array.
        let every_second: ArrayView1<f64> = x.slice(s![..;2]);
        assert_eq!(gradient(&f, &backend, &every_second).unwrap(), Array1::from(vec![2.0, 12.0]));
        let m = Array2::from_shape_vec((2, 3), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let f = |m: &Array2<_>| weighted(m.row(0));
        let grad = gradient(&f, &backend, &m).unwrap();
        assert_eq!(grad, Array2::from_shape_vec((2, 3), vec![2.0, 8.0, 18.0, 0.0, 0.0, 0.0]).unwrap());
        let grad = gradient(&f, &backend, &m.t()).unwrap();
        assert_eq!(grad, Array2::from_shape_vec((3, 2), vec![2.0, 16.0, 0.0, 0.0, 0.0, 0.0]).unwrap());
        // A transposed array that owns its numbers is not in standard layout.
        let owned = m.clone().reversed_axes();
        assert_eq!(gradient(&f, &backend, &owned).unwrap(), grad);
        let cube = Array3::from_shape_fn((2, 1, 2), |(i, j, k)| (i + j + k) as f64);
        let f = |c: &Array3<_>| weighted(c);
        assert_eq!(gradient(&f, &backend, &cube).unwrap()[(1, 0, 1)], 16.0);
    });
}

/// Views that are written to are points as they are; the function takes an array.
#[test]
fn mutable_views_of_ndarray() {
    every_engine!(backend => {
        let mut x = Array1::from(vec![1.0, 2.0, 3.0, 4.0]);
        let f = |x: &Array1<_>| weighted(x);
        let mut every_second: ArrayViewMut1<f64> = x.slice_mut(s![..;2]);
        assert_eq!(gradient(&f, &backend, &every_second).unwrap(), Array1::from(vec![2.0, 12.0]));
        let mut prepared = prepare_gradient(&f, &backend, &every_second).unwrap();
        every_second[1] = 5.0;
        assert_eq!(prepared.gradient(&every_second).unwrap(), Array1::from(vec![2.0, 20.0]));
        assert_eq!(x, Array1::from(vec![1.0, 2.0, 5.0, 4.0]));
        let mut m = Array2::from_shape_vec((2, 2), vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let view: ArrayViewMut2<f64> = m.view_mut().reversed_axes();
        let f = |m: &Array2<_>| weighted(m.row(0));
        let expected = Array2::from_shape_vec((2, 2), vec![2.0, 12.0, 0.0, 0.0]).unwrap();
        assert_eq!(gradient(&f, &backend, &view).unwrap(), expected);
    });
}

/// The number of axes is a part of the shape: (2 × 3, 2) and (2, 3 × 2) have the same lengths, and as many numbers.
#[test]
fn arrays_of_any_number_of_axes() {
    type Two<T> = (ArrayD<T>, ArrayD<T>);
    fn sums<T: Real>((a, b): &Two<T>) -> T {
        a.iter().copied().sum::<T>() + b.iter().copied().sum::<T>() * 10.0
    }
    fn split<T: Real>(x: &[T]) -> Two<T> {
        let (a, b): (&[usize], &[usize]) = if x[0] > 0.0 { (&[2, 3], &[2]) } else { (&[2], &[3, 2]) };
        let first: usize = a.iter().product();
        let part = |shape: &[usize], x: &[T]| ArrayD::from_shape_vec(IxDyn(shape), x.to_vec()).unwrap();
        (part(a, &x[..first]), part(b, &x[first..]))
    }
    let ones = |a: &[usize], b: &[usize]| (ArrayD::from_elem(IxDyn(a), 1.0), ArrayD::from_elem(IxDyn(b), 1.0));
    let (p, q) = (ones(&[2, 3], &[2]), ones(&[2], &[3, 2]));
    every_engine!(backend => {
        let f = |x: &Two<_>| sums(x);
        let mut prepared = prepare_gradient(&f, &backend, &p).unwrap();
        for k in 0..120 {
            let (point, value, first) = if k % 3 == 0 { (&q, 62.0, 2) } else { (&p, 26.0, 6) };
            let (y, grad) = prepared.value_and_gradient(point).unwrap();
            assert_eq!((y, grad.0.shape()), (value, point.0.shape()));
            assert_eq!((grad.0.sum(), grad.1.sum()), (first as f64, 10.0 * (8 - first) as f64));
        }
        assert_eq!(prepared.gradient_into(&mut p.clone(), &q).unwrap_err().kind(), ErrorKind::BufferShape);
        let f = |x: &Two<_>| sums(x);
        assert_eq!(pushforward(&f, &backend, &q, [&p]).unwrap_err().kind(), ErrorKind::SeedShape { index: 0 });
        // Outputs.
        let f = |x: &[_]| split(x);
        let mut prepared = prepare_jacobian(&f, &backend, &[1.0; 8]).unwrap();
        for k in 0..120 {
            let x = if k % 3 == 0 { [-1.0; 8] } else { [1.0; 8] };
            let (y, jac) = prepared.value_and_jacobian(&x).unwrap();
            assert_eq!((&y, jac.rows()), (&split(&x), 8));
        }
    });
}

#[test]
fn matrices_of_faer() {
    every_engine!(backend => {
        let m = Mat::from_fn(2, 3, |i, j| (3 * i + j) as f64);
        let f = |m: &Mat<_>| m[(0, 1)] * m[(1, 2)] + m[(1, 0)];
        let grad = gradient(&f, &backend, &m).unwrap();
        assert_eq!(grad, Mat::from_fn(2, 3, |i, j| [[0.0, 5.0, 0.0], [1.0, 0.0, 1.0]][i][j]));
        let grad = gradient(&f, &backend, &m.as_ref()).unwrap();
        assert_eq!(grad[(0, 1)], 5.0);
        let x = Col::from_fn(3, |i| i as f64);
        let f = |x: &Col<_>| x[0] * x[1] + x[2] * x[2];
        assert_eq!(gradient(&f, &backend, &x).unwrap(), Col::from_fn(3, |i| [1.0, 0.0, 4.0][i]));
        // Views, of numbers that lie beside each other and of others: the entries 5, 3, 1 of a matrix.
        assert_eq!(gradient(&f, &backend, &x.as_ref()).unwrap(), Col::from_fn(3, |i| [1.0, 0.0, 4.0][i]));
        let tall = Mat::from_fn(3, 2, |i, j| (2 * i + j) as f64);
        let upwards: ColRef<f64> = tall.as_ref().col(1).reverse_rows();
        assert_eq!(gradient(&f, &backend, &upwards).unwrap(), Col::from_fn(3, |i| [3.0, 5.0, 2.0][i]));
        let turned = MatRef::transpose(m.as_ref());
        let f = |m: &Mat<_>| m[(1, 0)] * m[(2, 1)];
        let grad = gradient(&f, &backend, &turned).unwrap();
        assert_eq!(grad, Mat::from_fn(3, 2, |i, j| [[0.0, 0.0], [5.0, 0.0], [0.0, 1.0]][i][j]));
    });
}

#[test]
fn the_result_has_the_shape_of_the_point_of_the_call() {
    every_engine!(backend => {
        let f = |m: &DMatrix<_>| weighted(m.row(0).iter());
        let wide = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let tall = DMatrix::from_row_slice(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let mut prepared = prepare_gradient(&f, &backend, &wide).unwrap();
        for _ in 0..3 {
            let grad = prepared.gradient(&tall).unwrap();
            assert_eq!(grad, DMatrix::from_row_slice(3, 2, &[2.0, 8.0, 0.0, 0.0, 0.0, 0.0]));
            let grad = prepared.gradient(&wide).unwrap();
            assert_eq!(grad, DMatrix::from_row_slice(2, 3, &[2.0, 8.0, 18.0, 0.0, 0.0, 0.0]));
        }
        // An output whose shape follows that of the point.
        let f = |m: &DMatrix<_>| m.transpose();
        let mut prepared = prepare_pushforward(&f, &backend, &wide, [&wide]).unwrap();
        for _ in 0..3 {
            assert_eq!(prepared.pushforward(&tall, [&tall]).unwrap(), [tall.transpose()]);
            let (y, dy) = prepared.value_and_pushforward(&wide, [&wide]).unwrap();
            assert_eq!((y, dy), (wide.transpose(), [wide.transpose()]));
        }
    });
}

#[test]
fn second_order_and_sparse_at_vectors() {
    #[differentiable]
    fn chain(x: &DVector<f64>) -> f64 {
        let mut sum = 0.0;
        for i in 1..x.len() {
            sum += x[i - 1] * x[i] * x[i];
        }
        sum
    }
    let x = DVector::from_vec(vec![1.0, 2.0, 3.0]);
    let expected = [[0.0, 4.0, 0.0], [4.0, 2.0, 6.0], [0.0, 6.0, 4.0]];
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    assert_eq!(hessian(&Chain, &AutoForwardDiff::default(), &x).unwrap(), expected);
    assert_eq!(hessian(&Chain, &pair, &x).unwrap(), expected);
    assert_eq!(hessian(&Chain, &AutoReverseDiff::compiled(), &x).unwrap(), expected);
    assert_eq!(hessian(&Chain, &AutoSparse::new(pair), &x).unwrap().to_dense(), expected);
    let v = DVector::from_vec(vec![1.0, 0.0, -1.0]);
    assert_eq!(hvp(&Chain, &AutoReverseDiff::default(), &x, [&v]).unwrap(), [DVector::from_vec(vec![0.0, -2.0, -4.0])]);
}

#[test]
fn chunks_of_forward_mode_place_what_has_changed() {
    // 40 inputs are four chunks of forward mode; the Hessian by hyper-duals has chunks of its own.
    let f = |x: &DVector<_>| weighted(x);
    let x = DVector::from_fn(40, |i, _| 1.0 + i as f64);
    let expected = DVector::from_fn(40, |i, _| 2.0 * (i + 1) as f64 * x[i]);
    let mut prepared = prepare_gradient(&f, &AutoForwardDiff::default(), &x).unwrap();
    for _ in 0..2 {
        assert_eq!(prepared.gradient(&x).unwrap(), expected);
    }
    let f = |x: &DVector<_>| weighted(x);
    let differences = gradient(&f, &AutoFiniteDiff::central(), &x).unwrap();
    assert!((differences - &expected).amax() < 1e-5);
    let f = |x: &DVector<_>| weighted(x);
    let hess = hessian(&f, &AutoForwardDiff::default(), &x).unwrap();
    for i in 0..40 {
        for j in 0..40 {
            assert_eq!(hess[(i, j)], if i == j { 2.0 * (i + 1) as f64 } else { 0.0 });
        }
    }
}

#[test]
fn contiguous_containers_are_not_copied() {
    let mut memory = Vec::new();
    let x = DMatrix::from_element(3, 4, 1.0);
    assert_eq!(flat(&x, &mut memory).as_ptr(), x.as_ptr());
    let x = Array2::from_elem((3, 4), 1.0);
    assert_eq!(flat(&x, &mut memory).as_ptr(), x.as_ptr());
    assert_eq!(memory.capacity(), 0);
}

#[test]
fn a_pattern_is_not_used_for_another_shape() {
    #[differentiable]
    fn first_row(m: &DMatrix<f64>) -> f64 {
        let mut sum = 0.0;
        for j in 0..m.ncols() {
            sum += m[(0, j)] * m[(0, j)];
        }
        sum
    }
    #[differentiable]
    fn first_row_squares(m: &DMatrix<f64>) -> Vec<f64> {
        (0..2).map(|j| m[(0, j)] * m[(0, j)]).collect()
    }
    let wide = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let tall = DMatrix::from_row_slice(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut hess = prepare_hessian(&FirstRow, &AutoSparse::new(AutoForwardDiff::default()), &wide).unwrap();
    assert!(matches!(hess.hessian(&tall).unwrap_err().kind(), ErrorKind::PreparedShape));
    assert_eq!(hess.hessian(&wide).unwrap().to_dense()[(2, 2)], 2.0);
    let mut jac = prepare_jacobian(&FirstRowSquares, &AutoSparse::new(AutoForwardDiff::default()), &wide).unwrap();
    assert!(matches!(jac.jacobian(&tall).unwrap_err().kind(), ErrorKind::PreparedShape));
    assert_eq!(jac.jacobian(&wide).unwrap().to_dense()[(1, 2)], 4.0);
    jac.prepare_again(&tall).unwrap();
    assert_eq!(jac.jacobian(&tall).unwrap().to_dense()[(1, 3)], 4.0);
}
