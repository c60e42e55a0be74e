#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(name = "F")]
fn f(x: f64) -> f64 {
    x
}

#[differentiable(A, B)]
fn g(x: f64) -> f64 {
    x
}

#[differentiable]
mod model {
    #[differentiable(nalgebra)]
    pub fn h(x: f64) -> f64 {
        x
    }
}

fn main() {}
