//! Which backends take all scenarios of the test kit, and how they are checked on them.
//!
//! Asked for by `choice`, which names backends statically; called by `suite`.

use differentiation_interface_test::families::{
    DefaultScenarios, ScenarioOptions, SparseScenarios, ToArray, ToArrays, ToNumber, ToNumbers,
    allocation_free_scenarios, default_scenarios, empty_scenarios, rule_scenarios, sparse_scenarios,
};
use differentiation_interface_test::{Options, Outcome, Scenarios, test_differentiation};
use std::slice;

/// Backends that take every scenario of the suite.
pub(crate) trait RunsSuite: Sized {
    /// Checks the backend on all scenarios; those of the rule table are for exact ones only.
    fn check(&self, exact: bool, options: &Options) -> Outcome;
}

type Rules = (ToNumbers<ToNumber, Vec<f64>>, ToArrays<ToArray, Vec<f64>>);

impl<B> RunsSuite for B
where
    DefaultScenarios: Scenarios<B>,
    SparseScenarios: Scenarios<B>,
    Rules: Scenarios<B>,
{
    fn check(&self, exact: bool, options: &Options) -> Outcome {
        let scenarios = (
            default_scenarios(ScenarioOptions::all()),
            sparse_scenarios(&[5, 10, 20]),
            empty_scenarios(),
            allocation_free_scenarios(),
            exact.then(rule_scenarios).into_iter().collect::<Vec<_>>(),
        );
        test_differentiation(slice::from_ref(self), &scenarios, options)
    }
}
