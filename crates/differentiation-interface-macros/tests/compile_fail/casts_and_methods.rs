#![allow(unused)]
use differentiation_interface_core::Scalar;
use num_traits::ToPrimitive;
use differentiation_interface_macros::differentiable;

#[differentiable(crate = "differentiation_interface_core")]
fn all(x: &[f64]) -> f64 {
    let n = x[0] as usize;
    let m = (2.0 * x[0]) as i64;
    let single = x[0] as f32;
    let bits = x[1].to_bits();
    let number = f64::from_bits(bits);
    let next = x[0].next_up();
    let middle = x[0].midpoint(x[1]);
    let even = x[0].round_ties_even();
    let wide = x[0].to_f64();
    let count = x[1].to_usize();
    let cast: usize = num_traits::cast(x[0]).unwrap();
    let text: f64 = x[0].to_string().parse().unwrap();
    x[0]
}

#[differentiable(crate = "differentiation_interface_core")]
fn on_purpose(x: f64) -> f64 {
    let table = [1.0, 2.0];
    let k = 3.0;
    let i = k as usize + (2.5f64).to_bits() as usize;
    x * table[x.primal() as usize] + i as f64
}

fn main() {}
