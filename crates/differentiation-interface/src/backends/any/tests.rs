//! The test kit with backends chosen at run time.

use super::AnyBackend;
use differentiation_interface_test::families::{
    ScenarioOptions, allocation_free_scenarios, default_scenarios, empty_scenarios,
};
use differentiation_interface_test::{Named, Options, named, test_differentiation, with_tolerance};

/// Backends chosen at run time, each under the string it comes from.
fn chosen() -> Vec<Named<AnyBackend>> {
    ["ForwardDiff", "ForwardDiff(chunk=3)", "ReverseDiff", "ReverseDiff(compile=true)", "FiniteDiff(scheme=central)"]
        .into_iter()
        .chain(["SecondOrder(ForwardDiff, ReverseDiff)", "SecondOrder(ReverseDiff, ForwardDiff)"])
        .chain(["SecondOrder(ForwardDiff, ReverseDiff(compile=true))"])
        .chain(["SecondOrder(ReverseDiff(compile=true), ReverseDiff)"])
        .chain(["SecondOrder(FiniteDifferences, ReverseDiff)", "SecondOrder(FiniteDifferences, FiniteDiff)"])
        .map(parsed)
        .collect()
}

fn parsed(name: &str) -> Named<AnyBackend> {
    named(name, name.parse().expect("this is a name"))
}

#[test]
fn scenarios_hold_with_backends_chosen_at_run_time() {
    let scenarios = default_scenarios(ScenarioOptions::all());
    let outcome = test_differentiation(&chosen(), &scenarios, &Options::default());
    outcome.assert();
    for count in outcome.counts() {
        assert!(count.skipped > 0 || count.scenarios >= 170, "{} ran {}", count.backend, count.scenarios);
    }
    for scenarios in [empty_scenarios(), allocation_free_scenarios()] {
        test_differentiation(&chosen(), &scenarios, &Options::default()).assert();
    }
}

/// Extrapolated differences have formulas for second derivatives, chosen at run time too: nested, they would have half of these digits.
#[test]
fn scenarios_hold_with_extrapolated_differences_as_the_static_backend() {
    let differences = || with_tolerance(parsed("FiniteDifferences"), 1e-12, 1e-10);
    for scenarios in [default_scenarios(ScenarioOptions::all()), empty_scenarios(), allocation_free_scenarios()] {
        test_differentiation(&(differences(),), &scenarios, &Options::default()).assert();
    }
}

/// How often functions run in 100 calls of prepared objects, whose results are compared with answers by hand.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
fn runs(backend: AnyBackend) -> [usize; 4] {
    use crate::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    let counts = [const { AtomicUsize::new(0) }; 4];
    let (p, k) = (&[2.0, 3.0][..], 5.0);
    let f = |x: &[_], p: &Vec<_>, k: &f64| {
        counts[0].fetch_add(1, Relaxed);
        x[0] * x[0] * p[0] + x[1] * p[1] * *k
    };
    fn rows<T: crate::scalar::Real>(count: &AtomicUsize, x: &[T]) -> [T; 3] {
        count.fetch_add(1, Relaxed);
        [x[0] * x[1], x[0] * x[0], x[1] * 4.0]
    }
    let (g, h, v) = (|x: &[_]| rows(&counts[1], x), |x: &[_]| rows(&counts[2], x), |x: &[_]| rows(&counts[3], x));
    let mut gradient = prepare_gradient(&f, &backend, (&[1.0, 1.0], Parameter(p), Constant(&k))).unwrap();
    let mut jacobian = prepare_jacobian(&g, &backend, &[1.0, 1.0]).unwrap();
    let mut pullback = prepare_pullback(&h, &backend, &[1.0, 1.0], [[1.0; 3]]).unwrap();
    let mut pushforward = prepare_pushforward(&v, &backend, &[1.0, 1.0], [[1.0, 0.0]]).unwrap();
    for call in 0..100 {
        let x = [call as f64, 7.0];
        assert_eq!(gradient.gradient((&x, Parameter(p), Constant(&k))).unwrap(), [4.0 * x[0], 15.0]);
        let (y, jac) = jacobian.value_and_jacobian(&x).unwrap();
        assert_eq!((y, jac.as_slice()), ([7.0 * x[0], x[0] * x[0], 28.0], &[7.0, x[0], 2.0 * x[0], 0.0, 0.0, 4.0][..]));
        assert_eq!(pullback.pullback(&x, [[1.0, 2.0, 3.0]]).unwrap(), [[7.0 + 4.0 * x[0], x[0] + 12.0]]);
        assert_eq!(pushforward.pushforward(&x, [[1.0, 10.0]]).unwrap(), [[7.0 + 10.0 * x[0], 2.0 * x[0], 40.0]]);
    }
    counts.map(AtomicUsize::into_inner)
}

