use differentiation_interface::prelude::*;

fn f(x: &[f64]) -> f64 {
    x[0] * x[1]
}

fn main() {
    let _ = gradient(&f, &AutoReverseDiff::default(), &[1.0, 2.0]);
}
