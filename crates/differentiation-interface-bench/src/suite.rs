//! The suite: all scenarios of the test kit with one backend.
//!
//! Called by `main.rs`.

use crate::choice::{Choice, WithFirstOrder};
use differentiation_interface::backend::Backend;
use differentiation_interface_test::families;
use differentiation_interface_test::{Named, OPERATORS, Options, Outcome, Scenarios, test_differentiation};
use std::slice;

/// Backends that take every scenario of the suite.
pub(crate) trait RunsSuite: Sized {
    /// Checks the backend on all scenarios; those of the rule table are for exact ones only.
    fn check(&self, exact: bool, options: &Options) -> Outcome;
}

impl<B> RunsSuite for B
where
    families::Suite: Scenarios<B>,
{
    fn check(&self, exact: bool, options: &Options) -> Outcome {
        test_differentiation(slice::from_ref(self), &families::suite(exact, &[5, 10, 20]), options)
    }
}

/// Checks a backend on the suite; `None` if it does not have all operators.
pub(crate) fn check(choice: Choice, operators: Option<&[&str]>) -> Option<Outcome> {
    let excluded = OPERATORS.iter().filter(|operator| operators.is_some_and(|chosen| !chosen.contains(operator)));
    let options = excluded.fold(Options::default(), |options, operator| options.excluding(operator));
    let mut checker = Checker { options, outcome: None };
    choice.hand_first_order_to(&mut checker).then_some(())?;
    checker.outcome
}

struct Checker {
    options: Options,
    outcome: Option<Outcome>,
}

impl WithFirstOrder for Checker {
    fn with<B: Backend>(&mut self, backend: &Named<B>, exact: bool)
    where
        Named<B>: RunsSuite,
    {
        self.outcome = Some(backend.check(exact, &self.options));
    }
}
