//! A closure that calls a function of `f64` is one over `f64`.

use differentiation_interface::prelude::*;

fn main() {
    let f = |x: &[_]| f64::max(x[0], 0.0);
    let _ = gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
