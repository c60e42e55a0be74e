//! Eigenvalues of symmetric matrices and singular values, with vectors, each as one custom rule.
//!
//! Called by users in place of `symmetric_eigen` and `svd` of `nalgebra`. Those iterate on the numbers and leave out work where a value
//! is zero, so that derivatives of vectors are wrong or NaN where an entry is zero. The functions here decompose the plain values and
//! differentiate the equations that define the result (Giles, Collected matrix derivative results, 2008), so that derivatives
//! of any order are right wherever they exist. A derivative costs a few matrix products.
//!
//! # Where derivatives do not exist
//! Vectors of equal eigenvalues (singular values) are a basis that the matrix does not determine. Derivatives through such vectors are
//! not finite. Derivatives of a symmetric function of equal eigenvalues, such as their sum, are right as long as the vectors are not
//! used; those of one of them alone depend on the basis. Second derivatives at equal eigenvalues go through the vectors.
//! Singular values have a kink at zero.

use super::jacobi::{Decomposition, singular_values};
use crate::custom::{Custom, CustomRule, Halves};
use crate::scalar::{Base, Scalar};
use nalgebra::allocator::Allocator;
use nalgebra::{DMatrix, DefaultAllocator, Dim, DimMin, DimMinimum, Matrix, OMatrix, OVector, RawStorage, RealField};
use nalgebra::{SVD, SymmetricEigen};

/// Iterations after which a decomposition counts as failed. Finite matrices need a few for each row.
const MOST_ITERATIONS: usize = 100_000;

/// The eigenvalues and eigenvectors of the symmetric part (A + Aᵀ)/2 of `a`.
///
/// Eigenvalues ascend. In each eigenvector the first entry of at least half the largest magnitude is positive. A matrix with entries
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
    let (size, columns) = a.shape_generic();
    let n = size.value();
    assert_eq!(n, columns.value(), "`symmetric_eigen` needs a square matrix, this one is {n} x {}", columns.value());
    let y = Custom::new(Eigen { n }).call(&entries(a));
    SymmetricEigen {
        eigenvalues: OVector::from_iterator_generic(size, nalgebra::U1, y[..n].iter().copied()),
        eigenvectors: OMatrix::from_iterator_generic(size, size, y[n..].iter().copied()),
    }
}

/// The singular value decomposition A = U Σ Vᵀ with both factors, of which as many columns are computed as there are singular values.
///
/// Singular values descend. In each column of U the first entry of at least half the largest magnitude is positive. A matrix with
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
    let y = Custom::new(SingularValues { m, n, k }).call(&entries(a));
    let (u, rest) = y.split_at(m * k);
    let (values, v) = rest.split_at(k);
    SVD {
        u: Some(OMatrix::from_iterator_generic(rows, count, u.iter().copied())),
        v_t: Some(OMatrix::from_fn_generic(count, columns, |i, j| v[j + n * i])),
        singular_values: OVector::from_iterator_generic(count, nalgebra::U1, values.iter().copied()),
    }
}

/// The entries by columns.
fn entries<T: Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>>(a: &Matrix<T, R, C, S>) -> Vec<T> {
    a.iter().copied().collect()
}

/// A matrix of any scalar by columns, with the arithmetic that the rules need.
struct Columns<S> {
    rows: usize,
    entries: Vec<S>,
}

impl<S: Scalar> Columns<S> {
    /// The matrix of entries `entry(i, j)`.
    fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> S) -> Self {
        let entries = (0..rows * columns).map(|at| entry(at % rows, at / rows)).collect();
        Columns { rows, entries }
    }
    /// The matrix with these entries.
    fn of(rows: usize, entries: &[S]) -> Self {
        Columns { rows, entries: entries.to_vec() }
    }
    fn columns(&self) -> usize {
        self.entries.len() / self.rows
    }
    fn at(&self, i: usize, j: usize) -> S {
        self.entries[i + self.rows * j]
    }
    fn transposed(&self) -> Self {
        Columns::from_fn(self.columns(), self.rows, |i, j| self.at(j, i))
    }
    /// The symmetric part.
    fn symmetric(&self) -> Self {
        let half = S::Base::from_f64(0.5);
        Columns::from_fn(self.rows, self.rows, |i, j| (self.at(i, j) + self.at(j, i)).scale(half))
    }
    /// `self` times `right`.
    fn times(&self, right: &Self) -> Self {
        Columns::from_fn(self.rows, right.columns(), |i, j| {
            (0..right.rows).fold(S::default(), |sum, k| sum + self.at(i, k) * right.at(k, j))
        })
    }
    /// Transposed `self` times `right`.
    fn transposed_times(&self, right: &Self) -> Self {
        Columns::from_fn(self.columns(), right.columns(), |i, j| {
            (0..self.rows).fold(S::default(), |sum, k| sum + self.at(k, i) * right.at(k, j))
        })
    }
    /// (I - U Uᵀ) times `self`.
    fn without(&self, u: &Self) -> Self {
        let inside = u.times(&u.transposed_times(self));
        Columns::from_fn(self.rows, self.columns(), |i, j| self.at(i, j) - inside.at(i, j))
    }
    /// Each column divided by one number. A column of zeros stays one, whatever the number is.
    fn divided(&self, by: &[S]) -> Self {
        Columns::from_fn(self.rows, self.columns(), |i, j| quotient(self.at(i, j), by[j]))
    }
}

