use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> String {
    x[0].to_string()
}

fn main() {
    let _ = pushforward(&f, &AutoForwardDiff::default(), &[1.0, 2.0], [&[1.0, 0.0]]);
}
