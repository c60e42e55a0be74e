use differentiation_interface::prelude::*;

fn product<T: Real>(x: &[T], k: &T) -> T {
    *k * x[0]
}

fn outer<T: Real>(k: T) -> T {
    gradient(&|x: &[_], k: &_| product(x, k), &AutoForwardDiff::default(), (&[k], Parameter(&k))).unwrap()[0]
}

fn main() {
    let _ = derivative(&outer, &AutoForwardDiff::default(), 3.0);
}
