//! Every backend runs every scenario of the test kit.

use differentiation_interface::prelude::*;
use differentiation_interface_test::families::*;
use differentiation_interface_test::*;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn forward() -> AutoForwardDiff {
    AutoForwardDiff::default()
}
fn reverse() -> AutoReverseDiff {
    AutoReverseDiff::default()
}

/// The differences under their own names.
fn differences() -> [Named<AutoFiniteDiff>; 3] {
    [
        named("finite_diff(forward)", AutoFiniteDiff::forward()),
        named("finite_diff(backward)", AutoFiniteDiff::backward()),
        named("finite_diff(central)", AutoFiniteDiff::central()),
    ]
}

/// Backends chosen at run time, each under the string it comes from.
fn chosen() -> Vec<Named<AnyBackend>> {
    ["ForwardDiff", "ForwardDiff(chunk=3)", "ReverseDiff", "ReverseDiff(compile=true)", "FiniteDiff(scheme=central)"]
        .into_iter()
        .chain(["SecondOrder(ForwardDiff, ReverseDiff)", "SecondOrder(ReverseDiff, ForwardDiff)"])
        .chain(["SecondOrder(ForwardDiff, ReverseDiff(compile=true))"])
        .chain(["SecondOrder(ReverseDiff(compile=true), ReverseDiff)"])
        .map(|name| named(name, name.parse().expect("these are names")))
        .collect()
}

/// The number of scenarios of the counterpart.
const COUNTERPART: usize = 170;

/// Asserts that nothing was found, and that a backend that takes all scenarios ran at least as many as the counterpart has.
#[track_caller]
fn assert_complete(outcome: &Outcome) {
    outcome.assert();
    for count in outcome.counts() {
        assert!(count.skipped > 0 || count.scenarios >= COUNTERPART, "{} ran {}", count.backend, count.scenarios);
    }
}

#[test]
fn default_scenarios_hold_with_exact_backends() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    let chunked = named("forward_diff(chunk=2)", AutoForwardDiff::with_chunk::<2>());
    let backends = (forward(), reverse(), chunked, AutoReverseDiff::compiled());
    assert_complete(&test_differentiation(&backends, &scenarios, &Options::default()));
}

#[test]
fn default_scenarios_hold_with_differences() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    assert_complete(&test_differentiation(&differences(), &scenarios, &Options::default()));
}

#[test]
fn default_scenarios_hold_with_backends_chosen_at_run_time() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    assert_complete(&test_differentiation(&chosen(), &scenarios, &Options::default()));
}

#[test]
fn default_scenarios_hold_with_pairs() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    let central = AutoFiniteDiff::central();
    let exact = (
        second_order_only(SecondOrder(forward(), reverse())),
        second_order_only(SecondOrder(forward(), forward())),
        second_order_only(SecondOrder(reverse(), forward())),
        second_order_only(SecondOrder(reverse(), reverse())),
    );
    test_differentiation(&exact, &scenarios, &Options::default()).assert();
    let mixed = (
        second_order_only(SecondOrder(central, reverse())),
        second_order_only(SecondOrder(forward(), central)),
        second_order_only(SecondOrder(reverse(), central)),
    );
    test_differentiation(&mixed, &scenarios, &Options::default()).assert();
}

#[test]
fn single_precision_scenarios_hold() {
    let scenarios = single_precision_scenarios(ScenarioOptions::default());
    test_differentiation(&(forward(), reverse()), &scenarios, &Options::default()).assert();
    let central = [named("finite_diff(central)", AutoFiniteDiff::central())];
    test_differentiation(&central, &scenarios, &Options::default()).assert();
    // One-sided differences of one-sided differences leave no digit in single precision.
    let first_order =
        ["second_derivative", "hvp", "hessian"].iter().fold(Options::default(), |o, name| o.excluding(name));
    test_differentiation(&differences(), &scenarios, &first_order).assert();
}

/// All backends of first order and one pair on scenarios with contexts.
macro_rules! assert_with_contexts {
    ($scenarios:expr) => {{
        let scenarios = $scenarios;
        let pair = second_order_only(SecondOrder(forward(), reverse()));
        let backends = (forward(), reverse(), named("finite_diff(central)", AutoFiniteDiff::central()), pair);
        test_differentiation(&backends, &scenarios, &Options::default()).assert();
    }};
}

#[test]
fn constantified_scenarios_hold() {
    assert_with_contexts!(constantified_scenarios(ScenarioOptions::default()));
}

#[test]
fn cachified_scenarios_hold() {
    assert_with_contexts!(cachified_scenarios(ScenarioOptions::default()));
    assert_with_contexts!(tuple_cachified_scenarios(ScenarioOptions::default()));
}

#[test]
fn constant_or_cachified_scenarios_hold() {
    assert_with_contexts!(constant_or_cachified_scenarios(ScenarioOptions::default()));
}

#[test]
fn sparse_scenarios_hold() {
    let (forward, reverse) = (forward(), reverse());
    let columns = (matrices_only("sparse(forward_diff)", AutoSparse::new(forward)),);
    test_differentiation(&columns, &sparse_scenarios(&[5, 10, 20]), &Options::default()).assert();
    let sparse = (
        matrices_only("sparse(reverse_diff)", AutoSparse::new(reverse)),
        jacobian_only("sparse(mixed)", AutoSparse::new(MixedMode(forward, reverse))),
        hessian_only("sparse(second_order)", AutoSparse::new(SecondOrder(forward, reverse))),
        matrices_only("sparse(finite_diff)", AutoSparse::new(AutoFiniteDiff::central())).tolerance(2e-2),
    );
    // One band only, since matrices of 50 rows take long without optimisation.
    let scenarios = sparse_scenarios(&[5]);
    test_differentiation(&sparse, &scenarios, &Options::default()).assert();
    let pair = second_order_only(SecondOrder(forward, reverse));
    test_differentiation(&(forward, reverse, pair), &scenarios, &Options::default()).assert();
    // The default scenarios have dense matrices mostly, which a sparse backend must get right too.
    let scenarios = default_scenarios(ScenarioOptions::all());
    test_differentiation(&columns, &scenarios, &Options::default()).assert();
    test_differentiation(&sparse, &scenarios, &Options::default()).assert();
}

#[test]
fn small_scenarios_hold() {
    let backends = (forward(), reverse(), second_order_only(SecondOrder(forward(), reverse())));
    for scenarios in [empty_scenarios(), allocation_free_scenarios()] {
        test_differentiation(&backends, &scenarios, &Options::default()).assert();
        test_differentiation(&differences(), &scenarios, &Options::default()).assert();
        test_differentiation(&chosen(), &scenarios, &Options::default()).assert();
    }
}

#[test]
fn every_rule_holds() {
    let (forward, reverse) = (forward(), reverse());
    let backends = (
        forward,
        reverse,
        second_order_only(SecondOrder(forward, reverse)),
        second_order_only(SecondOrder(reverse, forward)),
        AutoReverseDiff::compiled(),
        matrices_only("sparse(forward_diff)", AutoSparse::new(forward)),
    );
    test_differentiation(&backends, &rule_scenarios(), &Options::default()).assert();
}
