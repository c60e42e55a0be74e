//! The number of seeds is part of the type.

use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T]) -> [T; 2] {
    [x[0] * x[1], x[0]]
}

fn main() {
    let seeds = vec![vec![1.0, 0.0]; std::env::args().count()];
    let f = |x: &[_]| f(x);
    let _ = pushforward(&f, &AutoForwardDiff::default(), &[1.0, 2.0], &seeds);
}
