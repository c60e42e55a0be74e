//! The test kit with forward mode, its chunk chosen by the operator and fixed.

use super::AutoForwardDiff;
use crate::backends::tests::assert_passes;
use differentiation_interface_test::families::{ScenarioOptions, default_scenarios};
use differentiation_interface_test::{Options, named, test_differentiation};

#[test]
fn all_scenarios_hold() {
    assert_passes(&AutoForwardDiff::default());
}

#[test]
fn default_scenarios_hold_with_a_fixed_chunk() {
    let chunked = named("forward_diff(chunk=2)", AutoForwardDiff::with_chunk::<2>());
    let outcome = test_differentiation(&(chunked,), &default_scenarios(ScenarioOptions::all()), &Options::default());
    outcome.assert();
    assert!(outcome.counts()[0].scenarios > 200, "some are skipped, where the chunk is larger than the point");
}
