//! A closure has one number type, a sparse derivative needs several.

use differentiation_interface::prelude::*;

fn square<T: Real>(x: &[T]) -> T {
    x[0] * x[0]
}

fn main() {
    let _ = hessian(&|x: &[_]| square(x), &AutoSparse::new(AutoForwardDiff::default()), &[1.0]);
}
