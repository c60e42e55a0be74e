//! A network whose parameters are structs, trained by gradient descent until it computes XOR.
//!
//! `cargo run --release --example neural_network`

use differentiation_interface::prelude::*;

#[derive(Clone, Debug, Container)]
struct Layer<T = f64> {
    weights: Vec<Vec<T>>,
    bias: Vec<T>,
}

#[derive(Clone, Debug, Container)]
struct Network<T = f64> {
    hidden: Layer<T>,
    output: Layer<T>,
}

impl<T: Real> Layer<T> {
    fn apply(&self, x: &[T]) -> Vec<T> {
        let dot = |row: &Vec<T>| row.iter().zip(x).map(|(w, v)| *w * *v).sum::<T>();
        self.weights.iter().zip(&self.bias).map(|(row, bias)| dot(row) + *bias).collect()
    }
}

impl<T: Real> Network<T> {
    fn predict(&self, x: [f64; 2]) -> T {
        let hidden: Vec<T> = self.hidden.apply(&x.map(T::constant)).into_iter().map(|v| v.tanh()).collect();
        self.output.apply(&hidden)[0].logistic()
    }
}

const CASES: [([f64; 2], f64); 4] = [([0.0, 0.0], 0.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], 0.0)];

fn loss<T: Real>(net: &Network<T>) -> T {
    CASES.iter().map(|(x, y)| (net.predict(*x) - *y).powi(2)).sum()
}

fn main() -> Result<(), Error> {
    let row = |k: usize, n: usize| (0..n).map(|j| (1.7 * k as f64 + 2.3 * j as f64 + 1.0).sin()).collect();
    let layer = |m: usize, n: usize| Layer { weights: (0..m).map(|k| row(k, n)).collect(), bias: row(m, m) };
    let mut net = Network { hidden: layer(4, 2), output: layer(1, 4) };

    let f = |net: &Network<_>| loss(net);
    let mut trained = prepare_gradient(&f, &AutoReverseDiff::compiled(), &net)?;
    let differences = to_flat(&gradient(&|net: &Network<_>| loss(net), &AutoFiniteDiff::central(), &net)?);
    assert!(to_flat(&trained.gradient(&net)?).iter().zip(&differences).all(|(a, b)| (a - b).abs() < 1e-8));

    for _ in 0..2000 {
        let grad = to_flat(&trained.gradient(&net)?);
        let step: Vec<f64> = to_flat(&net).iter().zip(grad).map(|(x, g)| x - g).collect();
        net = from_flat(&net, &step)?;
    }
    println!("{:.3?}, loss {:.1e}", CASES.map(|(x, _)| net.predict(x)), loss(&net));
    assert!(CASES.iter().all(|(x, y)| (net.predict(*x) - y).abs() < 0.1));
    Ok(())
}
