//! Eigenvalues, eigenvectors and functions of symmetric matrices, with the rules that matrices of `nalgebra` have too.

use super::operand::matrix;
use super::plain::symmetric_eigen as decompose;
use super::{Operand, square};
use crate::algebra::symmetric::{Decomposer, Eigen, Eigenvalues, SymmetricFunction};
use crate::custom::Custom;
use crate::rules::Unary;
use faer::{Col, Mat};

/// Plain values by `faer`.
struct Faer;

impl Decomposer for Faer {
    fn decompose(n: usize, a: Vec<f64>) -> Option<(Vec<f64>, Vec<f64>)> {
        decompose(n, &a)
    }
}

/// The eigenvalues, and the eigenvectors as columns, of the symmetric part (A + Aᵀ)/2 of `a`.
///
/// Eigenvalues ascend. In each eigenvector the first entry of at least 0.57 times the largest magnitude is positive. A matrix with entries that are not
/// finite has a result of NaN. With A V = V Λ and P = Vᵀ dA V: dλᵢ = Pᵢᵢ and dV = V Ω, Ωᵢⱼ = Pᵢⱼ / (λⱼ - λᵢ), at matrices with zeros too, where the methods
/// of `faer` lose derivatives. Vectors of equal eigenvalues have none: in reverse mode derivatives are NaN there, whatever the function takes of the result;
/// see [`symmetric_eigenvalues`].
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::symmetric_eigen;
/// use differentiation_interface::prelude::*;
/// use faer::{Mat, mat};
///
/// // [[1, x], [x, 2]] at x = 0: the eigenvalue 1 is at a maximum, and its eigenvector (1, -x) turns. Both entries x count by half.
/// let entries = |a: &Mat<_>| {
///     let (values, vectors) = symmetric_eigen(a);
///     [values[0], vectors[(0, 0)], vectors[(1, 0)]]
/// };
/// let jac = jacobian(&entries, &AutoForwardDiff::default(), &mat![[1.0, 0.0], [0.0, 2.0]])?;
/// assert_eq!(jac, [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, -0.5, -0.5, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_eigen<A: Operand>(a: &A) -> (Col<A::Number>, Mat<A::Number>) {
    let n = square("symmetric_eigen", a);
    let y = if n > 0 { Custom::new(Eigen::<Faer>::of(n)).call(&a.entries()) } else { Vec::new() };
    (Col::from_fn(n, |i| y[i]), matrix(n, n, &y[n..]))
}

/// The eigenvalues of the symmetric part (A + Aᵀ)/2 of `a`, ascending, as [`symmetric_eigen`] computes them.
///
/// First derivatives of symmetric functions of them, such as their sum, are right where eigenvalues are equal; those of one of them alone depend
/// on the basis there. Second derivatives at equal eigenvalues go through the vectors and are not finite.
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::symmetric_eigenvalues;
/// use differentiation_interface::prelude::*;
/// use faer::{Mat, mat};
///
/// // The sum of squares of the eigenvalues is that of the entries, here at a multiple of the identity.
/// let squares = |a: &Mat<_>| {
///     let values = symmetric_eigenvalues(a);
///     values[0] * values[0] + values[1] * values[1]
/// };
/// let grad = gradient(&squares, &AutoReverseDiff::default(), &mat![[3.0, 0.0], [0.0, 3.0]])?;
/// assert_eq!(grad, mat![[6.0, 0.0], [0.0, 6.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_eigenvalues<A: Operand>(a: &A) -> Col<A::Number> {
    let n = square("symmetric_eigenvalues", a);
    let y = if n > 0 { Custom::new(Eigenvalues::<Faer>::of(n)).call(&a.entries()) } else { Vec::new() };
    Col::from_fn(n, |i| y[i])
}

/// The function f(A) = V f(Λ) Vᵀ of the symmetric part of a matrix, for a function of one number from [`rules`](crate::rules): the logarithm
/// `symmetric_function(Ln, &a)`, the square root with `Sqrt`, the exponential with `Exp`, or a rule of your own.
///
/// dF = V (L ∘ Vᵀ dA V) Vᵀ with the divided differences Lᵢⱼ = (f(λᵢ) - f(λⱼ)) / (λᵢ - λⱼ), which is f′(λᵢ) where the eigenvalues are equal
/// (Daleckii and Krein, 1965). First derivatives are right at equal eigenvalues; second ones go through the vectors and are not finite there.
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::symmetric_function;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::rules::Ln;
/// use faer::{Mat, mat};
///
/// // ln(1 + E) = E + O(E²): the entry (0, 1) depends on both entries beside the diagonal, by their mean.
/// let entry = |a: &Mat<_>| symmetric_function(Ln, a)[(0, 1)];
/// let grad = gradient(&entry, &AutoReverseDiff::default(), &mat![[1.0, 0.0], [0.0, 1.0]])?;
/// assert_eq!(grad, mat![[0.0, 0.5], [0.5, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn symmetric_function<R: Unary, A: Operand>(rule: R, a: &A) -> Mat<A::Number> {
    let n = square("symmetric_function", a);
    let y = if n > 0 { Custom::new(SymmetricFunction::<_, Faer>::new(rule, n)).call(&a.entries()) } else { Vec::new() };
    matrix(n, n, &y)
}
