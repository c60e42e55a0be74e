#![allow(unused)]
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn mixed(x: &[f64], #[constant] data: &[f64]) -> f64 {
    const START: [f64; 2] = [1.0, 2.0];
    let rows = [x, data];
    let starts = [x, &START];
    rows[1][0] + starts[1][0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn copied(x: &[f64], #[constant] data: &[f64]) -> f64 {
    let copy = data.to_vec();
    let rows = [x, &copy];
    rows[1][0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn applied(x: f64, #[constant] f: fn(f64) -> f64) -> f64 {
    f(x)
}

#[differentiable(crate = "differentiation_interface_core")]
mod tables {
    fn table(a: f64) -> &'static [f64] {
        Box::leak(Box::new([a, 2.0 * a]))
    }
    pub fn f(x: &[f64]) -> f64 {
        table(x[0])[1]
    }
}

fn main() {}
