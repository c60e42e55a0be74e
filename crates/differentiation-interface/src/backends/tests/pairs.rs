//! The test kit with pairs of backends, with contexts, in single precision; and the list of backends.

use crate::backends::{AutoFiniteDiff, AutoForwardDiff, AutoReverseDiff};
use crate::each_backend;
use differentiation_interface_core::backend::{Backend, SecondOrder};
use differentiation_interface_test::families::{ScenarioOptions, single_precision_scenarios};
use differentiation_interface_test::families::{default_scenarios, test_backend, test_contexts};
use differentiation_interface_test::*;

/// One central difference, under its own name.
fn central() -> Named<AutoFiniteDiff> {
    named("finite_diff(central)", AutoFiniteDiff::central())
}

#[test]
fn default_scenarios_hold_with_pairs() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    let (forward, reverse, central) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let exact = (
        second_order_only(SecondOrder(forward, forward)),
        second_order_only(SecondOrder(reverse, reverse)),
        second_order_only(SecondOrder(reverse, forward)),
    );
    test_differentiation(&exact, &scenarios, &Options::default()).assert();
    let mixed = (
        second_order_only(SecondOrder(central, reverse)),
        second_order_only(SecondOrder(forward, central)),
        second_order_only(SecondOrder(reverse, central)),
    );
    test_differentiation(&mixed, &scenarios, &Options::default()).assert();
}

#[test]
fn all_scenarios_hold_with_forward_over_reverse() {
    test_backend(&second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()))).assert();
}

#[test]
fn rules_hold_with_reverse_over_forward() {
    let pair = second_order_only(SecondOrder(AutoReverseDiff::default(), AutoForwardDiff::default()));
    test_differentiation(&(pair,), &families::rule_scenarios(), &Options::default()).assert();
}

#[test]
fn scenarios_with_contexts_hold() {
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let backends = (forward, reverse, central(), second_order_only(SecondOrder(forward, reverse)));
    test_contexts(&backends).iter().for_each(Outcome::assert);
}

#[test]
fn single_precision_scenarios_hold() {
    let scenarios = single_precision_scenarios(ScenarioOptions::default());
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
    test_differentiation(&backends, &scenarios, &Options::default()).assert();
    test_differentiation(&[central()], &scenarios, &Options::default()).assert();
    // One-sided differences of one-sided differences leave no digit in single precision.
    let first_order =
        ["second_derivative", "hvp", "hessian"].iter().fold(Options::default(), |o, name| o.excluding(name));
    let one_sided = [
        named("finite_diff(forward)", AutoFiniteDiff::forward()),
        named("finite_diff(backward)", AutoFiniteDiff::backward()),
        central(),
    ];
    test_differentiation(&one_sided, &scenarios, &first_order).assert();
}

/// Modules, errors and tables call a backend by one name.
#[test]
fn backends_are_named_as_their_modules() {
    macro_rules! names {
        ([] $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
            vec![$($(#[$attribute])* (name(&$make), stringify!($module))),*]
        };
    }
    fn name<B: Backend>(_: &B) -> &'static str {
        B::NAME
    }
    for (name, module) in each_backend!(names![]) {
        assert_eq!(name, module);
    }
}
