//! Code that is generic over the function has the bound of the operator.

use differentiation_interface::prelude::*;

fn at<F: Function<[f64]>>(f: F, x: &[f64]) -> Vec<f64> {
    gradient(&f, &AutoReverseDiff::default(), x).unwrap()
}

fn main() {}
