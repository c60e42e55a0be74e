//! Times of detections, beside the targets of the reference (`sparsity.md` D.3).
//!
//! `cargo bench -p sparsity-tracer --bench detection [filter]`. Each row: entries, best time of several runs, entries per
//! second, and time relative to one evaluation on plain numbers.

use differentiation_interface_core::{Real, in_place};
use sparsity_tracer::{
    Pattern, TracerLocalSparsityDetector, TracerSparsityDetector, hessian_sparsity, jacobian_sparsity,
};
use std::hint::black_box;
use std::time::Instant;

/// Brusselator on an `n` × `n` periodic grid.
fn brusselator<T: Real>(du: &mut [T], x: &[T], n: usize) {
    let cells = n * n;
    let (u, v) = x.split_at(cells);
    for j in 0..n {
        for i in 0..n {
            let k = i + n * j;
            let (e, w) = ((i + 1) % n + n * j, (i + n - 1) % n + n * j);
            let (s, t) = (i + n * ((j + 1) % n), i + n * ((j + n - 1) % n));
            du[k] = 10.0 * (u[w] + u[e] + u[s] + u[t] - 4.0 * u[k]) + 1.0 + u[k] * u[k] * v[k] - 4.4 * u[k];
            du[cells + k] = 10.0 * (v[w] + v[e] + v[s] + v[t] - 4.0 * v[k]) + 3.4 * u[k] - u[k] * u[k] * v[k];
        }
    }
}

fn tridiagonal<T: Real>(y: &mut [T], x: &[T]) {
    let n = x.len();
    for i in 0..n {
        let left = if i > 0 { x[i - 1] } else { T::zero() };
        let right = if i + 1 < n { x[i + 1] } else { T::zero() };
        y[i] = (3.0 - 2.0 * x[i]) * x[i] - left - 2.0 * right + 1.0;
    }
}

/// A long computation on ten inputs, shared by all outputs.
fn trunk<T: Real>(y: &mut [T], x: &[T], wide: usize) {
    let n = x.len();
    let mut shared = T::zero();
    for k in 0..n {
        shared = (shared + x[k * 7 % wide]).sin();
    }
    for i in 0..n {
        y[i] = shared * x[i];
    }
}

fn cumsum<T: Real>(y: &mut [T], x: &[T]) {
    let mut sum = T::zero();
    for i in 0..x.len() {
        sum += x[i];
        y[i] = sum;
    }
}

fn layers<T: Real>(y: &mut [T], x: &[T]) {
    let n = x.len();
    let mut state = x.to_vec();
    for _ in 0..3 {
        let row: Vec<T> =
            (0..n).map(|i| (0..n).map(|j| ((i * j % 7) as f64 + 1.0) * state[j]).sum::<T>().tanh()).collect();
        state = row;
    }
    y.copy_from_slice(&state);
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0].powi(2)).powi(2)).sum()
}

/// The arrow head of SparseConnectivityTracer.jl's benchmarks: `k` dense rows and columns, and a band of half width `k - 1`.
fn arrow_head<T: Real>(x: &[T], k: usize) -> T {
    let head: T = x[..k].iter().sum();
    let arrow: T = x.iter().map(|v| head * v).sum();
    let band: T = x.windows(k).map(|w| w.iter().sum::<T>().powi(2)).sum();
    arrow + band
}

/// Best time of `run`, which returns its pattern.
fn best(mut run: impl FnMut() -> Pattern) -> (f64, usize) {
    let mut best = f64::INFINITY;
    let mut entries = 0;
    let begun = Instant::now();
    let mut runs = 0;
    while runs < 3 || (begun.elapsed().as_secs_f64() < 0.5 && runs < 2000) {
        let start = Instant::now();
        let pattern = black_box(run());
        best = best.min(start.elapsed().as_secs_f64());
        entries = pattern.nnz();
        runs += 1;
    }
    (best, entries)
}

fn best_plain(mut run: impl FnMut()) -> f64 {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn report(name: &str, (seconds, entries): (f64, usize), plain: f64) {
    println!(
        "{name:36} {entries:>10} entries {:>10.3} ms {:>8.1} M/s {:>7.1} evaluations",
        seconds * 1e3,
        entries as f64 / seconds / 1e6,
        seconds / plain
    );
}

fn in_place_case(name: &str, n: usize, f: impl Fn(&mut [f64], &[f64]), run: impl FnMut() -> Pattern) {
    let x: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect();
    let mut y = vec![0.0; n];
    let plain = best_plain(|| f(black_box(&mut y), black_box(&x)));
    report(name, best(run), plain);
}

/// Detection of an in-place function with as many outputs as inputs.
macro_rules! jacobian_case {
    ($filter:expr, $name:expr, $n:expr, $detector:expr, |$y:ident, $x:ident| $body:expr) => {
        let name: String = $name;
        if name.contains($filter) {
            let n: usize = $n;
            let x: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect();
            let f = in_place(|$y: &mut [_], $x: &[_]| $body, n);
            in_place_case(
                &name,
                n,
                |$y, $x| $body,
                || jacobian_sparsity(&f, &$detector, black_box(&x)).expect("the function has no branches"),
            );
        }
    };
}

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or_default();
    let filter = filter.as_str();
    for n in [6, 24, 32, 64, 128, 256, 512] {
        jacobian_case!(filter, format!("brusselator {n}"), 2 * n * n, TracerSparsityDetector, |y, x| brusselator(
            y, x, n
        ));
    }
    for n in [32, 128] {
        jacobian_case!(filter, format!("brusselator local {n}"), 2 * n * n, TracerLocalSparsityDetector, |y, x| {
            brusselator(y, x, n)
        });
    }
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        jacobian_case!(filter, format!("tridiagonal {n}"), n, TracerSparsityDetector, |y, x| tridiagonal(y, x));
    }
    for n in [25_000, 50_000, 100_000, 200_000] {
        jacobian_case!(filter, format!("trunk of 10, {n}"), n, TracerSparsityDetector, |y, x| trunk(y, x, 10));
    }
    for n in [5_000, 10_000, 20_000] {
        jacobian_case!(filter, format!("trunk of 1000, {n}"), n, TracerSparsityDetector, |y, x| trunk(y, x, 1000));
    }
    for n in [1_000, 2_000, 4_000] {
        jacobian_case!(filter, format!("cumsum {n}"), n, TracerSparsityDetector, |y, x| cumsum(y, x));
    }
    for n in [100, 300, 1000] {
        jacobian_case!(filter, format!("dense layers {n}"), n, TracerSparsityDetector, |y, x| layers(y, x));
    }

    let hessian = |name: String, n: usize, run: &dyn Fn(&[f64]) -> Pattern, plain: &dyn Fn(&[f64]) -> f64| {
        if name.contains(filter) {
            let x: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect();
            let time = best_plain(|| {
                black_box(plain(black_box(&x)));
            });
            report(&name, best(|| run(black_box(&x))), time);
        }
    };
    for n in [1_000, 100_000, 1_000_000] {
        hessian(
            format!("rosenbrock {n}"),
            n,
            &|x| hessian_sparsity(&|x: &[_]| rosenbrock(x), &TracerSparsityDetector, x).expect("no branches"),
            &|x| rosenbrock(x),
        );
    }
    for (n, k) in [(200, 16), (3200, 2)] {
        hessian(
            format!("arrow head {n}, {k}"),
            n,
            &|x| hessian_sparsity(&|x: &[_]| arrow_head(x, k), &TracerSparsityDetector, x).expect("no branches"),
            &|x| arrow_head(x, k),
        );
    }
}
