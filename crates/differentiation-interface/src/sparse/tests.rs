//! The test kit with sparse backends around each mode and a pair.

use super::{AutoSparse, MixedMode};
use crate::backends::{AutoFiniteDiff, AutoForwardDiff, AutoReverseDiff};
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_test::families::{ScenarioOptions, default_scenarios, rule_scenarios, sparse_scenarios};
use differentiation_interface_test::{Options, hessian_only, jacobian_only, matrices_only, test_differentiation};

#[test]
fn scenarios_hold_with_columns() {
    let columns = (matrices_only("sparse(forward_diff)", AutoSparse::new(AutoForwardDiff::default())),);
    test_differentiation(&columns, &sparse_scenarios(&[5, 10, 20]), &Options::default()).assert();
    // The default scenarios have mostly dense matrices, which a sparse backend must compute correctly too.
    test_differentiation(&columns, &default_scenarios(ScenarioOptions::all()), &Options::default()).assert();
    test_differentiation(&columns, &rule_scenarios(), &Options::default()).assert();
}

#[test]
fn scenarios_hold_with_rows_both_and_differences() {
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let sparse = (
        matrices_only("sparse(reverse_diff)", AutoSparse::new(reverse)),
        jacobian_only("sparse(mixed)", AutoSparse::new(MixedMode(forward, reverse))),
        hessian_only("sparse(second_order)", AutoSparse::new(SecondOrder(forward, reverse))),
        matrices_only("sparse(finite_diff)", AutoSparse::new(AutoFiniteDiff::central())).tolerance(2e-2),
    );
    // One band only, since matrices of 50 rows take long without optimisation.
    test_differentiation(&sparse, &sparse_scenarios(&[5]), &Options::default()).assert();
    test_differentiation(&sparse, &default_scenarios(ScenarioOptions::all()), &Options::default()).assert();
}
