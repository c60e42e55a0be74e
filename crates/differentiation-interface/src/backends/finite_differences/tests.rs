//! The test kit, which asks for more digits than of other differences.

use super::AutoFiniteDifferences;
use crate::backends::AutoReverseDiff;
use crate::backends::tests::assert_passes;
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_test::families::{
    ScenarioOptions, default_scenarios, single_precision_scenarios, test_contexts,
};
use differentiation_interface_test::{
    Options, Outcome, named, second_order_only, test_differentiation, with_tolerance,
};

#[test]
fn all_scenarios_hold() {
    // Errors relative to the largest entry of a result, in first and in second order; the kit itself allows rounding errors of 1e-12.
    let central = named("finite_differences(central)", AutoFiniteDifferences::central());
    assert_passes(&with_tolerance(central, 1e-12, 1e-10));
}

#[test]
fn scenarios_with_pairs_contexts_and_single_precision_hold() {
    let differences = AutoFiniteDifferences::central();
    let pair = second_order_only(SecondOrder(differences, AutoReverseDiff::default()));
    let scenarios = default_scenarios(ScenarioOptions::all());
    test_differentiation(&(with_tolerance(pair, 1e-12, 1e-11),), &scenarios, &Options::default()).assert();
    test_contexts(&(with_tolerance(differences, 1e-12, 1e-10),)).iter().for_each(Outcome::assert);
    // In single precision the kit allows the square roots of these: 1e-4 and 1e-2.
    let scenarios = single_precision_scenarios(ScenarioOptions::default());
    test_differentiation(&(with_tolerance(differences, 1e-8, 1e-4),), &scenarios, &Options::default()).assert();
}