#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn first_derivatives_that_repeat_are_computed_by_programs() {
    use crate::backends::AutoReverseDiff;

    let by_programs = runs("ReverseDiff".parse().unwrap());
    assert!(by_programs.iter().all(|count| (48..60).contains(count)), "{by_programs:?}");
    let by_tapes = runs(AnyBackend::from(AutoReverseDiff::tape()));
    assert!(by_tapes.iter().all(|count| *count > 100), "{by_tapes:?}");
}

/// The same in products with a Hessian, and in Hessians, of p x₀ max(x₀, x₁), at points where one or the other is larger.
#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
fn runs_of_second_order(backend: AnyBackend) -> [usize; 2] {
    use crate::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    let counts = [const { AtomicUsize::new(0) }; 2];
    fn bent<T: crate::scalar::Real>(count: &AtomicUsize, x: &[T], p: &[T]) -> T {
        count.fetch_add(1, Relaxed);
        p[0] * x[0] * x[0].greater_than(x[1]).select(x[0], x[1])
    }
    let f = |x: &[_], p: &Vec<_>| bent(&counts[0], x, p);
    let g = |x: &[_], p: &Vec<_>| bent(&counts[1], x, p);
    let mut hvp = prepare_hvp(&f, &backend, (&[1.0; 2], Parameter(&[1.0][..])), [&[1.0; 2]]).unwrap();
    let mut hessian = prepare_hessian(&g, &backend, (&[1.0; 2], Parameter(&[1.0][..]))).unwrap();
    for call in 0..100 {
        let (x, p) = ([if call % 3 == 0 { 9.0 } else { 4.0 }, 7.0], &[f64::from(call)][..]);
        let expected = if call % 3 == 0 { [[2.0 * p[0], 0.0], [0.0, 0.0]] } else { [[0.0, p[0]], [p[0], 0.0]] };
        assert_eq!(hessian.hessian((&x, Parameter(p))).unwrap(), expected);
        let [product] = hvp.hvp((&x, Parameter(p)), [&[1.0, 10.0]]).unwrap();
        assert_eq!(product, expected.map(|[a, b]| a + 10.0 * b));
    }
    counts.map(AtomicUsize::into_inner)
}

#[cfg(all(not(ad_interpreter), any(feature = "native", all(target_arch = "x86_64", any(unix, windows)))))]
#[test]
fn second_derivatives_that_repeat_are_computed_by_programs() {
    use crate::backend::SecondOrder;
    use crate::backends::{AutoForwardDiff, AutoReverseDiff};

    for name in ["ReverseDiff", "SecondOrder(ForwardDiff, ReverseDiff)"] {
        let by_programs = runs_of_second_order(name.parse().unwrap());
        assert!(by_programs.iter().all(|count| (48..60).contains(count)), "{name}: {by_programs:?}");
    }
    let tape = AutoReverseDiff::tape();
    for backend in [AnyBackend::from(tape), SecondOrder(AutoForwardDiff::default(), tape).into()] {
        let by_tapes = runs_of_second_order(backend);
        assert!(by_tapes.iter().all(|count| *count > 100), "{by_tapes:?}");
    }
}
