//! The rules of inverse, determinant and cofactors.
//!
//! Called by the functions of the same names. All keep the factors of their matrix, and derivatives of the determinant share them.

use super::calls::{all_constant, call, values};
use super::plain::{Factors, Kept, on_doubles};
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

    /// Fills `out` with what `plain` makes of the factors: at once for plain numbers and constants, else by a call of the rule.
    fn compute<S: Scalar, R: CustomRule<S::Base>>(
        &self,
        plain: fn(&Factors) -> &[f64],
        rule: impl FnOnce() -> R,
        a: &[S],
        out: &mut [S],
    ) {
        let Inverse { n, structure, kept } = self;
        let fill = |a: &[&[f64]], out: &mut [f64]| out.copy_from_slice(plain(&kept.factors(*n, *structure, a[0])));
        if on_doubles(&[a], out, fill) {
            return;
        }
        if all_constant(a) {
            let mut constants = vec![S::Base::ZERO; out.len()];
            on_doubles(&[&values(a)], &mut constants, fill);
            return out.iter_mut().zip(constants).for_each(|(out, value)| *out = S::constant(value));
        }
        call(rule(), a, out);
    }

    /// The transposed inverse, by columns.
    fn transposed_inverse<S: Scalar>(&self, a: &[S]) -> Vec<S> {
        let n = self.n;
        let mut inverted = vec![S::default(); n * n];
        inverse(self, a, &mut inverted);
        (0..n * n).map(|at| inverted[at / n + n * (at % n)]).collect()
    }
}

/// Fills `out` with the inverse over any scalar.
pub(super) fn inverse<S: Scalar>(of: &Inverse, a: &[S], out: &mut [S]) {
    of.compute(Factors::inverse, || of.clone(), a, out);
}

