//! The test kit, and what is peculiar to this engine.

use crate::{AutoEchidna, AutoEchidnaForward, raw, raw_number};
use differentiation_interface::prelude::*;
use differentiation_interface::rules;
use differentiation_interface_test::families::{
    complex_scenarios, constant_container_scenarios, container_scenarios, holomorphic_scenarios, singular_scenarios,
    test_backend, test_contexts,
};
use differentiation_interface_test::{
    Check, CountingAllocator, Options, Outcome, first_order_only, second_order_only, test_differentiation,
};
use echidna::{DualVec, Reverse};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type NumOf<B> = <B as Backend>::Num<f64, <B as Backend>::Lanes>;

/// What version 0.15.0 of `echidna` computes otherwise than the kit expects: nothing.
const KNOWN: &[(&str, &str)] = &[];

/// `Tape::reverse_seeded` allocates the adjoints of each sweep; nothing else is found.
#[test]
fn all_scenarios_of_first_order_hold_with_the_tape_except_that_sweeps_allocate() {
    let outcome = test_backend(&first_order_only(AutoEchidna::default()));
    print!("{outcome}");
    assert!(outcome.counts()[0].checks > 10_000);
    let others = outcome.findings().iter().filter(|finding| finding.check != Check::Allocations);
    assert_eq!(others.map(ToString::to_string).collect::<Vec<_>>(), [] as [&str; 0]);
    assert!(!outcome.is_ok(), "sweeps no longer allocate: say so in the book");
}

#[test]
fn all_scenarios_of_first_order_hold_with_dual_numbers() {
    test_backend(&first_order_only(AutoEchidna::forward::<8>())).assert();
}

#[test]
fn all_scenarios_hold_as_the_outer_backend_of_second_order() {
    let options = Options::default().without(Check::Allocations);
    let suite = differentiation_interface_test::families::suite(true, &[5]);
    let tape = AutoEchidna::default();
    let pairs = (
        second_order_only(SecondOrder(tape, AutoForwardDiff::default())),
        second_order_only(SecondOrder(tape, AutoReverseDiff::default())),
    );
    test_differentiation(&pairs, &suite, &options).assert();
    test_backend(&second_order_only(SecondOrder(AutoEchidna::forward::<4>(), AutoReverseDiff::default()))).assert();
}

/// The tape but for its allocations, as above.
#[test]
fn scenarios_at_containers_hold() {
    let scenarios =
        (container_scenarios(), constant_container_scenarios(), complex_scenarios(), holomorphic_scenarios());
    let forward = [first_order_only(AutoEchidna::forward::<4>())];
    test_differentiation(&forward, &scenarios, &Options::default()).assert();
    let tape = [first_order_only(AutoEchidna::default())];
    test_differentiation(&tape, &scenarios, &Options::default().without(Check::Allocations)).assert();
}

#[test]
fn scenarios_with_contexts_hold() {
    let forward = first_order_only(AutoEchidna::forward::<3>());
    test_contexts(&[forward]).iter().for_each(Outcome::assert);
    for outcome in test_contexts(&[first_order_only(AutoEchidna::default())]) {
        assert!(outcome.findings().iter().all(|finding| finding.check == Check::Allocations), "{outcome}");
        assert!(outcome.counts()[0].checks > 0);
    }
}

#[test]
fn singular_points_differ_as_known() {
    let (all, options) = (singular_scenarios(), Options::default());
    test_differentiation(&[AutoEchidna::forward::<2>()], &all, &options).assert_known(KNOWN);
    test_differentiation(&[AutoEchidna::default()], &all, &options.without(Check::Allocations)).assert_known(KNOWN);
}

