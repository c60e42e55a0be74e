use differentiation_interface::prelude::*;

fn f<T: Real>(x: &[T], _: &mut String) -> T {
    x[0]
}

fn main() {
    let f = |x: &[_], w: &mut String| f(x, w);
    let _ = gradient(&f, &AutoForwardDiff::default(), (&[1.0, 2.0], Cache(&String::new())));
}
