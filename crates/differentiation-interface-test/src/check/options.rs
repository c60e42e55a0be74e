//! The settings of a test.
//!
//! Made by users, read by the checks.

use crate::outcome::Check;

/// The settings of [`test_differentiation`](crate::test_differentiation).
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) operators_excluded: Vec<String>,
    checks_left_out: Vec<Check>,
}

impl Options {
    /// Skips the scenarios of an operator.
    pub fn excluding(mut self, operator: &str) -> Self {
        self.operators_excluded.push(operator.to_string());
        self
    }
    /// Skips a check.
    pub fn without(mut self, check: Check) -> Self {
        self.checks_left_out.push(check);
        self
    }
    /// Whether a check is made.
    pub(crate) fn makes(&self, check: Check) -> bool {
        !self.checks_left_out.contains(&check)
    }
}
