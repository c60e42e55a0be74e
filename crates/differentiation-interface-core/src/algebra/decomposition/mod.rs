//! Eigenvalues of symmetric matrices and singular values, with vectors, each as one custom rule.
//!
//! Called by users in place of `symmetric_eigen` and `svd` of `nalgebra`. Those iterate on the numbers and leave out work where a value
//! is zero, so that derivatives of vectors are wrong or NaN where an entry is zero. The functions here decompose the plain values and
//! differentiate the equations that define the result (Giles, Collected matrix derivative results, 2008), so that derivatives
//! of any order are right wherever they exist. A derivative costs a few matrix products.
//!
//! # Where derivatives do not exist
//! Vectors of equal eigenvalues (singular values) are a basis that the matrix does not determine. Values that differ by no more than the rounding of the
//! decomposition, a few units in the last place of the largest value of their block, count as equal, and are returned so. Derivatives through such vectors are
//! not finite, and in reverse mode those of a function of [`symmetric_eigen`] or [`svd`] are NaN there whatever the function takes of the result.
//! [`symmetric_eigenvalues`] and [`singular_values`] have no vectors: first derivatives of a symmetric function of equal
//! eigenvalues, such as their sum, are right; those of one of them alone depend on the basis. Second derivatives at equal eigenvalues go through the vectors.
//! [`symmetric_function`] is a function of the matrix (its logarithm, its root), whose first derivatives are right at equal eigenvalues too.
//! Singular values have a kink at zero.

mod jacobi;
mod singular;

use super::symmetric::{Decomposer, Eigen, Eigenvalues, SymmetricFunction};
use crate::custom::Custom;
use crate::rules::Unary;
use crate::scalar::Scalar;
use nalgebra::allocator::Allocator;
use nalgebra::{
    DMatrix, DefaultAllocator, Dim, DimMin, DimMinimum, Matrix, OMatrix, OVector, RawStorage, RealField, SVD,
    SymmetricEigen,
};
use singular::{Factors, SingularValues};

/// Iterations after which a decomposition counts as failed. Finite matrices need a few for each row.
const MOST_ITERATIONS: usize = 100_000;

/// Plain values by `nalgebra`.
struct Nalgebra;

impl Decomposer for Nalgebra {
    fn decompose(n: usize, a: Vec<f64>) -> Option<(Vec<f64>, Vec<f64>)> {
        let eigen = SymmetricEigen::try_new(DMatrix::from_vec(n, n, a), f64::EPSILON, MOST_ITERATIONS)?;
        Some((eigen.eigenvalues.data.into(), eigen.eigenvectors.data.into()))
    }
}

/// The eigenvalues and eigenvectors of the symmetric part (A + Aᵀ)/2 of `a`.
///
/// Eigenvalues ascend. In each eigenvector the first entry of at least 0.57 times the largest magnitude is positive. A matrix with entries
/// that are not finite has a result of NaN.
///
/// # Panics
/// If the matrix is empty or not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::decomposition::symmetric_eigen;
/// use differentiation_interface::prelude::*;
/// use nalgebra::Matrix2;
///
/// // [[1, x], [x, 2]] at x = 0: the eigenvalues 1 and 2 are at a maximum and minimum, the first eigenvector (1, -x) turns.
/// let entries = |x: &[_; 1]| {
///     let zero = x[0] - x[0];
///     let eigen = symmetric_eigen(&Matrix2::new(zero + 1.0, x[0], x[0], zero + 2.0));
///     [eigen.eigenvalues[0], eigen.eigenvectors[(0, 0)], eigen.eigenvectors[(1, 0)]]
/// };
/// assert_eq!(jacobian(&entries, &AutoForwardDiff::default(), [0.0])?, [[0.0], [0.0], [-1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_eigen<T: Scalar + RealField, D: Dim, S: RawStorage<T, D, D>>(
    a: &Matrix<T, D, D, S>,
) -> SymmetricEigen<T, D>
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    let size = a.shape_generic().0;
    let n = order("symmetric_eigen", a);
    let y = Custom::new(Eigen::<Nalgebra>::of(n)).call(&entries(a));
    SymmetricEigen {
        eigenvalues: OVector::from_iterator_generic(size, nalgebra::U1, y[..n].iter().copied()),
        eigenvectors: OMatrix::from_iterator_generic(size, size, y[n..].iter().copied()),
    }
}

