//! The test kit, and what is peculiar to this engine.

use crate::{AutoNumDual, Dual, call, raw, raw_array, raw_number};
use differentiation_interface::prelude::*;
use differentiation_interface::rules;
use differentiation_interface_core::foreign::apply;
use differentiation_interface_test::families::{
    complex_scenarios, constant_container_scenarios, container_scenarios, holomorphic_scenarios, nalgebra_scenarios,
    singular_scenarios, test_backend, test_contexts,
};
use differentiation_interface_test::{
    CountingAllocator, Options, Outcome, first_order_only, second_order_only, test_differentiation,
};

use num_dual::{DualNum, DualSVec64};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What version 0.15.1 of `num-dual` computes otherwise than the kit expects.
const KNOWN: &[(&str, &str)] = &[
    ("powc 1.5 at 0", "[0] is NaN, expected 0"),
    ("sqrt at 0", "[0] is NaN, expected inf"),
    ("cbrt at 0", "[0] is NaN, expected inf"),
    ("abs at 0", "[0] is 1, expected 0"),
    ("abs at -0", "[0] is -1, expected 0"),
    ("hypot at the origin", "[0] is NaN, expected 0"),
    ("hypot at 1e200", "[0] is NaN, expected 1"),
    ("atan2 at the origin", "[0] is NaN, expected 0"),
    ("tanh at 400", "[0] is NaN, expected 0"),
    ("tanh at 800", "[0] is NaN, expected 0"),
    ("sqrt below the normal numbers", "[0] is inf, expected 0.5"),
    ("asinh at 1e200", "[0] is 0, expected 1"),
    ("acosh at 1e200", "[0] is 0, expected 1"),
    ("atan at 2^520", "[0] is 0, expected 0.0000000000009094947017729282"),
];

#[test]
fn all_scenarios_of_first_order_hold() {
    test_backend(&first_order_only(AutoNumDual::default())).assert();
}

#[test]
fn singular_points_differ_as_known() {
    let backend = AutoNumDual::default();
    test_differentiation(&[backend], &singular_scenarios(), &Options::default()).assert_known(KNOWN);
}

#[test]
fn all_scenarios_hold_as_the_outer_backend_of_second_order() {
    test_backend(&second_order_only(SecondOrder(AutoNumDual::default(), AutoForwardDiff::default()))).assert();
    test_backend(&second_order_only(SecondOrder(AutoNumDual::<3>::new(), AutoReverseDiff::default()))).assert();
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
    test_differentiation(&[first_order_only(AutoNumDual::<4>::new())], &scenarios, &Options::default()).assert();
}

#[test]
fn scenarios_with_contexts_hold() {
    let pair = second_order_only(SecondOrder(AutoNumDual::default(), AutoReverseDiff::default()));
    let backends = (first_order_only(AutoNumDual::<3>::new()), pair);
    test_contexts(&backends).iter().for_each(Outcome::assert);
}

/// A function as users of `num-dual` write it: bounded by that crate's trait, with functions that only that crate has.
fn helmholtz<D: DualNum<Primitive = f64> + Copy>(x: &[D]) -> D {
    let mut sum = D::from(0.0);
    for (i, &x) in x.iter().enumerate() {
        sum += x.powi(2) * (i as f64 + 1.0) + x.sph_j0();
    }
    sum
}

/// 2 (i + 1) x + (x cos x - sin x) / x².
fn helmholtz_gradient(x: &[f64]) -> Vec<f64> {
    let bessel = |x: f64| (x * x.cos() - x.sin()) / (x * x);
    x.iter().enumerate().map(|(i, &x)| 2.0 * (i as f64 + 1.0) * x + bessel(x)).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found:e} and {expected:e}");
    }
}

#[test]
fn functions_of_the_crates_own_trait_are_accepted() -> Result<(), Error> {
    let x: Vec<f64> = (0..11).map(|i| 0.5 + 0.25 * f64::from(i)).collect();
    let f = raw(helmholtz);
    let (value, grad) = value_and_gradient(&f, &AutoNumDual::default(), &x)?;
    close(&[value], &[helmholtz(&x)]);
    close(&grad, &helmholtz_gradient(&x));
    // Prepared, with another number of tangents, and as a closure that captures data.
    let factor = 3.0;
    let scaled = raw(|x: &[_]| helmholtz(x) * factor);
    let mut prepared = prepare_gradient(&scaled, &AutoNumDual::<3>::new(), &[1.0; 11])?;
    let mut grad = vec![f64::NAN; 11];
    prepared.gradient_into(&mut grad, &x)?;
    close(&grad, &helmholtz_gradient(&x).iter().map(|g| g * factor).collect::<Vec<_>>());
    // Other shapes of points and outputs.
    let squares = raw(|x: &[DualSVec64<8>]| x.iter().map(|x| x * x).collect::<Vec<_>>());
    assert_eq!(jacobian(&squares, &AutoNumDual::default(), &[1.0, 3.0])?, [[2.0, 0.0], [0.0, 6.0]]);
    let swapped = raw_array(|x: &[DualSVec64<8>; 2]| [x[1], -x[0]]);
    assert_eq!(jacobian(&swapped, &AutoNumDual::default(), [1.0, 3.0])?, [[0.0, 1.0], [-1.0, 0.0]]);
    assert_eq!(derivative(&raw_number(|x: DualSVec64<8>| x * x), &AutoNumDual::default(), 3.0)?, 6.0);
    assert_eq!(pullback(&squares, &AutoNumDual::default(), &[1.0, 3.0], [&[1.0, -1.0][..]])?, [[2.0, -6.0]]);
    Ok(())
}

