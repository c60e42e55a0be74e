//! Matrices of any scalar, by columns, and what else all rules of decompositions need.

use crate::custom::{Custom, CustomRule};
use crate::scalar::{Base, Scalar};

/// A matrix of any scalar by columns, with the arithmetic that the rules need.
pub(in crate::algebra) struct Columns<S> {
    pub(in crate::algebra) rows: usize,
    pub(in crate::algebra) entries: Vec<S>,
}

impl<S: Scalar> Columns<S> {
    /// The matrix of entries `entry(i, j)`.
    pub(in crate::algebra) fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> S) -> Self {
        let entries = (0..rows * columns).map(|at| entry(at % rows, at / rows)).collect();
        Columns { rows, entries }
    }
    /// The matrix with these entries.
    pub(in crate::algebra) fn of(rows: usize, entries: &[S]) -> Self {
        Columns { rows, entries: entries.to_vec() }
    }
    pub(in crate::algebra) fn columns(&self) -> usize {
        self.entries.len() / self.rows
    }
    pub(in crate::algebra) fn at(&self, i: usize, j: usize) -> S {
        self.entries[i + self.rows * j]
    }
    pub(in crate::algebra) fn transposed(&self) -> Self {
        Columns::from_fn(self.columns(), self.rows, |i, j| self.at(j, i))
    }
    /// The symmetric part.
    pub(in crate::algebra) fn symmetric(&self) -> Self {
        let half = S::Base::from_f64(0.5);
        Columns::from_fn(self.rows, self.rows, |i, j| (self.at(i, j) + self.at(j, i)).scale(half))
    }
    /// `self` times `right`, whole columns at a time, for vectors of the processor.
    pub(in crate::algebra) fn times(&self, right: &Self) -> Self {
        let mut entries = vec![S::default(); self.rows * right.columns()];
        for (j, out) in entries.chunks_exact_mut(self.rows).enumerate() {
            for (k, column) in self.entries.chunks_exact(self.rows).enumerate() {
                let factor = right.at(k, j);
                out.iter_mut().zip(column).for_each(|(out, v)| *out += *v * factor);
            }
        }
        Columns { rows: self.rows, entries }
    }
    /// Transposed `self` times `right`.
    pub(in crate::algebra) fn transposed_times(&self, right: &Self) -> Self {
        self.transposed().times(right)
    }
    /// (I - U Uᵀ) times `self`.
    #[cfg(feature = "nalgebra")]
    pub(in crate::algebra) fn without(&self, u: &Self) -> Self {
        let inside = u.times(&u.transposed_times(self));
        Columns::from_fn(self.rows, self.columns(), |i, j| self.at(i, j) - inside.at(i, j))
    }
}

/// The outputs of a decomposition at `x`, for the derivatives of a rule among whose outputs they are, though functions do not take them. Numbers that carry
/// derivatives are decomposed anew, so that no derivative goes through those outputs.
pub(in crate::algebra) fn not_taken<S: Scalar, R: CustomRule<S::Base>>(rule: R, x: &[S], outputs: &[S]) -> Vec<S> {
    if x.iter().all(S::is_constant) { outputs.to_vec() } else { Custom::new(rule).call(x) }
}

/// `x / y`. A dependence that is absent stays so where the divisor is zero: the vectors of equal values were not used.
pub(in crate::algebra) fn quotient<S: Scalar>(x: S, y: S) -> S {
    if x.is_inert_zero() { x } else { x / y }
}

/// The factor ±1 of a vector whose first entry of at least 0.57 times the largest magnitude becomes positive. No vector of common matrices has such a ratio, as that of
/// differences on a grid has one half, where rounding would decide.
pub(in crate::algebra) fn orientation(vector: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = vector.clone().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    vector.into_iter().find(|v| v.abs() >= 0.57 * largest).map_or(1.0, f64::signum)
}

/// The plain entries, if all are finite.
pub(in crate::algebra) fn plain<B: Base>(x: &[B]) -> Option<Vec<f64>> {
    let entries: Vec<f64> = x.iter().map(|v| v.as_f64()).collect();
    entries.iter().all(|v| v.is_finite()).then_some(entries)
}

/// The power of two below the largest magnitude: numbers are divided by it without rounding, so that squares stay in range.
pub(in crate::algebra) fn scale_of(numbers: impl Iterator<Item = f64>) -> f64 {
    let largest = numbers.fold(0.0, |largest: f64, v| largest.max(v.abs()));
    if largest > 0.0 { 2f64.powi(largest.log2().floor().clamp(-1000.0, 1000.0) as i32) } else { 1.0 }
}
