//! Costs: prepared calls allocate nothing, and the function is called as few times as the method needs.

use crate::support;
use crate::support::each_engine;
use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use std::cell::Cell;

/// Runs `action` three times and asserts that this thread allocated `expected` times in each run.
#[track_caller]
fn assert_allocations(what: &str, expected: usize, mut action: impl FnMut()) {
    for _ in 0..3 {
        let before = allocations();
        action();
        let found = allocations() - before;
        assert_eq!(found, expected, "{what} allocated {found} times");
    }
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Runs `action` and asserts how often the function was called.
#[track_caller]
fn assert_calls<R>(what: &str, expected: usize, action: impl FnOnce() -> R) -> R {
    CALLS.set(0);
    let result = action();
    assert_eq!(CALLS.get(), expected, "{what}: calls of the function");
    result
}

fn called() {
    CALLS.set(CALLS.get() + 1);
}

fn number<T: Real>(x: &[T]) -> T {
    called();
    x.iter().map(|v| v * v.sin() + v).product()
}
fn array<T: Real>(x: &[T]) -> [T; 2] {
    called();
    let sum: T = x.iter().sum();
    [sum * sum, sum.exp()]
}
fn curve<T: Real>(t: T) -> [T; 3] {
    called();
    [t, t * t, t.sin()]
}
fn scalar<T: Real>(t: T) -> T {
    called();
    t * t.sin()
}
fn vector<T: Real>(y: &mut [T], x: &[T]) {
    called();
    for (i, y) in y.iter_mut().enumerate() {
        *y = x[i % x.len()] * x[0] + x[x.len() - 1];
    }
}
fn vector_of_number<T: Real>(y: &mut [T], x: T) {
    called();
    for (i, y) in y.iter_mut().enumerate() {
        *y = x.powi(i as i32);
    }
}

/// Asserts that the action allocates nothing, unless a compiled backend must compile anew in it: for another length, and where
/// a constant changes for the first time.
fn assert_kept(name: &str, mut action: impl FnMut()) {
    if name == "compiled_reverse_diff" { action() } else { assert_allocations(name, 0, action) }
}

#[test]
fn prepared_gradients_allocate_nothing() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        for n in [1, 5, 30] {
            let x = vec![0.5; n];
            let mut grad = vec![0.0; n];
            let mut prepared = prepare_gradient(&number, &backend, &x).unwrap();
            assert_allocations(name, 0, || prepared.gradient_into(&mut grad, &x).unwrap());
            assert_allocations(name, 0, || {
                prepared.value_and_gradient_into(&mut grad, &x).unwrap();
            });
            // One allocation is the vector that is returned.
            assert_allocations(name, 1, || drop(prepared.gradient(&x).unwrap()));
            assert_allocations(name, 1, || drop(prepared.value_and_gradient(&x).unwrap()));
        }
        let f = |x: &[_; 4]| number(x);
        let mut prepared = prepare_gradient(&f, &backend, [0.1; 4]).unwrap();
        assert_allocations(name, 0, || {
            let _: [f64; 4] = prepared.gradient([0.5; 4]).unwrap();
            let _: (f64, [f64; 4]) = prepared.value_and_gradient([0.5; 4]).unwrap();
        });
        let mut prepared = prepare_gradient(&scalar, &backend, 0.1).unwrap();
        assert_allocations(name, 0, || {
            prepared.gradient(0.5).unwrap();
            prepared.value_and_gradient(0.5).unwrap();
        });
        let mut prepared =
            prepare_gradient(&weighted, &backend, (&[0.1; 4], Constant(&2.0), Cache(&[0.0; 4]))).unwrap();
        let mut grad = [0.0; 4];
        assert_kept(name, || {
            prepared.gradient_into(&mut grad, (&[0.5; 4], Constant(&3.0), Cache(&[0.0; 4]))).unwrap();
        });
    });
}

fn weighted<T: Real>(x: &[T], k: &f64, work: &mut [T; 4]) -> T {
    for (w, x) in work.iter_mut().zip(x) {
        *w = *k * x * x;
    }
    work.iter().sum()
}

