#![allow(unused)]
use differentiation_interface_core::Real;
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn marked_point(#[constant] k: f64, x: &[f64]) -> f64 {
    k * x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn changed_constant(x: &[f64], #[constant] k: &mut Vec<f64>) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn changed_parameter(x: &[f64], #[parameter] k: &mut f64) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn parameter_without_numbers(x: &[f64], #[parameter] n: usize) -> f64 {
    x[n]
}

#[differentiable(crate = "differentiation_interface_core")]
fn cache_by_value(x: &[f64], #[cache] w: Vec<f64>) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn unnamed_type(x: &[f64], #[constant] f: impl Fn(f64) -> f64) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn too_many(
    x: &[f64],
    #[constant] a: f64,
    #[constant] b: f64,
    #[constant] c: f64,
    #[constant] d: f64,
    #[constant] e: f64,
) -> f64 {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn active_constant<T: Real>(x: &[T], #[constant] k: T) -> T {
    k * x[0]
}

fn main() {}
