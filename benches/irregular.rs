//! Gradients of a function without loops to find again: a random graph of operations with shared subexpressions.
//!
//! `cargo bench --bench irregular [--features native]` prints the time of a call by a compiled recording beside that by the tape
//! that is recorded at each call, and what the preparation costs. Results are compared first; without the argument `--bench`
//! nothing is timed.

mod workloads;

use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::time::Instant;
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// As many random operations on earlier results as `steps` says; the sum of the last fifty results.
fn irregular<T: Real>(x: &[T], steps: usize) -> T {
    let mut results = x.to_vec();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let pick = |bits: u64| results[bits as usize % results.len()];
        let (a, b) = (pick(state >> 8), pick(state >> 40));
        results.push(match state % 6 {
            0 => a + b,
            1 => a - b,
            2 => a * b * 0.5,
            3 => a.sin(),
            4 => (a * a + b * b + 1.0).sqrt(),
            _ => a * 0.7 + b * 0.2,
        });
    }
    results[results.len() - 50..].iter().copied().sum()
}

fn compare(steps: usize, timed: bool) {
    let x: Vec<f64> = (0..100).map(|i| (f64::from(i) * 0.37).sin()).collect();
    let (mut expected, mut found) = (vec![f64::NAN; 100], vec![f64::NAN; 100]);
    let f = |x: &[_]| irregular(x, steps);
    let mut taped = prepare_gradient(&f, &AutoReverseDiff::default(), &x).expect("the backend takes this point");
    taped.gradient_into(&mut expected, &x).expect("the point is the prepared one");
    let f = |x: &[_]| irregular(x, steps);
    let begin = Instant::now();
    let mut compiled = prepare_gradient(&f, &AutoReverseDiff::compiled(), &x).expect("the backend takes this point");
    let preparation = begin.elapsed();
    compiled.gradient_into(&mut found, &x).expect("the point is the prepared one");
    for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{steps} steps: entry {i} is {a}, expected {b}");
    }
    if !timed {
        return;
    }
    let mut calls: Vec<Box<dyn FnMut() + '_>> = vec![
        Box::new(|| {
            black_box(taped.gradient_into(&mut expected, black_box(&x)).is_ok());
        }),
        Box::new(|| {
            black_box(compiled.gradient_into(&mut found, black_box(&x)).is_ok());
        }),
    ];
    let samples = timing::measure(&mut calls);
    println!(
        "{steps:>6} {:>12.1} {:>12.1} {:>10.2} {:>15.1}",
        samples.time(0) / 1e3,
        samples.time(1) / 1e3,
        samples.ratio(1, 0),
        preparation.as_secs_f64() * 1e3
    );
}

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    if timed {
        println!("{:>6} {:>12} {:>12} {:>10} {:>15}", "steps", "tape us", "compiled us", "ratio", "preparation ms");
    }
    for steps in if timed { &[1000, 4000, 16_000, 64_000][..] } else { &[200] } {
        compare(*steps, timed);
    }
}