#[test]
fn prepared_derivatives_allocate_nothing() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let mut prepared = prepare_derivative(&scalar, &backend, 0.1).unwrap();
        assert_allocations(name, 0, || {
            prepared.derivative(0.5).unwrap();
            prepared.value_and_derivative(0.5).unwrap();
        });
        let mut prepared = prepare_derivative(&curve, &backend, 0.1).unwrap();
        let mut der = [0.0; 3];
        assert_allocations(name, 0, || {
            prepared.derivative(0.5).unwrap();
            prepared.value_and_derivative(0.5).unwrap();
            prepared.derivative_into(&mut der, 0.5).unwrap();
            prepared.value_and_derivative_into(&mut der, 0.5).unwrap();
        });
        let f = in_place(|y: &mut [_], x| vector_of_number(y, x), 20);
        let mut prepared = prepare_derivative(&f, &backend, 0.1).unwrap();
        let mut der = [0.0; 20];
        assert_allocations(name, 0, || {
            prepared.derivative_into(&mut der, 0.5).unwrap();
            prepared.value_and_derivative_into(&mut der, 0.5).unwrap();
        });
        assert_allocations(name, 1, || drop(prepared.derivative(0.5).unwrap()));
        assert_allocations(name, 2, || drop(prepared.value_and_derivative(0.5).unwrap()));
    });
}

#[test]
fn prepared_jacobians_allocate_nothing() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        for (m, n) in [(1, 1), (3, 20), (20, 3), (30, 30)] {
            let x = vec![0.5; n];
            let mut jac = Matrix::filled(m, n, 0.0);
            let f = in_place(|y: &mut [_], x: &[_]| vector(y, x), m);
            let mut prepared = prepare_jacobian(&f, &backend, &vec![0.1; n]).unwrap();
            assert_allocations(name, 0, || prepared.jacobian_into(&mut jac, &x).unwrap());
            assert_allocations(name, 0, || {
                prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
            });
            assert_allocations(name, 1, || drop(prepared.jacobian(&x).unwrap()));
            assert_allocations(name, 2, || drop(prepared.value_and_jacobian(&x).unwrap()));
        }
        let mut jac = Matrix::filled(2, 4, 0.0);
        let mut prepared = prepare_jacobian(&array, &backend, &[0.1; 4]).unwrap();
        assert_allocations(name, 0, || {
            prepared.jacobian_into(&mut jac, &[0.5; 4]).unwrap();
            prepared.value_and_jacobian_into(&mut jac, &[0.5; 4]).unwrap();
        });
        assert_allocations(name, 1, || drop(prepared.value_and_jacobian(&[0.5; 4]).unwrap()));
    });
}

#[test]
fn prepared_products_allocate_nothing() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let (x, t, u) = ([0.5; 20], [1.0; 20], [2.0; 20]);
        let mut prepared = prepare_pushforward(&array, &backend, &x, [&t, &u]).unwrap();
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        assert_allocations(name, 0, || {
            prepared.pushforward(&x, [&t, &u]).unwrap();
            prepared.value_and_pushforward(&x, [&t, &u]).unwrap();
            prepared.pushforward_into([&mut a, &mut b], &x, [&t, &u]).unwrap();
            prepared.value_and_pushforward_into([&mut a, &mut b], &x, [&t, &u]).unwrap();
        });
        let mut prepared = prepare_pushforward_same_point(&array, &backend, &x, [&t, &u]).unwrap();
        assert_allocations(name, 0, || {
            prepared.pushforward([&t, &u]).unwrap();
            prepared.pushforward_into([&mut a, &mut b], [&t, &u]).unwrap();
            prepared.value();
        });
        let mut prepared = prepare_pullback(&array, &backend, &x, [&[1.0; 2], &[2.0; 2]]).unwrap();
        let (mut a, mut b) = ([0.0; 20], [0.0; 20]);
        assert_allocations(name, 0, || {
            prepared.pullback_into([&mut a, &mut b], &x, [&[1.0; 2], &[2.0; 2]]).unwrap();
            prepared.value_and_pullback_into([&mut a, &mut b], &x, [&[1.0; 2], &[2.0; 2]]).unwrap();
        });
        assert_allocations(name, 2, || drop(prepared.pullback(&x, [&[1.0; 2], &[2.0; 2]]).unwrap()));
        let mut prepared = prepare_pullback_same_point(&array, &backend, &x, [&[1.0; 2], &[2.0; 2]]).unwrap();
        assert_allocations(name, 0, || {
            prepared.pullback_into([&mut a, &mut b], [&[1.0; 2], &[2.0; 2]]).unwrap();
            prepared.value();
        });
        let mut prepared = prepare_pullback(&|x: &[_; 4]| number(x), &backend, [0.1; 4], [1.0]).unwrap();
        assert_allocations(name, 0, || {
            prepared.pullback([0.5; 4], [1.0]).unwrap();
            prepared.value_and_pullback([0.5; 4], [1.0]).unwrap();
        });

        let f = in_place(|y: &mut [_], x: &[_]| vector(y, x), 30);
        let mut prepared = prepare_pushforward(&f, &backend, &x, [&t]).unwrap();
        let mut dy = [0.0; 30];
        assert_allocations(name, 0, || {
            prepared.value_and_pushforward_into([&mut dy], &x, [&t]).unwrap();
        });
        let f = in_place(|y: &mut [_], x: &[_]| vector(y, x), 30);
        let mut prepared = prepare_pullback(&f, &backend, &x, [&[1.0; 30]]).unwrap();
        assert_allocations(name, 0, || {
            prepared.value_and_pullback_into([&mut a], &x, [&[1.0; 30]]).unwrap();
        });
    });
}

