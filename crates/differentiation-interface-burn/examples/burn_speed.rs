//! Times of value and gradient: `AutoBurn` against `burn` called bare, and against backends of numbers, in one run.
//!
//! Run with `--release`. Each line has the smallest time of interleaved repetitions, in microseconds, and the adapter's over the bare call.

use burn_tensor::{Device, Tensor, TensorCreationOptions, TensorData};
use differentiation_interface::prelude::*;
use differentiation_interface_burn::AutoBurn;
use std::hint::black_box;
use std::time::Instant;

const SAMPLES: usize = 256;
const FEATURES: usize = 8;
const HIDDEN: usize = 32;
/// Weights and offsets of the hidden layer, weights and offset of the output.
const PARAMETERS: usize = HIDDEN * FEATURES + HIDDEN + HIDDEN + 1;

fn inputs() -> Vec<f64> {
    (0..SAMPLES * FEATURES).map(|i| (i as f64 * 0.37).sin()).collect()
}
fn targets() -> Vec<f64> {
    (0..SAMPLES).map(|i| (i as f64 * 0.11).cos()).collect()
}

fn network<T: Real>(p: &[T], z: &[f64], t: &[f64]) -> T {
    let (w, rest) = p.split_at(HIDDEN * FEATURES);
    let (b, rest) = rest.split_at(HIDDEN);
    let (v, c) = rest.split_at(HIDDEN);
    let mut loss = T::zero();
    for (z, t) in z.chunks(FEATURES).zip(t) {
        let mut y = c[0];
        for i in 0..HIDDEN {
            let mut a = b[i];
            for j in 0..FEATURES {
                a += w[i * FEATURES + j] * z[j];
            }
            y += v[i] * a.tanh();
        }
        let error = y - *t;
        loss += error * error;
    }
    loss
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    x.windows(2).map(|p| (p[1] - p[0] * p[0]) * (p[1] - p[0] * p[0]) * 100.0 + (-p[0] + 1.0) * (-p[0] + 1.0)).sum()
}

fn tensor(numbers: &[f64], shape: impl Into<burn_tensor::Shape>, device: &Device) -> Tensor<2> {
    let options = TensorCreationOptions::new(device.clone()).with_dtype(burn_tensor::DType::F64);
    Tensor::from_data(TensorData::new(numbers.to_vec(), shape), options)
}

fn rosenbrock_of_tensors(x: Tensor<1>) -> Tensor<1> {
    let n = x.shape().num_elements();
    let (left, right) = (x.clone().narrow(0, 0, n - 1), x.narrow(0, 1, n - 1));
    let valley = right - left.clone() * left.clone();
    let slope = -left + 1.0;
    ((valley.clone() * valley) * 100.0 + slope.clone() * slope).sum()
}

/// The same calls without the interface.
fn bare(f: &impl Fn(Tensor<1>) -> Tensor<1>, x: &[f64], device: &Device, grad: &mut [f64]) -> f64 {
    let options = TensorCreationOptions::new(device.clone()).with_dtype(burn_tensor::DType::F64);
    let x = Tensor::<1>::from_data(TensorData::new(x.to_vec(), [x.len()]), options).require_grad();
    let y = f(x.clone());
    let value = y.clone().into_scalar();
    let mut gradients = y.backward();
    let data = x.grad_remove(&mut gradients).expect("the output depends on the point").into_data();
    grad.copy_from_slice(data.as_slice().expect("numbers of f64"));
    value
}

/// The smallest time of each contender in microseconds.
fn times(contenders: &mut [(&str, &mut dyn FnMut())], seconds: f64) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; contenders.len()];
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < seconds {
        for (best, (_, run)) in best.iter_mut().zip(contenders.iter_mut()) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    best
}

