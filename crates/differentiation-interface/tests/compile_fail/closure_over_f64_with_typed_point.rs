use differentiation_interface::prelude::*;

fn main() {
    let f = |x: &[f64]| x[0] * x[1];
    let x = vec![1.0f64, 2.0];
    let _ = gradient(&f, &AutoForwardDiff::default(), &x);
}
