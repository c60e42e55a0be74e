//! A parameter arrives with the numbers of the point, not with plain ones.

use differentiation_interface::prelude::*;

fn spring<T: Real>(x: &[T], k: &f64) -> T {
    *k * x[0] * x[0]
}

fn main() -> Result<(), Error> {
    let stiffness = vec![3.0];
    let f = |x: &[_], k: &Vec<f64>| spring(x, &k[0]);
    gradient(&f, &AutoForwardDiff::default(), (&[1.0, 2.0], Parameter(&stiffness)))?;
    Ok(())
}
