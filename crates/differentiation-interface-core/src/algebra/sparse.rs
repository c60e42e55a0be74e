//! Solutions of sparse linear systems with a fixed pattern, as one rule.
//!
//! Called by users inside differentiated functions. `faer` factors plain values by sparse LU; the pattern is analysed once. Derivatives
//! are taken with respect to the entries of the pattern and the right side, and take one more solution with the same factors.

use super::dense::Operand;
use super::dense::calls::{call, is_nothing, leave_out_columns};
use super::dense::plain::on_doubles;
use crate::custom::{CustomRule, Halves, identity_of};
use crate::scalar::{Base, Scalar};
use faer::MatMut;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::solvers::{Lu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat, SymbolicSparseColMatRef};
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex};

/// Linear systems A X = B for all matrices A of one pattern.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::sparse::SparseSystem;
/// use differentiation_interface::prelude::*;
/// use faer::Col;
/// use faer::sparse::{SparseColMat, Triplet};
///
/// // [[a, 0], [b, c]], by columns a, b, c.
/// let entries = [Triplet::new(0, 0, 1.0), Triplet::new(1, 0, 1.0), Triplet::new(1, 1, 1.0)];
/// let pattern = SparseColMat::<usize, f64>::try_new_from_triplets(2, 2, &entries)?;
/// let system = SparseSystem::new(pattern.symbolic())?;
/// // The second unknown for the right side (d, 0) is -b d / (a c).
/// let f = |x: &[_]| system.solve(&x[..3], &Col::from_fn(2, |i| if i == 0 { x[3] } else { x[3] - x[3] }))[1];
/// assert_eq!(gradient(&f, &AutoReverseDiff::default(), &[1.0, 2.0, 4.0, 8.0])?, [4.0, -2.0, 1.0, -0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SparseSystem {
    analysed: Arc<Analysed>,
}

impl Debug for SparseSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SparseSystem({:?})", self.analysed.pattern.shape())
    }
}

/// A pattern and what depends on it alone.
struct Analysed {
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicLu<usize>,
    /// A hash of the pattern.
    identity: Option<u64>,
}

impl SparseSystem {
    /// Analyses the pattern of a square matrix.
    ///
    /// # Errors
    /// The error of `faer` if every matrix of the pattern is singular, or memory is exhausted.
    ///
    /// # Panics
    /// If the pattern is not square, or the row indices of a column do not ascend, which `new_unsorted_checked` of `faer` allows.
    pub fn new(pattern: SymbolicSparseColMatRef<'_, usize>) -> Result<Self, LuError> {
        let (rows, columns) = pattern.shape();
        assert_eq!(rows, columns, "`SparseSystem` needs a square pattern, this one is {rows} x {columns}");
        let ascends = |column| pattern.row_idx_of_col_raw(column).is_sorted_by(|a, b| a < b);
        assert!(
            (0..columns).all(ascends),
            "`SparseSystem` needs ascending row indices in every column; sort the entries"
        );
        let symbolic = SymbolicLu::try_new(pattern)?;
        let pattern = pattern.to_owned().map_err(LuError::Generic)?;
        let identity = identity_of(&(rows, pattern.col_ptr(), pattern.row_idx()));
        Ok(SparseSystem { analysed: Arc::new(Analysed { pattern, symbolic, identity }) })
    }

    /// The solution X of A X = `right`, where `values` are the entries of A in the order of the pattern. `right` is a matrix or a vector.
    ///
    /// The result is not finite if A is singular.
    ///
    /// # Panics
    /// If the number of values is not that of the pattern, or `right` has the wrong number of rows.
    pub fn solve<R: Operand>(&self, values: &[R::Number], right: &R) -> R::Owned {
        let pattern = &self.analysed.pattern;
        let (n, entries, (rows, columns)) = (pattern.nrows(), pattern.row_idx().len(), right.shape());
        assert_eq!(values.len(), entries, "a sparse system with {entries} entries was given {} values", values.len());
        assert_eq!(n, rows, "a sparse system of {n} rows and a right side of {rows}");
        let rule =
            SparseSolve { analysed: Arc::clone(&self.analysed), columns, transposed: false, kept: Arc::default() };
        let mut out = vec![R::Number::default(); n * columns];
        rule.solve(values, &right.entries(), &mut out);
        R::owned(n, columns, &out)
    }
}

