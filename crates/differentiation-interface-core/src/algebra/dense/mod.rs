//! Operations on dense matrices that enter a derivative as one rule each, instead of as n³ operations on numbers; and [`map`], which is one
//! operation for each entry.
//!
//! Called by users inside differentiated functions, on matrices and vectors of `faer` with any of our numbers. Values are computed by
//! `faer` in double precision, derivatives by the closed formulas (Giles, Collected matrix derivative results, 2008). The formulas
//! are written with the same operations, so derivatives of any order take products and solutions with plain matrices too.
//!
//! A rule keeps the factorisation of its matrix: value, tangents and cotangents at one point factor the matrix once. A factor of a
//! product, or the matrix of a system, whose entries carry no derivative is data of the rule, for which no derivatives are computed.
//!
//! # Where there is no result
//! A singular matrix, or for [`solve_spd`] one that is not positive definite, has solutions and inverses that are not finite. The
//! [`determinant`] of a singular matrix is zero; its first and second derivatives are right, those of higher order are NaN where the matrix is singular to
//! rounding, and lose digits with the condition number before. Eigenvalues of a matrix with entries that are not finite are NaN, and vectors of equal eigenvalues have no
//! derivatives; see [`symmetric_eigen`].

pub(super) mod calls;
mod determinant;
mod each;
mod eigen;
mod operand;
pub(super) mod plain;
mod product;
mod quadratic;
pub(super) mod shapes;
pub(super) mod system;
#[cfg(test)]
mod tests;

pub use each::map;
pub use eigen::{symmetric_eigen, symmetric_eigenvalues, symmetric_function};
pub use operand::Operand;

use crate::custom::Custom;
use crate::scalar::Scalar;
use determinant::{Determinant, Inverse};
use faer::Mat;
use quadratic::QuadraticForm;
use shapes::{Product, Structure};
use system::Solve;

/// The product `left` · `right`. The right factor is a matrix or a vector, and so is the result.
///
/// A factor whose entries are all constants costs no derivatives; see also [`matmul_data`].
///
/// # Panics
/// If the inner dimensions differ.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::matmul;
/// use differentiation_interface::prelude::*;
/// use faer::{Mat, mat};
///
/// // The sum of the entries of A² has the derivative Σₖ Aₖᵢ + Aⱼₖ with respect to Aᵢⱼ, summed over rows and columns.
/// let sum = |a: &Mat<_>| {
///     let square = matmul(a, a);
///     square[(0, 0)] + square[(0, 1)] + square[(1, 0)] + square[(1, 1)]
/// };
/// let grad = gradient(&sum, &AutoReverseDiff::default(), &mat![[1.0, 2.0], [3.0, 4.0]])?;
/// assert_eq!(grad, mat![[7.0, 11.0], [9.0, 13.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn matmul<L: Operand, R: Operand<Number = L::Number>>(left: &L, right: &R) -> R::Owned {
    let ((m, k), (rows, n)) = (left.shape(), right.shape());
    assert_eq!(k, rows, "`matmul` of {m} x {k} and {rows} x {n}: the inner dimensions differ");
    // One after the other, as the rule takes them.
    let mut factors = Vec::with_capacity((m + n) * k);
    left.append_entries(&mut factors);
    right.append_entries(&mut factors);
    R::owned(m, n, &product::product_of(Product::of(m, k, n), &factors))
}

/// The product of a plain matrix and a matrix or vector of numbers that may carry derivatives.
///
/// # Panics
/// If the inner dimensions differ.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::matmul_data;
/// use differentiation_interface::prelude::*;
/// use faer::{Col, col, mat};
///
/// // The sum of the residuals of a linear model: the gradient is the sum of the rows of the data.
/// let data = mat![[1.0, 2.0], [1.0, 5.0], [1.0, 7.0]];
/// let sum = |weights: &Col<_>| {
///     let fit = matmul_data(&data, weights);
///     fit[0] + fit[1] + fit[2]
/// };
/// assert_eq!(gradient(&sum, &AutoReverseDiff::default(), &col![0.0, 0.0])?, col![3.0, 14.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn matmul_data<L, R: Operand>(data: &L, right: &R) -> R::Owned
where
    L: Operand<Number = <R::Number as Scalar>::Base>,
{
    let ((m, k), (rows, n)) = (data.shape(), right.shape());
    assert_eq!(k, rows, "`matmul_data` of {m} x {k} and {rows} x {n}: the inner dimensions differ");
    R::owned(m, n, &product::product_with_data(Product::of(m, k, n), data.entries().into(), &right.entries()))
}

/// Solves with one kind of matrix.
fn solved<A: Operand, R: Operand<Number = A::Number>>(name: &str, structure: Structure, a: &A, right: &R) -> R::Owned {
    let (n, (rows, columns)) = (square(name, a), right.shape());
    assert_eq!(n, rows, "`{name}` with a matrix of {n} rows and a right side of {rows}");
    let mut out = vec![A::Number::default(); n * columns];
    system::solve(&Solve::new(n, columns, structure), &a.entries(), &right.entries(), &mut out);
    R::owned(n, columns, &out)
}

/// The number of rows of a square matrix.
fn square<A: Operand>(name: &str, a: &A) -> usize {
    let (n, columns) = a.shape();
    assert_eq!(n, columns, "`{name}` needs a square matrix, this one is {n} x {columns}");
    n
}