#[test]
fn preparing_again_keeps_the_memory() {
    each_engine!(|backend, _tolerance| {
        let name = support::name_of(&backend);
        let (long, short) = (vec![0.5; 40], vec![0.5; 7]);
        let mut prepared = prepare_gradient(&number, &backend, &long).unwrap();
        assert_kept(name, || {
            prepared.prepare_again(&short).unwrap();
            prepared.prepare_again(&long).unwrap();
        });
        let mut prepared = prepare_jacobian(&array, &backend, &long).unwrap();
        assert_kept(name, || {
            prepared.prepare_again(&short).unwrap();
            prepared.prepare_again(&long).unwrap();
        });
        let mut prepared = prepare_pushforward(&array, &backend, &long, [&long]).unwrap();
        assert_kept(name, || {
            prepared.prepare_again(&short, [&short]).unwrap();
            prepared.prepare_again(&long, [&long]).unwrap();
        });
        let mut prepared = prepare_pullback(&array, &backend, &long, [&[1.0; 2]]).unwrap();
        assert_kept(name, || {
            prepared.prepare_again(&short, [&[1.0; 2]]).unwrap();
            prepared.prepare_again(&long, [&[1.0; 2]]).unwrap();
        });
    });
}

/// Calls of the function by one backend: for the matrix, for it with the value, and for preparing it.
macro_rules! check_matrix_calls {
    ($backend:expr, $n:expr, matrix: $matrix:expr, with_value: $with_value:expr) => {{
        let (backend, n) = ($backend, $n);
        let x = vec![0.5; n];
        let what = &format!("{} with {n} inputs", support::name_of(&backend));
        assert_calls(what, $matrix, || gradient(&number, &backend, &x).unwrap());
        assert_calls(what, $with_value, || value_and_gradient(&number, &backend, &x).unwrap());
        let mut prepared = assert_calls(what, 1, || prepare_gradient(&number, &backend, &x).unwrap());
        assert_calls(what, $matrix, || prepared.gradient(&x).unwrap());
        assert_calls(what, $with_value, || prepared.value_and_gradient(&x).unwrap());
        assert_calls(what, $matrix, || jacobian(&array, &backend, &x).unwrap());
        assert_calls(what, $with_value, || value_and_jacobian(&array, &backend, &x).unwrap());
        let mut prepared = assert_calls(what, 1, || prepare_jacobian(&array, &backend, &x).unwrap());
        assert_calls(what, $matrix, || prepared.jacobian(&x).unwrap());
        assert_calls(what, $with_value, || prepared.value_and_jacobian(&x).unwrap());
        assert_calls(what, 1, || prepared.prepare_again(&x).unwrap());
    }};
}

#[test]
fn gradients_and_jacobians_call_the_function_as_often_as_the_method_needs() {
    for n in [1usize, 2, 12, 13, 24, 25, 100] {
        let chunks = n.div_ceil(12);
        check_matrix_calls!(AutoForwardDiff::default(), n, matrix: chunks, with_value: chunks);
        check_matrix_calls!(AutoForwardDiff::with_chunk::<1>(), n, matrix: n, with_value: n);
        check_matrix_calls!(AutoReverseDiff::default(), n, matrix: 1, with_value: 1);
        check_matrix_calls!(AutoFiniteDiff::forward(), n, matrix: n + 1, with_value: n + 1);
        check_matrix_calls!(AutoFiniteDiff::backward(), n, matrix: n + 1, with_value: n + 1);
        check_matrix_calls!(AutoFiniteDiff::central(), n, matrix: 2 * n, with_value: 2 * n + 1);
    }
}