/// The tape cannot be copied: clones of a state share it until one of them records again.
#[test]
fn a_clone_keeps_the_recording_while_the_original_records_another() -> Result<(), Error> {
    let f = |x: &[_]| [x[0] * x[1]];
    let mut original = prepare_pullback_same_point(&f, &AutoEchidna::default(), &[3.0, 5.0], [&[1.0][..]])?;
    let mut clone = original.clone();
    assert_eq!(clone.pullback([&[2.0][..]])?, [[10.0, 6.0]]);
    assert_eq!(original.pullback([&[1.0][..]])?, [[5.0, 3.0]]);
    let mut gradient = prepare_gradient(&|x: &[_]| x[0] * x[1], &AutoEchidna::default(), &[0.0, 0.0])?;
    let mut other = gradient.clone();
    assert_eq!(gradient.gradient(&[3.0, 5.0])?, [5.0, 3.0]);
    assert_eq!(other.gradient(&[7.0, 2.0])?, [2.0, 7.0]);
    assert_eq!(clone.pullback([&[1.0][..]])?, [[5.0, 3.0]]);
    Ok(())
}

#[test]
fn numbers_of_another_recording_are_an_error() -> Result<(), Error> {
    let backend = AutoEchidna::default();
    // An outer number captured by an inner function of the same engine.
    let f = |x: &[_]| {
        let x: NumOf<AutoEchidna> = x[0];
        let slope = gradient(&|y: &[_]| y[0] * x, &AutoEchidna::default(), &[2.0]);
        assert_eq!(slope.err().map(|error| error.kind()), Some(ErrorKind::ForeignNumber));
        x
    };
    assert_eq!(gradient(&f, &backend, &[3.0]).err().map(|error| error.kind()), Some(ErrorKind::ForeignNumber));
    // A number of an earlier call, used and returned.
    let kept: Cell<Option<NumOf<AutoEchidna>>> = Cell::new(None);
    let keeps = |x: &[_]| kept.replace(Some(x[0])).map_or(x[0], |old| old * x[0]);
    assert_eq!(gradient(&keeps, &backend, &[3.0])?, [1.0]);
    assert_eq!(gradient(&keeps, &backend, &[3.0]).err().map(|error| error.kind()), Some(ErrorKind::ForeignNumber));
    let returns = |x: &[_]| kept.replace(Some(x[0])).unwrap_or(x[0]);
    assert_eq!(gradient(&returns, &backend, &[3.0]).err().map(|error| error.kind()), Some(ErrorKind::ForeignNumber));
    // An inner differentiation of plain numbers leaves the outer one as it was.
    let f = |x: &[_]| {
        let inner = gradient(&|y: &[_]| y[0] * y[0], &AutoEchidna::default(), &[2.0]).unwrap_or_default();
        x[0] * inner[0]
    };
    assert_eq!(gradient(&f, &backend, &[3.0])?, [4.0]);
    Ok(())
}

#[test]
fn another_thread_has_no_tape() -> Result<(), Error> {
    fn spawned<T: Real>(x: &[T]) -> T {
        let x = [x[0], x[1]];
        std::thread::spawn(move || x[0] * x[1]).join().unwrap_or_default()
    }
    let error = gradient(&spawned, &AutoEchidna::default(), &[3.0, 5.0]).err().map(|error| error.kind());
    assert_eq!(error, Some(ErrorKind::OtherThread));
    assert_eq!(gradient(&spawned, &AutoEchidna::forward::<2>(), &[3.0, 5.0])?, [5.0, 3.0]);
    Ok(())
}

/// A function of `echidna`'s own numbers.
fn product<T: echidna::Scalar>(x: &[T]) -> T {
    let mut product = T::one();
    for &x in x {
        product = product * x.sin();
    }
    product
}

#[test]
fn functions_of_the_crates_own_numbers_are_accepted() -> Result<(), Error> {
    let x = [0.5, 1.0, 1.5];
    let expected: Vec<f64> = x.iter().map(|x: &f64| product(&[0.5, 1.0, 1.5]) / x.tan()).collect();
    let tape = gradient(&raw(product), &AutoEchidna::default(), &x)?;
    let forward = gradient(&raw(product), &AutoEchidna::forward::<2>(), &x)?;
    for (found, expected) in tape.iter().chain(&forward).zip(expected.iter().chain(&expected)) {
        assert!((found - expected).abs() < 1e-14, "{found} and {expected}");
    }
    assert_eq!(derivative(&raw_number(|x: Reverse<f64>| x * x), &AutoEchidna::default(), 3.0)?, 6.0);
    let outputs = raw(|x: &[DualVec<f64, 2>]| vec![x[0] * x[1], x[0]]);
    assert_eq!(jacobian(&outputs, &AutoEchidnaForward::<2>::new(), &[2.0, 5.0])?, [[5.0, 2.0], [1.0, 0.0]]);
    Ok(())
}

