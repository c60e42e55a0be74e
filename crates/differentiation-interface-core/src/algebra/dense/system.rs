//! The rules of linear systems: with an active matrix, and with one that is data.
//!
//! Called by [`solve`](super::solve()) and its variants, and by implicit functions.

use super::calls::{all_constant, bits, call, is_nothing, leave_out_columns, values};
use super::plain::{Kept, on_doubles};
use super::product::product_of_seed;
use super::shapes::{Product, Structure};
use crate::custom::{CustomRule, Halves, identity_of};
use crate::scalar::{Base, Scalar};
use std::hash::Hash;
use std::sync::Arc;

/// X of op(M(A)) X = B, where op is the identity or the transpose. The argument of the rule is A, then B, by columns.
///
/// op(M) dX = dB - op(dM) X, and backwards op(M)ᵀ Λ = X̄, B̄ = Λ, op(M)‾ = -Λ Xᵀ.
#[derive(Clone)]
pub(crate) struct Solve {
    n: usize,
    columns: usize,
    structure: Structure,
    transposed: bool,
    kept: Arc<Kept>,
}

/// The same with A given: the argument of the rule is B.
pub(super) struct WithData<B> {
    pub(super) system: Solve,
    pub(super) matrix: Arc<[B]>,
}

impl Solve {
    pub(crate) fn new(n: usize, columns: usize, structure: Structure) -> Self {
        Solve::sharing(n, columns, structure, &Arc::default())
    }
    /// A system that keeps its factors in `kept`.
    pub(crate) fn sharing(n: usize, columns: usize, structure: Structure, kept: &Arc<Kept>) -> Self {
        Solve { n, columns, structure, transposed: false, kept: Arc::clone(kept) }
    }
    /// The data of its identity.
    fn data(&self) -> impl Hash + use<> {
        (self.n, self.columns, self.structure, self.transposed)
    }
    /// The system with the transposed matrix. It shares the factors.
    pub(crate) fn transposed(&self) -> Self {
        Solve { transposed: !self.transposed, ..self.clone() }
    }
}

/// Fills `out` with the solution over any scalar.
pub(crate) fn solve<S: Scalar>(system: &Solve, a: &[S], b: &[S], out: &mut [S]) {
    let Solve { n, structure, transposed, kept, .. } = system;
    if on_doubles(&[a, b], out, |arguments, out| {
        kept.factors(*n, *structure, arguments[0]).solve(*transposed, arguments[1], out);
    }) {
        return;
    }
    if all_constant(a) {
        return call(WithData { system: system.clone(), matrix: values(a).into() }, b, out);
    }
    call(system.clone(), &[a, b].concat(), out);
}

impl<B: Base> CustomRule<B> for Solve {
    const NAME: &'static str = "solve";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.data())
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let (a, b) = x.split_at(self.n * self.n);
        y.resize(b.len(), B::ZERO);
        solve(self, a, b, y);
    }

    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let (n, square) = (self.n, self.n * self.n);
        let (a, (da, db)) = (&x[..square], dx.split_at(square));
        if is_nothing(da) {
            return solve(self, a, db, dy);
        }
        let mut part = da.to_vec();
        self.structure.project(n, &mut part);
        let mut moved = vec![S::default(); dy.len()];
        let shape = Product::of(n, n, self.columns).transposed(self.transposed, false);
        product_of_seed(shape, [&part, y], true, &mut moved);
        let right: Vec<S> = db.iter().zip(moved).map(|(db, moved)| *db - moved).collect();
        solve(self, a, &right, dy);
    }

    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let (n, square) = (self.n, self.n * self.n);
        let (of_a, of_b) = dx.split_at_mut(square);
        solve(&self.transposed(), &x[..square], dy, of_b);
        leave_out_columns(n, dy, of_b);
        let shape = Product::of(n, self.columns, n).transposed(false, true);
        match self.transposed {
            false => product_of_seed(shape, [of_b, y], true, of_a),
            true => product_of_seed(shape, [y, of_b], false, of_a),
        }
        of_a.iter_mut().for_each(|entry| *entry = -*entry);
        self.structure.project(n, of_a);
    }
}

impl<B: Base> WithData<B> {
    fn apply<S: Scalar<Base = B>>(&self, b: &[S], out: &mut [S]) {
        if S::DEPTH > 0 {
            return call(WithData { system: self.system.clone(), matrix: Arc::clone(&self.matrix) }, b, out);
        }
        let a: Vec<S> = self.matrix.iter().map(|entry| S::constant(*entry)).collect();
        solve(&self.system, &a, b, out);
    }
}

impl<B: Base> CustomRule<B> for WithData<B> {
    const NAME: &'static str = "solve with data";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&(self.system.data(), bits(&self.matrix)))
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.resize(x.len(), B::ZERO);
        self.apply(x, y);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        self.apply(dx, dy);
    }
    fn pullback<S: Scalar<Base = B>>(&self, _x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        WithData { system: self.system.transposed(), matrix: Arc::clone(&self.matrix) }.apply(dy, dx);
        leave_out_columns(self.system.n, dy, dx);
    }
}
