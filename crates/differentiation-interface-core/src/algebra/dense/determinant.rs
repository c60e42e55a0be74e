//! The rules of inverse and determinant.
//!
//! Called by the functions of the same names. Both keep the factors of their matrix, and derivatives of the determinant share them.

use super::calls::{all_constant, call, values};
use super::plain::{Kept, on_doubles};
use super::product::product;
use super::shapes::Product;
use super::shapes::Structure;
use crate::custom::{CustomRule, Halves};
use crate::scalar::{Base, Scalar};
use std::sync::Arc;

/// X = M(A)⁻¹, where M is the part of A that `structure` means.
///
/// dX = -X dM X, and backwards M̄ = -Xᵀ X̄ Xᵀ.
#[derive(Clone)]
pub(super) struct Inverse {
    n: usize,
    structure: Structure,
    kept: Arc<Kept>,
}

impl Inverse {
    pub(super) fn new(n: usize, structure: Structure) -> Self {
        Inverse { n, structure, kept: Arc::default() }
    }

    /// Fills `out` with -Y Z Y, or the same with Yᵀ.
    fn sandwich<S: Scalar>(&self, transposed: bool, y: &[S], z: &[S], out: &mut [S]) {
        let n = self.n;
        let mut half = vec![S::default(); n * n];
        product(Product::of(n, n, n).transposed(transposed, false), y, z, &mut half);
        product(Product::of(n, n, n).transposed(false, transposed), &half, y, out);
        out.iter_mut().for_each(|entry| *entry = -*entry);
    }
}

/// Fills `out` with the inverse over any scalar.
pub(super) fn inverse<S: Scalar>(of: &Inverse, a: &[S], out: &mut [S]) {
    let Inverse { n, structure, kept } = of;
    if on_doubles(&[a], out, |a, out| out.copy_from_slice(kept.factors(*n, *structure, a[0]).inverse())) {
        return;
    }
    if all_constant(a) {
        let mut plain = vec![S::Base::ZERO; out.len()];
        inverse(of, &values(a), &mut plain);
        return out.iter_mut().zip(plain).for_each(|(out, value)| *out = S::constant(value));
    }
    call(of.clone(), a, out);
}

impl<B: Base> CustomRule<B> for Inverse {
    const NAME: &'static str = "inverse";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.resize(x.len(), B::ZERO);
        inverse(self, x, y);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let mut part = dx.to_vec();
        self.structure.project(self.n, &mut part);
        self.sandwich(false, y, &part, dy);
    }
    fn pullback<S: Scalar<Base = B>>(&self, _x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        self.sandwich(true, y, dy, dx);
        self.structure.project(self.n, dx);
    }
}

/// det M(A), or ln |det M(A)| and the sign of the determinant.
///
/// d ln |det M| = tr(M⁻¹ dM).
pub(super) struct Determinant {
    of: Inverse,
    logarithm: bool,
}

impl Determinant {
    pub(super) fn new(n: usize, structure: Structure, logarithm: bool) -> Self {
        Determinant { of: Inverse::new(n, structure), logarithm }
    }

    /// The derivative of the first output with respect to A, by columns.
    fn slope<S: Scalar>(&self, x: &[S], y: &[S]) -> Vec<S> {
        let n = self.of.n;
        let mut inverted = vec![S::default(); n * n];
        inverse(&self.of, x, &mut inverted);
        let mut slope: Vec<S> = (0..n * n).map(|at| inverted[at / n + n * (at % n)]).collect();
        if !self.logarithm {
            slope.iter_mut().for_each(|entry| *entry = y[0] * *entry);
        }
        self.of.structure.project(n, &mut slope);
        slope
    }
}

impl<B: Base> CustomRule<B> for Determinant {
    const NAME: &'static str = "determinant";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let Inverse { n, structure, kept } = &self.of;
        y.clear();
        y.resize(if self.logarithm { 2 } else { 1 }, B::ZERO);
        on_doubles(&[x], y, |a, y| {
            let factors = kept.factors(*n, *structure, a[0]);
            match y {
                [ln, sign] => (*ln, *sign) = factors.ln_determinant(),
                _ => y[0] = factors.determinant(),
            }
        });
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        dy.fill(S::default());
        for (slope, dx) in self.slope(x, y).into_iter().zip(dx) {
            if !dx.is_inert_zero() {
                dy[0] += slope * *dx;
            }
        }
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        for (dx, slope) in dx.iter_mut().zip(self.slope(x, y)) {
            *dx = dy[0] * slope;
        }
    }
}
