//! A backend chosen at run time against the static backend it stands for: same results, bit by bit, same calls, clear errors.

mod allocations;
mod behaviour;
mod calls;
mod results;
mod text;

use differentiation_interface::backends::any::{FirstOrder, ParseBackendError};
use differentiation_interface::backends::forward_diff::AutoForwardDiff as Forward;
use differentiation_interface::prelude::*;
use differentiation_interface_test::CountingAllocator;
use proptest::prelude::*;
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn smooth<T: Real>(x: &[T]) -> T {
    let mut sum = T::zero();
    for (i, w) in x.windows(2).enumerate() {
        sum += (1.0 - w[0]).powi(2) + 3.0 * (w[1] - w[0] * w[0]).powi(2) + (w[0] * w[1]).sin() / (i as f64 + 2.0);
    }
    if sum > 1.0 { sum * T::constant(0.5) + x[0].exp() } else { sum }
}
fn vector<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0] * x[1], x[1].exp() + 2.0, x.iter().map(|v| v.tanh()).sum(), T::constant(7.0), smooth(x)]
}
fn in_place_vector<T: Real>(y: &mut [T], x: &[T]) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = x[i] * x[i + 1].cos();
    }
}
fn curve<T: Real>(t: T) -> [T; 3] {
    [t.sin(), t * t * t, T::constant(2.0)]
}
fn wave<T: Real>(t: T) -> T {
    (t * t).sin() + t.exp()
}
fn single<T: Real<f32>>(x: &[T]) -> T {
    x.iter().map(|v| v.exp() * v).sum()
}
fn scaled<T: Real>(x: &[T], k: &[f64], work: &mut [T]) -> T {
    for ((w, x), k) in work.iter_mut().zip(x).zip(k) {
        *w = *x * *k;
    }
    smooth(work)
}

/// Takes another branch where the weighted sum is negative.
fn weighted<T: Real>(x: &[T], k: &[T]) -> T {
    let sum: T = x.iter().zip(k).map(|(x, k)| x * x * k).sum();
    if sum > 0.0 { sum.sqrt() } else { sum * x[0] + x[1].powf(k[4]) }
}
fn chosen<T: Real>(x: &[T]) -> Vec<T> {
    let one = T::constant(1.0);
    vec![x[0].less_than(x[1]).select(x[0] * x[2], x[1]), x[2].at_least(one).select(one, x[3] * x[3])]
}
fn bent<T: Real>(x: &[T]) -> T {
    if x[4] < 0.5 { smooth(x) * x[0] } else { smooth(x) + x[4].powi(3) }
}
fn ripple<T: Real>(t: T, k: &[T]) -> T {
    (k[0] * t).sin() * k[1] + t.powi(3)
}

const X: [f64; 5] = [0.3, -0.8, 1.2, 0.5, -0.4];
const DX: [f64; 5] = [1.0, 0.5, -2.0, 0.0, 0.25];
const DX2: [f64; 5] = [0.0, 1.0, 0.0, -1.5, 3.0];
