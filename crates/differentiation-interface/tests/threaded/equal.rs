//! Results with one, two, three and five threads are those of the inner backend, bit for bit.

use crate::{Cycle, Energy, bits, divided, point, pool};
use differentiation_interface::backends::AutoCompiledReverseDiff;
use differentiation_interface::prelude::*;

const THREADS: [usize; 4] = [1, 2, 3, 5];

/// The sizes for Hessians by differences of differences.
const FEW: [usize; 2] = [13, 25];
/// The sizes leave an incomplete last pass of 12, 8 and 4 seeds, or none.
const SIZES: [usize; 4] = [13, 25, 61, 96];

/// Compares prepared and unprepared calls of every operator; a macro, because each engine has its own numbers.
macro_rules! agree {
    ($backend:expr, $sizes:expr) => {{
        for n in $sizes {
            let (x, y) = (point(n), vec![0.25; n]);
            let serial = $backend;
            let (vector, number) = (Cycle, Energy);
            let (value, jac) = value_and_jacobian(&vector, &serial, &x).unwrap();
            let (f, grad) = value_and_gradient(&number, &serial, &x).unwrap();
            let (hess_value, hess_grad, hess) = value_gradient_and_hessian(&number, &serial, &x).unwrap();
            let seeds: Vec<Vec<f64>> = (0..9).map(|k| (0..n).map(|i| ((i * k) % 4) as f64 - 1.0).collect()).collect();
            let seeds: [&[f64]; 9] = std::array::from_fn(|k| &seeds[k][..]);
            let pushed = pushforward(&vector, &serial, &x, seeds).unwrap();
            let pulled = pullback(&vector, &serial, &x, seeds).unwrap();
            let curved = hvp(&number, &serial, &x, seeds).unwrap();
            for threads in THREADS {
                let backend = divided(serial.clone(), threads);
                let again = value_and_jacobian(&vector, &backend, &x).unwrap();
                assert_eq!(
                    (bits(&again.0), bits(again.1.as_slice())),
                    (bits(&value), bits(jac.as_slice())),
                    "{n} {threads}"
                );
                let mut prepared = prepare_jacobian(&vector, &backend, &y).unwrap();
                let mut out = Matrix::filled(n, n, f64::NAN);
                for _ in 0..2 {
                    let found = prepared.value_and_jacobian_into(&mut out, &x).unwrap();
                    assert_eq!(bits(found), bits(&value));
                    assert_eq!(bits(out.as_slice()), bits(jac.as_slice()), "{n} {threads}");
                }
                assert_eq!(bits(prepared.jacobian(&x).unwrap().as_slice()), bits(jac.as_slice()));
                assert_eq!(bits(&prepared.value(&x).unwrap()), bits(&value));
                // A clone has shares of its own.
                let mut clone = prepared.clone();
                assert_eq!(bits(clone.jacobian(&x).unwrap().as_slice()), bits(jac.as_slice()));
                let mut shorter = prepared;
                shorter.prepare_again(&x[..n - 1]).unwrap();
                let small = jacobian(&vector, &serial, &x[..n - 1]).unwrap();
                assert_eq!(bits(shorter.jacobian(&x[..n - 1]).unwrap().as_slice()), bits(small.as_slice()));

                let again = value_and_gradient(&number, &backend, &x).unwrap();
                assert_eq!((again.0.to_bits(), bits(&again.1)), (f.to_bits(), bits(&grad)), "{n} {threads}");
                let mut prepared = prepare_gradient(&number, &backend, &y).unwrap();
                assert_eq!(bits(&prepared.gradient(&x).unwrap()), bits(&grad));

                let again = value_gradient_and_hessian(&number, &backend, &x).unwrap();
                assert_eq!((again.0.to_bits(), bits(&again.1)), (hess_value.to_bits(), bits(&hess_grad)));
                assert_eq!(bits(again.2.as_slice()), bits(hess.as_slice()), "{n} {threads}");
                let mut prepared = prepare_hessian(&number, &backend, &y).unwrap();
                for _ in 0..2 {
                    assert_eq!(bits(prepared.hessian(&x).unwrap().as_slice()), bits(hess.as_slice()), "{n} {threads}");
                }

                let mut prepared = prepare_pushforward(&vector, &backend, &y, seeds).unwrap();
                let again = prepared.pushforward(&x, seeds).unwrap();
                assert!(again.iter().zip(&pushed).all(|(a, b)| bits(a) == bits(b)), "{n} {threads}");
                let mut prepared = prepare_pullback(&vector, &backend, &y, seeds).unwrap();
                for _ in 0..2 {
                    let (found, again) = prepared.value_and_pullback(&x, seeds).unwrap();
                    assert_eq!(bits(&found), bits(&value));
                    assert!(again.iter().zip(&pulled).all(|(a, b)| bits(a) == bits(b)), "{n} {threads}");
                }
                let mut prepared = prepare_hvp(&number, &backend, &y, seeds).unwrap();
                let again = prepared.hvp(&x, seeds).unwrap();
                assert!(again.iter().zip(&curved).all(|(a, b)| bits(a) == bits(b)), "{n} {threads}");
            }
        }
    }};
}

