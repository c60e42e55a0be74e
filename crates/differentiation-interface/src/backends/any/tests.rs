//! The test kit with backends chosen at run time.

use super::AnyBackend;
use differentiation_interface_test::families::{
    ScenarioOptions, allocation_free_scenarios, default_scenarios, empty_scenarios,
};
use differentiation_interface_test::{Named, Options, named, test_differentiation};

/// Backends chosen at run time, each under the string it comes from.
fn chosen() -> Vec<Named<AnyBackend>> {
    ["ForwardDiff", "ForwardDiff(chunk=3)", "ReverseDiff", "ReverseDiff(compile=true)", "FiniteDiff(scheme=central)"]
        .into_iter()
        .chain(["SecondOrder(ForwardDiff, ReverseDiff)", "SecondOrder(ReverseDiff, ForwardDiff)"])
        .chain(["SecondOrder(ForwardDiff, ReverseDiff(compile=true))"])
        .chain(["SecondOrder(ReverseDiff(compile=true), ReverseDiff)"])
        .chain(["FiniteDifferences", "SecondOrder(FiniteDifferences, ReverseDiff)"])
        .map(|name| named(name, name.parse().expect("these are names")))
        .collect()
}

#[test]
fn scenarios_hold_with_backends_chosen_at_run_time() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    let outcome = test_differentiation(&chosen(), &scenarios, &Options::default());
    outcome.assert();
    for count in outcome.counts() {
        assert!(count.skipped > 0 || count.scenarios >= 170, "{} ran {}", count.backend, count.scenarios);
    }
    for scenarios in [empty_scenarios(), allocation_free_scenarios()] {
        test_differentiation(&chosen(), &scenarios, &Options::default()).assert();
    }
}
