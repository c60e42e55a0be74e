//! Eigenvalues and eigenvectors of a symmetric matrix as one rule.

use super::blocks::{Decomposer, eigenpairs};
use super::columns::{Columns, not_taken, orientation, plain, quotient};
use crate::custom::{CustomRule, Halves, identity_of};
use crate::recordings::EngineScalar;
use crate::scalar::{Base, Scalar};
use std::marker::PhantomData;

/// Eigenvalues, then eigenvectors by columns, of the symmetric part of a matrix by columns.
///
/// With A V = V Λ and P = Vᵀ dA V: dλᵢ = Pᵢᵢ and dV = V Ω, Ωᵢⱼ = Pᵢⱼ / (λⱼ - λᵢ).
///
/// Where two eigenvalues are equal, Ω is not finite. A pullback cannot tell vectors that are not used from vectors whose cotangents are zero there, as those of
/// V f(Λ) Vᵀ are where f is, though the derivative is not. So it is NaN; [`Eigenvalues`] is the rule for the values alone.
pub(in crate::algebra) struct Eigen<D> {
    n: usize,
    decomposer: PhantomData<D>,
}

impl<D: Decomposer> Eigen<D> {
    /// For matrices of `n` rows.
    pub(in crate::algebra) fn of(n: usize) -> Self {
        Eigen { n, decomposer: PhantomData }
    }

    /// Eigenvalues and eigenvectors among the outputs.
    pub(in crate::algebra) fn parts<S: Scalar>(&self, y: &[S]) -> (Columns<S>, Columns<S>) {
        let (values, vectors) = y.split_at(self.n);
        (Columns::of(self.n, values), Columns::of(self.n, vectors))
    }
}

impl<B: Base, D: Decomposer> CustomRule<B> for Eigen<D> {
    const NAME: &'static str = "symmetric_eigen";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.n)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let n = self.n;
        y.clear();
        // Neither overflows nor rounds what is symmetric already.
        let symmetric = |a: Vec<f64>| (0..n * n).map(|at| a[at].midpoint(a[at / n + n * (at % n)])).collect::<Vec<_>>();
        let Some(pairs) = plain(x).and_then(|a| eigenpairs::<D>(n, &symmetric(a))) else {
            return y.resize(n + n * n, B::nan());
        };
        y.extend(pairs.iter().map(|pair| B::from_f64(pair.value)));
        for pair in &pairs {
            let sign = orientation(pair.vector.iter().copied());
            y.extend(pair.vector.iter().map(|v| B::from_f64(sign * v)));
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
            false => turn.at(i, j) / (values.at(j, 0) - values.at(i, 0)),
        });
        dx.copy_from_slice(&vectors.times(&p).times(&vectors.transposed()).symmetric().entries);
    }

    fn is_regular<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S]) -> bool {
        are_distinct(&y[..self.n])
    }
}

/// Whether no two neighbours are equal. Recorded numbers are looked at without a guard, since their zeros are absent ones, which are left out at any point.
pub(in crate::algebra) fn are_distinct<S: Scalar>(values: &[S]) -> bool {
    values.windows(2).all(|pair| pair[0].peek() != pair[1].peek())
}

/// Eigenvalues, then eigenvectors that functions do not take.
pub(in crate::algebra) struct Eigenvalues<D>(Eigen<D>);

impl<D: Decomposer> Eigenvalues<D> {
    /// For matrices of `n` rows.
    pub(in crate::algebra) fn of(n: usize) -> Self {
        Eigenvalues(Eigen::of(n))
    }

    /// The eigenvectors at `x`, for derivatives.
    fn vectors<S: Scalar>(&self, x: &[S], y: &[S]) -> Columns<S> {
        self.0.parts(&not_taken(Eigen::<D>::of(self.0.n), x, y)).1
    }
}

impl<B: Base, D: Decomposer> CustomRule<B> for Eigenvalues<D> {
    const NAME: &'static str = "symmetric_eigenvalues";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.0.n)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        self.0.value(x, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let n = self.0.n;
        let vectors = self.vectors(x, y);
        let p = Columns::of(n, dx).symmetric().times(&vectors);
        let (of_values, of_vectors) = dy.split_at_mut(n);
        for (i, of_value) in of_values.iter_mut().enumerate() {
            *of_value = (0..n).fold(S::default(), |sum, k| sum + vectors.at(k, i) * p.at(k, i));
        }
        of_vectors.fill(S::default());
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let n = self.0.n;
        let vectors = self.vectors(x, y);
        let scaled = Columns::from_fn(n, n, |i, j| vectors.at(i, j) * dy[j]);
        dx.copy_from_slice(&scaled.times(&vectors.transposed()).symmetric().entries);
    }

    /// Second derivatives of equal eigenvalues are not finite.
    fn is_regular<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S]) -> bool {
        are_distinct(&y[..self.0.n])
    }
}
