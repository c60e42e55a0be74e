//! Checkpointed loops: the memory of a reverse sweep, which does not grow with the number of steps, and tangents that are absent.

use differentiation_interface::checkpoints::{Checkpointed, Step};
use differentiation_interface::error::ErrorKind;
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::{Num, Scalar};
use differentiation_interface_test::{CountingAllocator, allocated_bytes, counts_allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A damped oscillator by the leapfrog method.
struct Oscillator;

impl Step for Oscillator {
    fn step<T: Real>(&self, _: usize, u: &mut [T], p: &[T]) {
        let h = 1e-3;
        u[1] -= h * (p[0] * u[0] + p[1] * u[1]);
        let v = u[1];
        u[0] += h * v;
    }
}

fn looped<T: Real>(steps: usize, x: &[T]) -> T {
    let mut u = [x[0], T::zero()];
    (0..steps).for_each(|i| Oscillator.step(i, &mut u, &x[1..]));
    u[0]
}

/// The gradient, and the bytes that were allocated for it, freed ones included.
fn counted(gradient: impl FnOnce() -> Result<Vec<f64>, Error>) -> (Vec<f64>, usize) {
    let before = allocated_bytes();
    let grad = gradient().unwrap();
    (grad, allocated_bytes() - before)
}

#[test]
fn memory_does_not_grow_with_the_number_of_steps() {
    assert!(counts_allocations());
    let (x, tape) = (&[1.0, 2.0, 0.5][..], AutoReverseDiff::tape());
    for steps in [1000, 30_000] {
        let of = Checkpointed::new(Oscillator, 2, steps).with_snapshots(20);
        let (found, bytes) = counted(|| gradient(&|x: &[_]| of.run(&[x[0], x[0] * 0.0], &x[1..])[0], &tape, x));
        let (expected, on_tape) = counted(|| gradient(&|x: &[_]| looped(steps, x), &tape, x));
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{steps} steps: {found:?} {expected:?}");
        }
        // Twenty states of two numbers, the numbers of one step, its tape, and a list of parts.
        assert!(bytes < 8_000, "{steps} steps: {bytes} bytes");
        // Four operations of 24 bytes in a step.
        assert!(on_tape > 90 * steps, "{steps} steps: {on_tape} bytes");
    }
}

#[test]
fn memory_is_that_of_the_snapshots() {
    let (x, tape) = (&[1.0, 2.0, 0.5][..], AutoReverseDiff::tape());
    let bytes = |snapshots| {
        let of = Checkpointed::new(Oscillator, 2, 10_000).with_snapshots(snapshots);
        counted(|| gradient(&|x: &[_]| of.run(&[x[0], x[0] * 0.0], &x[1..])[0], &tape, x)).1
    };
    // Two numbers of a snapshot, and its part of the loop in a list that grows by doubling.
    let (few, many) = (bytes(10), bytes(1010));
    assert!((16_000..100_000).contains(&(many - few)), "{few} {many}");
}

/// Twenty steps of the oscillator.
struct Twenty;

impl Step for Twenty {
    fn step<T: Real>(&self, i: usize, u: &mut [T], p: &[T]) {
        (0..20).for_each(|_| Oscillator.step(i, u, p));
    }
}

/// Reverse mode over forward mode: the loop on dual numbers is a rule for the engine that records, so that a small limit is enough.
#[test]
fn tangents_of_a_loop_are_not_recorded() {
    let (x, forward, steps): (&[f64], _, _) = (&[1.0, 2.0, 0.5], AutoForwardDiff::default(), 10_000);
    let of = Checkpointed::new(Twenty, 2, steps / 20);
    let limited = SecondOrder(AutoReverseDiff::compiled().with_memory_limit(10_000), forward);
    let plain = hessian(&|x: &[_]| looped(steps, x), &limited, x).unwrap_err();
    assert_eq!(plain.kind(), ErrorKind::TapeOverflow);
    let expected = hessian(&|x: &[_]| looped(steps, x), &forward, x).unwrap();
    let by_tape = SecondOrder(AutoReverseDiff::tape(), forward);
    let (found, bytes) =
        counted(|| hessian(&|x: &[_]| of.run(&[x[0], x[0] * 0.0], &x[1..])[0], &by_tape, x).map(Matrix::into_vec));
    // A tape of all steps takes 20 MB.
    assert!(bytes < 4_000_000, "{bytes}");
    let by_program = hessian(&|x: &[_]| of.run(&[x[0], x[0] * 0.0], &x[1..])[0], &limited, x).unwrap().into_vec();
    for found in [found, by_program] {
        for (a, b) in found.iter().zip(expected.as_slice()) {
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{found:?} {expected:?}");
        }
    }
}

/// u₀ ← u₀ p, with a number beside it whose square root has no derivative.
struct BesideRoot;

impl Step for BesideRoot {
    fn step<T: Real>(&self, _: usize, u: &mut [T], p: &[T]) {
        u[0] = u[0] * p[0] + u[1].sqrt() * p[0];
    }
}

/// u₀ ← √u₀ p, from 0 on.
struct FromZero;

impl Step for FromZero {
    fn step<T: Real>(&self, i: usize, u: &mut [T], p: &[T]) {
        u[0] = if i == 0 { u[0].sqrt() * p[0] + p[0] } else { u[0] * u[0] };
    }
}

/// u₀ ← u₀ p, then a constant, then √u₀ p + p²: the tangent of the first step is lost in the second.
struct Lost;

impl Step for Lost {
    fn step<T: Real>(&self, i: usize, u: &mut [T], p: &[T]) {
        u[0] = match i {
            0 => u[0] * p[0],
            1 => T::zero(),
            _ => u[0].sqrt() * p[0] + p[0] * p[0],
        };
    }
}

/// A number of the initial state that is constant, or becomes one, has no tangent then, and meets infinite derivatives without harm.
#[test]
fn constants_in_the_state_have_no_tangents() {
    let (x, forward) = (&[2.0][..], AutoForwardDiff::default());
    let beside = Checkpointed::new(BesideRoot, 2, 3); // x⁴
    let from_zero = Checkpointed::new(FromZero, 1, 3); // x⁴, as the steps are x, x², x⁴
    let lost = Checkpointed::new(Lost, 1, 3); // x²
    macro_rules! check {
        ($backend:expr) => {
            let backend = $backend;
            let f = |x: &[_]| beside.run(&[x[0], Num::constant(0.0)], x)[0];
            assert_eq!(hessian(&f, &backend, x).unwrap(), [[48.0]], "{}", stringify!($backend));
            let f = |x: &[_]| from_zero.run(&[Num::constant(0.0)], x)[0];
            assert_eq!(hessian(&f, &backend, x).unwrap(), [[48.0]], "{}", stringify!($backend));
            let f = |x: &[_]| lost.run(x, x)[0];
            assert_eq!(hessian(&f, &backend, x).unwrap(), [[2.0]], "{}", stringify!($backend));
        };
    }
    check!(forward);
    check!(AutoReverseDiff::tape());
    check!(AutoReverseDiff::compiled());
    check!(SecondOrder(forward, AutoReverseDiff::tape()));
    check!(SecondOrder(AutoReverseDiff::tape(), forward));
    check!(SecondOrder(AutoReverseDiff::compiled(), forward));
}
