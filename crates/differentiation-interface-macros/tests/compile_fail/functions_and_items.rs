#![allow(unused)]
use differentiation_interface_core::Real;
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
async fn later(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
unsafe fn trusted(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
const fn early(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
extern "C" fn foreign(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
struct Model {
    k: f64,
}

struct Spring;

impl Spring {
    #[differentiable(crate = "differentiation_interface_core")]
    fn energy(&self, x: f64) -> f64 {
        x
    }
}

#[differentiable(crate = "differentiation_interface_core")]
fn two_numbers<T: Real, U: Real>(x: &[T], #[cache] w: &mut Vec<U>) -> T {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn t<T: Real>(x: &[T]) -> T {
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn Energy(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
fn self_(x: f64) -> f64 {
    x
}

#[differentiable(crate = "differentiation_interface_core")]
fn __(x: f64) -> f64 {
    x
}

fn main() {}
