//! The test kit, and what is peculiar to this engine.

use crate::{AutoEchidna, raw};
use differentiation_interface::prelude::*;
use differentiation_interface_test::families::{singular_scenarios, test_backend, test_contexts};
use differentiation_interface_test::{
    Check, CountingAllocator, Options, Outcome, first_order_only, second_order_only, test_differentiation,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn all_scenarios_of_first_order_hold_with_the_tape() {
    test_backend(&first_order_only(AutoEchidna::default())).assert();
}

#[test]
fn all_scenarios_of_first_order_hold_with_dual_numbers() {
    test_backend(&first_order_only(AutoEchidna::forward::<8>())).assert();
}

#[test]
fn singular_points_differ_as_known() {
    let (all, options) = (singular_scenarios(), Options::default());
    test_differentiation(&[AutoEchidna::default()], &all, &options.without(Check::Allocations)).assert_known(&[]);
    test_differentiation(&[AutoEchidna::forward::<2>()], &all, &Options::default()).assert_known(&[]);
}
