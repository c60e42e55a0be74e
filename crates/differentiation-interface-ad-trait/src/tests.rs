//! The test kit, and what is peculiar to this engine.

use crate::{AutoAdTrait, raw};
use ad_trait::AD;
use ad_trait::forward_ad::adfn::adfn;
use ad_trait::nalgebra::ComplexField;
use differentiation_interface::prelude::*;
use differentiation_interface_test::families::{
    complex_scenarios, constant_container_scenarios, container_scenarios, holomorphic_scenarios, nalgebra_scenarios,
    singular_scenarios, test_backend, test_contexts,
};
use differentiation_interface_test::{
    CountingAllocator, Options, Outcome, first_order_only, second_order_only, test_differentiation,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What version 0.3.1 of `ad_trait` computes otherwise than the kit expects.
const KNOWN: &[(&str, &str)] = &[
    ("powi 0 at 0", "[0] is NaN, expected 0"),
    ("sqrt at 0", "[0] is 50, expected inf"),
    ("recip at 0", "[0] is NaN, expected -inf"),
    ("abs at 0", "[0] is 1, expected 0"),
    ("abs at -0", "[0] is 1, expected 0"),
    ("max with NaN", "[0] is 0, expected 1"),
    ("min with NaN", "[0] is 0, expected 1"),
    ("hypot at 1e200", "[0] is 0, expected 1"),
    ("atan2 at the origin", "[0] is NaN, expected 0"),
    ("asinh at 1e200", "[0] is 0, expected 1"),
    ("acosh at 1e200", "[0] is 0, expected 1"),
    ("atan at 2^520", "[0] is 0, expected 0.0000000000009094947017729282"),
    ("a quotient at 1e-200", "[0] is -inf, expected -1"),
];

#[test]
fn all_scenarios_of_first_order_hold() {
    test_backend(&first_order_only(AutoAdTrait::default())).assert();
}

#[test]
fn all_scenarios_hold_as_the_outer_backend_of_second_order() {
    test_backend(&second_order_only(SecondOrder(AutoAdTrait::<4>::new(), AutoReverseDiff::default()))).assert();
}

#[test]
fn scenarios_at_containers_hold() {
    let scenarios = (
        container_scenarios(),
        constant_container_scenarios(),
        nalgebra_scenarios(),
        complex_scenarios(),
        holomorphic_scenarios(),
    );
    test_differentiation(&[first_order_only(AutoAdTrait::<4>::new())], &scenarios, &Options::default()).assert();
}

#[test]
fn scenarios_with_contexts_hold() {
    test_contexts(&[first_order_only(AutoAdTrait::<3>::new())]).iter().for_each(Outcome::assert);
}

#[test]
fn singular_points_differ_as_known() {
    let backend = AutoAdTrait::<2>::new();
    test_differentiation(&[backend], &singular_scenarios(), &Options::default()).assert_known(KNOWN);
}

/// A function as users of `ad_trait` write it.
fn product<T: AD>(x: &[T]) -> T {
    x.iter().fold(T::constant(1.0), |product, &x| product * ComplexField::sin(x))
}

#[test]
fn functions_of_the_crates_own_trait_are_accepted() -> Result<(), Error> {
    let x = [0.5_f64, 1.0, 1.5];
    let value: f64 = x.iter().map(|x| x.sin()).product();
    let grad = gradient(&raw(product), &AutoAdTrait::<2>::new(), &x)?;
    for (found, x) in grad.iter().zip(&x) {
        assert!((found - value / x.tan()).abs() < 1e-14);
    }
    Ok(())
}

/// Why this crate's own rules are used for these functions. If it fails, the list in `number.rs` can be longer.
#[test]
fn fract_and_remainder_of_the_crate_are_wrong() {
    let x = adfn::<2>::new(-5.5, [3.0, 0.0]);
    assert_eq!(ComplexField::fract(x).tangent(), [1.0, 1.0]);
    assert_eq!((x % adfn::new_constant(2.0)).value(), 0.5);
}

#[test]
fn fract_and_remainder_of_the_backend_are_right() -> Result<(), Error> {
    let f = |x: &[_]| [num_traits::Float::fract(x[0] * 3.0), x[0] % x[1]];
    let (value, jac) = value_and_jacobian(&f, &AutoAdTrait::<2>::new(), &[-5.5, 2.0])?;
    assert_eq!(value, [-0.5, -1.5]);
    assert_eq!(jac, [[3.0, 0.0], [1.0, 2.0]]);
    Ok(())
}
