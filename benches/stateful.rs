//! Gradients of loops that carry a state, over the plain function: forward mode, tape, the engine that chooses, compiled.
//!
//! `cargo bench -p differentiation-interface-benches --bench stateful [-- FILTER ... [--check]]` prints times, ratios and preparations; with
//! `--check` the exit status is 1 if a compiled gradient misses its ratio by more than a tenth. Without the argument `--bench`, which `cargo bench` passes and `cargo test`
//! does not, loops are short and gradients are only compared with those of forward mode, and must not allocate.

mod workloads;

use differentiation_interface::backend::Backend;
use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;
use workloads::losses::{AsFunction, Objective};
use workloads::states::{Kalman, Predators, Recurrent, Tridiagonal, Weather};
use workloads::table::{check, time_of, timed, wanted};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The compiled gradient over the function, at most.
const MOST: f64 = 2.5;

/// A prepared gradient, and the time of the preparation.
fn contender<'a, L: Objective, B>(
    backend: B,
    f: &'a AsFunction<'a, L>,
    x: &'a [f64],
    expected: &mut Option<Vec<f64>>,
) -> (Box<dyn FnMut() + 'a>, Option<Duration>)
where
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
    B: 'a,
{
    let takes = "the backend takes this function";
    let (mut state, time) = time_of(|| prepare_gradient(f, &backend, x).expect(takes));
    let mut grad = vec![f64::NAN; x.len()];
    state.gradient_into(&mut grad, x).expect(takes);
    match expected {
        Some(expected) => check(B::NAME, &grad, expected, 1e-9),
        None => *expected = Some(grad.clone()),
    }
    let call = move || {
        black_box(state.gradient_into(&mut grad, black_box(x)).is_ok());
        black_box(&mut grad);
    };
    (Box::new(call), Some(time))
}

/// Prints the rows of one function. Returns whether the compiled gradient is fast enough.
fn gradients<L: Objective>(work: &L) -> bool {
    let x = &work.point()[..];
    if !wanted(&work.name(), x.len()) {
        return true;
    }
    let (f, mut expected) = (&AsFunction(work), None);
    let plain: Box<dyn FnMut() + '_> = Box::new(|| _ = black_box(work.value(black_box(x))));
    let forward = contender(AutoForwardDiff::default(), f, x, &mut expected);
    let tape = contender(AutoReverseDiff::tape(), f, x, &mut expected);
    let mut chosen = contender(AutoReverseDiff::default(), f, x, &mut expected);
    // It has chosen after some dozen calls.
    (0..100).for_each(|_| (chosen.0)());
    let compiled = contender(AutoReverseDiff::compiled(), f, x, &mut expected);
    let (mut calls, preparations): (Vec<_>, Vec<_>) =
        [(plain, None), forward, tape, chosen, compiled].into_iter().unzip();
    let allocated: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            call();
            timing::allocations(call)
        })
        .collect();
    // The function itself may allocate; a compiled gradient does not run it.
    assert!(allocated[1] <= allocated[0] * x.len() && allocated[2] <= allocated[0] && allocated[4] == 0);
    if !timed() {
        return true;
    }
    let samples = timing::measure(&mut calls);
    for (i, engine) in ["function", "forward", "tape", "default", "compiled"].iter().enumerate() {
        let preparation = preparations[i].map_or("-".into(), |time| format!("{:.0}", time.as_secs_f64() * 1e6));
        let name = if i == 0 { work.name() } else { String::new() };
        println!("{name:<42} {engine:<10} {:>12.1} {:>9.2} {preparation:>15}", samples.time(i), samples.ratio(i, 0));
    }
    samples.ratio(4, 0) <= 1.1 * MOST
}

fn main() -> ExitCode {
    if timed() {
        println!("{:<42} {:<10} {:>12} {:>9} {:>15}", "", "engine", "ns/call", "/function", "preparation us");
    }
    let factor = if timed() { 1 } else { 20 };
    let mut fast = gradients(&Predators(1000 / factor));
    fast &= gradients(&Weather(200 / factor));
    fast &= gradients(&Kalman::new(1000 / factor));
    fast &= gradients(&Tridiagonal(1000 / factor));
    fast &= gradients(&Recurrent::new(100 / factor));
    if timed() {
        println!("compiled, asked: {MOST} at most");
    }
    let checked = std::env::args().any(|argument| argument == "--check");
    ExitCode::from(u8::from(checked && !fast))
}
