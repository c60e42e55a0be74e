//! Building blocks of the rule table, and the visitor of its rules.

use crate::arithmetic::{Base, Binary, Partial, Scalar, Unary};

/// Receives every rule of the table in turn, with typical parameters for those that have one.
///
/// Tests of the whole table use [`each_unary`](super::each_unary) and [`each_binary`](super::each_binary), so that they cover every rule.
pub trait RuleVisitor {
    /// Receives a rule of one argument.
    fn unary<R: Unary>(&mut self, rule: R);
    /// Receives a rule of two arguments.
    fn binary<R: Binary>(&mut self, rule: R);
}

/// The constant `c` as a scalar.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn constant<S: Scalar>(c: f64) -> S {
    S::constant(S::Base::from_f64(c))
}

/// `c * x` for a plain number `c`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn scale<S: Scalar>(c: f64, x: S) -> S {
    x.scale(S::Base::from_f64(c))
}

/// A plain number as a partial derivative.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn plain<S: Scalar>(c: f64) -> Partial<S> {
    Partial::Constant(S::Base::from_f64(c))
}