/// `x / y`. A dependence that is absent stays so where the divisor is zero: the vectors of equal values were not used.
fn quotient<S: Scalar>(x: S, y: S) -> S {
    if x.is_inert_zero() { x } else { x / y }
}

/// The factor ±1 of a vector whose first entry of at least half the largest magnitude becomes positive.
fn orientation(vector: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = vector.clone().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    vector.into_iter().find(|v| v.abs() >= 0.5 * largest).map_or(1.0, f64::signum)
}

/// The plain matrix, if all entries are finite.
fn plain<B: Base>(rows: usize, columns: usize, x: &[B]) -> Option<DMatrix<f64>> {
    let matrix = DMatrix::from_iterator(rows, columns, x.iter().map(|v| v.as_f64()));
    matrix.iter().all(|v| v.is_finite()).then_some(matrix)
}

/// Eigenvalues, then eigenvectors by columns, of the symmetric part of a matrix by columns.
///
/// With A V = V Λ and P = Vᵀ dA V: dλᵢ = Pᵢᵢ and dV = V Ω, Ωᵢⱼ = Pᵢⱼ / (λⱼ - λᵢ).
struct Eigen {
    n: usize,
}

impl Eigen {
    fn parts<S: Scalar>(&self, y: &[S]) -> (Columns<S>, Columns<S>) {
        let (values, vectors) = y.split_at(self.n);
        (Columns::of(self.n, values), Columns::of(self.n, vectors))
    }
}

impl<B: Base> CustomRule<B> for Eigen {
    const NAME: &'static str = "symmetric_eigen";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let n = self.n;
        y.clear();
        let eigen = plain(n, n, x)
            .map(|a| (&a + a.transpose()) * 0.5)
            .and_then(|a| SymmetricEigen::try_new(a, f64::EPSILON, MOST_ITERATIONS));
        let Some(eigen) = eigen else {
            return y.resize(n + n * n, B::nan());
        };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        y.extend(order.iter().map(|&j| B::from_f64(eigen.eigenvalues[j])));
        for &j in &order {
            let vector = eigen.eigenvectors.column(j);
            let sign = orientation(vector.iter().copied());
            y.extend(vector.iter().map(|v| B::from_f64(sign * v)));
        }
    }

    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let n = self.n;
        let (values, vectors) = self.parts(y);
        let p = vectors.transposed_times(&Columns::of(n, dx).symmetric().times(&vectors));
        let turn = Columns::from_fn(n, n, |i, j| match i == j {
            true => S::default(),
            false => quotient(p.at(i, j), values.at(j, 0) - values.at(i, 0)),
        });
        let (dvalues, dvectors) = dy.split_at_mut(n);
        for (i, dvalue) in dvalues.iter_mut().enumerate() {
            *dvalue = p.at(i, i);
        }
        dvectors.copy_from_slice(&vectors.times(&turn).entries);
    }

    fn pullback<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let n = self.n;
        let (values, vectors) = self.parts(y);
        let (of_values, of_vectors) = self.parts(dy);
        let turn = vectors.transposed_times(&of_vectors);
        let p = Columns::from_fn(n, n, |i, j| match i == j {
            true => of_values.at(i, 0),
            false => quotient(turn.at(i, j), values.at(j, 0) - values.at(i, 0)),
        });
        dx.copy_from_slice(&vectors.times(&p).times(&vectors.transposed()).symmetric().entries);
    }
}

/// The factor U by columns, singular values, the factor V by columns, of an m x n matrix by columns with k singular values.
///
/// With P = Uᵀ dA V: dσᵢ = Pᵢᵢ, dU = U Ω + (I - U Uᵀ) dA V Σ⁻¹ and dV = V Ψ + (I - V Vᵀ) dAᵀ U Σ⁻¹ for antisymmetric Ω and Ψ with
/// P = Ω Σ - Σ Ψ outside the diagonal, that is Ω + Ψ = (P + Pᵀ)ᵢⱼ / (σⱼ - σᵢ) and Ω - Ψ = (P - Pᵀ)ᵢⱼ / (σⱼ + σᵢ).
struct SingularValues {
    m: usize,
    n: usize,
    k: usize,
}