/// The solution X of A X = `right`, by an LU factorisation with partial pivoting. `right` is a matrix or a vector.
///
/// # Panics
/// If A is not square, or `right` has the wrong number of rows.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::solve;
/// use differentiation_interface::prelude::*;
/// use faer::{Col, Mat, mat};
///
/// // The first unknown of [[a, b], [c, d]] x = (2, 3) at [[0, 1], [1, 0]]: its derivative with respect to A is -(A⁻ᵀ e₀) xᵀ.
/// fn entry<T: Real>(a: &Mat<T>) -> T {
///     solve(a, &Col::from_fn(2, |i| T::constant([2.0, 3.0][i])))[0]
/// }
/// let grad = gradient(&|a: &Mat<_>| entry(a), &AutoReverseDiff::default(), &mat![[0.0, 1.0], [1.0, 0.0]])?;
/// assert_eq!(grad, mat![[0.0, 0.0], [-3.0, -2.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn solve<A: Operand, R: Operand<Number = A::Number>>(a: &A, right: &R) -> R::Owned {
    solved("solve", Structure::General, a, right)
}

/// The solution X of A X = `right` for the symmetric part (A + Aᵀ)/2 of `a`, by its Cholesky factorisation.
///
/// The result is NaN if the symmetric part is not positive definite.
///
/// # Panics
/// If A is not square, or `right` has the wrong number of rows.
pub fn solve_spd<A: Operand, R: Operand<Number = A::Number>>(a: &A, right: &R) -> R::Owned {
    solved("solve_spd", Structure::Definite, a, right)
}

/// The solution X of L X = `right` for the lower triangle L of `a`, with its diagonal.
///
/// # Panics
/// If `a` is not square, or `right` has the wrong number of rows.
pub fn solve_lower<A: Operand, R: Operand<Number = A::Number>>(a: &A, right: &R) -> R::Owned {
    solved("solve_lower", Structure::Lower, a, right)
}

/// The solution X of U X = `right` for the upper triangle U of `a`, with its diagonal.
///
/// # Panics
/// If `a` is not square, or `right` has the wrong number of rows.
pub fn solve_upper<A: Operand, R: Operand<Number = A::Number>>(a: &A, right: &R) -> R::Owned {
    solved("solve_upper", Structure::Upper, a, right)
}

/// The inverse of `a`, by an LU factorisation. Where A⁻¹ b is wanted, [`solve`] is faster and more accurate.
///
/// # Panics
/// If `a` is not square.
pub fn inverse<A: Operand>(a: &A) -> Mat<A::Number> {
    let n = square("inverse", a);
    let mut out = vec![A::Number::default(); n * n];
    determinant::inverse(&Inverse::new(n, Structure::General), &a.entries(), &mut out);
    operand::matrix(n, n, &out)
}

/// The determinant of `a`. It overflows for matrices of moderate size; [`ln_determinant`] does not.
///
/// The derivative ⟨C, dA⟩ with the matrix of cofactors C = det A · A⁻ᵀ is right also where the determinant is out of range, or A singular, and so is the
/// second derivative. Those of higher order take an inverse of A.
///
/// # Panics
/// If `a` is not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::determinant;
/// use differentiation_interface::prelude::*;
/// use faer::{Mat, mat};
///
/// // The derivative of the determinant is the matrix of cofactors.
/// let grad = gradient(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::default(), &mat![[2.0, 0.0], [0.0, 4.0]])?;
/// assert_eq!(grad, mat![[4.0, 0.0], [0.0, 2.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn determinant<A: Operand>(a: &A) -> A::Number {
    let n = square("determinant", a);
    Custom::new(Determinant::new(n, Structure::General, false)).call(&a.entries())[0]
}

/// The logarithm of the absolute value of the determinant of `a`, and the sign of the determinant: 1, -1, or 0.
///
/// # Panics
/// If `a` is not square.
pub fn ln_determinant<A: Operand>(a: &A) -> (A::Number, A::Number) {
    let n = square("ln_determinant", a);
    let y = Custom::new(Determinant::new(n, Structure::General, true)).call(&a.entries());
    (y[0], y[1])
}

/// The logarithm of the determinant of the symmetric part (A + Aᵀ)/2 of `a`, by its Cholesky factorisation.
///
/// The result is NaN if the symmetric part is not positive definite.
///
/// # Panics
/// If `a` is not square.
pub fn ln_determinant_spd<A: Operand>(a: &A) -> A::Number {
    let n = square("ln_determinant_spd", a);
    Custom::new(Determinant::new(n, Structure::Definite, true)).call(&a.entries())[0]
}

/// The quadratic form xᵀ A x.
///
/// # Panics
/// If `a` is not square, or `x` is not a vector of its size.
pub fn quadratic_form<X: Operand, A: Operand<Number = X::Number>>(x: &X, a: &A) -> X::Number {
    let (n, (rows, columns)) = (square("quadratic_form", a), x.shape());
    assert!(rows == n && columns == 1, "`quadratic_form` of a {rows} x {columns} vector and a {n} x {n} matrix");
    Custom::new(QuadraticForm { n }).call(&[a.entries(), x.entries()].concat())[0]
}
