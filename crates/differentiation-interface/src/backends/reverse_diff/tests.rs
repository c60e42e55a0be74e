//! The test kit with reverse mode by a tape.

use super::AutoReverseDiff;
use crate::backends::tests::assert_passes;

#[test]
fn all_scenarios_hold() {
    assert_passes(&AutoReverseDiff::default());
}