#[test]
fn forward_mode_agrees() {
    pool(4).install(|| agree!(AutoForwardDiff::default(), SIZES));
}
#[test]
fn forward_mode_in_chunks_agrees() {
    pool(4).install(|| agree!(AutoForwardDiff::with_chunk::<5>(), SIZES));
}
#[test]
fn tapes_agree() {
    agree!(AutoReverseDiff::default(), SIZES);
}
#[test]
fn recordings_agree() {
    agree!(AutoCompiledReverseDiff::default(), SIZES);
}
#[test]
fn differences_agree() {
    agree!(AutoFiniteDiff::central(), FEW);
    agree!(AutoFiniteDiff::forward(), FEW);
}

#[test]
fn pairs_agree() {
    for n in SIZES {
        let (x, number) = (point(n), Energy);
        let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
        let hess = hessian(&number, &pair, &x).unwrap();
        for threads in THREADS {
            let mut prepared = prepare_hessian(&number, &divided(pair, threads), &x).unwrap();
            assert_eq!(bits(prepared.hessian(&x).unwrap().as_slice()), bits(hess.as_slice()));
        }
        let pair = SecondOrder(AutoReverseDiff::default(), AutoForwardDiff::default());
        let hess = hessian(&number, &pair, &x).unwrap();
        for threads in THREADS {
            assert_eq!(bits(hessian(&number, &divided(pair, threads), &x).unwrap().as_slice()), bits(hess.as_slice()));
        }
    }
}

#[differentiable]
fn grid(y: &mut [f64], x: &[f64]) {
    let n = x.len();
    for i in 0..n {
        y[i] = x[i] * x[(i + 1) % n] * x[(i + 2) % n] - x[(i + n - 2) % n].sin() * x[(i + n - 1) % n] - x[(i + 9) % n];
    }
}

/// The values are the same; zeros are positive, whatever the number of threads.
#[test]
fn sparse_jacobians_agree() {
    let x = point(60);
    let f = in_place(Grid, 60);
    macro_rules! agree {
        ($dense:expr) => {{
            let serial = AutoSparse::new($dense);
            let (value, jac) = value_and_jacobian(&f, &serial, &x).unwrap();
            let positive: Vec<f64> = jac.values().iter().map(|v| v + 0.0).collect();
            for threads in THREADS {
                let backend = divided(serial.clone(), threads);
                let mut prepared = prepare_jacobian(&f, &backend, &x).unwrap();
                assert!(prepared.state().sparse().ncolors() > 4);
                for _ in 0..2 {
                    let (found, again) = prepared.value_and_jacobian(&x).unwrap();
                    assert_eq!(bits(&found), bits(&value));
                    assert_eq!(bits(again.values()), bits(&positive), "{threads}");
                }
                assert_eq!(bits(jacobian(&f, &backend, &x).unwrap().values()), bits(&positive));
            }
        }};
    }
    agree!(AutoForwardDiff::default());
    agree!(AutoForwardDiff::with_chunk::<2>());
    agree!(AutoReverseDiff::default());
    agree!(AutoFiniteDiff::central());
    agree!(AutoCompiledReverseDiff::default());
    agree!(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()));
}

#[differentiable]
fn chain(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 6..x.len() {
        sum += x[i] * x[i - 1].sin() * x[i - 3] - x[i - 6] * x[i];
    }
    sum
}

