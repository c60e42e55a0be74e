//! Dense factorisations and decompositions of `faer` with our numbers.

use crate::gradients_are_differences;
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::traits::RealField;
use faer::{Mat, Par, Side};
use std::sync::Once;

/// One thread: worker threads have no tape.
fn sequential() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| faer::set_global_parallelism(Par::Seq));
}

fn number<T: RealField>(value: f64) -> T {
    T::from_f64_impl(value)
}

fn weighted<T: RealField + Copy>(matrix: &Mat<T>) -> T {
    let mut sum = number(0.0);
    for j in 0..matrix.ncols() {
        for i in 0..matrix.nrows() {
            sum += matrix[(i, j)] * number::<T>([0.7, -1.3, 0.4, 1.9, -0.6][(i + 3 * j) % 5]);
        }
    }
    sum
}

fn matrix<T: RealField + Copy>(x: &[T]) -> Mat<T> {
    sequential();
    Mat::from_fn(3, 3, |i, j| x[3 * i + j] + number::<T>(if i == j { 2.0 } else { 0.0 }))
}

fn definite<T: RealField + Copy>(x: &[T]) -> Mat<T> {
    matrix(x) * matrix(x).transpose()
}

fn right<T: RealField + Copy>(x: &[T]) -> Mat<T> {
    Mat::from_fn(3, 1, |i, _| x[i])
}

fn product<T: RealField + Copy>(x: &[T]) -> T {
    weighted(&(definite(x) * right(x)))
}
fn lu_solve<T: RealField + Copy>(x: &[T]) -> T {
    weighted(&matrix(x).partial_piv_lu().solve(right(x)))
}
fn lu_inverse<T: RealField + Copy>(x: &[T]) -> T {
    weighted(&matrix(x).partial_piv_lu().inverse())
}
fn llt_solve<T: RealField + Copy>(x: &[T]) -> T {
    weighted(&definite(x).llt(Side::Lower).unwrap().solve(right(x)))
}
fn qr_solve<T: RealField + Copy>(x: &[T]) -> T {
    weighted(&matrix(x).qr().solve(right(x)))
}
fn determinant<T: RealField + Copy>(x: &[T]) -> T {
    matrix(x).determinant()
}
fn self_adjoint_eigenvalues<T: RealField + Copy>(x: &[T]) -> T {
    let values = definite(x).self_adjoint_eigenvalues(Side::Lower).unwrap();
    weighted(&Mat::from_fn(3, 1, |i, _| values[i]))
}
fn singular_values<T: RealField + Copy>(x: &[T]) -> T {
    let values = matrix(x).singular_values().unwrap();
    weighted(&Mat::from_fn(3, 1, |i, _| values[i]))
}

const ENTRIES: [f64; 9] = [0.31, -0.72, 0.53, 0.94, 0.65, -0.26, 0.47, 0.38, 1.19];

mod gradients {
    super::gradients_are_differences! {
        product at super::ENTRIES, 1e-9;
        lu_solve at super::ENTRIES, 1e-8;
        lu_inverse at super::ENTRIES, 1e-8;
        llt_solve at super::ENTRIES, 1e-8;
        qr_solve at super::ENTRIES, 1e-8;
        determinant at super::ENTRIES, 1e-9;
        self_adjoint_eigenvalues at super::ENTRIES, 1e-7;
        singular_values at super::ENTRIES, 1e-7;
    }
}
