//! The rules of inverse, determinant and cofactors.
//!
//! Called by the functions of the same names. All keep the factors of their matrix, and derivatives of the determinant share them.

use super::calls::{all_constant, call, is_nothing, values};
use super::plain::{Factors, Frame, Kept, on_doubles};
use super::product::product;
use super::shapes::Product;
use super::shapes::Structure;
use crate::custom::{CustomRule, Halves, identity_of};
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
    /// The data of its identity.
    fn data(&self) -> (usize, Structure) {
        (self.n, self.structure)
    }

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

    fn identity(&self) -> Option<u64> {
        identity_of(&self.data())
    }

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
/// It is the gradient of the determinant, so its derivative is a Hessian and its own adjoint: [`CofactorsAlong`].
struct Cofactors {
    of: Inverse,
}

impl<B: Base> CustomRule<B> for Cofactors {
    const NAME: &'static str = "cofactors";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.of.data())
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.resize(x.len(), B::ZERO);
        cofactors(&self.of, x, y);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        along(&self.of, x, dx, dy);
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        along(&self.of, x, dy, dx);
    }
}

/// Fills `out` with the derivative of the cofactors along `d`, over any scalar.
fn along<S: Scalar>(of: &Inverse, a: &[S], d: &[S], out: &mut [S]) {
    let of = of.clone();
    call(CofactorsAlong { of }, &[a, d].concat(), out);
}

/// The derivative of the cofactors of A along D, both by columns: ⟨C, D⟩ Xᵀ - C Dᵀ Xᵀ with X = A⁻¹.
///
/// The two terms cancel where A is nearly singular. There, with A = U Σ Vᵀ, P = Uᵀ D V and πᵢⱼ = det U det V Πₖ σₖ over all k but i and j, it is U Q Vᵀ with
/// Qᵢᵢ = Σⱼ≠ᵢ πᵢⱼ Pⱼⱼ and Qᵢⱼ = -πᵢⱼ Pⱼᵢ. The derivative of this rule is linear in D, and symmetric in D and the direction of A. It takes the inverse, and is
/// NaN where A is singular to rounding.
struct CofactorsAlong {
    of: Inverse,
}

/// Ratios of pivots below which the two terms lose four digits of sixteen, and below which derivatives with the inverse have none.
const NEARLY_SINGULAR: f64 = 1e-2;
const SINGULAR: f64 = 1e-8;

impl CofactorsAlong {
    /// The factors of a plain matrix.
    fn factors(&self, a: &[f64]) -> Arc<Factors> {
        self.of.kept.factors(self.of.n, self.of.structure, a)
    }

    /// Fills `out` with ⟨c, d⟩ xᵀ - c dᵀ xᵀ for the transposed inverse `x`.
    fn by_inverse<S: Scalar>(&self, x: &[S], c: &[S], d: &[S], out: &mut [S]) {
        let n = self.of.n;
        let mut half = vec![S::default(); n * n];
        product(Product::of(n, n, n).transposed(false, true), c, d, &mut half);
        product(Product::of(n, n, n), &half, x, out);
        let mut scale = S::default();
        for (c, d) in c.iter().zip(d) {
            if !d.is_inert_zero() {
                scale += *c * *d;
            }
        }
        out.iter_mut().zip(x).for_each(|(out, x)| *out = scale * *x - *out);
    }

    /// Fills `out` with U Q Vᵀ.
    fn by_singular_values(&self, frame: &Frame, d: &[f64], out: &mut [f64]) {
        let n = self.of.n;
        let (mut half, mut p, mut q) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n * n]);
        product(Product::of(n, n, n).transposed(true, false), &frame.u, d, &mut half);
        product(Product::of(n, n, n), &half, &frame.v, &mut p);
        for (i, j) in (0..n * n).map(|at| (at % n, at / n)).filter(|(i, j)| i != j) {
            let others = frame.others(i, j);
            q[i + n * i] += others * p[j + n * j];
            q[i + n * j] = -others * p[j + n * i];
        }
        product(Product::of(n, n, n), &frame.u, &q, &mut half);
        product(Product::of(n, n, n).transposed(false, true), &half, &frame.v, out);
    }

    /// Fills `out` with the derivative of this rule by A along `e`, with D = `d`.
    fn third<S: Scalar>(&self, a: &[S], d: &[S], e: &[S], out: &mut [S]) {
        let n = self.of.n;
        let plain: Vec<f64> = a.iter().map(|v| v.primal().as_f64()).collect();
        if self.factors(&plain).is_singular(SINGULAR) {
            // In all parts of a number that carries derivatives.
            let sum = a.iter().chain(d).chain(e).fold(S::default(), |sum, v| sum + *v);
            return out.fill(sum.scale(S::Base::from_f64(f64::NAN)));
        }
        let x = self.of.transposed_inverse(a);
        let [mut c, mut dc, mut half, mut dx] = std::array::from_fn(|_| vec![S::default(); n * n]);
        cofactors(&self.of, a, &mut c);
        along(&self.of, a, e, &mut dc);
        // dX = -X e X, transposed.
        product(Product::of(n, n, n).transposed(false, true), &x, e, &mut half);
        product(Product::of(n, n, n), &half, &x, &mut dx);
        dx.iter_mut().for_each(|entry| *entry = -*entry);
        self.by_inverse(&x, &dc, d, out);
        let mut second = vec![S::default(); n * n];
        self.by_inverse(&dx, &c, d, &mut second);
        out.iter_mut().zip(second).for_each(|(out, term)| *out += term);
    }
}

impl<B: Base> CustomRule<B> for CofactorsAlong {
    const NAME: &'static str = "cofactors along a direction";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.of.data())
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.resize(x.len() / 2, B::ZERO);
        on_doubles(&[x], y, |x, y| {
            let (a, d) = x[0].split_at(y.len());
            let factors = self.factors(a);
            let frame = if factors.is_singular(NEARLY_SINGULAR) { factors.frame() } else { None };
            match frame {
                Some(frame) => self.by_singular_values(frame, d, y),
                None => self.by_inverse(&self.of.transposed_inverse(a), factors.cofactors(), d, y),
            }
        });
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        let (a, d) = x.split_at(dy.len());
        let (da, dd) = dx.split_at(dy.len());
        along(&self.of, a, dd, dy);
        if !is_nothing(da) {
            let mut third = vec![S::default(); dy.len()];
            self.third(a, d, da, &mut third);
            dy.iter_mut().zip(third).for_each(|(dy, term)| *dy += term);
        }
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        let (a, d) = x.split_at(dy.len());
        let (of_a, of_d) = dx.split_at_mut(dy.len());
        self.third(a, d, dy, of_a);
        along(&self.of, a, dy, of_d);
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

    fn identity(&self) -> Option<u64> {
        identity_of(&(self.of.data(), self.logarithm))
    }

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
