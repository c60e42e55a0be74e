//! Tests of one number, such as `is_nan`: comparisons in recordings, free on tapes, right at every kind of number.

use differentiation_interface::backends::reverse_diff::Form;
use differentiation_interface::prelude::*;
use differentiation_interface_core::Base;
use differentiation_interface_test::allocated_bytes;
use num_complex::Complex;
use num_traits::{Float, Signed};
use std::cell::Cell;

/// How many tests there are, by number; the next number is no test.
const TESTS: usize = 10;
/// Whether this build has the own generator of machine code.
const HAS_OWN_CODE: bool = cfg!(all(not(ad_interpreter), target_arch = "x86_64", any(unix, windows)));
/// The first of those that ask for the sign, which are the last.
const BY_SIGN: usize = 6;

fn outcome<T: Float + Signed>(test: usize, z: T) -> u32 {
    match test {
        0 => u32::from(z.is_nan()),
        1 => u32::from(z.is_finite()),
        2 => u32::from(z.is_infinite()),
        3 => u32::from(z.is_normal()),
        4 => u32::from(z.is_subnormal()),
        5 => z.classify() as u32,
        BY_SIGN => u32::from(z.is_sign_positive()),
        7 => u32::from(z.is_sign_negative()),
        8 => u32::from(Signed::is_positive(&z)),
        9 => u32::from(Signed::is_negative(&z)),
        _ => 0,
    }
}

/// x₀ x₁ times a number that the test decides.
fn scaled<B: Base, T: Real<B>>(test: usize, x: &[T]) -> T {
    let z = x[0] * x[1];
    z * T::constant(factor(outcome(test, z)))
}

fn factor<B: Base>(outcome: u32) -> B {
    B::from_f64(2.0 + f64::from(outcome))
}

/// One number of each kind and sign.
fn numbers<B: Base>() -> Vec<B> {
    let subnormal = B::min_positive_value() * B::from_f64(0.5);
    let positive = [B::infinity(), B::ZERO, B::max_value(), B::min_positive_value(), subnormal, B::from_f64(1.5)];
    let negative = positive.map(|number| -number);
    positive.into_iter().chain(negative).chain([B::nan(), B::from_f64(-2.5), B::epsilon()]).collect()
}

fn same<B: Base>(a: B, b: B) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

/// Value and gradient of [`scaled`] at (x, 1), where the product is x exactly.
fn check<B: Base + Signed>(test: usize, x: B, (value, grad): (B, Vec<B>), what: &str) {
    let factor: B = factor(outcome(test, x));
    let expected = [x * factor, factor, x * factor];
    let found = [value, grad[0], grad[1]];
    let right = found.iter().zip(&expected).all(|(found, expected)| same(*found, *expected));
    assert!(right, "test {test}, {what}, at {x:?}: {found:?}, expected {expected:?}");
}

/// Recorded at each number, run at each number.
macro_rules! compiled_is_right_everywhere {
    ($base:ty) => {
        for test in 0..TESTS {
            let f = |x: &[_]| scaled::<$base, _>(test, x);
            for at in numbers::<$base>() {
                let backend = AutoReverseDiff::compiled();
                let mut prepared = prepare_gradient(&f, &backend, &[at, 1.0]).unwrap();
                for x in numbers::<$base>().into_iter().chain([at]) {
                    let found = prepared.value_and_gradient(&[x, 1.0]).unwrap();
                    check(test, x, found, &format!("recorded at {at:?}"));
                }
            }
        }
    };
}

#[test]
fn compiled_takes_another_path_where_a_test_has_another_outcome() {
    compiled_is_right_everywhere!(f64);
}

#[test]
fn compiled_takes_another_path_in_single_precision_too() {
    compiled_is_right_everywhere!(f32);
}

#[test]
fn the_default_engine_takes_the_tape_where_a_test_has_another_outcome() {
    for test in 0..TESTS {
        let f = |x: &[_]| scaled::<f64, _>(test, x);
        for at in numbers::<f64>() {
            let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &[at, 1.0]).unwrap();
            for _ in 0..60 {
                check(test, at, prepared.value_and_gradient(&[at, 1.0]).unwrap(), "before");
            }
            for x in numbers::<f64>().into_iter().chain([at]) {
                check(test, x, prepared.value_and_gradient(&[x, 1.0]).unwrap(), &format!("compiled at {at:?}"));
            }
        }
    }
}

#[test]
fn every_engine_is_right_at_every_kind_of_number() {
    macro_rules! by {
        ($($backend:expr),*) => {$(
            for test in 0..TESTS {
                let f = |x: &[_]| scaled::<f64, _>(test, x);
                for x in numbers::<f64>() {
                    check(test, x, value_and_gradient(&f, &$backend, &[x, 1.0]).unwrap(), stringify!($backend));
                }
            }
        )*};
    }
    by!(AutoForwardDiff::default(), AutoReverseDiff::tape());
    for name in ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)"] {
        let backend: AnyBackend = name.parse().unwrap();
        by!(backend);
    }
}

/// Points at which all numbers are ordinary. The sign changes if it is not tested.
fn points(test: usize) -> impl Iterator<Item = [f64; 2]> {
    let sign = move |call: usize| if test < BY_SIGN && call % 3 == 1 { -1.0 } else { 1.0 };
    (0..60).map(move |call| [sign(call) * (1.0 + 0.01 * call as f64), 2.0 - 0.01 * call as f64])
}

