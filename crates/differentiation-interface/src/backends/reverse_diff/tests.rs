//! The test kit with reverse mode: as it is by default, by tapes alone, and by programs from the first call on.

use super::AutoReverseDiff;
use crate::backends::tests::assert_passes;

#[test]
fn all_scenarios_hold() {
    assert_passes(&AutoReverseDiff::default());
}

#[test]
fn all_scenarios_hold_by_tapes() {
    assert_passes(&AutoReverseDiff::tape());
}

#[cfg(feature = "compiled")]
#[test]
fn all_scenarios_hold_by_programs() {
    assert_passes(&AutoReverseDiff::default().recording_from(1));
}
