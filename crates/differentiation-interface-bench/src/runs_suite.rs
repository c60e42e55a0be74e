//! The backends that accept all scenarios of the test kit, and how they are checked on them.
//!
//! Required by `choice`, which names backends statically; called by `suite`.

use differentiation_interface_test::families::{Suite, suite};
use differentiation_interface_test::{Options, Outcome, Scenarios, test_differentiation};
use std::slice;

/// Backends that accept every scenario of the suite.
pub(crate) trait RunsSuite: Sized {
    /// Checks the backend on all scenarios; those of the rule table are for exact ones only.
    fn check(&self, exact: bool, options: &Options) -> Outcome;
}

impl<B> RunsSuite for B
where
    Suite: Scenarios<B>,
{
    fn check(&self, exact: bool, options: &Options) -> Outcome {
        test_differentiation(slice::from_ref(self), &suite(exact, &[5, 10, 20]), options)
    }
}