#[test]
fn a_function_that_panics_leaves_a_usable_preparation() -> Result<(), Error> {
    let refuses = |x: &[DualSVec64<8>]| {
        assert!(x[0].re > 0.0, "negative");
        x[0] * x[1]
    };
    let f = raw(refuses);
    let mut prepared = prepare_gradient(&f, &AutoNumDual::default(), &[1.0, 2.0])?;
    assert!(catch_unwind(AssertUnwindSafe(|| prepared.gradient(&[-1.0, 2.0]))).is_err());
    assert_eq!(prepared.gradient(&[3.0, 5.0])?, [5.0, 3.0]);
    Ok(())
}

#[test]
fn rules_of_this_crate_serve_as_leaves() -> Result<(), Error> {
    // A rule that the crate does not have, in a function of our numbers: erf.
    let f = |x: &[_]| differentiation_interface::rules::erf(x[0] * 2.0);
    close(&gradient(&f, &AutoNumDual::default(), &[0.0])?, &[2.0 * std::f64::consts::FRAC_2_SQRT_PI]);
    // In a function of its numbers.
    let f = raw(|x: &[DualSVec64<8>]| apply(rules::Erf, Dual(x[0] * 2.0)).0);
    close(&gradient(&f, &AutoNumDual::default(), &[0.0])?, &[2.0 * std::f64::consts::FRAC_2_SQRT_PI]);

    // A custom rule with a pullback only, of two inputs and two outputs: (x y, x + y).
    let rule = Custom::new(
        PlainRule::new("product_and_sum", |x: &[f64], y: &mut Vec<f64>| *y = vec![x[0] * x[1], x[0] + x[1]])
            .with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| {
                dx[0] = x[1] * dy[0] + dy[1];
                dx[1] = x[0] * dy[0] + dy[1];
            }),
    );
    let f = |x: &[_]| rule.call(&[x[0], x[0] * x[1]]);
    // (x² y, x + x y) at (3, 5).
    assert_eq!(jacobian(&f, &AutoNumDual::default(), &[3.0, 5.0])?, [[30.0, 9.0], [6.0, 3.0]]);
    let f = raw(|x: &[DualSVec64<8>]| call(&rule, &[x[0], x[0] * x[1]]).unwrap_or_default());
    assert_eq!(jacobian(&f, &AutoNumDual::default(), &[3.0, 5.0])?, [[30.0, 9.0], [6.0, 3.0]]);
    // A rule without a derivative is an error, inside an operator and outside.
    struct Incomplete;
    impl CustomRule for Incomplete {
        const NAME: &'static str = "incomplete";
        const GIVEN: Halves = Halves::Pushforward;
        fn value(&self, x: &[f64], y: &mut Vec<f64>) {
            *y = x.to_vec();
        }
    }
    let rule = Custom::new(Incomplete);
    let missing = Some(ErrorKind::RuleIncomplete { rule: "incomplete" });
    let seeded = DualSVec64::<8>::from_re(1.0).derivative(0);
    assert_eq!(call(&rule, &[seeded]).err().map(|error| error.kind()), missing);
    let f = |x: &[_]| rule.number(x);
    assert_eq!(gradient(&f, &AutoNumDual::default(), &[1.0]).err().map(|error| error.kind()), missing);
    Ok(())
}

