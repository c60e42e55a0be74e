//! Time of a derivative of high order of W8 by `AutoTaylor` over that by the series of `echidna`, called directly.
//!
//! `cargo bench -p differentiation-interface-echidna --bench taylor`. Minima of rounds in which both run one after the other. The results are
//! compared before anything is timed; without the argument `--bench`, which `cargo bench` passes and `cargo test` does not, that is all. With
//! `--check`, a fifth derivative that takes more than 1.1 times echidna's is a failure.

use differentiation_interface::prelude::*;
use echidna::Taylor;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// W8: exp(sin x) ln(1 + x²) / (2 + cos 3x).
fn composite<T: Real>(x: T) -> T {
    x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
}

fn composite_of_series<const K: usize>(x: Taylor<f64, K>) -> Taylor<f64, K> {
    let constant = Taylor::constant;
    x.sin().exp() * (constant(1.0) + x * x).ln() / (constant(2.0) + (constant(3.0) * x).cos())
}

/// Nanoseconds of a call, the least of the rounds, in turn.
fn times(mut calls: [&mut dyn FnMut(); 2]) -> [f64; 2] {
    const CALLS: u32 = 2000;
    let mut least = [f64::INFINITY; 2];
    for _ in 0..200 {
        for (least, call) in least.iter_mut().zip(&mut calls) {
            let start = Instant::now();
            (0..CALLS).for_each(|_| call());
            *least = least.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
        }
    }
    least
}

/// The derivative of order `$n`; prints times and their ratio, and returns the ratio.
macro_rules! compare {
    ($n:literal, $timed:expr) => {{
        let (x, failed) = (0.7, "the function is differentiable");
        let f = |x: _| composite(x);
        let mut prepared = prepare_nth_derivative(&f, &AutoTaylor, x, Order::<$n>).expect(failed);
        let mut ours = |x| prepared.nth_derivative(x).expect(failed);
        let theirs = |x| composite_of_series(Taylor::<f64, { $n + 1 }>::variable(x)).derivative($n);
        let (found, expected) = (ours(x), theirs(x));
        assert!((found / expected - 1.0).abs() < 1e-12, "order {}: {found}, by echidna {expected}", $n);
        let mut ratio = 0.0;
        if $timed {
            let [ours, theirs] =
                times([&mut || _ = black_box(ours(black_box(x))), &mut || _ = black_box(theirs(black_box(x)))]);
            ratio = ours / theirs;
            println!("W8, order {:2}: {ours:6.1} ns, echidna {theirs:6.1} ns, ratio {ratio:.2}", $n);
        }
        ratio
    }};
}

fn main() -> ExitCode {
    let has = |name: &str| std::env::args().any(|argument| argument == name);
    let timed = has("--bench");
    compare!(2, timed);
    let fifth = compare!(5, timed);
    compare!(8, timed);
    compare!(12, timed);
    if has("--check") && fifth > 1.1 {
        println!("order 5: {fifth:.2}, at most 1.1 asked");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
