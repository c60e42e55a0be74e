//! The suite: all scenarios of the test kit with one backend.
//!
//! Called by `main.rs`.

use crate::choice::{Choice, WithFirstOrder};
use crate::runs_suite::RunsSuite;
use differentiation_interface::backend::Backend;
use differentiation_interface_test::{Named, OPERATORS, Options, Outcome};

/// Checks a backend on the suite; `None` if it does not support all operators.
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