#[test]
fn special_points_and_sizes_are_right() -> Result<(), Error> {
    let backend = AutoNumDual::<2>::new();
    // No input, a constant, an unused input.
    fn one<T: Real>(_: &[T]) -> T {
        T::constant(1.0)
    }
    assert_eq!(gradient(&|x: &[_]| one(x), &backend, &[] as &[f64])?, [] as [f64; 0]);
    assert_eq!(gradient(&one, &backend, &[1.0, 2.0, 3.0])?, [0.0; 3]);
    assert_eq!(gradient(&|x: &[_]| x[1], &backend, &[1.0, f64::NAN, 3.0])?, [0.0, 1.0, 0.0]);
    // A lane that does not depend on an infinite derivative keeps its own: (∞, 1).
    let f = |x: &[_]| rules::ln(x[0]) + x[1];
    assert_eq!(gradient(&f, &backend, &[0.0, 1.0])?, [f64::INFINITY, 1.0]);
    // The side that is not taken contributes nothing.
    fn chosen<T: Real>(x: &[T]) -> T {
        x[0].less_than(T::constant(0.0)).select(x[1] * x[1], x[0].sqrt() * x[1])
    }
    assert_eq!(gradient(&chosen, &backend, &[-1.0, 3.0])?, [0.0, 6.0]);
    // Single precision is computed in double precision.
    assert_eq!(gradient(&|x: &[_]| x[0] * x[1], &backend, &[3.0_f32, 5.0])?, [5.0, 3.0]);
    Ok(())
}

#[test]
fn a_function_differentiated_by_the_engine_cannot_call_it_with_captured_numbers() -> Result<(), Error> {
    let backend = AutoNumDual::default();
    // d/dx of x · d/dy (x y), whose inner call captures x.
    let f = |x: &[_]| {
        let x: <AutoNumDual as Backend>::Num<f64, <AutoNumDual as Backend>::Lanes> = x[0];
        let inner = |y: &[_]| y[0] * x;
        let slope = gradient(&inner, &AutoNumDual::default(), &[2.0]);
        assert_eq!(slope.err().map(|error| error.kind()), Some(ErrorKind::NestedInItself));
        x
    };
    gradient(&f, &backend, &[3.0])?;
    // A function that captures nothing is differentiated as usual, and so is any function afterwards.
    let f = |x: &[_]| x[0] * gradient(&|y: &[_]| y[0] * y[0], &AutoNumDual::default(), &[2.0]).unwrap_or_default()[0];
    assert_eq!(gradient(&f, &backend, &[3.0])?, [4.0]);
    let factor = 2.0;
    assert_eq!(gradient(&|x: &[_]| x[0] * factor, &backend, &[3.0])?, [2.0]);
    Ok(())
}

/// The numbers may be used on any thread.
#[test]
fn functions_may_compute_on_other_threads() -> Result<(), Error> {
    let f = |x: &[_]| {
        let x = [x[0], x[1]];
        std::thread::spawn(move || x[0] * x[1]).join().unwrap_or_default()
    };
    assert_eq!(gradient(&f, &AutoNumDual::default(), &[3.0, 5.0])?, [5.0, 3.0]);
    Ok(())
}

/// Why this crate's own rules are used for these functions. If it fails, the list in `number.rs` can be longer.
#[test]
fn rounding_and_remainder_of_the_crate_panic() {
    use nalgebra::ComplexField;
    let x = DualSVec64::<1>::from_re(1.5).derivative(0);
    let functions: [fn(DualSVec64<1>) -> DualSVec64<1>; 6] =
        [ComplexField::floor, ComplexField::ceil, ComplexField::round, ComplexField::trunc, ComplexField::fract, |x| {
            x % x
        }];
    for (k, f) in functions.iter().enumerate() {
        assert!(catch_unwind(|| f(x)).is_err(), "function {k}");
    }
}

#[test]
fn rounding_and_remainder_of_the_backend_are_right() -> Result<(), Error> {
    fn all<T: Real>(x: &[T]) -> [T; 6] {
        [x[0].floor(), x[0].ceil(), x[0].round(), x[0].trunc(), x[0].fract(), x[0] % x[1]]
    }
    let (value, jac) = value_and_jacobian(&all, &AutoNumDual::default(), &[-5.5, 2.0])?;
    assert_eq!(value, [-6.0, -5.0, -6.0, -5.0, -0.5, -1.5]);
    assert_eq!(jac, [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]);
    Ok(())
}

/// The product is rounded to 1 alone, and 2⁻⁶⁰ remains of it.
#[test]
fn a_product_and_sum_is_rounded_once() -> Result<(), Error> {
    fn fused<T: Real>(x: &[T]) -> T {
        x[0].mul_add(x[1], -T::constant(1.0))
    }
    let small = 2.0_f64.powi(-30);
    let x = [1.0 + small, 1.0 - small];
    let (value, grad) = value_and_gradient(&fused, &AutoNumDual::default(), &x)?;
    assert_eq!(value, -2.0_f64.powi(-60));
    assert_eq!(grad, [x[1], x[0]]);
    Ok(())
}
