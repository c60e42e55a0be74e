#![allow(unused)]
use differentiation_interface_core::Real;
use differentiation_interface_macros::differentiable;

fn damping(v: f64, c: f64) -> f64 {
    -c * v * v.abs()
}

fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

struct State {
    pos: f64,
    vel: f64,
}

mod elsewhere {
    pub(crate) struct Model(pub(crate) f64);
    pub(crate) fn scaled(v: f64) -> f64 {
        2.0 * v
    }
}

#[differentiable(crate = "differentiation_interface_core")]
fn numbers(x: &[f64]) -> f64 {
    let force = damping(x[0], 0.5);
    x[1]
}

#[differentiable(crate = "differentiation_interface_core")]
fn slices(x: &[f64]) -> f64 {
    norm2(x);
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn structs(x: &[f64]) -> f64 {
    let s = State { pos: x[0], vel: 0.0 };
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn paths(x: f64) -> f64 {
    let m = elsewhere::Model(x);
    let d = elsewhere::scaled(x + 1.0);
    x
}

struct Oscillator {
    stiffness: f64,
}

impl Oscillator {
    fn force(&self, q: f64) -> f64 {
        -self.stiffness * q
    }
}

#[differentiable(crate = "differentiation_interface_core")]
fn methods(x: f64, #[constant] model: &Oscillator) -> f64 {
    let f = model.force(x);
    x
}

#[differentiable(crate = "differentiation_interface_core")]
mod model {
    pub fn energy(x: &[f64]) -> f64 {
        let d = super::damping(x[0], 2.0);
        x[1]
    }
}

// What the macro cannot pass by a call with a name: coercions (`&Vec` to a slice), whose error is the compiler's own.
#[differentiable(crate = "differentiation_interface_core")]
fn coercions(x: &[f64]) -> f64 {
    let v: Vec<f64> = x.iter().map(|v| v + 1.0).collect();
    norm2(&v);
    x[0]
}

fn main() {}
