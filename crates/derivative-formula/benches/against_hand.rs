//! `AutoSymbolic` beside the compiled engine, as multiples of the derivative written by hand, and the time of preparation.
//!
//! `cargo bench -p derivative-formula`. Each time is the least of 60 repetitions of 200 calls.

use derivative_formula::{AutoSymbolic, FormulaSparsityDetector, SeparateColors};
use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::time::Instant;

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}
fn by_hand(x: &[f64], g: &mut [f64]) {
    g.fill(0.0);
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        g[i] += -400.0 * d * x[i] - 2.0 * (1.0 - x[i]);
        g[i + 1] += 200.0 * d;
    }
}
fn burgers<T: Real>(u: &[T]) -> Vec<T> {
    (1..u.len() - 1).map(|i| 0.01 * (u[i + 1] - 2.0 * u[i] + u[i - 1]) - 0.5 * u[i] * (u[i + 1] - u[i - 1])).collect()
}
fn burgers_by_hand(u: &[f64], v: &mut [f64]) {
    for i in 1..u.len() - 1 {
        let e = &mut v[3 * (i - 1)..3 * i];
        e[0] = 0.01 + 0.5 * u[i];
        e[1] = -0.02 - 0.5 * (u[i + 1] - u[i - 1]);
        e[2] = 0.01 - 0.5 * u[i];
    }
}
fn arrhenius<T: Real>(x: &[T]) -> Vec<T> {
    // Stirred tank: concentration, temperature; feed, coolant.
    let k = x[2] * (-x[3] / x[1]).exp();
    vec![x[4] * (1.0 - x[0]) - k * x[0], x[4] * (350.0 - x[1]) + 209.0 * k * x[0] - 2.1 * (x[1] - x[5])]
}
fn least(mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..60 {
        let n = 200;
        let start = Instant::now();
        for _ in 0..n {
            f();
        }
        best = best.min(start.elapsed().as_secs_f64() / n as f64);
    }
    best * 1e9
}
fn main() -> Result<(), Error> {
    for n in [10, 100, 1000] {
        let x: Vec<f64> = (0..n).map(|i| 0.5 + (i % 7) as f64 / 10.0).collect();
        let mut g = vec![0.0; n];
        let start = Instant::now();
        let mut s = prepare_gradient(&rosenbrock, &AutoSymbolic::default(), &x)?;
        let ps = start.elapsed();
        let start = Instant::now();
        let mut c = prepare_gradient(&rosenbrock, &AutoReverseDiff::compiled(), &x)?;
        let pc = start.elapsed();
        let h = least(|| by_hand(black_box(&x), black_box(&mut g)));
        let ts = least(|| s.gradient_into(&mut g, black_box(&x)).unwrap());
        let tc = least(|| c.gradient_into(&mut g, black_box(&x)).unwrap());
        println!(
            "Rosenbrock {n}: by hand {h:.0} ns, symbolic {:.2}, compiled {:.2} times; preparation {ps:?} {pc:?}",
            ts / h,
            tc / h
        );
    }
    for n in [100, 1000] {
        let u: Vec<f64> = (0..n).map(|i| (i as f64 / 9.0).sin()).collect();
        let f = burgers;
        let sparse = AutoSparse::new(AutoSymbolic::default())
            .with_detector(FormulaSparsityDetector::default())
            .with_coloring(SeparateColors);
        let start = Instant::now();
        let g = |x: &[_]| f(x);
        let mut s = prepare_jacobian(&g, &sparse, &u)?;
        let ps = start.elapsed();
        let start = Instant::now();
        let f2 = |x: &[_]| burgers(x);
        let mut c = prepare_jacobian(
            &f2,
            &AutoSparse::new(AutoReverseDiff::compiled())
                .with_detector(differentiation_interface::sparse::GraphSparsityDetector),
            &u,
        )?;
        let pc = start.elapsed();
        let mut js = s.jacobian(&u)?;
        let mut jc = c.jacobian(&u)?;
        let mut v = vec![0.0; 3 * (n - 2)];
        let h = least(|| burgers_by_hand(black_box(&u), black_box(&mut v)));
        let ts = least(|| s.jacobian_into(&mut js, black_box(&u)).unwrap());
        let tc = least(|| c.jacobian_into(&mut jc, black_box(&u)).unwrap());
        println!(
            "Burgers {n}: by hand {h:.0} ns, symbolic {:.2}, compiled {:.2} times; preparation {ps:?} {pc:?}",
            ts / h,
            tc / h
        );
    }
    let x = [0.5, 340.0, 7.2e10, 8750.0, 1.0, 300.0];
    let start = Instant::now();
    let mut s = prepare_jacobian(&arrhenius, &AutoSymbolic::default(), &x)?;
    let ps = start.elapsed();
    let mut plain = prepare_jacobian(&arrhenius, &AutoSymbolic::default().without_simplification(), &x)?;
    let mut c = prepare_jacobian(&arrhenius, &AutoReverseDiff::compiled(), &x)?;
    let mut j = s.jacobian(&x)?;
    let ts = least(|| s.jacobian_into(&mut j, black_box(&x)).unwrap());
    let tp = least(|| plain.jacobian_into(&mut j, black_box(&x)).unwrap());
    let tc = least(|| c.jacobian_into(&mut j, black_box(&x)).unwrap());
    println!("stirred tank: symbolic {ts:.0} ns, without simplification {tp:.0}, compiled {tc:.0}; preparation {ps:?}");
    Ok(())
}
