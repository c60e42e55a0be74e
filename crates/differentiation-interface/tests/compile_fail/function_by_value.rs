//! A forgotten `&` in front of the function.

use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> T {
    x[0]
}

fn main() {
    let _ = gradient(f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
