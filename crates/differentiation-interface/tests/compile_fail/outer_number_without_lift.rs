use differentiation_interface::prelude::*;

fn product<T: Real>(x: T, y: T) -> T {
    x * y
}

fn outer<T: Real>(x: T) -> T {
    derivative(&|y| product(x, y), &AutoForwardDiff::default(), &x).unwrap()
}

fn main() {
    let _ = derivative(&outer, &AutoForwardDiff::default(), 3.0);
}
