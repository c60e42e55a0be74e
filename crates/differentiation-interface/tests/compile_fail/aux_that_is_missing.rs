//! `with_aux` of a function that returns a number alone.
use differentiation_interface::prelude::*;

fn main() {
    let f = with_aux(|x: &[_]| x[0] * x[1]);
    let _ = value_gradient_and_aux::<_, (), _, _>(&f, &AutoForwardDiff::default(), &[2.0, 5.0]);
}
