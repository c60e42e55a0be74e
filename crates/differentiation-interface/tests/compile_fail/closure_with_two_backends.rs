//! A closure that one backend has given its number type, passed to another one.
use differentiation_interface::prelude::*;

fn main() {
    let f = |x: &[_]| x[0] * x[1];
    let x: [f64; 2] = [1.0, 2.0];
    let _ = gradient(&f, &AutoForwardDiff::default(), &x);
    let _ = gradient(&f, &AutoReverseDiff::default(), &x);
}