impl SingularValues {
    fn parts<S: Scalar>(&self, y: &[S]) -> (Columns<S>, Vec<S>, Columns<S>) {
        let (u, rest) = y.split_at(self.m * self.k);
        let (values, v) = rest.split_at(self.k);
        (Columns::of(self.m, u), values.to_vec(), Columns::of(self.n, v))
    }
}

impl<B: Base> CustomRule<B> for SingularValues {
    const NAME: &'static str = "svd";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let SingularValues { m, n, k } = *self;
        y.clear();
        let Some(Decomposition { u, values, v }) = plain(m, n, x).and_then(singular_values) else {
            return y.resize((m + n + 1) * k, B::nan());
        };
        let signs: Vec<f64> = u.column_iter().map(|column| orientation(column.iter().copied())).collect();
        let numbers = |factor: &DMatrix<f64>, y: &mut Vec<B>| {
            for (column, sign) in factor.column_iter().zip(&signs) {
                y.extend(column.iter().map(|v| B::from_f64(sign * v)));
            }
        };
        numbers(&u, y);
        y.extend(values.iter().map(|v| B::from_f64(*v)));
        numbers(&v, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let SingularValues { m, n, k } = *self;
        let (u, values, v) = self.parts(y);
        let da = Columns::of(m, dx);
        let (da_v, dat_u) = (da.times(&v), da.transposed_times(&u));
        let p = u.transposed_times(&da_v);
        let half = B::from_f64(0.5);
        let turns = |i: usize, j: usize| {
            let sum = quotient(p.at(i, j) + p.at(j, i), values[j] - values[i]);
            let difference = quotient(p.at(i, j) - p.at(j, i), values[j] + values[i]);
            ((sum + difference).scale(half), (sum - difference).scale(half))
        };
        let turn = |first: bool| {
            Columns::from_fn(k, k, |i, j| match i == j {
                true => S::default(),
                false if first => turns(i, j).0,
                false => turns(i, j).1,
            })
        };
        let side = |factor: &Columns<S>, turn: Columns<S>, outside: &Columns<S>| {
            let mut inside = factor.times(&turn);
            if factor.rows > k {
                let outside = outside.without(factor).divided(&values);
                inside.entries.iter_mut().zip(outside.entries).for_each(|(sum, entry)| *sum += entry);
            }
            inside.entries
        };
        let (du, rest) = dy.split_at_mut(m * k);
        let (dvalues, dv) = rest.split_at_mut(k);
        du.copy_from_slice(&side(&u, turn(true), &da_v));
        dv.copy_from_slice(&side(&v, turn(false), &dat_u));
        debug_assert_eq!(dv.len(), n * k);
        for (i, dvalue) in dvalues.iter_mut().enumerate() {
            *dvalue = p.at(i, i);
        }
    }

    fn pullback<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let SingularValues { m, n, k } = *self;
        let (u, values, v) = self.parts(y);
        let (of_u, of_values, of_v) = self.parts(dy);
        let (turn_u, turn_v) = (u.transposed_times(&of_u), v.transposed_times(&of_v));
        let half = B::from_f64(0.5);
        // The adjoints of Ω + Ψ and Ω - Ψ at (i, j), each divided; both are antisymmetric.
        let parts = |i: usize, j: usize| {
            let (of_omega, of_psi) = (turn_u.at(i, j) - turn_u.at(j, i), turn_v.at(i, j) - turn_v.at(j, i));
            let unused = [&turn_u, &turn_v].iter().all(|t| t.at(i, j).is_inert_zero() && t.at(j, i).is_inert_zero());
            match unused {
                true => (S::default(), S::default()),
                false => (
                    (of_omega + of_psi).scale(half) / (values[j] - values[i]),
                    (of_omega - of_psi).scale(half) / (values[j] + values[i]),
                ),
            }
        };
        let p = Columns::from_fn(k, k, |i, j| match i == j {
            true => of_values[i],
            false => {
                let (sum, difference) = parts(i.min(j), i.max(j));
                if i < j { sum + difference } else { sum - difference }
            }
        });
        let v_t = v.transposed();
        let mut da = u.times(&p).times(&v_t);
        let mut add = |term: Columns<S>| da.entries.iter_mut().zip(term.entries).for_each(|(sum, entry)| *sum += entry);
        if m > k {
            add(of_u.divided(&values).without(&u).times(&v_t));
        }
        if n > k {
            add(u.times(&of_v.divided(&values).without(&v).transposed()));
        }
        dx.copy_from_slice(&da.entries);
    }
}
