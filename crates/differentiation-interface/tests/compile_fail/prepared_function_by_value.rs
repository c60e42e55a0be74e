//! A forgotten `&` in front of the function of a preparation.

use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> T {
    x[0]
}

fn main() {
    let f = |x: &[_]| f(x);
    let _ = prepare_gradient(f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
