//! Custom rules as engines call them: by either derivative, and behind a pointer.
//!
//! The part of an engine that is generic over the rule is one line, which makes the pointer. What lies behind it is compiled for each rule, the
//! code of the engine around it once.

use crate::arithmetic::{CustomRule, Halves};
use crate::scalar::{Base, Scalar};
use std::sync::Arc;

/// Fills `dy` with J `dx`, by the rule's own pushforward or from its pullbacks. For engines.
pub fn pushforward_by_rule<R: CustomRule<S::Base>, S: Scalar>(rule: &R, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
    if R::GIVEN != Halves::Pullback {
        return rule.pushforward(x, y, dx, dy);
    }
    let mut unit = vec![S::default(); y.len()];
    let mut row = vec![S::default(); x.len()];
    for i in 0..y.len() {
        unit[i] = S::constant(S::Base::ONE);
        rule.pullback(x, y, &unit, &mut row);
        unit[i] = S::default();
        dy[i] = along(&row, dx);
    }
}

/// Fills `dx` with Jᵀ `dy`, by the rule's own pullback or from its pushforwards. For engines.
pub fn pullback_by_rule<R: CustomRule<S::Base>, S: Scalar>(rule: &R, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
    if R::GIVEN != Halves::Pushforward {
        return rule.pullback(x, y, dy, dx);
    }
    let mut unit = vec![S::default(); x.len()];
    let mut column = vec![S::default(); y.len()];
    for j in 0..x.len() {
        unit[j] = S::constant(S::Base::ONE);
        rule.pushforward(x, y, &unit, &mut column);
        unit[j] = S::default();
        dx[j] = along(&column, dy);
    }
}

/// Σ aᵢ bᵢ for derivatives a, without those where b is zero, which may be infinite.
fn along<S: Scalar>(derivatives: &[S], seed: &[S]) -> S {
    let terms = derivatives.iter().zip(seed).filter(|(_, b)| !b.is_inert_zero());
    terms.fold(S::default(), |sum, (a, b)| sum + *a * *b)
}

/// A custom rule at numbers of one type.
pub trait ValueRule<S: Scalar> {
    /// Leaves the outputs at `x` in `y`.
    fn value(&self, x: &[S], y: &mut Vec<S>);
}

impl<S: Scalar, R: CustomRule<S::Base>> ValueRule<S> for Arc<R> {
    fn value(&self, x: &[S], y: &mut Vec<S>) {
        S::custom(self, x, y);
    }
}

/// A custom rule for engines that carry tangents.
pub trait PushforwardRule<S: Scalar>: ValueRule<S> {
    /// Fills `dy` with J `dx`.
    fn pushforward(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]);
}

impl<S: Scalar, R: CustomRule<S::Base>> PushforwardRule<S> for Arc<R> {
    fn pushforward(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        pushforward_by_rule(&**self, x, y, dx, dy);
    }
}

/// A pullback at a point that it keeps: fills the second slice, cotangents of the arguments, from the first, cotangents of the outputs.
pub type KeptPullback<S> = Arc<dyn Fn(&[S], &mut [S]) + Send + Sync>;

/// A custom rule for engines that propagate cotangents later.
pub trait PullbackRule<S: Scalar>: ValueRule<S> {
    /// Whether Jᵀ times zero is zero; see [`CustomRule::is_regular`].
    fn is_regular(&self, x: &[S], y: &[S]) -> bool;
    /// The product with Jᵀ at `x`, where the outputs are `y`.
    fn pullback_at(&self, x: Vec<S>, y: Vec<S>) -> KeptPullback<S>;
}

impl<S: Scalar, R: CustomRule<S::Base>> PullbackRule<S> for Arc<R> {
    fn is_regular(&self, x: &[S], y: &[S]) -> bool {
        CustomRule::is_regular(&**self, x, y)
    }
    fn pullback_at(&self, x: Vec<S>, y: Vec<S>) -> KeptPullback<S> {
        let rule = Arc::clone(self);
        Arc::new(move |dy, dx| pullback_by_rule(&*rule, &x, &y, dy, dx))
    }
}
