//! A distributed Gauss-Newton fit: three peaks of a spectrum, whose parameters are known because the data is exact.
//!
//! Each rank evaluates the Jacobian's columns of its part and keeps the rows of its part of the measurements; the normal equations are one
//! sum over all rows. Run it by `mpirun -n 4 target/debug/examples/gauss_newton`.

use differentiation_interface::prelude::*;
use differentiation_interface_mpi::{Distributed, Ranks, RowSplit, mpi};

/// Height, centre and width of each peak.
const TRUTH: [f64; 9] = [1.0, -1.5, 0.5, 2.5, 0.25, 0.75, 0.5, 2.0, 0.4];
const MEASUREMENTS: usize = 201;

/// The place of a measurement.
fn place(k: usize) -> f64 {
    -4.0 + 8.0 * k as f64 / (MEASUREMENTS - 1) as f64
}

/// The spectrum at all places minus the data.
struct Residuals {
    data: Vec<f64>,
}

fn spectrum<T: Real>(p: &[T], t: f64) -> T {
    p.chunks(3).map(|peak| peak[0] * (-((t - peak[1]) / peak[2]).powi(2)).exp()).sum()
}

impl<T: Real> Function<[T]> for Residuals {
    type Output = Vec<T>;
    fn call(&self, p: &[T]) -> Vec<T> {
        self.data.iter().enumerate().map(|(k, &measured)| spectrum(p, place(k)) - measured).collect()
    }
}

/// Solves the symmetric positive definite system `a·x = b` by Cholesky's decomposition.
fn solve(n: usize, a: &mut [f64], b: &mut [f64]) {
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
        let pivot = a[j * n + j].sqrt();
        assert!(pivot > 0.0, "the peaks cannot be told apart");
        (j..n).for_each(|i| a[i * n + j] /= pivot);
    }
    for i in 0..n {
        b[i] = (b[i] - (0..i).map(|k| a[i * n + k] * b[k]).sum::<f64>()) / a[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|k| a[k * n + i] * b[k]).sum::<f64>()) / a[i * n + i];
    }
}

fn main() -> Result<(), Error> {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let ranks = Ranks::new(&universe.world());
    let f = Residuals { data: (0..MEASUREMENTS).map(|k| spectrum(&TRUTH, place(k))).collect() };
    let n = TRUTH.len();
    let mut p: Vec<f64> = TRUTH.iter().enumerate().map(|(i, v)| v * if i % 2 == 0 { 1.08 } else { 0.93 }).collect();
    let backend = Distributed::new(&ranks, AutoForwardDiff::default()).in_rows(RowSplit::Even);
    let mut prepared = prepare_jacobian(&f, &backend, &p)?;
    let mut jac = prepared.jacobian(&p)?;
    let mut steps = 0;
    loop {
        let r: Vec<f64> = prepared.value_and_jacobian_into(&mut jac, &p)?.to_vec();
        // JᵀJ and Jᵀr, row by row of the Jacobian; each rank has its rows.
        let sums = ranks.sum(MEASUREMENTS, n * n + n, |i, out| {
            for (j, a) in jac.row(i) {
                jac.row(i).for_each(|(k, b)| out[j * n + k] = a * b);
                out[n * n + j] = a * r[i];
            }
        })?;
        let (mut normal, mut step) = (sums[..n * n].to_vec(), sums[n * n..].to_vec());
        solve(n, &mut normal, &mut step);
        p.iter_mut().zip(&step).for_each(|(p, step)| *p -= step);
        steps += 1;
        if step.iter().all(|step| step.abs() < 1e-13) {
            break;
        }
        assert!(steps < 30, "no convergence");
    }
    for (found, truth) in p.iter().zip(TRUTH) {
        assert!((found - truth).abs() < 1e-12, "{found} instead of {truth}");
    }
    ranks.agree(&p)?;
    if ranks.rank() == 0 {
        println!("{steps} steps on {} rank(s)", ranks.size());
        p.iter().for_each(|p| println!("bits {:016x}", p.to_bits()));
    }
    Ok(())
}
