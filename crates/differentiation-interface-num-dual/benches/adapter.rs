//! Time of a prepared gradient by [`AutoNumDual`] over that of `num-dual` called directly with as many tangents in a pass.
//!
//! `cargo bench -p differentiation-interface-num-dual`. Minima of rounds in which all contenders run one after the other. All results are compared
//! before anything is timed; without the argument `--bench`, which `cargo bench` passes and `cargo test` does not, that is all.

use differentiation_interface::prelude::*;
use differentiation_interface_num_dual::{AutoNumDual, raw};
use num_dual::{Derivative, DualNum, DualSVec64};
use std::hint::black_box;
use std::time::Instant;

const N: usize = 8;

fn rosenbrock<T: Real>(x: &[T]) -> T {
    let mut sum = T::constant(0.0);
    for w in x.windows(2) {
        let (a, b) = (w[1] - w[0] * w[0], -w[0] + 1.0);
        sum += a * a * 100.0 + b * b;
    }
    sum
}

fn rosenbrock_of_duals<D: DualNum<Primitive = f64> + Copy>(x: &[D]) -> D {
    let mut sum = D::from(0.0);
    for w in x.windows(2) {
        let (a, b) = (w[1] - w[0] * w[0], -w[0] + 1.0);
        sum += a * a * 100.0 + b * b;
    }
    sum
}

fn transcendental<T: Real>(x: &[T]) -> T {
    let mut sum = T::constant(0.0);
    for &x in x {
        sum += x.sin() * x.exp() + x.ln();
    }
    sum
}

fn transcendental_of_duals<D: DualNum<Primitive = f64> + Copy>(x: &[D]) -> D {
    let mut sum = D::from(0.0);
    for x in x {
        sum += x.sin() * x.exp() + x.ln();
    }
    sum
}

/// The gradient by `num-dual` itself, eight inputs at a time, with memory kept between calls. It returns the value as `num_dual::gradient` does; without
/// that the compiler would leave out the values in passes where nothing depends on them.
fn bare(
    f: impl Fn(&[DualSVec64<N>]) -> DualSVec64<N>,
    x: &[f64],
    point: &mut Vec<DualSVec64<N>>,
    grad: &mut [f64],
) -> f64 {
    let mut value = 0.0;
    point.clear();
    point.extend(x.iter().map(|&x| DualSVec64::from_re(x)));
    for (chunk, grad) in grad.chunks_mut(N).enumerate() {
        let inputs = chunk * N..chunk * N + grad.len();
        for (lane, x) in point[inputs.clone()].iter_mut().enumerate() {
            *x = x.derivative(lane);
        }
        let y = f(point);
        value = black_box(y.re);
        for x in &mut point[inputs] {
            x.eps = Derivative::none();
        }
        match y.eps.0 {
            Some(tangents) => grad.copy_from_slice(&tangents.as_slice()[..grad.len()]),
            None => grad.fill(0.0),
        }
    }
    value
}

/// Prints the ratios for a function at a size.
fn compare(
    name: &str,
    n: usize,
    timed: bool,
    generic: &impl Fn(
        &[<AutoNumDual<N> as Backend>::Num<f64, <AutoNumDual<N> as Backend>::Lanes>],
    ) -> <AutoNumDual<N> as Backend>::Num<f64, <AutoNumDual<N> as Backend>::Lanes>,
    own: &(impl Fn(&[DualSVec64<N>]) -> DualSVec64<N> + Copy),
) -> Result<(), Error> {
    let x: Vec<f64> = (0..n).map(|i| 0.5 + i as f64 / n as f64).collect();
    let backend = AutoNumDual::<N>::new();
    let own_raw = raw(*own);
    let mut prepared = prepare_gradient(generic, &backend, &x)?;
    let mut prepared_raw = prepare_gradient(&own_raw, &backend, &x)?;
    let mut point = Vec::new();
    let mut grads = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    let mut best = [f64::INFINITY; 3];
    let repetitions = if timed { 200_000 / n } else { 1 };
    for _ in 0..if timed { 60 } else { 1 } {
        for (contender, (grad, best)) in grads.iter_mut().zip(&mut best).enumerate() {
            let start = Instant::now();
            for _ in 0..repetitions / 16 + 1 {
                match contender {
                    0 => drop(black_box(bare(own, black_box(&x), &mut point, black_box(grad)))),
                    1 => prepared.gradient_into(black_box(grad), black_box(&x))?,
                    _ => prepared_raw.gradient_into(black_box(grad), black_box(&x))?,
                }
            }
            *best = best.min(start.elapsed().as_secs_f64() / (repetitions / 16 + 1) as f64);
        }
    }
    assert!(grads[0].iter().zip(&grads[1]).all(|(a, b)| (a - b).abs() <= 1e-13 * a.abs().max(1.0)), "{name} {n}");
    assert_eq!(grads[0], grads[2], "{name} {n}");
    if timed {
        println!(
            "{name} n = {n}: bare {:.0} ns, adapter {:.2}, raw {:.2}",
            best[0] * 1e9,
            best[1] / best[0],
            best[2] / best[0]
        );
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let timed = std::env::args().any(|argument| argument == "--bench");
    for n in [16, 104] {
        compare("rosenbrock", n, timed, &|x: &[_]| rosenbrock(x), &rosenbrock_of_duals)?;
        compare("sin, exp, ln", n, timed, &|x: &[_]| transcendental(x), &transcendental_of_duals)?;
    }
    Ok(())
}
