//! A pair of backends serves second order only.

use differentiation_interface::prelude::*;

fn cubic<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1]
}

fn main() {
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let _ = gradient(&cubic::<f64>, &pair, &[1.0, 2.0]);
}
