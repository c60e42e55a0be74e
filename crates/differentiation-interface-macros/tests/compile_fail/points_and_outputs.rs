#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn no_point() -> f64 {
    1.0
}

#[differentiable(crate = "differentiation_interface_core")]
fn point_without_number(n: &[usize]) -> f64 {
    n[0] as f64
}

#[differentiable(crate = "differentiation_interface_core")]
fn owned_vector(x: Vec<f64>) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn changed_point(x: &mut [f64]) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn static_point(x: &'static [f64]) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn no_output(x: &[f64]) {
    println!("{}", x[0]);
}

#[differentiable(crate = "differentiation_interface_core")]
fn no_number_returned(x: &[f64]) -> bool {
    x[0] > 0.0
}

#[differentiable(crate = "differentiation_interface_core")]
fn borrowed_output(x: &[f64]) -> &[f64] {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
fn vector_buffer(y: &mut Vec<f64>, x: &[f64]) {
    y[0] = x[0];
}

#[differentiable(crate = "differentiation_interface_core")]
fn parameter_without_argument<const N: usize>(x: &[f64]) -> f64 {
    (0..N).map(|i| x[0].powi(i as i32)).sum()
}

fn main() {}
