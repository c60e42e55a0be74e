//! The test kit, on a nightly toolchain with Enzyme. `.ci/engines_nightly` type-checks it and does not run it: the Enzyme of nightly-2026-10-30 fails to
//! compile functions of the kit whose outputs are a `Vec` that grows (`could not statically determine size of realloc`).
#![cfg(ad_enzyme)]

use differentiation_interface_enzyme::AutoEnzyme;
use differentiation_interface_test::families::{
    ScenarioOptions, allocation_free_scenarios, default_scenarios, empty_scenarios, sparse_scenarios,
};
use differentiation_interface_test::{Check, Options, first_order_only, test_differentiation};

#[test]
fn first_order_scenarios_hold() {
    // The self-test calls the function at the first use of a state.
    let options = Options::default().without(Check::Calls);
    // Without those of the rule table: `libm` computes with the bits of numbers, which Enzyme cannot compile.
    let scenarios = (
        default_scenarios(ScenarioOptions::all()),
        sparse_scenarios(&[5]),
        empty_scenarios(),
        allocation_free_scenarios(),
    );
    let outcome = test_differentiation(&[first_order_only(AutoEnzyme)], &scenarios, &options);
    outcome.assert();
    println!("{:?}", outcome.counts());
}
