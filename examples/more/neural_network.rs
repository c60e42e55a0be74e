//! A network whose 421 parameters are a struct, trained by gradient descent until it computes XOR.
//!
//! `cargo run --release -p differentiation-interface-examples --example neural_network`

use differentiation_interface::prelude::*;

#[derive(Clone, Debug, Container)]
struct Network<T = f64> {
    weights: Vec<[T; 2]>,
    shifts: Vec<T>,
    output: Vec<T>,
    bias: T,
}

const UNITS: usize = 105;
/// Inputs, and the sign that the output should have.
const XOR: [([f64; 2], f64); 4] = [([0.0, 0.0], -1.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], -1.0)];

impl<T: Real> Network<T> {
    fn predict(&self, x: [f64; 2]) -> T {
        let unit = |k: usize| (self.weights[k][0] * x[0] + self.weights[k][1] * x[1] + self.shifts[k]).tanh();
        (0..UNITS).map(|k| self.output[k] * unit(k)).sum::<T>() + self.bias
    }
    fn loss(&self, cases: &[([f64; 2], f64)]) -> T {
        cases.iter().map(|(x, sign)| (self.predict(*x) * -sign).softplus()).sum()
    }
}

fn main() -> Result<(), Error> {
    let wave = |phase: f64| (0..UNITS).map(move |k| (1.7 * k as f64 + phase).sin() / 3.0);
    let weights = wave(0.0).zip(wave(2.0)).map(|(a, b)| [a, b]).collect();
    let mut net = Network { weights, shifts: wave(1.0).collect(), output: wave(3.0).collect(), bias: 0.0 };

    // Back-propagation by hand for the input (1, 1).
    let grad = gradient(&|net: &Network<_>| net.loss(&XOR[3..]), &AutoReverseDiff::default(), &net)?;
    let error = net.predict([1.0, 1.0]).logistic();
    let difference = |k: usize| {
        let unit = (net.weights[k][0] + net.weights[k][1] + net.shifts[k]).tanh();
        let inner = error * net.output[k] * (1.0 - unit * unit);
        [grad.weights[k][0] - inner, grad.weights[k][1] - inner, grad.shifts[k] - inner, grad.output[k] - error * unit]
    };
    assert!((0..UNITS).flat_map(difference).chain([grad.bias - error]).all(|d| d.abs() < 1e-15));

    let f = |net: &Network<_>| net.loss(&XOR);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &net)?;
    for _ in 0..500 {
        let grad = to_flat(&prepared.gradient(&net)?);
        let step: Vec<f64> = to_flat(&net).iter().zip(grad).map(|(x, g)| x - 0.1 * g).collect();
        net = from_flat(&net, &step)?;
    }
    println!("{:.3?}, loss {:.1e}", XOR.map(|(x, _)| net.predict(x)), net.loss(&XOR));
    assert!(XOR.iter().all(|(x, sign)| net.predict(*x) * sign > 3.0));
    Ok(())
}
