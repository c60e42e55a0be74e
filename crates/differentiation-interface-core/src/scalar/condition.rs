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
    #[cfg_attr(not(debug_assertions), inline(always))]
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(left: T, relation: Relation, right: T) -> Self {
        Condition { left, relation, right }
    }

    /// `then` where the condition holds and `otherwise` elsewhere. Both are computed; the derivative is that of the one
    /// chosen. `a and b` is written by nesting: `a.select(b.select(then, otherwise), otherwise)`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn select(self, then: T, otherwise: T) -> T {
        T::select(self.left, self.relation, self.right, then, otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Real;

    #[test]
    fn conditions_choose_as_comparisons_do() {
        let x = 2.0;
        let choose = |condition: Condition<f64>| condition.select(1.0, 0.0);
        assert_eq!([x.less_than(2.0), x.at_most(2.0), x.equal_to(2.0)].map(choose), [0.0, 1.0, 1.0]);
        assert_eq!([x.greater_than(2.0), x.at_least(2.0), x.greater_than(1.0)].map(choose), [0.0, 1.0, 1.0]);
        // Nothing compares with NaN.
        assert_eq!([x.less_than(f64::NAN), x.at_least(f64::NAN), x.equal_to(f64::NAN)].map(choose), [0.0; 3]);
    }
}
