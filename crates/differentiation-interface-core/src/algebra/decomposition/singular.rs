//! Singular values and vectors of a matrix as one rule.

use super::jacobi::{Decomposition, singular_values};
use crate::algebra::symmetric::are_distinct;
use crate::algebra::symmetric::columns::{Columns, not_taken, orientation, plain, quotient};
use crate::custom::{CustomRule, Halves, identity_of};
use crate::recordings::EngineScalar;
use crate::scalar::{Base, Scalar};
use nalgebra::DMatrix;

/// The factor U by columns, singular values, the factor V by columns, of an m x n matrix by columns with k singular values.
///
/// With P = Uᵀ dA V: dσᵢ = Pᵢᵢ, dU = U Ω + (I - U Uᵀ) dA V Σ⁻¹ and dV = V Ψ + (I - V Vᵀ) dAᵀ U Σ⁻¹ for antisymmetric Ω and Ψ with
/// P = Ω Σ - Σ Ψ outside the diagonal, that is Ω + Ψ = (P + Pᵀ)ᵢⱼ / (σⱼ - σᵢ) and Ω - Ψ = (P - Pᵀ)ᵢⱼ / (σⱼ + σᵢ).
///
/// Where two singular values are equal, or one is zero in a matrix that is not square, this is not finite; see [`Eigen`](crate::algebra::symmetric::Eigen) for what a pullback does there.
#[derive(Clone, Copy, Hash)]
pub(super) struct Factors {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

impl Factors {
    fn parts<S: Scalar>(&self, y: &[S]) -> (Columns<S>, Vec<S>, Columns<S>) {
        let (u, rest) = y.split_at(self.m * self.k);
        let (values, v) = rest.split_at(self.k);
        (Columns::of(self.m, u), values.to_vec(), Columns::of(self.n, v))
    }
}

impl<B: Base> CustomRule<B> for Factors {
    const NAME: &'static str = "svd";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(self)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let Factors { m, n, k } = *self;
        y.clear();
        let Some(Decomposition { u, mut values, v }) =
            plain(x).map(|a| DMatrix::from_vec(m, n, a)).and_then(singular_values)
        else {
            return y.resize((m + n + 1) * k, B::nan());
        };
        // Values that may be equal but for rounding, so that the derivatives of their vectors are no quotients of rounding errors.
        let error = 4.0 * f64::EPSILON * k as f64;
        for at in 1..k {
            if values[at - 1] - values[at] <= error * values[at - 1] {
                values[at] = values[at - 1];
            }
        }
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
        let Factors { m, n, k } = *self;
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
                let outside = divided(&outside.without(factor), &values, quotient);
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
        let Factors { m, n, k } = *self;
        let (u, values, v) = self.parts(y);
        let (of_u, of_values, of_v) = self.parts(dy);
        let (turn_u, turn_v) = (u.transposed_times(&of_u), v.transposed_times(&of_v));
        let half = B::from_f64(0.5);
        // The adjoints of Ω + Ψ and Ω - Ψ at (i, j), each divided; both are antisymmetric.
        let parts = |i: usize, j: usize| {
            let (of_omega, of_psi) = (turn_u.at(i, j) - turn_u.at(j, i), turn_v.at(i, j) - turn_v.at(j, i));
            (
                (of_omega + of_psi).scale(half) / (values[j] - values[i]),
                (of_omega - of_psi).scale(half) / (values[j] + values[i]),
            )
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
            add(divided(&of_u, &values, |x, y| x / y).without(&u).times(&v_t));
        }
        if n > k {
            add(u.times(&divided(&of_v, &values, |x, y| x / y).without(&v).transposed()));
        }
        dx.copy_from_slice(&da.entries);
    }

    fn is_regular<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S]) -> bool {
        let values = &y[self.m * self.k..][..self.k];
        are_distinct(values) && (self.m == self.n || values[self.k - 1].peek() > B::ZERO)
    }
}

/// The singular values as outputs of [`Factors`], whose other outputs functions do not take.
pub(super) struct SingularValues(pub(super) Factors);

impl SingularValues {
    fn factors<S: Scalar>(&self, x: &[S], y: &[S]) -> (Columns<S>, Columns<S>) {
        let (u, _, v) = self.0.parts(&not_taken(self.0, x, y));
        (u, v)
    }
}

impl<B: Base> CustomRule<B> for SingularValues {
    const NAME: &'static str = "singular_values";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.0)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        self.0.value(x, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let Factors { m, k, .. } = self.0;
        let (u, v) = self.factors(x, y);
        let da_v = Columns::of(m, dx).times(&v);
        dy.fill(S::default());
        for (j, of_value) in dy[m * k..][..k].iter_mut().enumerate() {
            *of_value = (0..m).fold(S::default(), |sum, i| sum + u.at(i, j) * da_v.at(i, j));
        }
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let Factors { m, k, .. } = self.0;
        let (u, v) = self.factors(x, y);
        let scaled = Columns::from_fn(m, k, |i, j| u.at(i, j) * dy[m * k + j]);
        dx.copy_from_slice(&scaled.times(&v.transposed()).entries);
    }

    /// Second derivatives are not finite where those of the factors are not.
    fn is_regular<S: Scalar<Base = B>>(&self, x: &[S], y: &[S]) -> bool {
        self.0.is_regular(x, y)
    }
}

/// Each column divided by one number.
fn divided<S: Scalar>(columns: &Columns<S>, by: &[S], quotient: impl Fn(S, S) -> S) -> Columns<S> {
    Columns::from_fn(columns.rows, columns.columns(), |i, j| quotient(columns.at(i, j), by[j]))
}