/// Times one function as tensors and as numbers.
fn compare<F, G, H>(name: &str, x: &[f64], tensors: F, tape: G, compiled: H, seconds: f64) -> Result<(), Error>
where
    F: Fn(Tensor<1>) -> Tensor<1>,
    G: for<'a> Fn(&'a [f64], &mut [f64]) -> f64,
    H: FnMut(&[f64], &mut [f64]) -> f64,
{
    let mut compiled = compiled;
    let mut adapter = prepare_gradient(&tensors, &AutoBurn::default(), x)?;
    let device = Device::flex().autodiff();
    let [mut a, mut b, mut c, mut d] = [const { Vec::new() }; 4].map(|mut v: Vec<f64>| {
        v.resize(x.len(), 0.0);
        v
    });
    let values = [
        adapter.value_and_gradient_into(&mut a, x)?,
        bare(&tensors, x, &device, &mut b),
        tape(x, &mut c),
        compiled(x, &mut d),
    ];
    for (value, grad) in values.iter().zip([&a, &b, &c, &d]) {
        assert!((value - values[3]).abs() <= 1e-9 * values[3].abs());
        assert!(grad.iter().zip(&d).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs())));
    }
    let best = times(
        &mut [
            ("adapter", &mut || {
                let _ = black_box(adapter.value_and_gradient_into(&mut a, black_box(x)));
            }),
            ("bare", &mut || {
                let _ = black_box(bare(&tensors, black_box(x), &device, &mut b));
            }),
            ("reverse_diff", &mut || {
                let _ = black_box(tape(black_box(x), &mut c));
            }),
            ("compiled", &mut || {
                let _ = black_box(compiled(black_box(x), &mut d));
            }),
        ],
        seconds,
    );
    let [adapter, bare, tape, compiled] = best[..] else { unreachable!("four contenders") };
    println!(
        "{name:<22} adapter {adapter:9.1} bare {bare:9.1} ratio {:5.2} | reverse_diff {tape:9.1} compiled {compiled:9.1}",
        adapter / bare
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    for n in [1_000, 100_000] {
        let x: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * (i as f64).sin()).collect();
        let f = |x: &[_]| rosenbrock(x);
        let mut tape = prepare_gradient(&f, &AutoReverseDiff::default(), &x)?;
        let g = |x: &[_]| rosenbrock(x);
        let mut compiled = prepare_gradient(&g, &AutoReverseDiff::compiled(), &x)?;
        let tape = std::cell::RefCell::new(&mut tape);
        compare(
            &format!("rosenbrock {n}"),
            &x,
            rosenbrock_of_tensors,
            |x, grad| tape.borrow_mut().value_and_gradient_into(grad, x).expect("numbers"),
            |x, grad| compiled.value_and_gradient_into(grad, x).expect("numbers"),
            3.0,
        )?;
    }
    let (z, t) = (inputs(), targets());
    let p: Vec<f64> = (0..PARAMETERS).map(|i| 0.3 * (i as f64 * 0.7).sin()).collect();
    let f = |p: &[_]| network(p, &z, &t);
    let mut tape = prepare_gradient(&f, &AutoReverseDiff::default(), &p)?;
    let g = |p: &[_]| network(p, &z, &t);
    let mut compiled = prepare_gradient(&g, &AutoReverseDiff::compiled(), &p)?;
    let tape = std::cell::RefCell::new(&mut tape);
    let device = Device::flex();
    let (inputs, targets) = (tensor(&z, [SAMPLES, FEATURES], &device), tensor(&t, [SAMPLES, 1], &device));
    let tensors = |p: Tensor<1>| {
        let part = |start, length| p.clone().narrow(0, start, length);
        let weights = part(0, HIDDEN * FEATURES).reshape([HIDDEN, FEATURES]);
        let hidden =
            (inputs.clone().matmul(weights.transpose()) + part(HIDDEN * FEATURES, HIDDEN).reshape([1, HIDDEN])).tanh();
        let outputs = hidden.matmul(part(HIDDEN * FEATURES + HIDDEN, HIDDEN).reshape([HIDDEN, 1]))
            + part(PARAMETERS - 1, 1).reshape([1, 1]);
        let errors = outputs - targets.clone();
        (errors.clone() * errors).sum()
    };
    compare(
        "network 256 x 8 x 32",
        &p,
        tensors,
        |x, grad| tape.borrow_mut().value_and_gradient_into(grad, x).expect("numbers"),
        |x, grad| compiled.value_and_gradient_into(grad, x).expect("numbers"),
        5.0,
    )
}
