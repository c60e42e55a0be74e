//! `value` of the preparations of any order, and `value_and_nth_derivative`, against values and derivatives by hand.

use differentiation_interface::error::ErrorKind;
use differentiation_interface::prelude::*;
use differentiation_interface::{Const, Work};
use differentiation_interface_test::allocations;
use std::cell::Cell;
use std::sync::Arc;

/// x² y.
fn volume<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1]
}

/// (x⁴, x²), whose second derivative is (12 x², 2).
fn powers<T: Real>(x: T) -> [T; 2] {
    [x.powi(4), x * x]
}

/// Every engine that serves `nth_derivative`, with the relative error of its second derivative.
macro_rules! each_engine {
    ($backend:ident, $tolerance:ident => $body:expr) => {{
        {
            let ($backend, $tolerance) = (AutoForwardDiff::default(), 1e-15);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoReverseDiff::default(), 1e-15);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoReverseDiff::compiled(), 1e-15);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoFiniteDiff::central(), 1e-5);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoFiniteDifferences::default(), 1e-9);
            $body
        }
        {
            let ($backend, $tolerance) = (AutoTaylor, 1e-15);
            $body
        }
    }};
}

fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found}, expected {expected}");
    }
}

#[test]
fn values_and_derivatives_of_any_order_are_those_by_hand() {
    each_engine!(backend, tolerance => {
        let mut prepared = prepare_nth_derivative(&powers, &backend, 1.0, Order::<2>).unwrap();
        let mut der = [f64::NAN; 2];
        for x in [2.0, -1.5, 0.5] {
            let (expected, second) = ([x * x * x * x, x * x], [12.0 * x * x, 2.0]);
            let (y, found) = value_and_nth_derivative(&powers, &backend, x, Order::<2>).unwrap();
            assert_eq!(y, expected);
            near(&found, &second, tolerance);
            let y = value_and_nth_derivative_into(&powers, &mut der, &backend, x, Order::<2>).unwrap();
            assert_eq!(y, expected);
            near(&der, &second, tolerance);
            let (y, found) = prepared.value_and_nth_derivative(x).unwrap();
            assert_eq!(y, expected);
            near(&found, &second, tolerance);
            der = [f64::NAN; 2];
            assert_eq!(prepared.value_and_nth_derivative_into(&mut der, x).unwrap(), expected);
            near(&der, &second, tolerance);
            // A value leaves nothing behind that a derivative would return, and the other way round.
            assert_eq!(prepared.value(-x).unwrap(), expected);
            near(&prepared.nth_derivative(x).unwrap(), &second, tolerance);
            assert_eq!(prepared.value(3.0).unwrap(), [81.0, 9.0]);
        }
        let kind = prepared.value_and_nth_derivative_into(&mut [0.0; 3], 1.0).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::BufferLength { expected: 2, found: 3 });
        let mut wrong = [0.0; 1];
        let kind = value_and_nth_derivative_into(&powers, &mut wrong, &backend, 1.0, Order::<2>).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::BufferLength { expected: 2, found: 1 });
    });
    let backend = AutoForwardDiff::default();
    assert_eq!(value_and_nth_derivative(&powers, &backend, 3.0, Order::<0>).unwrap(), ([81.0, 9.0], [81.0, 9.0]));
    assert_eq!(value_and_nth_derivative(&powers, &backend, 3.0, Order::<3>).unwrap(), ([81.0, 9.0], [72.0, 0.0]));
    assert_eq!(value_and_nth_derivative(&powers, &AutoTaylor, 3.0, Order::<3>).unwrap(), ([81.0, 9.0], [72.0, 0.0]));
}

/// Vectors, whose length the type does not tell, by an object behind `Arc`, with a parameter and a cache.
struct Scaled(f64);
impl<T: Real> FunctionWith<T, (Const<T>, Work<Vec<T>>)> for Scaled {
    type Output = Vec<T>;
    fn call_with(&self, x: &T, (k, work): (&T, &mut Vec<T>)) -> Vec<T> {
        work[0] = *x * *x;
        vec![*k * work[0], work[0] * *x * self.0]
    }
}

