//! What second-order calls cost: allocations and calls of the user's function, for every mode and variant.
//!
//! The counting allocator counts per thread, so tests do not disturb each other.

use crate::pairs::each_steady_pair;
use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations as allocations_so_far;
use std::cell::Cell;

/// Allocations of `action` on this thread.
fn allocations(action: impl FnOnce()) -> usize {
    let before = allocations_so_far();
    action();
    allocations_so_far() - before
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0] * w[0]).powi(2)).sum()
}

/// With a constant and a cache.
fn weighted<T: Real>(x: &[T], k: f64, work: &mut [T]) -> T {
    for (w, x) in work.iter_mut().zip(x) {
        *w = k * x * x;
    }
    work.iter().map(|w| w.sin()).sum()
}

/// With a parameter and a cache.
fn scaled<T: Real>(x: &[T], k: T, work: &mut [T]) -> T {
    for (w, x) in work.iter_mut().zip(x) {
        *w = k * *x * *x;
    }
    work.iter().map(|w| w.sin()).sum()
}

#[test]
fn prepared_hessians_allocate_nothing() {
    each_steady_pair!(|backend, _tolerance| {
        for n in [1, 5, 12, 13, 30] {
            let (x, x0) = (vec![0.5; n], vec![0.1; n]);
            let (mut grad, mut hess) = (vec![0.0; n], Matrix::filled(n, n, 0.0));
            let f = |x: &[_]| rosenbrock(x);
            let mut prepared = prepare_hessian(&f, &backend, &x0).unwrap();
            for _ in 0..2 {
                let count = allocations(|| prepared.hessian_into(&mut hess, &x).unwrap());
                assert_eq!(count, 0, "hessian_into by {backend:?}, n = {n}");
                let count = allocations(|| {
                    prepared.value_gradient_and_hessian_into(&mut grad, &mut hess, &x).unwrap();
                });
                assert_eq!(count, 0, "value_gradient_and_hessian_into by {backend:?}, n = {n}");
            }
        }
    });
}

/// A compiled engine propagates four tangents at a time, and one that remains by a program of its own.
#[test]
fn preparations_make_the_program_of_the_last_tangent() {
    fn cubes<T: Real>(x: &[T]) -> T {
        x.windows(2).enumerate().map(|(k, x)| x[0] * x[0] * x[0] * (1.0 + k as f64) + x[0] * x[1]).sum()
    }
    let f = |x: &[_]| cubes(x);
    let backend = SecondOrder(AutoReverseDiff::compiled(), AutoReverseDiff::tape());
    for n in [17, 18, 33, 35] {
        let x = vec![0.5; n];
        let mut hess = Matrix::filled(n, n, 0.0);
        let mut prepared = prepare_hessian(&f, &backend, &x).unwrap();
        assert_eq!(allocations(|| prepared.hessian_into(&mut hess, &x).unwrap()), 0, "n = {n}");
        assert_eq!((hess[(1, 1)], hess[(1, 2)], hess[(n - 2, n - 1)]), (6.0, 1.0, 1.0));
    }
}

#[test]
fn prepared_hessians_with_contexts_allocate_nothing() {
    let (forward, reverse, central) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    // With a `Constant`, whose changes a recording cannot detect, the function is recorded in every call.
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let (backend, x, x0, k, work) = ($backend, [0.5; 14], [0.1; 14], 2.0, [0.0; 14]);
            let mut hess = Matrix::filled(14, 14, 0.0);
            let f = |x: &[_], k: &f64, work: &mut Vec<_>| weighted(x, *k, work);
            let mut prepared = prepare_hessian(&f, &backend, (&x0, Constant(&k), Cache(&work[..]))).unwrap();
            let contexts = (&x, Constant(&3.0), Cache(&work[..]));
            let count = allocations(|| prepared.hessian_into(&mut hess, contexts).unwrap());
            assert_eq!(count, 0, "hessian_into with contexts by {backend:?}");
        })*};
    }
    check!(
        forward,
        reverse,
        SecondOrder(forward, reverse),
        SecondOrder(reverse, forward),
        SecondOrder(central, reverse),
        SecondOrder(forward, central)
    );
}

#[test]
fn prepared_hessians_with_parameters_allocate_nothing() {
    each_steady_pair!(|backend, _tolerance| {
        let (x, x0, k, work) = ([0.5; 14], [0.1; 14], 2.0, [0.0; 14]);
        let mut hess = Matrix::filled(14, 14, 0.0);
        let f = |x: &[_], k: &_, work: &mut Vec<_>| scaled(x, *k, work);
        let mut prepared = prepare_hessian(&f, &backend, (&x0, Parameter(&k), Cache(&work[..]))).unwrap();
        let count = allocations(|| prepared.hessian_into(&mut hess, (&x, Parameter(&3.0), Cache(&work[..]))).unwrap());
        assert_eq!(count, 0, "hessian_into with a parameter by {backend:?}");
    });
}

