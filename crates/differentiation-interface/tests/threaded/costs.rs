//! What threads cost: allocations of prepared calls, evaluations, and where one thread does the work.

use crate::{cycle, divided, energy, point, pool};
use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Allocations of a closure on its own thread and on the others of the pool.
fn allocations_in_pool(threads: usize, call: &mut (impl FnMut() + Send)) -> usize {
    let pool = pool(threads);
    let count = || pool.broadcast(|_| allocations()).iter().sum::<usize>();
    let overhead = {
        let before = count();
        pool.install(|| ());
        count() - before
    };
    let before = count();
    pool.install(call);
    (count() - before).saturating_sub(overhead)
}

#[differentiable]
fn products(y: &mut [f64], x: &[f64]) {
    for i in 0..y.len() {
        y[i] = x[i] * x[(i + 1) % x.len()];
    }
}

#[differentiable]
fn well(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 1..x.len() {
        sum += x[i - 1] * x[i] * x[i];
    }
    sum
}

/// `rayon` may allocate for its queues, seldom; one allocation in each of the 20 calls would be 20.
#[test]
fn prepared_calls_allocate_nothing() {
    let x = point(96);
    macro_rules! allocate_nothing {
        ($calls:expr) => {{
            let mut calls = $calls;
            allocations_in_pool(2, &mut calls);
            let count = allocations_in_pool(2, &mut calls);
            assert!(count < 5, "{count}");
        }};
    }
    macro_rules! of_jacobian {
        ($backend:expr) => {{
            let f = in_place(Products, 96);
            let mut prepared = prepare_jacobian(&f, &divided($backend, 2), &x).unwrap();
            let mut jac = Matrix::filled(96, 96, 0.0);
            allocate_nothing!(|| (0..20).for_each(|_| prepared.jacobian_into(&mut jac, &x).unwrap()));
        }};
    }
    of_jacobian!(AutoForwardDiff::default());
    of_jacobian!(AutoFiniteDiff::central());
    of_jacobian!(AutoReverseDiff::default());
    macro_rules! of_hessian {
        ($backend:expr) => {{
            let mut prepared = prepare_hessian(&Well, &divided($backend, 2), &x).unwrap();
            let mut hess = Matrix::filled(96, 96, 0.0);
            allocate_nothing!(|| (0..20).for_each(|_| prepared.hessian_into(&mut hess, &x).unwrap()));
        }};
    }
    of_hessian!(AutoForwardDiff::default());
    of_hessian!(AutoReverseDiff::default());
    of_hessian!(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
    let f = in_place(Products, 96);
    let mut prepared = prepare_jacobian(&f, &divided(AutoSparse::new(AutoFiniteDiff::central()), 2), &x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    allocate_nothing!(|| (0..20).for_each(|_| prepared.jacobian_into(&mut jac, &x).unwrap()));
}

/// The seeds of the shares together are those of one thread: 34 passes, the last of which is incomplete. It is a call of its own, for which its
/// thread evaluates the point.
#[test]
fn threads_divide_the_passes() {
    let x = point(400);
    let calls = AtomicUsize::new(0);
    let f = |x: &[_]| {
        calls.fetch_add(1, Ordering::Relaxed);
        cycle(x)
    };
    for (threads, expected) in [(1, 34), (2, 35), (4, 35)] {
        let mut prepared = prepare_jacobian(&f, &divided(AutoForwardDiff::default(), threads), &x).unwrap();
        let mut jac = Matrix::filled(400, 400, 0.0);
        calls.store(0, Ordering::Relaxed);
        prepared.jacobian_into(&mut jac, &x).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), expected, "{threads}");
    }
}

/// Little work, one thread and gradients on a tape stay on the calling thread.
#[test]
fn little_work_stays_on_the_calling_thread() {
    let own = thread::current().id();
    let elsewhere = AtomicUsize::new(0);
    let number = |x: &[_]| {
        elsewhere.fetch_add(usize::from(thread::current().id() != own), Ordering::Relaxed);
        energy(x)
    };
    let x = point(60);
    gradient(&number, &AutoThreaded::new(AutoForwardDiff::default()).with_threads(2), &x).unwrap();
    gradient(&number, &divided(AutoForwardDiff::default(), 1), &x).unwrap();
    assert_eq!(elsewhere.load(Ordering::Relaxed), 0);
    gradient(&number, &divided(AutoForwardDiff::default(), 2), &x).unwrap();
    assert!(elsewhere.load(Ordering::Relaxed) > 0);
}
