use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> Vec<T> {
    x.to_vec()
}

fn main() {
    let f = in_place(|x: &[_]| f(x), 2);
    let _ = jacobian(&f, &AutoForwardDiff::default(), &[1.0, 2.0]);
}
