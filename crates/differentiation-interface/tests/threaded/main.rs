//! Derivatives divided among threads: the kit, the same bits as one thread, errors and panics, allocations.

mod costs;
mod equal;
mod failures;
mod kit;
mod outputs;

use differentiation_interface::prelude::*;
use differentiation_interface_test::CountingAllocator;
use rayon::{ThreadPool, ThreadPoolBuilder};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A pool of its own for each number of threads, whatever the machine has.
fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// All work divided, however little.
fn divided<B>(backend: B, threads: usize) -> AutoThreaded<B> {
    AutoThreaded::new(backend).with_threads(threads).with_least_work(0)
}

/// Points with zeros of both signs, so that the signs of zeros in results differ where seeds share a pass in another way.
fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| [0.5, -0.0, 1.25, 0.0, -0.75][i % 5] * (1.0 + i as f64 / 64.0)).collect()
}

/// Lorenz-96, with a decision and a reciprocal whose derivative is not finite at zero.
fn cycle<T: Real>(x: &[T]) -> Vec<T> {
    let n = x.len();
    (0..n)
        .map(|i| {
            let (next, last, before) = (x[(i + 1) % n], x[(i + n - 1) % n], x[(i + n - 2) % n]);
            let rate = (next - before) * last - x[i] + 8.0;
            if i % 7 == 3 && x[i] > 0.0 { rate - (x[i] * last).sin() } else { -rate }
        })
        .collect()
}

fn energy<T: Real>(x: &[T]) -> T {
    cycle(x).iter().enumerate().map(|(i, &y)| (y * 0.125).sin() * (i as f64) + y * x[0]).sum()
}

/// The two as functions of every number type.
struct Cycle;
impl<T: Real> Function<[T]> for Cycle {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        cycle(x)
    }
}
struct Energy;
impl<T: Real> Function<[T]> for Energy {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        energy(x)
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
