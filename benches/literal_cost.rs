//! Costs of an operation with a constant: instructions per operation, counted by callgrind.
//!
//! `benches/literal_cost.sh` runs this program for each way of writing constants and prints the table below. The function
//! is a chain of the operations `100.0 * v`, `v + 1.0`, `v / 3.0`, `1.0 - v`, each with one constant operand, on numbers
//! with 12 lanes of tangents. Without arguments, as `cargo bench` runs it, the program checks that all ways agree.
//!
//! | x86-64 without AVX, Rust 1.95 | instructions per operation |
//! |---|---|
//! | bare `f64` | 1.4 |
//! | forward mode, literals | 5.3 |
//! | forward mode, `T::constant(100.0)` | 5.3 |
//! | textbook duals, literals (operators with `f64` written out) | 4.8 |
//! | textbook duals, literals promoted to duals with zero tangents | 17.4 |
//! | reverse mode, literals | 2.5 |
//! | reverse mode, `T::constant(100.0)` | 2.5 |
//!
//! So a constant costs the same however it is written: adding it does no tangent work, multiplying by it scales the tangent, and
//! a tape gets no entry.

mod workloads;

use differentiation_interface::prelude::*;
use std::hint::black_box;
use workloads::Number;
use workloads::duals::HandDual;

/// Number of links of the chain in one evaluation, with four operations each.
const LINKS: usize = 8;

/// Constants as plain numbers.
fn literals<T: Number>(mut v: T) -> T {
    for _ in 0..LINKS {
        v = 100.0 * v;
        v = v + 1.0;
        v = v / 3.0;
        v = 1.0 - v;
    }
    v
}

/// Constants as numbers of the same type as the variable.
fn constants<T: Number>(mut v: T) -> T {
    for _ in 0..LINKS {
        v = T::of(100.0) * v;
        v += T::of(1.0);
        v = v / T::of(3.0);
        v = T::of(1.0) - v;
    }
    v
}

/// Evaluates a chain repeatedly, always from `x`.
fn repeat<T: Number>(chain: impl Fn(T) -> T, x: T, times: usize) -> T {
    let mut y = x;
    for _ in 0..times {
        y = black_box(chain(black_box(x)));
    }
    y
}

/// The derivative by `backend`.
macro_rules! by_backend {
    ($backend:expr, $chain:ident, $times:expr) => {
        gradient(&|x: &[_]| repeat($chain, x[0], $times), &$backend, &[0.5]).expect("one input is enough")[0]
    };
}

/// The derivative by textbook duals.
fn textbook(chain: impl Fn(HandDual) -> HandDual, times: usize) -> f64 {
    repeat(chain, HandDual::variable(0.5, 0), times).tangent(0)
}

/// The derivative, with the chain evaluated `times` times.
fn run(way: &str, times: usize) -> Option<f64> {
    Some(match way {
        "forward_diff literals" => by_backend!(AutoForwardDiff::default(), literals, times),
        "forward_diff constants" => by_backend!(AutoForwardDiff::default(), constants, times),
        "reverse_diff literals" => by_backend!(AutoReverseDiff::tape(), literals, times),
        "reverse_diff constants" => by_backend!(AutoReverseDiff::tape(), constants, times),
        "textbook literals" => textbook(literals, times),
        "textbook constants" => textbook(constants, times),
        "f64" => black_box(repeat(literals, 0.5, times)),
        _ => return None,
    })
}

const WAYS: [&str; 6] = [
    "forward_diff literals",
    "forward_diff constants",
    "reverse_diff literals",
    "reverse_diff constants",
    "textbook literals",
    "textbook constants",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let [way, times] = &arguments[..] {
        let times = times.parse().expect("the second argument is a number of evaluations");
        assert!(run(way, times).is_some(), "no way is called {way}");
        return;
    }
    let expected = (-100.0_f64 / 3.0).powi(LINKS as i32);
    for way in WAYS {
        let found = run(way, 1).expect("the way is listed");
        assert!((found / expected - 1.0).abs() < 1e-12, "{way}: {found}, expected {expected}");
        println!("{way}: derivative {found:.6e}, as expected");
    }
}
