#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn filled(x: &[f64], #[constant] data: &[f64]) -> f64 {
    const START: [f64; 2] = [1.0, 2.0];
    let mut a = data.to_vec();
    a[0] = x[0];
    let mut b = START;
    b[0] = x[0];
    a[0] + b[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn applied(x: f64, #[constant] f: fn(f64) -> f64) -> f64 {
    f(x)
}

#[differentiable(crate = "differentiation_interface_core")]
fn copied(x: &[f64], #[constant] data: &[f64]) -> f64 {
    let mut a: Vec<f64> = data.iter().map(|&v| v).collect();
    a[0] = x[0];
    a[0]
}

fn main() {}
