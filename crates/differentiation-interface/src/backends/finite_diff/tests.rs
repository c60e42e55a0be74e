//! The test kit with the three kinds of differences.

use super::AutoFiniteDiff;
use crate::backends::tests::assert_passes;
use differentiation_interface_test::named;

#[test]
fn all_scenarios_hold() {
    assert_passes(&named("finite_diff(forward)", AutoFiniteDiff::forward()));
    assert_passes(&named("finite_diff(backward)", AutoFiniteDiff::backward()));
    assert_passes(&named("finite_diff(central)", AutoFiniteDiff::central()));
}
