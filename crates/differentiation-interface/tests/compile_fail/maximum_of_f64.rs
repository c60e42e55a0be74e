//! The functions of `f64` take `f64` alone.

use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> T {
    f64::max(x[0], 0.0)
}

fn main() {
    let _ = gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
