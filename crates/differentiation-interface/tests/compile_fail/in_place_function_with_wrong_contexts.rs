use differentiation_interface::prelude::*;

fn f<T: Real>(y: &mut [T], x: &[T]) {
    y[0] = x[0];
}

fn main() {
    let f = in_place(|y: &mut [_], x: &[_]| f(y, x), 1);
    let _ = jacobian(&f, &AutoForwardDiff::default(), (&[1.0, 2.0], Constant(&1.0)));
}
