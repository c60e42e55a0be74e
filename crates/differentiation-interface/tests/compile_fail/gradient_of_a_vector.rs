use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0], x[1]]
}

fn main() {
    let _ = gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
