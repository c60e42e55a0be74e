//! Longer plain functions as users write them.
#![allow(
    clippy::needless_range_loop,
    clippy::vec_init_then_push,
    clippy::useless_vec,
    reason = "code as it is written for f64"
)]

mod dual;

use differentiation_interface_core::{Function, FunctionWith, Num};
use differentiation_interface_macros::differentiable;
use dual::{Dual, close, gradient, seeded};
use std::f64::consts::PI;

const WEIGHTS: [f64; 3] = [0.25, 0.5, 0.25];

/// Negative log-likelihood of a normal distribution, log standard deviation last.
#[differentiable(crate = "differentiation_interface_core")]
fn normal_loss(p: &[f64], #[constant] data: &[f64]) -> f64 {
    let mu = p[0];
    let sigma = p[1].exp();
    let n = data.len() as f64;
    let mut ss = 0.0;
    for d in data {
        let r = (d - mu) / sigma;
        ss += r * r;
    }
    0.5 * ss + n * sigma.ln() + 0.5 * n * (2.0 * PI).ln()
}

/// Runge-Kutta steps of a pendulum with an angle-dependent drag.
#[differentiable(crate = "differentiation_interface_core")]
fn pendulum(x0: &[f64; 2], #[constant] steps: usize, #[constant] h: f64) -> [f64; 2] {
    fn slope(s: &[f64; 2]) -> [f64; 2] {
        let drag = if s[1] > 0.0 { 0.1 } else { 0.2 };
        [s[1], -s[0].sin() - drag * s[1]]
    }
    let shifted = |s: &[f64; 2], k: &[f64; 2], h: f64| -> [f64; 2] { [s[0] + h * k[0], s[1] + h * k[1]] };
    let mut s = *x0;
    for _ in 0..steps {
        let k1 = slope(&s);
        let k2 = slope(&shifted(&s, &k1, 0.5 * h));
        let k3 = slope(&shifted(&s, &k2, 0.5 * h));
        let k4 = slope(&shifted(&s, &k3, h));
        for i in 0..2 {
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    s
}

/// Square root by Newton's method, stopped by the residual.
#[differentiable(crate = "differentiation_interface_core")]
fn newton(x: f64) -> f64 {
    let mut y = 1.0;
    for iteration in 0..100 {
        let step = 0.5 * (y - x / y);
        y -= step;
        if step.abs() < 1e-15 * f64::max(1.0, y.abs()) && iteration > 5 {
            break;
        }
    }
    y
}

/// Gaussian elimination with pivoting: the first component of the solution.
#[differentiable(crate = "differentiation_interface_core")]
fn solved(x: &[f64]) -> f64 {
    let n = 2;
    let mut a = vec![vec![0.0; n]; n];
    let mut b = vec![1.0, 2.0];
    a[0][0] = x[0];
    a[0][1] = 1.0;
    a[1][0] = x[1];
    a[1][1] = 3.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().partial_cmp(&a[j][k].abs()).unwrap()).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                let t = a[k][j];
                a[i][j] -= f * t;
            }
            let t = b[k];
            b[i] -= f * t;
        }
    }
    let mut y = vec![0.0; n];
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|j| a[i][j] * y[j]).sum();
        y[i] = (b[i] - s) / a[i][i];
    }
    y[0]
}

/// Smoothing with constant weights, softmax, an option, a plain table.
#[differentiable(crate = "differentiation_interface_core")]
fn smoothed(x: &[f64]) -> f64 {
    let smooth: Vec<f64> = x.windows(3).map(|w| w.iter().zip(WEIGHTS).map(|(v, k)| k * v).sum()).collect();
    let top = smooth.iter().copied().fold(f64::MIN, f64::max);
    let exps: Vec<_> = smooth.iter().map(|v| (v - top).exp()).collect();
    let total: f64 = exps.iter().sum();
    let entropy = -exps.iter().map(|e| e / total).filter(|p| *p > 0.0).map(|p| p * p.ln()).sum::<f64>();
    let mut weight = WEIGHTS[0];
    weight *= entropy;
    let mut best: Option<f64> = None;
    for &v in x {
        best = match best {
            Some(b) if b >= v => Some(b),
            _ => Some(v),
        };
    }
    weight + best.unwrap_or(0.0) + WEIGHTS.iter().sum::<f64>()
}

