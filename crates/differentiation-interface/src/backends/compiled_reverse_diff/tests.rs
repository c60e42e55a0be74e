//! The test kit with compiled recordings.

use crate::backends::AutoReverseDiff;
use crate::backends::tests::assert_passes;

#[test]
fn all_scenarios_hold() {
    assert_passes(&AutoReverseDiff::compiled());
}