#[test]
fn a_function_that_panics_leaves_a_usable_preparation() -> Result<(), Error> {
    fn refuses<T: Real>(x: &[T]) -> T {
        assert!(x[0] > T::constant(0.0), "negative");
        x[0] * x[1]
    }
    let f = |x: &[_]| refuses(x);
    let mut prepared = prepare_gradient(&f, &AutoEchidna::default(), &[1.0, 2.0])?;
    assert!(catch_unwind(AssertUnwindSafe(|| prepared.gradient(&[-1.0, 2.0]))).is_err());
    assert_eq!(prepared.gradient(&[3.0, 5.0])?, [5.0, 3.0]);
    Ok(())
}

#[test]
fn rules_of_this_crate_serve_as_leaves() -> Result<(), Error> {
    fn error_function<T: Real>(x: &[T]) -> T {
        rules::erf(x[0] * 2.0) + x[1]
    }
    let slope = 2.0 * std::f64::consts::FRAC_2_SQRT_PI;
    assert_eq!(gradient(&error_function, &AutoEchidna::default(), &[0.0, 1.0])?, [slope, 1.0]);
    assert_eq!(gradient(&error_function, &AutoEchidna::forward::<2>(), &[0.0, 1.0])?, [slope, 1.0]);
    // (x y, x + y), of x and x y: (x² y, x + x y) at (3, 5).
    let rule = Custom::new(
        PlainRule::new("product_and_sum", |x: &[f64], y: &mut Vec<f64>| *y = vec![x[0] * x[1], x[0] + x[1]])
            .with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| {
                dx[0] = x[1] * dy[0] + dy[1];
                dx[1] = x[0] * dy[0] + dy[1];
            }),
    );
    let f = |x: &[_]| rule.call(&[x[0], x[0] * x[1]]);
    assert_eq!(jacobian(&f, &AutoEchidna::default(), &[3.0, 5.0])?, [[30.0, 9.0], [6.0, 3.0]]);
    let f = |x: &[_]| rule.call(&[x[0], x[0] * x[1]]);
    assert_eq!(jacobian(&f, &AutoEchidna::forward::<1>(), &[3.0, 5.0])?, [[30.0, 9.0], [6.0, 3.0]]);
    Ok(())
}

#[test]
fn special_points_and_sizes_are_right() -> Result<(), Error> {
    fn one<T: Real>(_: &[T]) -> T {
        T::constant(1.0)
    }
    fn chosen<T: Real>(x: &[T]) -> T {
        x[0].less_than(T::constant(0.0)).select(x[1] * x[1], x[0].sqrt() * x[1])
    }
    fn constants<T: Real>(x: &[T]) -> T {
        let c = T::constant(2.0);
        (c * c).exp() * x[0] + c.max(x[1])
    }
    let e4 = 4.0_f64.exp();
    let tape = AutoEchidna::default();
    assert_eq!(gradient(&one, &tape, &[] as &[f64])?, [] as [f64; 0]);
    assert_eq!(gradient(&one, &tape, &[1.0, 2.0])?, [0.0; 2]);
    assert_eq!(gradient(&chosen, &tape, &[-1.0, 3.0])?, [0.0, 6.0]);
    assert_eq!(gradient(&constants, &tape, &[-1.0, 3.0])?, [e4, 1.0]);
    assert_eq!(gradient(&|x: &[_]| x[0] * x[1], &tape, &[3.0_f32, 5.0])?, [5.0, 3.0]);
    let forward = AutoEchidna::forward::<2>();
    assert_eq!(gradient(&one, &forward, &[] as &[f64])?, [] as [f64; 0]);
    assert_eq!(gradient(&chosen, &forward, &[-1.0, 3.0])?, [0.0, 6.0]);
    assert_eq!(gradient(&constants, &forward, &[-1.0, 3.0])?, [e4, 1.0]);
    Ok(())
}
