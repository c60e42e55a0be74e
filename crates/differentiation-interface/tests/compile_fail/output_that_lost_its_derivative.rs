use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> f64 {
    x[0].primal()
}

fn main() {
    let _ = gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
