//! The test kit, on a nightly toolchain with Enzyme: see `.ci/engines_nightly`.
#![cfg(ad_enzyme)]

use differentiation_interface_enzyme::AutoEnzyme;
use differentiation_interface_test::families::suite;
use differentiation_interface_test::{Check, Options, first_order_only, test_differentiation};

#[test]
fn first_order_scenarios_hold() {
    // The self-test calls the function at the first use of a state.
    let options = Options::default().without(Check::Calls);
    let outcome = test_differentiation(&[first_order_only(AutoEnzyme)], &suite(true, &[5]), &options);
    outcome.assert();
    println!("{:?}", outcome.counts());
}