#[test]
fn tangents_of_zeros_prepare_for_any_tangents() {
    each_steady_pair!(|backend, _tolerance| {
        let (x, t) = ([0.5; 30], [1.0; 30]);
        let mut product = [0.0; 30];
        let f = |x: &[_]| rosenbrock(x);
        let mut prepared = prepare_hvp(&f, &backend, &x, [&[0.0; 30]]).unwrap();
        let count = allocations(|| prepared.hvp_into([&mut product], &x, [&t]).unwrap());
        assert_eq!(count, 0, "hvp_into by {backend:?}");
        let f = |x: &[_]| rosenbrock(x);
        let mut held = prepare_hvp_same_point(&f, &backend, &x, [&[0.0; 30]]).unwrap();
        let count = allocations(|| held.hvp_into([&mut product], [&t]).unwrap());
        assert_eq!(count, 0, "hvp_into at the same point by {backend:?}");
    });
}

#[test]
fn prepared_hessian_vector_products_allocate_nothing() {
    each_steady_pair!(|backend, _tolerance| {
        for n in [1, 7, 30] {
            let (x, x0, t, u) = (vec![0.5; n], vec![0.1; n], vec![1.0; n], vec![-2.0; n]);
            let (mut grad, mut p, mut q) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            let f = |x: &[_]| rosenbrock(x);
            let mut one = prepare_hvp(&f, &backend, &x0, [&t]).unwrap();
            let f = |x: &[_]| rosenbrock(x);
            let mut two = prepare_hvp(&f, &backend, &x0, [&t, &u]).unwrap();
            let f = |x: &[_]| rosenbrock(x);
            let mut held = prepare_hvp_same_point(&f, &backend, &x, [&t]).unwrap();
            for _ in 0..2 {
                let count = allocations(|| one.hvp_into([&mut p], &x, [&u]).unwrap());
                assert_eq!(count, 0, "hvp_into by {backend:?}, n = {n}");
                let count = allocations(|| two.hvp_into([&mut p, &mut q], &x, [&u, &t]).unwrap());
                assert_eq!(count, 0, "hvp_into of two by {backend:?}, n = {n}");
                let count =
                    allocations(|| two.gradient_and_hvp_into(&mut grad, [&mut p, &mut q], &x, [&u, &t]).unwrap());
                assert_eq!(count, 0, "gradient_and_hvp_into by {backend:?}, n = {n}");
                let count = allocations(|| {
                    two.value_gradient_and_hvp_into(&mut grad, [&mut p, &mut q], &x, [&u, &t]).unwrap();
                });
                assert_eq!(count, 0, "value_gradient_and_hvp_into by {backend:?}, n = {n}");
                let count = allocations(|| held.hvp_into([&mut p], [&u]).unwrap());
                assert_eq!(count, 0, "hvp_into at the same point by {backend:?}, n = {n}");
            }
        }
    });
}

fn oscillation<T: Real>(x: T) -> T {
    (x * x).sin() * x.exp()
}
fn oscillations<T: Real>(y: &mut [T], x: T) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = (x * i as f64).sin();
    }
}

#[test]
fn prepared_second_derivatives_allocate_nothing() {
    each_steady_pair!(|backend, _tolerance| {
        let f = |x| oscillation(x);
        let mut prepared = prepare_second_derivative(&f, &backend, 0.1).unwrap();
        for _ in 0..2 {
            assert_eq!(allocations(|| ignore(prepared.second_derivative(0.5).unwrap())), 0, "{backend:?}");
            let count = allocations(|| ignore(prepared.value_derivative_and_second_derivative(0.5).unwrap()));
            assert_eq!(count, 0, "value_derivative_and_second_derivative by {backend:?}");
        }
        let f = in_place(|y: &mut [_], x| oscillations(y, x), 9);
        let mut prepared = prepare_second_derivative(&f, &backend, 0.1).unwrap();
        let (mut der, mut der2) = ([0.0; 9], [0.0; 9]);
        for _ in 0..2 {
            let count = allocations(|| prepared.second_derivative_into(&mut der2, 0.5).unwrap());
            assert_eq!(count, 0, "second_derivative_into by {backend:?}");
            let count = allocations(|| {
                let _ = prepared.value_derivative_and_second_derivative_into(&mut der, &mut der2, 0.5).unwrap();
            });
            assert_eq!(count, 0, "value_derivative_and_second_derivative_into by {backend:?}");
        }
    });
}

/// Does away with a result.
fn ignore<T>(_: T) {}

/// Calls of the function in `action`, where `counter` is what the function counts into.
fn calls(counter: &Cell<usize>, action: impl FnOnce()) -> usize {
    counter.set(0);
    action();
    counter.get()
}

