//! Entries beside one that is infinite, products with very short and very long tangents, and preparations that fail.

use crate::pairs::{assert_near, each_exact_pair, each_pair};
use crate::support::each_engine;
use differentiation_interface::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// x₀² x₁ + x₁^(3/2): the slope along x₁ is finite at 0, its own derivative 3/4 x₁^(-1/2) is not.
fn bent<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1] + x[1].powf(T::constant(1.5))
}
/// Inputs that do not interact.
fn apart<T: Real>(x: &[T]) -> T {
    x[0] * x[0] + x[1].powc(1.5)
}

#[test]
fn an_infinite_second_derivative_leaves_other_entries_alone() {
    let x = [0.5, 0.0];
    each_exact_pair!(|backend| {
        let hess = hessian(&|x: &[_]| bent(x), &backend, &x).unwrap();
        assert_eq!(hess.as_slice(), [0.0, 1.0, 1.0, f64::INFINITY]);
        let hess = hessian(&|x: &[_]| apart(x), &backend, &x).unwrap();
        assert_eq!(hess.as_slice(), [2.0, 0.0, 0.0, f64::INFINITY]);
        let products = hvp(&|x: &[_]| bent(x), &backend, &x, [&[1.0, 0.0], &[0.0, 1.0]]).unwrap();
        assert_eq!(products, [[0.0, 1.0], [1.0, f64::INFINITY]]);
    });
}

/// The second derivative of a factor is zero, and is not multiplied by the other factor.
#[test]
fn an_infinite_factor_leaves_other_entries_alone() {
    each_exact_pair!(|backend| {
        let hess = hessian(&|x: &[_]| x[0] * x[1], &backend, &[2.0, f64::INFINITY]).unwrap();
        assert_eq!(hess.as_slice(), [0.0, 1.0, 1.0, 0.0]);
        let hess = hessian(&|x: &[_]| x[0] * x[0], &backend, &[f64::INFINITY]).unwrap();
        assert_eq!(hess.as_slice(), [2.0]);
        let hess = hessian(&|x: &[_]| x[0] * (x[0] + x[1]), &backend, &[0.0, f64::NEG_INFINITY]).unwrap();
        assert_eq!(hess.as_slice(), [2.0, 1.0, 1.0, 0.0]);
    });
}

/// Constant Hessians, of which some gradients have no operations, in calls by the tape and by programs. `.ci/features` runs this by the interpreter too.
#[test]
fn constant_hessians_are_the_same_in_every_call() {
    macro_rules! check {
        ($f:expr, $expected:expr) => {
            let f = $f;
            let mut prepared = prepare_hessian(&f, &AutoReverseDiff::default(), &[0.0; 2]).unwrap();
            for call in 0..100 {
                assert_eq!(prepared.hessian(&[f64::from(call), 0.5]).unwrap(), $expected, "call {call}");
            }
        };
    }
    check!(|x: &[_]| x[0] * x[1], [[0.0, 1.0], [1.0, 0.0]]);
    check!(|x: &[_]| 3.0 * x[0] - x[1], [[0.0, 0.0], [0.0, 0.0]]);
    check!(|x: &[_]| x[0] * x[0] + x[0] * x[1], [[2.0, 1.0], [1.0, 0.0]]);
}

#[test]
fn gradients_in_a_function_leave_other_entries_alone() {
    // The derivatives of a gradient in forward mode, by an engine of the user's choice.
    let f = |x: &[_]| gradient(&|x: &[_]| bent(x), &AutoForwardDiff::default(), x).unwrap();
    let jac = jacobian(&f, &AutoReverseDiff::default(), &[0.5, 0.0]).unwrap();
    assert_eq!(jac.as_slice(), [0.0, 1.0, 1.0, f64::INFINITY]);
    let f = |x: &[_]| gradient(&|x: &[_]| bent(x), &AutoForwardDiff::default(), x).unwrap();
    let jac = jacobian(&f, &AutoForwardDiff::default(), &[0.5, 0.0]).unwrap();
    assert_eq!(jac.as_slice(), [0.0, 1.0, 1.0, f64::INFINITY]);
}

#[test]
fn hessians_in_a_function_leave_other_entries_alone() {
    // x₀² x₁ + x₁^(5/2): only the third derivative along x₁ is infinite.
    fn third<T: Real>(x: &[T]) -> T {
        x[0] * x[0] * x[1] + x[1].powc(2.5)
    }
    let f = |x: &[_]| hessian(&|x: &[_]| third(x), &AutoForwardDiff::default(), x).unwrap().as_slice().to_vec();
    let jac = jacobian(&f, &AutoReverseDiff::default(), &[0.5, 0.0]).unwrap();
    assert_eq!(jac.as_slice(), [0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 0.0, f64::INFINITY]);
    let f = |x: &[_]| hessian(&|x: &[_]| third(x), &AutoForwardDiff::default(), x).unwrap().as_slice().to_vec();
    let jac = jacobian(&f, &AutoForwardDiff::default(), &[0.5, 0.0]).unwrap();
    assert_eq!(jac.as_slice(), [0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 0.0, f64::INFINITY]);
}

