//! Time of a prepared gradient by the backends of this crate over that of `echidna` called directly.
//!
//! `cargo bench -p differentiation-interface-echidna`. Minima of rounds in which all contenders run one after the other. All results are compared
//! before anything is timed; without the argument `--bench`, which `cargo bench` passes and `cargo test` does not, that is all. The functions are not
//! inlined: inlined into the direct call, constants would be folded into them there only.

use differentiation_interface::prelude::*;
use differentiation_interface_echidna::AutoEchidna;
use echidna::{DualVec, Reverse};
use num_traits::Float;
use std::hint::black_box;
use std::time::Instant;

const N: usize = 8;
type Dual = DualVec<f64, N>;

#[inline(never)]
fn rosenbrock<T: Float>(x: &[T], hundred: T) -> T {
    let mut sum = T::zero();
    for w in x.windows(2) {
        let (a, b) = (w[1] - w[0] * w[0], T::one() - w[0]);
        sum = sum + hundred * (a * a) + b * b;
    }
    sum
}

#[inline(never)]
fn transcendental<T: Float>(x: &[T], _: T) -> T {
    let mut sum = T::zero();
    for &x in x {
        sum = sum + x.sin() * x.exp() + x.ln();
    }
    sum
}

/// The gradient by dual numbers of `echidna` itself, with memory kept between calls.
fn bare(f: impl Fn(&[Dual]) -> Dual, x: &[f64], point: &mut Vec<Dual>, grad: &mut [f64]) -> f64 {
    let mut value = 0.0;
    point.clear();
    point.extend(x.iter().map(|&x| Dual::constant(x)));
    for (chunk, grad) in grad.chunks_mut(N).enumerate() {
        let inputs = chunk * N..chunk * N + grad.len();
        for (lane, x) in point[inputs.clone()].iter_mut().enumerate() {
            *x = Dual::with_tangent(x.re, lane);
        }
        let y = f(point);
        value = black_box(y.re);
        for x in &mut point[inputs] {
            *x = Dual::constant(x.re);
        }
        grad.copy_from_slice(&y.eps[..grad.len()]);
    }
    value
}

/// Prints the ratios of a function at a size.
macro_rules! compare {
    ($name:literal, $f:ident, $n:expr, $timed:expr) => {{
        let n: usize = $n;
        let x: Vec<f64> = (0..n).map(|i| 0.5 + i as f64 / n as f64).collect();
        let (f, g) = (|x: &[_]| $f(x, Scalar::constant(100.0)), |x: &[_]| $f(x, Scalar::constant(100.0)));
        let mut tape = prepare_gradient(&f, &AutoEchidna::default(), &x)?;
        let mut forward = prepare_gradient(&g, &AutoEchidna::forward::<N>(), &x)?;
        let mut grads = [vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        let (mut best, mut point) = ([f64::INFINITY; 4], Vec::new());
        let repetitions = if $timed { 12_000 / n } else { 1 };
        for _ in 0..if $timed { 60 } else { 1 } {
            for (contender, (grad, best)) in grads.iter_mut().zip(&mut best).enumerate() {
                let start = Instant::now();
                for _ in 0..repetitions {
                    match contender {
                        0 => *grad = echidna::grad(|x: &[Reverse<f64>]| $f(x, 100.0.into()), black_box(&x)),
                        1 => tape.gradient_into(black_box(grad), black_box(&x))?,
                        2 => drop(black_box(bare(|x| $f(x, 100.0.into()), black_box(&x), &mut point, black_box(grad)))),
                        _ => forward.gradient_into(black_box(grad), black_box(&x))?,
                    }
                }
                *best = best.min(start.elapsed().as_secs_f64() / repetitions as f64);
            }
        }
        for other in &grads[1..] {
            assert!(grads[0].iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-12 * a.abs().max(1.0)));
        }
        if $timed {
            println!(
                "{} n = {n}: tape {:.0} ns, adapter {:.2}; dual numbers {:.0} ns, adapter {:.2}",
                $name,
                best[0] * 1e9,
                best[1] / best[0],
                best[2] * 1e9,
                best[3] / best[2]
            );
        }
    }};
}

fn main() -> Result<(), Error> {
    let timed = std::env::args().any(|argument| argument == "--bench");
    for n in [16, 104] {
        compare!("rosenbrock", rosenbrock, n, timed);
        compare!("sin, exp, ln", transcendental, n, timed);
    }
    Ok(())
}
