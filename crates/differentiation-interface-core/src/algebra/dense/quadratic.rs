//! The rule of quadratic forms.
//!
//! Called by [`quadratic_form`](super::quadratic_form).

use super::calls::is_nothing;
use super::product::product;
use super::shapes::Product;
use crate::custom::{CustomRule, Halves, identity_of};
use crate::scalar::{Base, Scalar};

/// xᵀ A x, where the argument of the rule is A by columns, then x.
///
/// Its derivative is xᵀ dA x + dxᵀ (A + Aᵀ) x.
pub(super) struct QuadraticForm {
    pub(super) n: usize,
}

/// Σ aᵢ bᵢ.
fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::default(), |sum, (a, b)| sum + *a * *b)
}

impl QuadraticForm {
    /// A v, or Aᵀ v.
    fn times<S: Scalar>(&self, transposed: bool, a: &[S], v: &[S]) -> Vec<S> {
        let mut out = vec![S::default(); self.n];
        product(Product::of(self.n, self.n, 1).transposed(transposed, false), a, v, &mut out);
        out
    }
    /// (A + Aᵀ) v.
    fn both<S: Scalar>(&self, a: &[S], v: &[S]) -> Vec<S> {
        let mut sum = self.times(false, a, v);
        super::product::add(&mut sum, &self.times(true, a, v));
        sum
    }
}

impl<B: Base> CustomRule<B> for QuadraticForm {
    const NAME: &'static str = "quadratic_form";
    const GIVEN: Halves = Halves::Both;

    fn identity(&self) -> Option<u64> {
        identity_of(&self.n)
    }

    fn value(&self, x: &[B], y: &mut Vec<B>) {
        let (a, v) = x.split_at(self.n * self.n);
        y.clear();
        y.push(dot(v, &self.times(false, a, v)));
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        let square = self.n * self.n;
        let ((a, v), (da, dv)) = (x.split_at(square), dx.split_at(square));
        dy[0] = S::default();
        if !is_nothing(da) {
            dy[0] += dot(v, &self.times(false, da, v));
        }
        if !is_nothing(dv) {
            dy[0] += dot(dv, &self.both(a, v));
        }
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        let (n, square) = (self.n, self.n * self.n);
        let ((a, v), (of_a, of_v)) = (x.split_at(square), dx.split_at_mut(square));
        let weighted: Vec<S> = v.iter().map(|v| dy[0] * *v).collect();
        product(Product::of(n, 1, n).transposed(false, true), &weighted, v, of_a);
        of_v.copy_from_slice(&self.both(a, &weighted));
    }
}