/// The last values and their factors; `None` if the values could not be factored.
type Kept = Mutex<Option<(Vec<f64>, Option<Arc<Lu<usize, f64>>>)>>;

/// X of op(A) X = B, where op is the identity or the transpose. The argument of the rule is the entries of A, then B by columns.
///
/// op(A) dX = dB - op(dA) X, and backwards op(A)ᵀ Λ = X̄, B̄ = Λ, and op(A)‾ = -Λ Xᵀ at the entries of the pattern.
#[derive(Clone)]
struct SparseSolve {
    analysed: Arc<Analysed>,
    columns: usize,
    transposed: bool,
    kept: Arc<Kept>,
}

impl SparseSolve {
    fn transposed(&self) -> Self {
        SparseSolve { transposed: !self.transposed, ..self.clone() }
    }

    /// The number of entries.
    fn entries(&self) -> usize {
        self.analysed.pattern.row_idx().len()
    }

    /// Visits the entries: position, row and column of op(A).
    fn each_entry(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let pattern = &self.analysed.pattern;
        for j in 0..pattern.ncols() {
            for at in pattern.col_range(j) {
                let i = pattern.row_idx()[at];
                if self.transposed { visit(at, j, i) } else { visit(at, i, j) }
            }
        }
    }

    /// The factors of plain values. A thread that finds the memory in use by another factors for itself.
    fn factors(&self, values: &[f64]) -> Option<Arc<Lu<usize, f64>>> {
        let held = self.kept.try_lock();
        if let Ok(held) = &held
            && let Some((_, factors)) =
                held.as_ref().filter(|(of, _)| of.iter().map(|v| v.to_bits()).eq(values.iter().map(|v| v.to_bits())))
        {
            return factors.clone();
        }
        let matrix = SparseColMatRef::new(self.analysed.pattern.as_ref(), values);
        // `faer` reports entries that are not finite in some cases only.
        let finite = values.iter().all(|value| value.is_finite());
        let factored = || Lu::try_new_with_symbolic(self.analysed.symbolic.clone(), matrix).ok().map(Arc::new);
        let factors = if finite { factored() } else { None };
        if let Ok(mut held) = held {
            *held = Some((values.to_vec(), factors.clone()));
        }
        factors
    }

    /// Fills `out` with the solution over any scalar.
    fn solve<S: Scalar>(&self, values: &[S], b: &[S], out: &mut [S]) {
        let n = self.analysed.pattern.nrows();
        let plain = on_doubles(&[values, b], out, |arguments, out| {
            if n == 0 {
                return;
            }
            let Some(factors) = self.factors(arguments[0]) else { return out.fill(f64::NAN) };
            out.copy_from_slice(arguments[1]);
            let x = MatMut::from_column_major_slice_mut(out, n, self.columns);
            if self.transposed { factors.solve_transpose_in_place(x) } else { factors.solve_in_place(x) }
        });
        if !plain {
            call(self.clone(), &[values, b].concat(), out);
        }
    }
}

impl<B: Base> CustomRule<B> for SparseSolve {
    const NAME: &'static str = "sparse solve";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&(self.analysed.identity, self.columns, self.transposed))
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let (values, b) = x.split_at(self.entries());
        y.resize(b.len(), B::ZERO);
        self.solve(values, b, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let (entries, n) = (self.entries(), self.analysed.pattern.nrows());
        let (da, db) = dx.split_at(entries);
        let mut right = db.to_vec();
        if !is_nothing(da) {
            for first in (0..self.columns).map(|column| n * column) {
                self.each_entry(|at, i, j| {
                    if !da[at].is_inert_zero() {
                        right[first + i] = right[first + i] - da[at] * y[first + j];
                    }
                });
            }
        }
        self.solve(&x[..entries], &right, dy);
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let (entries, n) = (self.entries(), self.analysed.pattern.nrows());
        let (of_a, of_b) = dx.split_at_mut(entries);
        self.transposed().solve(&x[..entries], dy, of_b);
        leave_out_columns(n, dy, of_b);
        of_a.fill(S::default());
        for first in (0..self.columns).map(|column| n * column) {
            self.each_entry(|at, i, j| {
                if !of_b[first + i].is_inert_zero() {
                    of_a[at] = of_a[at] - of_b[first + i] * y[first + j];
                }
            });
        }
    }
}
