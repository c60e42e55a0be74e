use differentiation_interface::prelude::*;

fn main() {
    let f = |x: f64| x * x;
    let _ = derivative(&f, &AutoForwardDiff::default(), 1.0);
}
