#![allow(unused)]
use differentiation_interface_macros::differentiable_fn;

differentiable_fn! {
    fn Unmarked(x: &[f64], k: f64) -> f64 = some::path;
}

differentiable_fn! {
    fn NoPath(x: &[f64]) -> f64;
}

fn main() {}