#[test]
fn contexts_and_objects_have_values_too() {
    each_engine!(backend, tolerance => {
        let (f, work) = (Arc::new(Scaled(0.5)), vec![0.0]);
        let at = (1.0, Parameter(&2.0), Cache(&work));
        let mut prepared = prepare_nth_derivative(Arc::clone(&f), &backend, at, Order::<2>).unwrap();
        let at = (3.0, Parameter(&10.0), Cache(&work));
        assert_eq!(prepared.value(at).unwrap(), [90.0, 13.5]);
        let at = (3.0, Parameter(&10.0), Cache(&work));
        let (y, der) = prepared.value_and_nth_derivative(at).unwrap();
        assert_eq!(y, [90.0, 13.5]);
        near(&der, &[20.0, 9.0], tolerance);
        let at = (2.0, Parameter(&1.0), Cache(&work));
        let mut der = vec![0.0; 2];
        assert_eq!(prepared.clone().value_and_nth_derivative_into(&mut der, at).unwrap(), [4.0, 4.0]);
        near(&der, &[2.0, 6.0], tolerance);
    });
    fn with_constant<T: Real>(x: &[T], k: &f64) -> T {
        volume(x) * *k
    }
    let at = (&[1.0, 1.0], Constant(&1.0));
    let mut partial = prepare_mixed_partial(&with_constant, &AutoTaylor, at, &[1, 1]).unwrap();
    assert_eq!(partial.value((&[2.0, 3.0], Constant(&5.0))).unwrap(), 60.0);
    assert_eq!(partial.mixed_partial((&[2.0, 3.0], Constant(&5.0))).unwrap(), 20.0);
}

#[test]
fn preparations_of_expansions_have_values() {
    let (x, other) = ([3.0, 5.0], [2.0, 7.0]);
    let mut jets = prepare_jet(&volume, &AutoTaylor, &x, [1.0, 1.0], Order::<2>).unwrap();
    let mut partial = prepare_mixed_partial(&volume, &AutoTaylor, &x, &[1, 1]).unwrap();
    let mut expansions = prepare_taylor_expansion(&volume, &AutoTaylor, &x, 3).unwrap();
    let mut series = prepare_taylor_coefficients(&powers, &AutoTaylor, 1.0, Order::<2>).unwrap();
    for (at, expected) in [(&x, 45.0), (&other, 28.0)] {
        assert_eq!(jets.value(at).unwrap(), expected);
        assert_eq!(partial.value(at).unwrap(), expected);
        assert_eq!(expansions.value(at).unwrap(), expected);
    }
    assert_eq!(series.value(2.0).unwrap(), [16.0, 4.0]);
    // Derivatives are those of their own call.
    assert_eq!(jets.jet(&x, &[0.0, 1.0]).unwrap(), [45.0, 9.0, 0.0]);
    assert_eq!(partial.mixed_partial(&x).unwrap(), 6.0);
    assert_eq!(expansions.taylor_expansion(&x).unwrap().partial(&[2, 1]).unwrap(), 2.0);
    assert_eq!(series.taylor_coefficients(1.0).unwrap(), [[1.0, 1.0], [4.0, 2.0], [6.0, 1.0]]);

    // Clones, which points without `Clone` in their types do not prevent.
    assert_eq!(series.clone().value(3.0).unwrap(), [81.0, 9.0]);
    assert_eq!(partial.clone().value(&other).unwrap(), 28.0);
    assert_eq!(expansions.clone().value(&other).unwrap(), 28.0);
    let model = Arc::new(with_vector);
    let mut of_model = prepare_jet(Arc::clone(&model), &AutoTaylor, &x, x, Order::<1>).unwrap();
    assert_eq!(of_model.clone().value(&other).unwrap(), [14.0, 2.0, 7.0]);
    assert_eq!(of_model.value(&x).unwrap(), [15.0, 3.0, 5.0]);
}

fn with_vector<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0] * x[1], x[0], x[1]]
}

/// The logarithm of positive numbers.
fn checked<T: Real>(x: T) -> Result<T, String> {
    if x.primal() > 0.0 { Ok(x.ln()) } else { Err(format!("no logarithm of {}", x.primal())) }
}

#[test]
fn errors_of_values_name_the_operator() {
    let short = [1.0];
    let other = ErrorKind::PreparedLength { prepared: 2, found: 1 };
    macro_rules! refused {
        ($prepared:expr, $operator:literal) => {{
            let mut prepared = $prepared.unwrap();
            let error = prepared.value(&short[..]).unwrap_err();
            assert_eq!(error.kind(), other, $operator);
            assert!(error.to_string().starts_with(concat!($operator, " with taylor: ")), "{error}");
            assert_eq!(prepared.value(&[2.0, 7.0][..]).unwrap(), 28.0);
        }};
    }
    let x = &[3.0, 5.0][..];
    refused!(prepare_jet(&volume, &AutoTaylor, x, x, Order::<2>), "jet");
    refused!(prepare_mixed_partial(&volume, &AutoTaylor, x, &[1, 1]), "mixed_partial");
    refused!(prepare_taylor_expansion(&volume, &AutoTaylor, x, 2), "taylor_expansion");

    each_engine!(backend, tolerance => {
        let mut prepared = prepare_nth_derivative(&checked, &backend, 2.0, Order::<1>).unwrap();
        for error in [prepared.value(-1.0).unwrap_err(), prepared.value_and_nth_derivative(-1.0).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::FunctionFailed);
            let text = error.to_string();
            assert!(text.starts_with("nth_derivative with ") && text.ends_with("no logarithm of -1"), "{text}");
        }
        let (y, der) = prepared.value_and_nth_derivative(1.0).unwrap();
        near(&[y, der], &[0.0, 1.0], tolerance);
    });
    let mut series = prepare_taylor_coefficients(&checked, &AutoTaylor, 2.0, Order::<2>).unwrap();
    let error = series.value(-1.0).unwrap_err().to_string();
    assert!(error.starts_with("taylor_coefficients with taylor: "), "{error}");
    assert_eq!(series.value(1.0).unwrap(), 0.0);
}

