//! Every backend runs every scenario of the test kit.

use differentiation_interface::prelude::*;
use differentiation_interface_test::families::*;
use differentiation_interface_test::*;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn forward() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    test_differentiation(&(AutoForwardDiff::default(),), &scenarios, &Options::default()).assert();
}