#[test]
fn recordings_stay_valid_while_the_outcome_is_the_same() {
    for test in 0..TESTS {
        let f = |x: &[_]| scaled::<f64, _>(test, x);
        let mut compiled = prepare_gradient(&f, &AutoReverseDiff::compiled(), &[1.0, 2.0]).unwrap();
        let f = |x: &[_]| scaled::<f64, _>(test, x);
        let mut default = prepare_gradient(&f, &AutoReverseDiff::default(), &[1.0, 2.0]).unwrap();
        for x in points(test) {
            let factor: f64 = factor(outcome(test, x[0] * x[1]));
            let expected = vec![factor * x[1], factor * x[0]];
            assert_eq!((compiled.gradient(&x).unwrap(), default.gradient(&x).unwrap()), (expected.clone(), expected));
        }
        let report = compiled.report();
        assert_eq!((report.runs, report.kept), (1, 1), "test {test}: {report}");
        let report = default.report();
        // Without machine code, so short a program is slower than the tape.
        assert_eq!((report.paths, report.programs + report.refused), (1, 1), "test {test}: {report}");
        assert!(!HAS_OWN_CODE || report.form == Form::MachineCode, "test {test}: {report}");
    }
}

thread_local! {
    static RUNS: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn numbers_over_recordings_record_their_tests() {
    fn f<T: Real>(test: usize, x: &[T]) -> T {
        RUNS.set(RUNS.get() + 1);
        scaled(test, x) * x[1]
    }
    // (c x₀ x₁²)'' where c is the factor.
    macro_rules! by {
        ($($backend:expr),*) => {$(
            let mut without = None;
            for test in (0..=TESTS).rev() {
                let f = |x: &[_]| f(test, x);
                let mut prepared = prepare_hessian(&f, &$backend, &[1.0, 2.0]).unwrap();
                let before = RUNS.get();
                for x in points(test) {
                    let c: f64 = factor(outcome(test, x[0] * x[1]));
                    let hess = prepared.hessian(&x).unwrap();
                    let expected = [0.0, 2.0 * c * x[1], 2.0 * c * x[1], 2.0 * c * x[0]];
                    let close = hess.as_slice().iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs());
                    assert!(close, "{}, test {test} at {x:?}: {hess:?}", stringify!($backend));
                }
                // `SecondOrder` over forward mode compares the function with its recording in every call.
                let runs = RUNS.get() - before;
                assert_eq!(runs, *without.get_or_insert(runs), "{}, test {test}", stringify!($backend));
            }
        )*};
    }
    let (compiled, forward) = (AutoReverseDiff::compiled(), AutoForwardDiff::default());
    by!(compiled, SecondOrder(compiled, forward), SecondOrder(forward, compiled));
    let chosen: AnyBackend = "SecondOrder(ReverseDiff(compile=true), ForwardDiff)".parse().unwrap();
    by!(chosen);
}

#[test]
fn tapes_do_not_store_tests() {
    fn f<T: Real>(x: &[T], tests: usize) -> T {
        let z = x[0] * x[1];
        let mut sum = T::zero();
        for test in 0..tests {
            for _ in 0..1000 {
                sum += T::constant(f64::from(outcome(test, z)));
            }
        }
        z + sum
    }
    let chosen: AnyBackend = "ReverseDiff".parse().unwrap();
    macro_rules! bytes {
        ($backend:expr, $tests:expr) => {{
            let f = |x: &[_]| f(x, $tests);
            let before = allocated_bytes();
            gradient(&f, &$backend, &[1.5, 2.0]).unwrap();
            allocated_bytes() - before
        }};
    }
    assert_eq!(bytes!(AutoReverseDiff::tape(), TESTS), bytes!(AutoReverseDiff::tape(), 0));
    assert_eq!(bytes!(chosen, TESTS), bytes!(chosen, 0));
}

/// `num-complex` asks whether the real part is infinite or NaN.
#[test]
fn a_complex_exponential_is_one_path() {
    fn f<T: Real>(x: &[T]) -> T {
        let w = Complex::new(x[0], x[1]).exp();
        w.re + 2.0 * w.im
    }
    let mut compiled = prepare_gradient(&f, &AutoReverseDiff::compiled(), &[0.5, 0.75]).unwrap();
    let mut default = prepare_gradient(&f, &AutoReverseDiff::default(), &[0.5, 0.75]).unwrap();
    for call in 0..60 {
        let x = [0.5 - 0.02 * call as f64, 0.75 + 0.01 * call as f64];
        let (sin, cos) = x[1].sin_cos();
        let expected = [cos + 2.0 * sin, 2.0 * cos - sin].map(|part| part * x[0].exp());
        for found in [compiled.gradient(&x).unwrap(), default.gradient(&x).unwrap()] {
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?} {expected:?}");
        }
    }
    assert_eq!(compiled.report().runs, 1);
    let report = default.report();
    assert_eq!((report.paths, report.programs + report.refused), (1, 1), "{report}");
    assert!(!HAS_OWN_CODE || report.programs == 1, "{report}");
    let infinite = compiled.value_and_gradient(&[f64::NEG_INFINITY, 0.75]).unwrap();
    assert_eq!(infinite, (0.0, vec![0.0, 0.0]));
}

#[test]
fn a_test_is_a_branch_at_its_line() {
    fn f<T: Real>(x: &[T]) -> T {
        if x[0].is_finite() { x[0] } else { x[1] }
    }
    let line = line!() - 2;
    let backend = AutoReverseDiff::compiled().refusing_other_branches();
    let mut prepared = prepare_gradient(&f, &backend, &[5.0, 1.0]).unwrap();
    assert_eq!(prepared.gradient(&[-7.0, 1.0]).unwrap(), [1.0, 0.0]);
    let error = prepared.gradient(&[f64::INFINITY, 1.0]).expect_err("the other branch");
    let ErrorKind::OtherBranch { place: Some(place) } = error.kind() else { panic!("{error}") };
    assert_eq!((place.file(), place.line()), (file!(), line));
}
