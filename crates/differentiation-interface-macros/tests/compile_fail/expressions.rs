#![allow(unused)]
use differentiation_interface_macros::differentiable;

macro_rules! half {
    ($x:expr, $h:expr) => {
        $h * $x
    };
}

#[differentiable(crate = "differentiation_interface_core")]
fn all(x: &[f64]) -> f64 {
    struct Point {
        x: f64,
    }
    let a = unsafe { *x.get_unchecked(0) };
    let b = half!(x[0], 0.5);
    let p = &raw const x;
    let later = async { x[0] };
    let c = match x[0] {
        0.0 => 1.0,
        _ => 2.0,
    };
    let d = if let 0.0..1.0 = x[1] { 1.0 } else { 2.0 };
    a + b + c + d
}

fn main() {}