/// The eigenvalues of the symmetric part (A + Aᵀ)/2 of `a`, ascending, as [`symmetric_eigen`] computes them.
///
/// First derivatives of symmetric functions of them are right where eigenvalues are equal.
///
/// # Panics
/// If the matrix is empty or not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::decomposition::symmetric_eigenvalues;
/// use differentiation_interface::prelude::*;
/// use nalgebra::Matrix2;
///
/// // The sum of squares of the eigenvalues is that of the entries, here at a multiple of the identity.
/// let squares = |a: &[_; 4]| symmetric_eigenvalues(&Matrix2::from_column_slice(a)).norm_squared();
/// assert_eq!(gradient(&squares, &AutoReverseDiff::default(), [3.0, 0.0, 0.0, 3.0])?, [6.0, 0.0, 0.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_eigenvalues<T: Scalar, D: Dim, S: RawStorage<T, D, D>>(a: &Matrix<T, D, D, S>) -> OVector<T, D>
where
    DefaultAllocator: Allocator<D>,
{
    let n = order("symmetric_eigenvalues", a);
    let y = Custom::new(Eigenvalues::<Nalgebra>::of(n)).call(&entries(a));
    OVector::from_iterator_generic(a.shape_generic().0, nalgebra::U1, y.into_iter().take(n))
}

/// The function f(A) = V f(Λ) Vᵀ of the symmetric part of a matrix, for a function of one number from [`rules`](crate::rules): the logarithm
/// `symmetric_function(Ln, &a)`, the square root with `Sqrt`, the exponential with `Exp`, or a rule of your own.
///
/// dF = V (L ∘ Vᵀ dA V) Vᵀ with the divided differences Lᵢⱼ = (f(λᵢ) - f(λⱼ)) / (λᵢ - λⱼ), which is f′(λᵢ) where the eigenvalues are equal
/// (Daleckii and Krein, 1965). First derivatives are right at equal eigenvalues; second ones go through the vectors and are not finite there.
///
/// # Panics
/// If the matrix is empty or not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::decomposition::symmetric_function;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::rules::Ln;
/// use nalgebra::Matrix2;
///
/// // ln(1 + E) = E + O(E²): the entry (0, 1) depends on both entries beside the diagonal, by their mean.
/// let entry = |a: &[_; 4]| symmetric_function(Ln, &Matrix2::from_column_slice(a))[(0, 1)];
/// assert_eq!(gradient(&entry, &AutoReverseDiff::default(), [1.0, 0.0, 0.0, 1.0])?, [0.0, 0.5, 0.5, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_function<R: Unary, T: Scalar, D: Dim, S: RawStorage<T, D, D>>(
    rule: R,
    a: &Matrix<T, D, D, S>,
) -> OMatrix<T, D, D>
where
    DefaultAllocator: Allocator<D, D>,
{
    let (rows, columns) = a.shape_generic();
    let n = order("symmetric_function", a);
    let y = Custom::new(SymmetricFunction::<_, Nalgebra>::new(rule, n)).call(&entries(a));
    OMatrix::from_iterator_generic(rows, columns, y.into_iter().take(n * n))
}

