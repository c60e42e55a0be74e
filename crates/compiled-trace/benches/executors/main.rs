//! Compiled gradients beside gradients written by hand, by both executors: W1, W2, the GMM of W7, and the logistic map as an
//! example of a recurrence.
//!
//! `cargo bench -p compiled-trace --bench executors` times the portable executor and machine code.
//! `-- W2 1000` selects groups by name and size, `-- irregular` times irregular code. A sample takes at
//! least 0.5 ms, contenders take turns, ratios are medians over the rounds. Every gradient is first compared with the one by hand.
//! `LISTING=directory` writes programs and machine code to files there.

mod machine_code;
mod turns;
#[path = "../../../../benches/workloads/mod.rs"]
mod workloads;

use compiled_trace::{Limits, Recorded, compile, record};
use std::hint::black_box;
use std::time::Instant;
use turns::{Contender, in_turns};
use workloads::losses::{Loss, Objective};
use workloads::mixture::Mixture;
use workloads::sums::{Rosenbrock, Squares, Sum};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let is_wanted = |name: &str, n: usize| match wanted.as_slice() {
        [] => true,
        [only] => only == name,
        [group, size, ..] => group == name && *size == n.to_string(),
    };
    if wanted.is_empty() || wanted[0] == "irregular" {
        machine_code::irregular();
    }
    println!(
        "work         n  operations  statements  instructions  bytes/op  record ns/op  compile ns/op  by hand ns  interpreter/hand  native/hand  emitted  code bytes  compile ns/emitted"
    );
    for n in [10, 100, 1_000, 10_000, 100_000, 1_000_000] {
        if is_wanted("W1", n) {
            measure("W1", &Squares::point(n), Squares::value::<Recorded>, Squares::by_hand);
        }
        if is_wanted("W2", n) {
            measure("W2", &Rosenbrock::point(n), Rosenbrock::value::<Recorded>, Rosenbrock::by_hand);
        }
    }
    for n in [1_000, 100_000] {
        if is_wanted("map", n) {
            let mut memory = Vec::with_capacity(n + 1);
            measure(
                "map",
                &[0.3, 2.7],
                |x| (0..n).fold(x[0], |v, _| x[1] * v * (1.0 - v)),
                |grad, x| {
                    memory.clear();
                    memory.push(x[0]);
                    for i in 0..n {
                        memory.push(x[1] * memory[i] * (1.0 - memory[i]));
                    }
                    let (mut by_value, mut by_rate) = (1.0, 0.0);
                    for v in memory[..n].iter().rev() {
                        by_rate += by_value * v * (1.0 - v);
                        by_value *= x[1] * (1.0 - 2.0 * v);
                    }
                    (grad[0], grad[1]) = (by_value, by_rate);
                    memory[n]
                },
            );
        }
    }
    for (d, k, points) in [(10, 25, 1000), (20, 50, 1000)] {
        let gmm = Mixture::new(d, k, points);
        if is_wanted("GMM", d) {
            let mut memory = gmm.memory();
            measure("GMM", &gmm.point(), |x| gmm.value(x), |g, x| gmm.by_hand(&mut memory, g, x));
        }
    }
}

/// Compares and times a compiled gradient and the one by hand.
fn measure(
    name: &str,
    x: &[f64],
    f: impl FnOnce(&[Recorded]) -> Recorded,
    mut by_hand: impl FnMut(&mut [f64], &[f64]) -> f64,
) {
    let start = Instant::now();
    let graph = record(x, &[], Limits::default(), |x, _, y| y.push(f(x))).expect("the function is recorded");
    let recording = start.elapsed();
    let start = Instant::now();
    let program = compile(&graph).expect("it compiles").adjoint(1).expect("it has an adjoint");
    let source = program.clone();
    let (statements, instructions, bytes) = (program.statement_count(), program.instruction_count(), program.bytes());
    let executable = program.executable();
    let mut memory = executable.workspace::<f64>();
    let compiling = start.elapsed();
    let operations = graph.nodes().len() as f64;

    let (mut y, mut grad, mut expected) = ([f64::NAN], vec![f64::NAN; x.len()], vec![0.0; x.len()]);
    let value = by_hand(&mut expected, x);
    let inputs: [&[f64]; 3] = [x, &[], &[1.0]];
    executable.run(&mut memory, &inputs, &mut [&mut y, &mut grad]).expect("the guards hold");
    compare(name, &y, &grad, value, &expected);
    let (native, columns) = machine_code::compiled(&format!("{name}{}", x.len()), &source);
    let mut native_memory = native.as_ref().map(|native| native.workspace()).unwrap_or_default();
    let (mut native_y, mut native_grad) = ([f64::NAN], vec![f64::NAN; x.len()]);
    if let Some(native) = &native {
        native.run(&mut native_memory, &inputs, &mut [&mut native_y, &mut native_grad]).expect("the guards hold");
        compare(name, &native_y, &native_grad, value, &expected);
    }

    let mut contenders: Vec<Contender> = vec![
        Box::new(|| {
            black_box(by_hand(black_box(&mut expected), black_box(x)));
        }),
        Box::new(|| {
            let inputs = [black_box(x), &[], &[1.0]];
            black_box(executable.run(&mut memory, &inputs, &mut [&mut y, black_box(&mut grad)]).is_ok());
        }),
    ];
    if let Some(native) = &native {
        contenders.push(Box::new(|| {
            let inputs = [black_box(x), &[], &[1.0]];
            let outputs = &mut [&mut native_y[..], black_box(&mut native_grad)];
            black_box(native.run(&mut native_memory, &inputs, outputs).is_ok());
        }));
    }
    let (hand, ratios) = in_turns(&mut contenders);
    print!(
        "{name:4} {:9}  {:10}  {statements:10}  {instructions:12}  {:8.1}  {:12.1}  {:13.1}  {hand:10.0}  {:16.2}",
        x.len(),
        operations,
        (graph.bytes() + bytes) as f64 / operations,
        recording.as_nanos() as f64 / operations,
        compiling.as_nanos() as f64 / operations,
        ratios[0],
    );
    match ratios.get(1) {
        Some(ratio) => print!("  {ratio:11.2}  {columns}"),
        None => print!("  {columns}"),
    }
    println!();
}

/// Compares a value and a gradient with those by hand.
fn compare(name: &str, y: &[f64], grad: &[f64], value: f64, expected: &[f64]) {
    assert!((y[0] - value).abs() <= 1e-9 * value.abs().max(1.0), "{name}: value {} is not {value}", y[0]);
    for (i, (found, expected)) in grad.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= 1e-8 * expected.abs().max(1.0),
            "{name}: gradient {i}: {found} is not {expected}"
        );
    }
}
