// A struct of numbers that is not a container.
use differentiation_interface::prelude::*;

struct Params<T = f64> {
    scale: T,
}

fn main() {
    let f = |p: &Params<_>| p.scale * p.scale;
    let _ = gradient(&f, &AutoReverseDiff::default(), &Params { scale: 2.0 });
}
