//! Dense Jacobians and Hessians as matrices of `nalgebra`, `ndarray` and `faer`: views, conversions, and matrices of the user that
//! operators write into.

use differentiation_interface::matrix::MatrixBuffer;
use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use faer::Mat;
use nalgebra::{DMatrix, DVector, Matrix2x3};
use ndarray::{Array2, array, s};

const ROWS: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];

fn numbered() -> Matrix<f64> {
    Matrix::from_rows(2, 3, ROWS.concat())
}

#[test]
fn views_copy_nothing() {
    let mut m = numbered();
    let first: *const f64 = m.as_slice().as_ptr();
    assert_eq!(m.as_nalgebra_transposed(), DMatrix::from_fn(3, 2, |i, j| ROWS[j][i]));
    let product = m.as_nalgebra_transposed().tr_mul(&DVector::from_vec(vec![1.0, 0.0, 1.0]));
    assert_eq!(product, DVector::from_vec(vec![4.0, 10.0]));
    assert_eq!(m.as_nalgebra_transposed().as_ptr(), first);
    assert_eq!(m.as_ndarray(), array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(m.as_ndarray().as_ptr(), first);
    assert_eq!(m.as_faer(), Mat::from_fn(2, 3, |i, j| ROWS[i][j]));
    assert_eq!(m.as_faer().as_ptr(), first);
    m.as_nalgebra_transposed_mut()[(1, 0)] = 20.0;
    m.as_ndarray_mut()[(1, 0)] = 40.0;
    m.as_faer_mut()[(1, 2)] = 60.0;
    assert_eq!(m, [[1.0, 20.0, 3.0], [40.0, 5.0, 60.0]]);
    let array = m.into_ndarray();
    assert_eq!((array.as_ptr(), array[(0, 1)]), (first, 20.0));
    let back = Matrix::from(array);
    assert_eq!((back.as_slice().as_ptr(), back.size()), (first, (2, 3)));
}

#[test]
fn empty_matrices_have_views() {
    for (rows, columns) in [(0, 0), (0, 3), (2, 0)] {
        let mut m = Matrix::filled(rows, columns, 0.0);
        assert_eq!(m.as_nalgebra_transposed().shape(), (columns, rows));
        assert_eq!(m.as_nalgebra_transposed_mut().shape(), (columns, rows));
        assert_eq!((m.as_ndarray().dim(), m.as_faer().shape()), ((rows, columns), (rows, columns)));
        assert_eq!(Matrix::from(&DMatrix::from(m.clone())).size(), (rows, columns));
        assert_eq!(Matrix::from(&Mat::from(m.clone())).size(), (rows, columns));
        assert_eq!(Matrix::from(Array2::from(m)).size(), (rows, columns));
    }
}

#[test]
fn conversions_keep_rows_and_columns() {
    assert_eq!(DMatrix::from(numbered()), DMatrix::from_fn(2, 3, |i, j| ROWS[i][j]));
    assert_eq!(Matrix::from(&Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), numbered());
    assert_eq!(Matrix::from(&DMatrix::from(numbered()).view((0, 1), (2, 2))), [[2.0, 3.0], [5.0, 6.0]]);
    assert_eq!(Array2::from(numbered()), array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(Matrix::from(numbered().into_ndarray().reversed_axes()), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    let part = numbered().into_ndarray().slice_move(s![1.., ..2]);
    assert_eq!(Matrix::from(&*part), [[4.0, 5.0]]);
    assert_eq!(Matrix::from(part), [[4.0, 5.0]]);
    assert_eq!(Mat::from(numbered()), Mat::from_fn(2, 3, |i, j| ROWS[i][j]));
    assert_eq!(Matrix::from(&Mat::from(numbered())), numbered());
}

/// x₀x₁ + x₂, x₀²: the Jacobian at (1, 2, 3) is [2 1 1; 2 0 0].
fn f<T: Real>(x: &[T]) -> [T; 2] {
    [x[0] * x[1] + x[2], x[0] * x[0]]
}

const JAC: [[f64; 3]; 2] = [[2.0, 1.0, 1.0], [2.0, 0.0, 0.0]];

/// Writes the Jacobian into a matrix by each engine, prepared and not, and passes it to `check`.
fn every_way<M: MatrixBuffer<f64>>(jac: &mut M, check: impl Fn(&M)) {
    let x = [1.0, 2.0, 3.0];
    macro_rules! by {
        ($backend:expr) => {{
            let g = |x: &[_]| f(x);
            jacobian_into(&g, jac, &$backend, &x).unwrap();
            check(jac);
            let mut prepared = prepare_jacobian(&g, &$backend, &[0.0; 3]).unwrap();
            prepared.jacobian_into(jac, &[5.0, 6.0, 7.0]).unwrap();
            let before = allocations();
            let y = prepared.value_and_jacobian_into(jac, &x).unwrap();
            assert_eq!(allocations() - before, 0);
            assert_eq!(y, [5.0, 1.0]);
            check(jac);
        }};
    }
    by!(AutoForwardDiff::default());
    by!(AutoReverseDiff::default());
    by!(AutoReverseDiff::compiled());
}

#[test]
fn jacobians_are_written_into_the_users_matrix() {
    every_way(&mut DMatrix::zeros(2, 3), |jac| assert_eq!(*jac, DMatrix::from_fn(2, 3, |i, j| JAC[i][j])));
    every_way(&mut Matrix2x3::zeros(), |jac| assert_eq!(*jac, Matrix2x3::from_fn(|i, j| JAC[i][j])));
    every_way(&mut Array2::zeros((2, 3)), |jac| assert_eq!(*jac, Array2::from_shape_fn((2, 3), |(i, j)| JAC[i][j])));
    every_way(&mut Array2::zeros((3, 2)).reversed_axes(), |jac| {
        assert_eq!(*jac, Array2::from_shape_fn((2, 3), |(i, j)| JAC[i][j]));
    });
    every_way(&mut Mat::zeros(2, 3), |jac| assert_eq!(*jac, Mat::from_fn(2, 3, |i, j| JAC[i][j])));
    // Parts of larger matrices: the rest keeps its entries.
    let mut large = DMatrix::from_element(4, 5, 7.0);
    every_way(&mut large.view_mut((1, 2), (2, 3)), |jac| assert_eq!(*jac, DMatrix::from_fn(2, 3, |i, j| JAC[i][j])));
    assert_eq!((large[(0, 2)], large[(1, 2)], large[(3, 4)]), (7.0, 2.0, 7.0));
    let mut large = Array2::from_elem((4, 5), 7.0);
    every_way(&mut large.slice_mut(s![1..3, 2..]), |jac| assert_eq!(jac[(0, 0)], 2.0));
    assert_eq!((large[(0, 2)], large[(1, 3)], large[(3, 4)]), (7.0, 1.0, 7.0));
    let mut large = Mat::from_fn(4, 5, |_, _| 7.0);
    every_way(&mut large.as_mut().submatrix_mut(1, 2, 2, 3), |jac| assert_eq!(jac[(0, 0)], 2.0));
    assert_eq!((large[(0, 2)], large[(1, 3)], large[(3, 4)]), (7.0, 1.0, 7.0));
}

#[test]
fn entries_of_an_array_in_standard_layout_are_not_copied() {
    let mut jac = Array2::zeros((2, 3));
    let first: *const f64 = jac.as_ptr();
    jacobian_into(&|x: &[_]| f(x), &mut jac, &AutoForwardDiff::default(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((jac.as_ptr(), jac[(0, 0)]), (first, 2.0));
}

#[test]
fn hessians_are_written_into_the_users_matrix() {
    fn cubic<T: Real>(x: &[T]) -> T {
        x[0] * x[0] * x[1]
    }
    let (x, hess) = ([2.0, 5.0], DMatrix::from_row_slice(2, 2, &[10.0, 4.0, 4.0, 0.0]));
    let (mut grad, mut found) = ([0.0; 2], DMatrix::zeros(2, 2));
    let g = |x: &[_]| cubic(x);
    hessian_into(&g, &mut found, &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!(found, hess);
    let y = value_gradient_and_hessian_into(&g, &mut grad, &mut found, &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!((y, grad, found), (20.0, [20.0, 4.0], hess.clone()));
    let mut prepared = prepare_hessian(&g, &AutoForwardDiff::default(), &x).unwrap();
    let mut found = Mat::zeros(2, 2);
    prepared.hessian_into(&mut found, &x).unwrap();
    let before = allocations();
    prepared.value_gradient_and_hessian_into(&mut grad, &mut found, &x).unwrap();
    assert_eq!((allocations() - before, found), (0, Mat::from_fn(2, 2, |i, j| hess[(i, j)])));
}

#[test]
fn a_matrix_of_another_size_is_refused_and_keeps_its_entries() {
    let g = |x: &[_]| f(x);
    let mut prepared = prepare_jacobian(&g, &AutoForwardDiff::default(), &[0.0; 3]).unwrap();
    let mut jac = DMatrix::from_element(3, 3, 7.0);
    let error = prepared.jacobian_into(&mut jac, &[1.0, 2.0, 3.0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BufferSize { expected: (2, 3), found: (3, 3) }), "{error}");
    assert_eq!(jac, DMatrix::from_element(3, 3, 7.0));
    let mut jac = Array2::from_elem((2, 2), 7.0);
    assert!(prepared.jacobian_into(&mut jac, &[1.0, 2.0, 3.0]).is_err());
    assert_eq!(jac, Array2::from_elem((2, 2), 7.0));
}
