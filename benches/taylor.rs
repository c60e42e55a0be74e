//! Taylor mode: derivatives of order five and twelve of W8, and expansions in four variables, prepared, beside the bare function.
//!
//! `cargo bench -p differentiation-interface-benches --bench taylor` prints times and ratios; without the argument `--bench`, which `cargo bench` passes and `cargo test` does not,
//! prepared calls are only checked, and must not allocate.

mod workloads;

use differentiation_interface::prelude::*;
use differentiation_interface::{Function, scalar};
use std::hint::black_box;
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// W8: exp(sin x) ln(1 + x²) / (2 + cos 3x).
fn composite<T: Real>(x: T) -> T {
    x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
}

struct Composite;

impl<C: scalar::Core<Base = f64>> Function<scalar::Num<C>> for Composite {
    type Output = scalar::Num<C>;
    fn call(&self, x: &scalar::Num<C>) -> Self::Output {
        composite(*x)
    }
}

fn several<T: Real>(x: &[T]) -> T {
    (x[0] * x[1]).sin() * x[2].exp() / (2.0 + x[3] * x[3]) + (1.0 + x[0] * x[0] + x[3] * x[2]).ln()
}

fn main() {
    let is_timed = std::env::args().any(|argument| argument == "--bench");
    let (x, point, d) = (0.7, [0.5, 0.7, -0.3, 0.4], [1.0, -0.5, 0.25, 2.0]);
    let failed = "the functions are differentiable";
    let mut fifth = prepare_nth_derivative(&Composite, &AutoTaylor, 0.0, Order::<5>).expect(failed);
    let mut twelfth = prepare_nth_derivative(&Composite, &AutoTaylor, 0.0, Order::<12>).expect(failed);
    let mut series = prepare_taylor_coefficients(&Composite, &AutoTaylor, 0.0, Order::<12>).expect(failed);
    // From mpmath, `.ci/accuracy/taylor.py`.
    let found = fifth.nth_derivative(x).expect(failed);
    assert!((found / (-28.22596903698923 * 120.0) - 1.0).abs() < 1e-13, "{found}");
    let along = |x: &[_]| several(x);
    let inputs = |x: &[_]| several(x);
    let mut jets = prepare_jet(&along, &AutoTaylor, &point, d, Order::<6>).expect(failed);
    let mut partial = prepare_mixed_partial(&inputs, &AutoTaylor, &point, &[2, 1, 1, 1]).expect(failed);
    let mut fourth = prepare_taylor_expansion(&inputs, &AutoTaylor, &point, 4).expect(failed);
    let mut eighth = prepare_taylor_expansion(&inputs, &AutoTaylor, &point, 8).expect(failed);
    let mut to_4 = fourth.taylor_expansion(&point).expect(failed);
    let mut to_8 = eighth.taylor_expansion(&point).expect(failed);
    let expected = to_8.partial(&[2, 1, 1, 1]).expect(failed);
    let found = partial.mixed_partial(&point).expect(failed);
    assert!(f64::abs(found / expected - 1.0) < 1e-12, "{found}, from the expansion {expected}");

    let (mut coefficients, mut along, mut one) = ([0.0; 13], [0.0; 7], [0.0]);
    let mut contenders: Vec<(&str, Box<dyn FnMut() + '_>)> = vec![
        ("W8", Box::new(|| _ = black_box(composite(black_box(x))))),
        ("W8, fifth derivative", Box::new(|| _ = black_box(fifth.nth_derivative(black_box(x))))),
        ("W8, twelfth derivative", Box::new(|| _ = black_box(twelfth.nth_derivative(black_box(x))))),
        (
            "W8, coefficients to order 12",
            Box::new(|| series.taylor_coefficients_into(&mut coefficients, black_box(x)).expect(failed)),
        ),
        ("four inputs, jet of order 6", Box::new(|| jets.jet_into(&mut along, black_box(&point), &d).expect(failed))),
        (
            "four inputs, ∂⁵/∂x²∂y∂z∂w",
            Box::new(|| partial.mixed_partial_into(&mut one, black_box(&point)).expect(failed)),
        ),
        (
            "four inputs, expansion to order 4",
            Box::new(|| fourth.taylor_expansion_into(&mut to_4, black_box(&point)).expect(failed)),
        ),
        (
            "four inputs, expansion to order 8",
            Box::new(|| eighth.taylor_expansion_into(&mut to_8, black_box(&point)).expect(failed)),
        ),
    ];
    for (name, call) in &mut contenders {
        call();
        assert_eq!(timing::allocations(call), 0, "{name}: a prepared call allocates");
    }
    if !is_timed {
        return;
    }
    let (names, mut calls): (Vec<_>, Vec<_>) = contenders.into_iter().unzip();
    let samples = timing::measure(&mut calls);
    println!("| work | ns per call | / W8 |\n|---|---|---|");
    for (k, name) in names.iter().enumerate() {
        println!("| {name} | {:.0} | {:.1} |", samples.time(k), samples.ratio(k, 0));
    }
}