#[test]
fn sparse_hessians_agree() {
    let x = point(60);
    macro_rules! agree {
        ($dense:expr) => {{
            let serial = AutoSparse::new($dense);
            let (value, grad, hess) = value_gradient_and_hessian(&Chain, &serial, &x).unwrap();
            let positive: Vec<f64> = hess.values().iter().map(|v| v + 0.0).collect();
            for threads in THREADS {
                let mut prepared = prepare_hessian(&Chain, &divided(serial.clone(), threads), &x).unwrap();
                assert!(prepared.state().sparse().ncolors() > 6);
                for _ in 0..2 {
                    let (found, slopes, again) = prepared.value_gradient_and_hessian(&x).unwrap();
                    assert_eq!((found.to_bits(), bits(&slopes)), (value.to_bits(), bits(&grad)));
                    assert_eq!(bits(again.values()), bits(&positive), "{threads}");
                }
            }
        }};
    }
    agree!(AutoForwardDiff::default());
    agree!(AutoReverseDiff::default());
    agree!(AutoCompiledReverseDiff::default());
    agree!(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
}

/// Numbers of an outer differentiation stay on its thread.
#[test]
fn inside_another_differentiation_one_thread_works() {
    fn outer<T: Real>(t: T) -> T {
        let backend = divided(AutoForwardDiff::with_chunk::<1>(), 3);
        let x = [t, t * t, t + 1.0];
        let grad = gradient(&|x: &[_]| x[0] * x[1] * x[2], &backend, &x[..]).unwrap();
        grad[0] + grad[1] + grad[2]
    }
    // t²(t + 1) + t (t + 1) + t³ at 2: derivative 3t² + 2t + 2t + 1 + 3t².
    for found in [
        derivative(&outer, &AutoForwardDiff::default(), 2.0).unwrap(),
        derivative(&outer, &AutoReverseDiff::default(), 2.0).unwrap(),
    ] {
        assert_eq!(found, 33.0);
    }
}

/// Constants are shared, caches belong to a thread, containers are fitted.
#[test]
fn contexts_and_containers_reach_all_threads() {
    fn scaled<T: Real>(x: &[T], k: &f64, work: &mut [T]) -> Vec<T> {
        for (work, &x) in work.iter_mut().zip(x) {
            *work += x * x * *k;
        }
        let sum = work.iter().copied().sum::<T>();
        x.iter().zip(work.iter()).map(|(&x, &w)| w * x + sum).collect()
    }
    let (x, cache) = (point(40), vec![0.0; 40]);
    let f = |x: &[_], k: &f64, work: &mut Vec<_>| scaled(x, k, work);
    let serial = jacobian(&f, &AutoForwardDiff::default(), (&x, Constant(&3.0), Cache(&cache[..]))).unwrap();
    for threads in THREADS {
        let backend = divided(AutoForwardDiff::default(), threads);
        let mut prepared = prepare_jacobian(&f, &backend, (&x, Constant(&1.0), Cache(&cache[..]))).unwrap();
        let jac = prepared.jacobian((&x, Constant(&3.0), Cache(&cache[..]))).unwrap();
        assert_eq!(bits(jac.as_slice()), bits(serial.as_slice()));
    }
    let pair = (point(20), point(9));
    let g = |(a, b): &(Vec<_>, Vec<_>)| a.iter().zip(b).fold(a[0], |sum, (&a, &b)| sum + a * b * b);
    let serial = gradient(&g, &AutoForwardDiff::default(), &pair).unwrap();
    assert_eq!(gradient(&g, &divided(AutoForwardDiff::default(), 2), &pair).unwrap(), serial);
}

/// Each output depends on two inputs `step` apart; the sum of their squares has the same pairs.
#[differentiable(Pairs)]
fn pairs(x: &[f64], #[constant] step: usize) -> Vec<f64> {
    (0..x.len()).map(|i| x[i].sin() * x[(i + step) % x.len()] * x[(i + 2 * step) % x.len()]).collect()
}
#[differentiable(PairSum)]
fn pair_sum(x: &[f64], #[constant] step: usize) -> f64 {
    (0..x.len()).map(|i| x[i].sin() * x[(i + step) % x.len()] * x[(i + 2 * step) % x.len()]).sum()
}

#[test]
fn sparse_matrices_follow_constants() {
    let x = point(96);
    macro_rules! follows {
        ($($dense:expr),*) => {$(
            let serial = AutoSparse::new($dense);
            let backend = divided(serial.clone(), 2);
            let mut jacobians = prepare_jacobian(&Pairs, &backend, (&x, Constant(&1))).unwrap();
            let mut hessians = prepare_hessian(&PairSum, &backend, (&x, Constant(&1))).unwrap();
            for step in [1, 3, 1, 7, 3] {
                let at = (&x, Constant(&step));
                let jac = jacobian(&Pairs, &serial, at).unwrap().to_dense();
                assert_eq!(jacobians.jacobian(at).unwrap().to_dense(), jac, "{step}");
                let mut out = jacobians.jacobian(at).unwrap();
                jacobians.jacobian_into(&mut out, at).unwrap();
                assert_eq!(out.to_dense(), jac);
                let hess = hessian(&PairSum, &serial, at).unwrap().to_dense();
                let found = hessians.hessian(at).unwrap().to_dense();
                // Other colours add in another order.
                for (found, right) in found.as_slice().iter().zip(hess.as_slice()) {
                    assert!((found - right).abs() <= 1e-14 * right.abs().max(1.0), "{step}: {found} and {right}");
                }
            }
        )*};
    }
    follows!(AutoForwardDiff::default(), AutoReverseDiff::tape());
}
