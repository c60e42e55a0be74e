use differentiation_interface::prelude::*;

fn product<T: Real>(x: T, y: T) -> T {
    x * y
}

fn outer<T: Real>(x: T) -> T {
    let backend = AutoForwardDiff::default();
    derivative(&|y| product(lift(&AutoReverseDiff::default(), &x), y), &backend, &x).unwrap()
}

fn main() {
    let _ = derivative(&outer, &AutoForwardDiff::default(), 3.0);
}