#[test]
fn products_are_linear_in_very_short_and_very_long_tangents() {
    // The Hessian is diag(1, 2).
    let f = |x: &[f64]| 0.5 * x[0] * x[0] + x[1] * x[1];
    for size in [1e-300, 1e-162, 1e-156, 1e-20, 1.0, 1e20, 1e155, 1e300] {
        let [product] = hvp(&f, &AutoFiniteDifferences::central(), &[0.7, 0.3], [&[0.6 * size, -0.8 * size]]).unwrap();
        assert_near("differences", &[product[0] / size, product[1] / size], &[0.6, -1.6], 1e-9);
    }
    let f = |x: &[f32]| 0.5 * x[0] * x[0] + x[1] * x[1];
    for size in [1e-30_f32, 1e-22, 1.0, 1e20, 1e30] {
        let [product] = hvp(&f, &AutoFiniteDifferences::central(), &[0.7, 0.3], [&[0.6 * size, -0.8 * size]]).unwrap();
        let [a, b] = [product[0] / size, product[1] / size].map(f64::from);
        assert_near("differences", &[a, b], &[0.6, -1.6], 1e-3);
    }
}

/// The sum of cubes, unless it panics.
fn cubes<T: Real>(x: &[T], panics: &Cell<bool>) -> T {
    assert!(!panics.get(), "on purpose");
    x.iter().map(|v| v.powi(3)).sum()
}

#[test]
fn a_preparation_that_fails_leaves_the_former_one() {
    let x = [1.0, 2.0, 3.0, -1.0, 0.5];
    each_pair!(|backend, tolerance| {
        let panics = Cell::new(false);
        let (f, g) = (|x: &[_]| cubes(x, &panics), |x: &[_]| cubes(x, &panics));
        for (former, other) in [(3, 5), (5, 3), (3, 3)] {
            let mut prepared = prepare_hessian(&f, &backend, &x[..former]).unwrap();
            let mut products = prepare_hvp(&g, &backend, &x[..former], [&x[..former]]).unwrap();
            for _ in 0..2 {
                panics.set(true);
                assert!(catch_unwind(AssertUnwindSafe(|| prepared.prepare_again(&x[..other]))).is_err());
                assert!(catch_unwind(AssertUnwindSafe(|| products.prepare_again(&x[..other], [&x[..other]]))).is_err());
                panics.set(false);
                assert!(former == other || prepared.hessian(&x[..other]).is_err());
                let hess = prepared.hessian(&x[..former]).unwrap();
                let expected: Vec<f64> = (0..former * former)
                    .map(|k| if k % (former + 1) == 0 { 6.0 * x[k / former] } else { 0.0 })
                    .collect();
                assert_near("hessian", hess.as_slice(), &expected, tolerance);
                let [product] = products.hvp(&x[..former], [&x[..former]]).unwrap();
                let expected: Vec<f64> = x[..former].iter().map(|v| 6.0 * v * v).collect();
                assert_near("hvp", &product, &expected, tolerance);
            }
        }
    });
}

#[cfg(feature = "compiled")]
#[test]
fn the_default_engine_leaves_the_tape_after_a_preparation_that_failed() {
    let away = Cell::new(false);
    let f = |x: &[_]| {
        let sum = || x.iter().fold(x[0] * 0.0, |sum, v| sum + *v * *v * *v);
        if away.get() { std::thread::scope(|scope| scope.spawn(sum).join().unwrap()) } else { sum() }
    };
    let mut prepared = prepare_hessian(&f, &AutoReverseDiff::default(), &[1.0; 3]).unwrap();
    away.set(true);
    let error = prepared.prepare_again(&[1.0; 5]).unwrap_err();
    assert_eq!(error.kind(), differentiation_interface::error::ErrorKind::OtherThread);
    away.set(false);
    for _ in 0..100 {
        assert_eq!(prepared.hessian(&[1.0, 2.0, 3.0]).unwrap(), [[6.0, 0.0, 0.0], [0.0, 12.0, 0.0], [0.0, 0.0, 18.0]]);
    }
    assert_eq!(prepared.report().calls, 100);
}

/// A function that fails returns a number that is NaN and depends on the point, as the book says, also where the sum of the point is zero.
#[test]
fn derivatives_are_nan_where_a_function_fails() {
    fn failing<T: Real>(x: &[T]) -> T {
        if x[0] > 0.0 {
            return x[0].ln() * x[1];
        }
        let sum: T = x.iter().copied().sum();
        sum * sum * f64::NAN
    }
    let check = |name: &str, numbers: &[f64]| assert!(numbers.iter().all(|v| v.is_nan()), "{name}: {numbers:?}");
    each_engine!(|backend, _tolerance| {
        let mut prepared = prepare_gradient(&|x: &[_]| failing(x), &backend, &[1.0, 2.0]).unwrap();
        // With the path that does not fail as a program, where engines make one.
        (0..60).for_each(|_| assert!(prepared.gradient(&[1.0, 2.0]).unwrap()[0] > 1.9));
        for x in [[-1.0, 3.0], [-3.0, 3.0], [-1.0, 3.0]] {
            check(&format!("{backend:?} at {x:?}"), &prepared.gradient(&x).unwrap());
        }
    });
    each_exact_pair!(|backend| {
        for x in [[-1.0, 3.0], [-3.0, 3.0]] {
            let hess = hessian(&|x: &[_]| failing(x), &backend, &x).unwrap();
            check(&format!("{backend:?} at {x:?}"), hess.as_slice());
        }
    });
}
