use differentiation_interface::prelude::*;

fn square<T: Real>(t: T) -> T {
    t * t
}

fn main() {
    let _ = nth_derivative(&|t: &_| square(*t), &AutoTaylor, 0.5, Order::<3>);
}
