//! The memory of a reverse sweep over a long loop: it does not grow with the number of steps.

use differentiation_interface::checkpoints::{Checkpointed, Step};
use differentiation_interface::prelude::*;
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

/// The largest memory of the process up to now, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

/// Reverse mode over forward mode: the loop on dual numbers is a rule for the engine that records.
#[cfg(target_os = "linux")]
#[test]
fn tangents_of_a_loop_are_not_recorded() {
    let (x, forward): (&[f64], _) = (&[1.0, 2.0, 0.5], AutoForwardDiff::default());
    let steps = 100_000;
    let of = Checkpointed::new(Oscillator, 2, steps);
    let f = |x: &[_]| of.run(&[x[0], x[0] * 0.0], &x[1..])[0];
    let before = peak();
    let found = hessian(&f, &SecondOrder(AutoReverseDiff::tape(), forward), x).unwrap();
    // A recording of the tangents has ten operations of 24 bytes and more in a step.
    let grown = peak() - before;
    assert!(grown < 200 * steps, "{grown} bytes");
    let expected = hessian(&|x: &[_]| looped(steps, x), &forward, x).unwrap();
    for (a, b) in found.as_slice().iter().zip(expected.as_slice()) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{found:?} {expected:?}");
    }
}
