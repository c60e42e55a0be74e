//! Prepared calls of a backend chosen at run time allocate as often as those of the static backend: never.

use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations as allocations_so_far;

/// The allocations of a call.
fn allocations(mut call: impl FnMut()) -> usize {
    let before = allocations_so_far();
    call();
    allocations_so_far() - before
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0] * w[0]).powi(2)).sum()
}
fn residuals<T: Real>(y: &mut [T], x: &[T]) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = (x[i + 1] - x[i]).sin();
    }
}

const N: usize = 20;

#[test]
fn first_order_allocates_nothing() {
    let x = [0.5; N];
    let mut grad = [0.0; N];
    let mut jac = Matrix::filled(N - 1, N, 0.0);
    let mut product = [0.0; N - 1];
    let differences = ["FiniteDiff", "FiniteDiff(scheme=central)"];
    let exact = ["ForwardDiff", "ForwardDiff(chunk=5)", "ReverseDiff", "ReverseDiff(compile=true)"];
    for name in exact.into_iter().chain(differences) {
        let backend: AnyBackend = name.parse().unwrap();
        let f = |x: &[_]| rosenbrock(x);
        let mut prepared = prepare_gradient(&f, &backend, &[0.1; N]).unwrap();
        let count = allocations(|| {
            prepared.value_and_gradient_into(&mut grad, &x).unwrap();
        });
        assert_eq!(count, 0, "{name}: gradient");
        let f = in_place(|y: &mut [_], x: &[_]| residuals(y, x), N - 1);
        let mut prepared = prepare_jacobian(&f, &backend, &[0.1; N]).unwrap();
        let count = allocations(|| {
            prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
        });
        assert_eq!(count, 0, "{name}: jacobian");
        let f = in_place(|y: &mut [_], x: &[_]| residuals(y, x), N - 1);
        let mut prepared = prepare_pushforward(&f, &backend, &[0.1; N], [&x]).unwrap();
        let count = allocations(|| {
            prepared.pushforward_into([&mut product], &x, [&x]).unwrap();
        });
        assert_eq!(count, 0, "{name}: pushforward");
        let f = in_place(|y: &mut [_], x: &[_]| residuals(y, x), N - 1);
        let mut prepared = prepare_pullback(&f, &backend, &[0.1; N], [&product]).unwrap();
        let dy = product;
        let count = allocations(|| {
            prepared.pullback_into([&mut grad], &x, [&dy]).unwrap();
        });
        assert_eq!(count, 0, "{name}: pullback");
    }
}

#[test]
fn second_order_allocates_nothing() {
    let x = [0.5; N];
    let mut grad = [0.0; N];
    let mut product = [0.0; N];
    let mut hess = Matrix::filled(N, N, 0.0);
    let first = ["ForwardDiff", "ReverseDiff", "FiniteDiff(scheme=central)"];
    let compiled = first.iter().map(|outer| (outer, &"ReverseDiff(compile=true)"));
    let pairs = first.iter().flat_map(|outer| first.iter().map(move |inner| (outer, inner)));
    for (outer, inner) in pairs.chain(compiled) {
        let backend: AnyBackend = format!("SecondOrder({outer}, {inner})").parse().unwrap();
        let f = |x: &[_]| rosenbrock(x);
        let mut prepared = prepare_hessian(&f, &backend, &[0.1; N]).unwrap();
        let count = allocations(|| {
            prepared.value_gradient_and_hessian_into(&mut grad, &mut hess, &x).unwrap();
        });
        assert_eq!(count, 0, "{backend}: hessian");
        let f = |x: &[_]| rosenbrock(x);
        let mut prepared = prepare_hvp(&f, &backend, &[0.1; N], [&x]).unwrap();
        let count = allocations(|| {
            prepared.gradient_and_hvp_into(&mut grad, [&mut product], &x, [&x]).unwrap();
        });
        assert_eq!(count, 0, "{backend}: hvp");
    }
}