#[test]
fn derivatives_and_products_call_the_function_as_often_as_the_method_needs() {
    let calls = |forward: usize, with_value: usize, backend: AutoFiniteDiff| {
        assert_calls("derivative", forward, || derivative(&curve, &backend, 0.5).unwrap());
        assert_calls("derivative", with_value, || value_and_derivative(&curve, &backend, 0.5).unwrap());
    };
    calls(2, 2, AutoFiniteDiff::forward());
    calls(2, 3, AutoFiniteDiff::central());
    support::each_exact_engine!(|backend| {
        assert_calls("derivative", 1, || derivative(&curve, &backend, 0.5).unwrap());
        assert_calls("derivative", 1, || value_and_derivative(&curve, &backend, 0.5).unwrap());
    });
    let (x, t) = ([0.5; 30], [1.0; 30]);
    support::each_exact_engine!(|backend| {
        // All tangents and all cotangents at once; by the other mode, as many as a Jacobian.
        assert_calls("pushforward", 1, || value_and_pushforward(&array, &backend, &x, [&t, &t, &t]).unwrap());
    });
    assert_calls("pullback", 1, || {
        value_and_pullback(&array, &AutoReverseDiff::default(), &x, [&[1.0; 2]; 3]).unwrap()
    });
    assert_calls("pullback", 1 + 3, || {
        value_and_pullback(&array, &AutoForwardDiff::default(), &x, [&[1.0; 2]; 3]).unwrap()
    });
    assert_calls("pushforward", 4, || pushforward(&array, &AutoFiniteDiff::forward(), &x, [&t, &t, &t]).unwrap());
    assert_calls("pushforward", 6, || pushforward(&array, &AutoFiniteDiff::central(), &x, [&t, &t, &t]).unwrap());
}

#[test]
fn products_at_the_same_point_reuse_what_depends_on_it() {
    let (x, t) = ([0.5; 30], [1.0; 30]);
    let backend = AutoReverseDiff::default();
    let mut held = assert_calls("prepare", 1, || prepare_pushforward_same_point(&array, &backend, &x, [&t]).unwrap());
    assert_calls("pushforward", 0, || held.pushforward([&t]).unwrap());
    let mut held =
        assert_calls("prepare", 1, || prepare_pullback_same_point(&array, &backend, &x, [&[1.0; 2]]).unwrap());
    assert_calls("pullback", 0, || held.pullback([&[1.0, 2.0]]).unwrap());
    // One-sided differences keep f(x), and with it one call of every two.
    let backend = AutoFiniteDiff::forward();
    let mut held = prepare_pushforward_same_point(&array, &backend, &x, [&t]).unwrap();
    assert_calls("pushforward", 1, || held.pushforward([&t]).unwrap());
}

/// What the README and the chapter on preparations name as exceptions.
#[test]
fn nested_derivatives_and_custom_rules_allocate() {
    let counted = |action: &mut dyn FnMut()| {
        action();
        let before = allocations();
        action();
        allocations() - before
    };
    let mut nested = prepare_nth_derivative(&scalar, &AutoForwardDiff::default(), 0.1, Order::<2>).unwrap();
    assert!(counted(&mut || assert!(nested.nth_derivative(0.5).is_ok())) > 0);
    let mut series = prepare_nth_derivative(&scalar, &AutoTaylor, 0.1, Order::<2>).unwrap();
    assert_eq!(counted(&mut || assert!(series.nth_derivative(0.5).is_ok())), 0);

    /// x² with both derivatives, or with the pushforward alone.
    struct Square<const FORWARD: bool>;
    impl<const FORWARD: bool> CustomRule for Square<FORWARD> {
        const NAME: &'static str = "square";
        const GIVEN: Halves = if FORWARD { Halves::Pushforward } else { Halves::Both };
        fn value(&self, x: &[f64], y: &mut Vec<f64>) {
            y.clear();
            y.push(x[0] * x[0]);
        }
        fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
            dy[0] = (x[0] + x[0]) * dx[0];
        }
        fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
            dx[0] = (x[0] + x[0]) * dy[0];
        }
    }
    macro_rules! with_rule {
        ($backend:expr, $rule:expr) => {{
            let (rule, mut grad) = (Custom::new($rule), [0.0]);
            let f = |x: &[_]| rule.number(x);
            let mut prepared = prepare_gradient(&f, &$backend, &[0.5]).unwrap();
            let found = counted(&mut || prepared.gradient_into(&mut grad, &[3.0]).unwrap());
            assert_eq!(grad, [6.0]);
            found
        }};
    }
    assert!(with_rule!(AutoForwardDiff::default(), Square::<false>) > 0);
    assert!(with_rule!(AutoReverseDiff::tape(), Square::<false>) > 0);
    assert_eq!(with_rule!(AutoReverseDiff::compiled(), Square::<false>), 0);
    assert!(with_rule!(AutoReverseDiff::compiled(), Square::<true>) > 0);
}
