//! The function takes a weight, the call passes a whole number.

use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T], k: &f64) -> T {
    *k * x[0]
}

fn main() {
    let f = |x: &[_], k: &f64| f(x, k);
    let _ = gradient(&f, &AutoForwardDiff::default(), (&[1.0, 2.0], Constant(&3usize)));
}
