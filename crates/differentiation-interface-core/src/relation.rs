//! Relations between two numbers.
//!
//! Used by numbers that choose between others, and by recordings of such choices.

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
    /// Whether numbers that compare as `order` satisfy this relation. Unordered numbers (NaN) satisfy none.
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