/// The singular value decomposition A = U Σ Vᵀ with both factors, of which as many columns are computed as there are singular values.
///
/// Singular values descend. In each column of U the first entry of at least 0.57 times the largest magnitude is positive. A matrix with
/// entries that are not finite has a result of NaN.
///
/// # Panics
/// If the matrix is empty.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::decomposition::svd;
/// use differentiation_interface::prelude::*;
/// use nalgebra::Matrix2;
///
/// // The first left singular vector of [[1, x], [0, 2]] is (2x/3, 1) near x = 0.
/// let entry = |x: &[_; 1]| {
///     let zero = x[0] - x[0];
///     svd(&Matrix2::new(zero + 1.0, x[0], zero, zero + 2.0)).u.unwrap()[(0, 0)]
/// };
/// let grad = gradient(&entry, &AutoReverseDiff::default(), [0.0])?;
/// assert!((grad[0] - 2.0_f64 / 3.0).abs() < 1e-15);
/// # Ok::<(), Error>(())
/// ```
pub fn svd<T: Scalar + RealField, R: DimMin<C>, C: Dim, S: RawStorage<T, R, C>>(a: &Matrix<T, R, C, S>) -> SVD<T, R, C>
where
    DefaultAllocator: Allocator<DimMinimum<R, C>, C> + Allocator<R, DimMinimum<R, C>> + Allocator<DimMinimum<R, C>>,
{
    let (rows, columns) = a.shape_generic();
    let count = rows.min(columns);
    let (m, n, k) = (rows.value(), columns.value(), count.value());
    refuse_empty("svd", m, n);
    let y = Custom::new(Factors { m, n, k }).call(&entries(a));
    let (u, rest) = y.split_at(m * k);
    let (values, v) = rest.split_at(k);
    SVD {
        u: Some(OMatrix::from_iterator_generic(rows, count, u.iter().copied())),
        v_t: Some(OMatrix::from_fn_generic(count, columns, |i, j| v[j + n * i])),
        singular_values: OVector::from_iterator_generic(count, nalgebra::U1, values.iter().copied()),
    }
}

/// The singular values, descending, as [`svd`] computes them. An empty matrix has none.
///
/// First derivatives of symmetric functions of them are right where singular values are equal and not zero.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::decomposition::singular_values;
/// use differentiation_interface::prelude::*;
/// use nalgebra::Matrix2;
///
/// // The nuclear norm grows with the diagonal of the identity.
/// let norm = |a: &[_; 4]| singular_values(&Matrix2::from_column_slice(a)).sum();
/// assert_eq!(gradient(&norm, &AutoReverseDiff::default(), [1.0, 0.0, 0.0, 1.0])?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn singular_values<T: Scalar, R: DimMin<C>, C: Dim, S: RawStorage<T, R, C>>(
    a: &Matrix<T, R, C, S>,
) -> OVector<T, DimMinimum<R, C>>
where
    DefaultAllocator: Allocator<DimMinimum<R, C>>,
{
    let (rows, columns) = a.shape_generic();
    let count = rows.min(columns);
    let (m, n, k) = (rows.value(), columns.value(), count.value());
    let y = Custom::new(SingularValues(Factors { m, n, k })).call(&entries(a));
    OVector::from_iterator_generic(count, nalgebra::U1, y.into_iter().skip(m * k).take(k))
}

/// The number of rows of a square matrix that is not empty.
fn order<T, D: Dim, S: RawStorage<T, D, D>>(function: &str, a: &Matrix<T, D, D, S>) -> usize {
    let (rows, columns) = a.shape();
    assert_eq!(rows, columns, "`{function}` needs a square matrix, this one is {rows} x {columns}");
    refuse_empty(function, rows, columns);
    rows
}

/// Panics if a matrix is empty: there are no vectors.
fn refuse_empty(function: &str, rows: usize, columns: usize) {
    assert!(rows > 0 && columns > 0, "`{function}` needs a matrix that is not empty, this one is {rows} x {columns}");
}

/// The entries by columns.
fn entries<T: Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>>(a: &Matrix<T, R, C, S>) -> Vec<T> {
    a.iter().copied().collect()
}
