//! Conditions: comparisons that choose between two numbers without a branch in the user's code.
//!
//! Made by the methods of [`Real`](super::Real), [`less_than`](super::Real::less_than) and its siblings; decided by
//! [`Scalar::select`].

use super::Scalar;
use std::cmp::Ordering;

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
}

impl Relation {
    /// Whether numbers that compare as `order` are in this relation. Unordered numbers (NaN) are in none.
    #[inline(always)]
    pub fn holds(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (_, None) => false,
            (Relation::Less, Some(order)) => order.is_lt(),
            (Relation::LessOrEqual, Some(order)) => order.is_le(),
            (Relation::Greater, Some(order)) => order.is_gt(),
            (Relation::GreaterOrEqual, Some(order)) => order.is_ge(),
            (Relation::Equal, Some(order)) => order.is_eq(),
        }
    }
}

/// A comparison not yet decided.
#[derive(Clone, Copy, Debug)]
#[must_use = "a condition does nothing until `select` chooses by it"]
pub struct Condition<T> {
    left: T,
    relation: Relation,
    right: T,
}

impl<T: Scalar> Condition<T> {
    /// The condition that `left` is in `relation` to `right`.
    #[inline(always)]
    pub fn new(left: T, relation: Relation, right: T) -> Self {
        Condition { left, relation, right }
    }

    /// `then` where the condition holds and `otherwise` elsewhere. Both are computed; the derivative is that of the one
    /// chosen. `a and b` is written by nesting: `a.select(b.select(then, otherwise), otherwise)`.
    #[inline(always)]
    #[track_caller]
    pub fn select(self, then: T, otherwise: T) -> T {
        T::select(self.left, self.relation, self.right, then, otherwise)
    }
}