/// Fills `out` with the cofactors over any scalar.
fn cofactors<S: Scalar>(of: &Inverse, a: &[S], out: &mut [S]) {
    of.compute(Factors::cofactors, || Cofactors { of: of.clone() }, a, out);
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

/// C, the matrix of cofactors of A: det A · A⁻ᵀ, but finite for singular matrices and where the determinant is out of range.
///
/// With X = A⁻¹: dC = ⟨C, dA⟩ Xᵀ - C dAᵀ Xᵀ, and backwards Ā = ⟨C̄, Xᵀ⟩ C - Xᵀ C̄ᵀ C. The two terms cancel where A is nearly singular. There, with
/// A = U Σ Vᵀ, P = Uᵀ dA V and πᵢⱼ = det U det V Πₖ σₖ over all k but i and j, dC = U Q Vᵀ with Qᵢᵢ = Σⱼ≠ᵢ πᵢⱼ Pⱼⱼ and Qᵢⱼ = -πᵢⱼ Pⱼᵢ. This is
/// the Hessian of the determinant, so it is its own adjoint. It takes a plain A: derivatives of higher order are those of the first formula, and NaN where A is
/// singular to rounding.
struct Cofactors {
    of: Inverse,
}

/// Ratios of pivots below which the terms of the first formula cancel too much: for plain matrices, where they lose four digits of sixteen; for others, where none remain.
const NEARLY_SINGULAR: f64 = 1e-2;
const SINGULAR: f64 = 1e-8;

impl Cofactors {
    /// Fills `out` with the derivative along `d`, or the pullback of it, which is the same, if the matrix is nearly singular. Returns whether it is.
    fn along_nearly_singular<S: Scalar>(&self, a: &[S], d: &[S], out: &mut [S]) -> bool {
        let Inverse { n, structure, kept } = &self.of;
        let n = *n;
        let plain: Vec<f64> = a.iter().map(|v| (S::INTERNALS.peek)(v).as_f64()).collect();
        let factors = kept.factors(n, *structure, &plain);
        let is_plain = all_constant(a);
        // Not `>=`, so that NaN is nearly singular too.
        if factors.pivot_ratio() > if is_plain { NEARLY_SINGULAR } else { SINGULAR } {
            return false;
        }
        let Some(frame) = factors.frame().filter(|_| is_plain) else {
            // In all parts of a number that carries derivatives.
            let sum = a.iter().chain(d).fold(S::default(), |sum, v| sum + *v);
            out.fill(sum.scale(S::Base::from_f64(f64::NAN)));
            return true;
        };
        let constant = |x: &f64| S::constant(S::Base::from_f64(*x));
        let (u, v): (Vec<S>, Vec<S>) = (frame.u.iter().map(constant).collect(), frame.v.iter().map(constant).collect());
        let (mut half, mut p, mut q) =
            (vec![S::default(); n * n], vec![S::default(); n * n], vec![S::default(); n * n]);
        product(Product::of(n, n, n).transposed(true, false), &u, d, &mut half);
        product(Product::of(n, n, n), &half, &v, &mut p);
        for (i, j) in (0..n * n).map(|at| (at % n, at / n)).filter(|(i, j)| i != j) {
            let others = S::Base::from_f64(frame.others(i, j));
            q[i + n * i] += p[j + n * j].scale(others);
            q[i + n * j] = -p[j + n * i].scale(others);
        }
        product(Product::of(n, n, n), &u, &q, &mut half);
        product(Product::of(n, n, n).transposed(false, true), &half, &v, out);
        true
    }

    /// ⟨c, d⟩ e - out, where `out` holds the other term.
    fn finish<S: Scalar>(c: &[S], d: &[S], e: &[S], out: &mut [S]) {
        let mut scale = S::default();
        for (c, d) in c.iter().zip(d) {
            if !d.is_inert_zero() {
                scale += *c * *d;
            }
        }
        out.iter_mut().zip(e).for_each(|(out, e)| *out = scale * *e - *out);
    }
}

impl<B: Base> CustomRule<B> for Cofactors {
    const NAME: &'static str = "cofactors";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.resize(x.len(), B::ZERO);
        cofactors(&self.of, x, y);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        if self.along_nearly_singular(x, dx, dy) {
            return;
        }
        let n = self.of.n;
        let (inverted, mut half) = (self.of.transposed_inverse(x), vec![S::default(); n * n]);
        product(Product::of(n, n, n).transposed(false, true), y, dx, &mut half);
        product(Product::of(n, n, n), &half, &inverted, dy);
        Cofactors::finish(y, dx, &inverted, dy);
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        if self.along_nearly_singular(x, dy, dx) {
            return;
        }
        let n = self.of.n;
        let (inverted, mut half) = (self.of.transposed_inverse(x), vec![S::default(); n * n]);
        product(Product::of(n, n, n).transposed(false, true), &inverted, dy, &mut half);
        product(Product::of(n, n, n), &half, y, dx);
        Cofactors::finish(&inverted, dy, y, dx);
    }
}

/// det M(A), or ln |det M(A)| and the sign of the determinant.
///
/// d det A = ⟨C, dA⟩ with the cofactors C, d ln |det M| = tr(M⁻¹ dM).
pub(super) struct Determinant {
    of: Inverse,
    logarithm: bool,
}

impl Determinant {
    pub(super) fn new(n: usize, structure: Structure, logarithm: bool) -> Self {
        Determinant { of: Inverse::new(n, structure), logarithm }
    }

    /// The derivative of the first output with respect to A, by columns.
    fn slope<S: Scalar>(&self, x: &[S]) -> Vec<S> {
        if self.logarithm {
            let mut slope = self.of.transposed_inverse(x);
            self.of.structure.project(self.of.n, &mut slope);
            return slope;
        }
        let mut slope = vec![S::default(); x.len()];
        cofactors(&self.of, x, &mut slope);
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
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        dy.fill(S::default());
        for (slope, dx) in self.slope(x).into_iter().zip(dx) {
            if !dx.is_inert_zero() {
                dy[0] += slope * *dx;
            }
        }
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        for (dx, slope) in dx.iter_mut().zip(self.slope(x)) {
            *dx = dy[0] * slope;
        }
    }
}
