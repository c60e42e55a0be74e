//! Conditions: comparisons that select one of two numbers without a branch in the user's code.
//!
//! Made by [`less_than`](super::Real::less_than) and similar methods of [`Real`](super::Real); evaluated by [`Scalar::select`].

use crate::arithmetic::Scalar;
use crate::relation::Relation;

/// A comparison that is not evaluated yet.
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

    /// `then` if the condition holds and `otherwise` if not. Both are computed; the derivative is that of the selected one.
    /// Write "a and b" by nesting: `a.select(b.select(then, otherwise), otherwise)`.
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
