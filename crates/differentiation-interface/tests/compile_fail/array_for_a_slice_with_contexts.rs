//! A point passed by reference is a slice for the function.

use differentiation_interface::prelude::*;

fn spring<T: Real>(x: &[T], k: &f64) -> T {
    *k * x[0] * x[0]
}

fn main() -> Result<(), Error> {
    let f = |x: &[_; 2], k: &f64| spring(x, k);
    gradient(&f, &AutoForwardDiff::default(), (&[1.0, 2.0], Constant(&3.0)))?;
    Ok(())
}
