//! A pair is made of backends, not of pairs.

use differentiation_interface::prelude::*;

fn cubic(x: &[f64]) -> f64 {
    x[0] * x[0] * x[1]
}

fn main() {
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let _ = hessian(&cubic, &SecondOrder(AutoForwardDiff::default(), pair), &[1.0, 2.0]);
}
