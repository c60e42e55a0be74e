#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn spring(x: &[f64], k: f64, w: &mut Vec<f64>) -> f64 {
    k * x[0]
}

fn main() {}
