//! A preparation takes a pointer to the function, which may own it.

use differentiation_interface::prelude::*;

struct Line {
    data: Vec<[f64; 2]>,
}

impl<T: Real> Function<[T]> for Line {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.data.iter().map(|d| (x[0] + x[1] * d[0] - d[1]).powi(2)).sum()
    }
}

fn main() {
    let data = vec![[1.0, 2.0]];
    let mut prepared = prepare_gradient(Line { data }, &AutoReverseDiff::default(), &[0.0, 0.0]).unwrap();
    prepared.gradient(&[1.0, 2.0]).unwrap();
}