/// Plain references added to active sums.
#[differentiable(crate = "differentiation_interface_core")]
fn tabled(x: &[f64], #[constant] table: &[f64]) -> f64 {
    let mut s = x[0];
    for t in table.iter() {
        s *= *t;
    }
    let mut acc = Vec::with_capacity(2);
    acc.push(1.0);
    acc.push(s);
    let last = acc[acc.len() - 1];
    let limit = if table.len() > 3 { table[3] } else { 100.0 };
    last.min(limit) + acc[0]
}

/// Integration of a closure over an active variable.
#[differentiable(crate = "differentiation_interface_core")]
fn integral(x: &[f64]) -> f64 {
    let f = |t: f64| (x[0] * t).sin() + x[1];
    let n = 64;
    let h = 1.0 / n as f64;
    let mut s = 0.5 * (f(0.0) + f(1.0));
    for i in 1..n {
        s += f(i as f64 * h);
    }
    s * h
}

/// Horner's scheme, early return, labelled loops, let-else, shadowing.
#[differentiable(crate = "differentiation_interface_core")]
fn scheme(x: &[f64]) -> f64 {
    let Some(&t) = x.first() else {
        return 0.0;
    };
    let c = [1.0, -2.0, 3.0];
    let p = c.iter().rev().fold(0.0, |acc, k| acc * t + k);
    let p = p + 0.0;
    let mut total = 0.0;
    'outer: for i in 0..3 {
        for j in 0..3 {
            if j > i {
                continue 'outer;
            }
            total += x[1] * (i * j) as f64;
        }
    }
    let sign = match t {
        t if t < 0.0 => -1.0,
        t if t > 0.0 => 1.0,
        _ => 0.0,
    };
    sign * p + total
}

fn difference(f: impl Fn(&[f64]) -> f64, x: &[f64], i: usize) -> f64 {
    let step = 1e-5;
    let moved = |d: f64| {
        let mut y = x.to_vec();
        y[i] += d;
        f(&y)
    };
    (moved(step) - moved(-step)) / (2.0 * step)
}

#[test]
fn derivatives_of_longer_functions_agree_with_hand_work() {
    let data = [1.0, 2.0, 4.0];
    let y = NormalLoss.call_with(&seeded([1.0, 0.0], 0)[..], (&data[..],));
    close(y.0.tangent, -(0.0 + 1.0 + 3.0));
    let y = NormalLoss.call_with(&seeded([1.0, 0.0], 1)[..], (&data[..],));
    close(y.0.tangent, 3.0 - 10.0);

    let y = Newton.call(&Num(Dual { value: 2.0, tangent: 1.0 }));
    close(y.0.value, 2f64.sqrt());
    close(y.0.tangent, 0.5 / 2f64.sqrt());

    // y₀ = (3 - 2) / (3 x₀ - x₁)
    let (y, g) = gradient(Solved, [4.0, 5.0]);
    close(y, 1.0 / 7.0);
    close(g[0], -3.0 / 49.0);
    close(g[1], 1.0 / 49.0);

    let y = Tabled.call_with(&seeded([3.0], 0)[..], (&[2.0, 5.0][..],));
    assert_eq!((y.0.value, y.0.tangent), (31.0, 10.0));
    let y = Tabled.call_with(&seeded([3.0], 0)[..], (&[2.0, 5.0, 1.0, 7.0][..],));
    assert_eq!((y.0.value, y.0.tangent), (8.0, 0.0));

    let (_, g) = gradient(Scheme, [2.0, 1.0]);
    close(g[0], -2.0 + 6.0 * 2.0);
    close(g[1], (1 + 2 + 4) as f64);
    assert_eq!(gradient(Scheme, []).0, 0.0);
}

#[test]
fn derivatives_of_longer_functions_agree_with_differences() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    let x = [0.3, 0.9, 0.1, 0.4];
    let (y, g) = gradient(Smoothed, x);
    near(y, smoothed(&x));
    let (_, h) = gradient(Integral, [0.7, 0.2]);
    for i in 0..4 {
        near(g[i], difference(smoothed, &x, i));
    }
    for i in 0..2 {
        near(h[i], difference(integral, &[0.7, 0.2], i));
        let y = Pendulum.call_with(&seeded([1.0, 0.5], i), (&20, &0.1));
        for j in 0..2 {
            near(y[j].0.tangent, difference(|x| pendulum(&[x[0], x[1]], 20, 0.1)[j], &[1.0, 0.5], i));
        }
    }
}