/// Calls of the function by one pair: a product, two products, at the same point, with value and gradient, a Hessian of
/// 30, with value and gradient, a second derivative, with value and derivative.
macro_rules! counted {
    ($backend:expr) => {{
        let (backend, n) = ($backend, 30);
        let counter = &Cell::new(0);
        let (x, t) = (vec![0.5; n], vec![1.0; n]);
        let f = |x: &[_]| {
            counter.set(counter.get() + 1);
            rosenbrock(x)
        };
        let mut one = prepare_hvp(&f, &backend, &x, [&t]).unwrap();
        let one_calls = calls(counter, || ignore(one.hvp(&x, [&t]).unwrap()));
        let f = |x: &[_]| {
            counter.set(counter.get() + 1);
            rosenbrock(x)
        };
        let mut two = prepare_hvp(&f, &backend, &x, [&t, &t]).unwrap();
        let two_calls = calls(counter, || ignore(two.hvp(&x, [&t, &t]).unwrap()));
        let with_value = calls(counter, || ignore(one.value_gradient_and_hvp(&x, [&t]).unwrap()));
        let with_gradient = calls(counter, || ignore(one.gradient_and_hvp(&x, [&t]).unwrap()));
        let f = |x: &[_]| {
            counter.set(counter.get() + 1);
            rosenbrock(x)
        };
        let mut held = prepare_hvp_same_point(&f, &backend, &x, [&t]).unwrap();
        let held_calls = calls(counter, || ignore(held.hvp([&t]).unwrap()));
        let f = |x: &[_]| {
            counter.set(counter.get() + 1);
            rosenbrock(x)
        };
        let mut hess = prepare_hessian(&f, &backend, &x).unwrap();
        let hess_calls = calls(counter, || ignore(hess.hessian(&x).unwrap()));
        let all_calls = calls(counter, || ignore(hess.value_gradient_and_hessian(&x).unwrap()));
        let f = |x| {
            counter.set(counter.get() + 1);
            oscillation(x)
        };
        let mut der2 = prepare_second_derivative(&f, &backend, 0.5).unwrap();
        let der2_calls = calls(counter, || ignore(der2.second_derivative(0.5).unwrap()));
        let der2_all = calls(counter, || ignore(der2.value_derivative_and_second_derivative(0.5).unwrap()));
        Counts {
            hvp: [one_calls, two_calls, held_calls],
            with_value_or_gradient: [with_value, with_gradient],
            hessian: [hess_calls, all_calls],
            second_derivative: [der2_calls, der2_all],
        }
    }};
}

#[derive(Debug, PartialEq)]
struct Counts {
    /// Of one tangent, of two, of one at the same point.
    hvp: [usize; 3],
    with_value_or_gradient: [usize; 2],
    /// Alone, with value and gradient.
    hessian: [usize; 2],
    /// Alone, with value and derivative.
    second_derivative: [usize; 2],
}

#[test]
fn the_function_is_called_as_often_as_the_mode_needs() {
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    // One recording serves all tangents.
    assert_eq!(
        counted!(SecondOrder(forward, reverse)),
        Counts { hvp: [1, 1, 0], with_value_or_gradient: [1, 1], hessian: [1, 1], second_derivative: [1, 1] },
        "forward over reverse"
    );
    assert_eq!(
        counted!(SecondOrder(reverse, reverse)),
        Counts { hvp: [1, 1, 0], with_value_or_gradient: [1, 1], hessian: [1, 1], second_derivative: [1, 1] },
        "reverse over reverse"
    );
    // Lanes of the inner backend: two tangents are one batch, 30 basis vectors are three.
    assert_eq!(
        counted!(SecondOrder(reverse, forward)),
        Counts { hvp: [1, 1, 1], with_value_or_gradient: [1, 1], hessian: [3, 3], second_derivative: [1, 1] },
        "reverse over forward"
    );
    // Every gradient inside takes eight chunks of up to four lanes, and there are eight of them in a Hessian.
    assert_eq!(
        counted!(SecondOrder(forward, forward)),
        Counts { hvp: [8, 8, 8], with_value_or_gradient: [8, 8], hessian: [64, 64], second_derivative: [1, 1] },
        "forward over forward"
    );
    // Central differences of a gradient: two gradients a direction, one more for value and gradient themselves.
    assert_eq!(
        counted!(SecondOrder(AutoFiniteDiff::central(), reverse)),
        Counts { hvp: [2, 4, 0], with_value_or_gradient: [3, 3], hessian: [60, 61], second_derivative: [2, 3] },
        "central over reverse"
    );
    assert_eq!(
        counted!(SecondOrder(AutoFiniteDiff::forward(), reverse)),
        Counts { hvp: [2, 3, 0], with_value_or_gradient: [2, 2], hessian: [31, 31], second_derivative: [2, 2] },
        "forward differences over reverse"
    );
}

#[test]
fn a_fresh_call_runs_the_function_as_often_as_a_prepared_one() {
    let counter = Cell::new(0);
    let f = |x: &[_]| {
        counter.set(counter.get() + 1);
        rosenbrock(x)
    };
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    assert_eq!(calls(&counter, || ignore(hessian(&f, &backend, &[0.5; 12]).unwrap())), 1);
    let f = |x: &[_]| {
        counter.set(counter.get() + 1);
        rosenbrock(x)
    };
    assert_eq!(calls(&counter, || ignore(hvp(&f, &backend, &[0.5; 40], [&[1.0; 40]]).unwrap())), 1);
}
