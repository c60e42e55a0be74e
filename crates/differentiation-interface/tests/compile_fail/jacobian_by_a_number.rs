use differentiation_interface::prelude::*;

fn f<T: Real>(x: T) -> [T; 1] {
    [x]
}

fn main() {
    let _ = jacobian(&f, &AutoForwardDiff::default(), 1.0);
}