#[test]
fn values_are_computed_without_allocation() {
    macro_rules! allocates_nothing {
        ($what:literal, $call:expr) => {
            for _ in 0..3 {
                let before = allocations();
                $call;
                assert_eq!(allocations() - before, 0, $what);
            }
        };
    }
    let number = |x: _| powers(x)[0];
    each_engine!(backend, _tolerance => {
        let mut prepared = prepare_nth_derivative(&powers, &backend, 1.0, Order::<2>).unwrap();
        prepared.value(2.0).unwrap();
        allocates_nothing!("nth_derivative", prepared.value(2.0).unwrap());
    });
    let mut third = prepare_nth_derivative(&number, &AutoTaylor, 1.0, Order::<3>).unwrap();
    allocates_nothing!("value and derivative", third.value_and_nth_derivative(2.0).unwrap());
    let mut der = [0.0];
    allocates_nothing!("into", third.value_and_nth_derivative_into(&mut der, 2.0).unwrap());
    let x = [3.0, 5.0];
    let mut series = prepare_taylor_coefficients(&number, &AutoTaylor, 1.0, Order::<3>).unwrap();
    let mut jets = prepare_jet(&volume, &AutoTaylor, &x, x, Order::<2>).unwrap();
    let mut partial = prepare_mixed_partial(&volume, &AutoTaylor, &x, &[1, 1]).unwrap();
    let mut expansions = prepare_taylor_expansion(&volume, &AutoTaylor, &x, 3).unwrap();
    series.value(2.0).unwrap();
    jets.value(&x).unwrap();
    partial.value(&x).unwrap();
    expansions.value(&x).unwrap();
    allocates_nothing!("taylor_coefficients", series.value(2.0).unwrap());
    allocates_nothing!("jet", jets.value(&x).unwrap());
    allocates_nothing!("mixed_partial", partial.value(&x).unwrap());
    allocates_nothing!("taylor_expansion", expansions.value(&x).unwrap());
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// x³, counted.
fn counted<T: Real>(x: T) -> T {
    CALLS.set(CALLS.get() + 1);
    x * x * x
}

#[test]
fn series_have_value_and_derivative_from_one_evaluation() {
    let calls = |action: &mut dyn FnMut()| {
        CALLS.set(0);
        action();
        CALLS.get()
    };
    let mut der = [0.0];
    let once = || value_and_nth_derivative(&counted, &AutoTaylor, 2.0, Order::<2>).unwrap();
    assert_eq!(calls(&mut || assert_eq!(once(), (8.0, 12.0))), 1);
    let mut prepared = prepare_nth_derivative(&counted, &AutoTaylor, 2.0, Order::<2>).unwrap();
    assert_eq!(calls(&mut || assert_eq!(prepared.value_and_nth_derivative(2.0).unwrap(), (8.0, 12.0))), 1);
    assert_eq!(calls(&mut || assert_eq!(prepared.value_and_nth_derivative_into(&mut der, 2.0).unwrap(), 8.0)), 1);
    assert_eq!(der, [12.0]);
    assert_eq!(calls(&mut || assert_eq!(prepared.value(2.0).unwrap(), 8.0)), 1);
    // A nested backend evaluates once more.
    let mut prepared = prepare_nth_derivative(&counted, &AutoForwardDiff::default(), 2.0, Order::<2>).unwrap();
    assert_eq!(calls(&mut || assert_eq!(prepared.nth_derivative(2.0).unwrap(), 12.0)), 1);
    assert_eq!(calls(&mut || assert_eq!(prepared.value_and_nth_derivative(2.0).unwrap(), (8.0, 12.0))), 2);
    assert_eq!(calls(&mut || assert_eq!(prepared.value(2.0).unwrap(), 8.0)), 1);
}

/// The value inside another differentiation is a number of it: d/dk of (k³ + (k³)″) at k is 3 k² + 6.
#[test]
fn values_inside_another_differentiation_keep_its_derivative() {
    macro_rules! nested {
        ($name:ident, $backend:expr) => {
            fn $name<T: Real>(k: T) -> T {
                let (y, second) = value_and_nth_derivative(&|x: _| x * x * x, &$backend, &k, Order::<2>).unwrap();
                y + second
            }
            assert_eq!(derivative(&$name, &AutoForwardDiff::default(), 2.0).unwrap(), 18.0);
        };
    }
    nested!(by_series, AutoTaylor);
    nested!(by_forward, AutoForwardDiff::default());
    nested!(by_reverse, AutoReverseDiff::default());
}
