//! The whole test of a backend: all built-in scenarios, for the `tests.rs` of its author.
//!
//! Called by users and by the tests of each backend; calls [`test_differentiation`].

use super::cases::{
    DefaultScenarios, RuleScenarios, ScenarioOptions, SparseScenarios, allocation_free_scenarios, cachified_scenarios,
    constant_or_cachified_scenarios, constantified_scenarios, default_scenarios, empty_scenarios,
    parametrised_scenarios, rule_scenarios, sparse_scenarios, tuple_cachified_scenarios,
};
use crate::candidate::Candidate;
use crate::check::{Options, test_differentiation};
use crate::list::{Backends, Scenarios};
use crate::outcome::Outcome;

/// All scenarios over `f64` without contexts.
pub type Suite = (DefaultScenarios, SparseScenarios, DefaultScenarios, DefaultScenarios, Vec<RuleScenarios>);

/// All scenarios over `f64` without contexts: default, sparse with these bands, empty, allocation-free, and those of the rule
/// table for exact backends.
pub fn suite(exact: bool, bands: &[usize]) -> Suite {
    (
        default_scenarios(ScenarioOptions::all()),
        sparse_scenarios(bands),
        empty_scenarios(),
        allocation_free_scenarios(),
        exact.then(rule_scenarios).into_iter().collect(),
    )
}

/// Checks a backend on [`suite`]. A backend that skips no scenario supports all operators in all variants.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let outcome = families::test_backend(&second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default())));
/// outcome.assert();
/// assert!(outcome.counts()[0].scenarios > 60);
/// ```
pub fn test_backend<B: Candidate>(backend: &B) -> Outcome
where
    Suite: Scenarios<B>,
{
    // Only one band, since matrices of 50 rows take long without optimisation.
    let scenarios = suite(backend.tolerance(1).is_none() && backend.tolerance(2).is_none(), &[5]);
    test_differentiation(std::slice::from_ref(backend), &scenarios, &Options::default())
}

/// Checks backends on the default scenarios with contexts: constants, work memory, both in one argument, parameters
/// with constant numbers.
pub fn test_contexts<L>(backends: &L) -> Vec<Outcome>
where
    L: Backends<super::ConstantScenarios>
        + Backends<super::CacheScenarios>
        + Backends<super::TupleCacheScenarios>
        + Backends<super::ConstantOrCacheScenarios>
        + Backends<super::ParameterScenarios>
        + ?Sized,
{
    let (scenarios, options) = (ScenarioOptions::default(), Options::default());
    vec![
        test_differentiation(backends, &constantified_scenarios(scenarios), &options),
        test_differentiation(backends, &cachified_scenarios(scenarios), &options),
        test_differentiation(backends, &tuple_cachified_scenarios(scenarios), &options),
        test_differentiation(backends, &constant_or_cachified_scenarios(scenarios), &options),
        test_differentiation(backends, &parametrised_scenarios(scenarios), &options),
    ]
}
