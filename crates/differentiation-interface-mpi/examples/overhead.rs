//! Times a dense and a sparse Jacobian by all ranks against the backend alone: minima of interleaved repetitions.
//!
//! Run it by `mpirun -n 2 target/release/examples/overhead`. With one rank it prints the overhead, with more the gain.

use differentiation_interface::operators::{JacobianBackend, PreparedJacobian};
use differentiation_interface::point::Slice;
use differentiation_interface::prelude::*;
use differentiation_interface_mpi::mpi::traits::CommunicatorCollectives;
use differentiation_interface_mpi::{Distributed, Ranks, RowSplit, mpi};
use std::hint::black_box;
use std::time::Instant;

/// Every output depends on every input.
struct Dense;
impl<T: Real> Function<[T]> for Dense {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let sum: T = x.iter().map(|v| v.sin()).sum();
        x.iter().map(|&v| (v * sum).cos() + v.exp() * sum).collect()
    }
}

/// Fields on a square grid with sides of `n` points, coupled to 24 neighbours.
struct Grid(usize);
impl<T: Real> Function<[T]> for Grid {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let n = self.0;
        let at = |i: usize, j: usize| x[(i % n) * n + j % n];
        (0..n * n)
            .map(|k| {
                let (i, j) = (k / n + n, k % n + n);
                let near: T = (0..25).map(|d| at(i + d / 5 - 2, j + d % 5 - 2)).sum();
                (near * 0.1).sin() * at(i, j).exp()
            })
            .collect()
    }
}

/// Coupled pendulums after some time, by the midpoint rule: much work for each entry.
struct Pendulums;
impl<T: Real> Function<[T]> for Pendulums {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let n = x.len() / 2;
        let slope = |x: &[T]| -> Vec<T> {
            let force = |i: usize| -x[i].sin() + 0.3 * (x[(i + 1) % n] - 2.0 * x[i] + x[(i + n - 1) % n]);
            x[n..].iter().copied().chain((0..n).map(force)).collect()
        };
        let step = |x: &[T], dx: &[T], h: f64| -> Vec<T> { x.iter().zip(dx).map(|(&x, &dx)| x + h * dx).collect() };
        (0..200).fold(x.to_vec(), |x, _| step(&x, &slope(&step(&x, &slope(&x), 0.005)), 0.01))
    }
}

type Prepared<'f, F, B> = PreparedJacobian<&'f F, B, Slice<f64>>;

/// Prints the ratio of times.
fn compare<F, A, D>(ranks: &Ranks, name: &str, f: &F, alone: &A, distributed: &D, x: &[f64], barrier: &dyn Fn())
where
    A: JacobianBackend<F, Slice<f64>, ()>,
    D: JacobianBackend<F, Slice<f64>, ()>,
{
    let mut alone: Prepared<'_, F, A> = prepare_jacobian(f, alone, x).expect("it is prepared");
    let mut shared: Prepared<'_, F, D> = prepare_jacobian(f, distributed, x).expect("it is prepared");
    let (mut a, mut b) = (alone.jacobian(x).expect("it is right"), shared.jacobian(x).expect("it is right"));
    let mut least = [f64::INFINITY; 2];
    for _ in 0..25 {
        // The backend alone on one rank only, while the others wait.
        barrier();
        if ranks.rank() == 0 {
            let start = Instant::now();
            alone.jacobian_into(black_box(&mut a), black_box(x)).expect("it is right");
            least[0] = least[0].min(start.elapsed().as_secs_f64());
        }
        barrier();
        let start = Instant::now();
        shared.jacobian_into(black_box(&mut b), black_box(x)).expect("it is right");
        least[1] = least[1].min(start.elapsed().as_secs_f64());
    }
    if ranks.rank() == 0 {
        let [alone, shared] = least.map(|seconds| seconds * 1e3);
        println!("{name}: alone {alone:.3} ms, {} rank(s) {shared:.3} ms, ratio {:.3}", ranks.size(), shared / alone);
    }
}

fn main() {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    let ranks = Ranks::new(&world);
    let barrier = || world.barrier();
    let forward = AutoForwardDiff::default();
    let x: Vec<f64> = (0..400).map(|i| 0.3 + f64::from(i % 13) * 0.05).collect();
    compare(&ranks, "dense 400 x 400", &Dense, &forward, &Distributed::new(&ranks, forward), &x, &barrier);
    let rows = Distributed::new(&ranks, forward).in_rows(RowSplit::Even);
    compare(&ranks, "dense 400 x 400 in rows", &Dense, &forward, &rows, &x, &barrier);
    let x: Vec<f64> = (0..240).map(|i| 0.3 + f64::from(i % 13) * 0.05).collect();
    let shared = Distributed::new(&ranks, forward);
    compare(&ranks, "dense 240 x 240, much work", &Pendulums, &forward, &shared, &x, &barrier);
    let x: Vec<f64> = (0..128 * 128).map(|i| 0.3 + f64::from(i % 13) * 0.05).collect();
    let (alone, part) = (AutoSparse::new(forward), AutoSparse::new(ranks.part(forward)));
    let shared = Distributed::over(&ranks, part);
    compare(&ranks, "sparse 16384, 25 entries in each row", &Grid(128), &alone, &shared, &x, &barrier);
    let rows = shared.in_rows(RowSplit::Even);
    compare(&ranks, "sparse 16384 in rows", &Grid(128), &alone, &rows, &x, &barrier);
}
