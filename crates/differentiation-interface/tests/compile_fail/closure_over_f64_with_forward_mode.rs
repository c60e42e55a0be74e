use differentiation_interface::prelude::*;

fn main() {
    let f = |x: &[f64]| x[0] * x[1];
    let _ = gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
