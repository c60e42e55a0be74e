//! What a preparation of the compiled engine costs: time and memory, in all and for each recorded operation, beside the figures asked for.
//!
//! `cargo bench -p differentiation-interface-benches --bench preparing [-- --check] [-- FILTER ...]`: every work runs in a
//! process of its own, whose peak memory counts. `--check` ends with an error if a figure is more than a tenth above the one asked for.
//! Filters select works by parts of their names. Without the argument `--bench`, which `cargo bench` passes and `cargo test` does not,
//! sizes are small and nothing is compared.

mod workloads;

use compiled_trace::{Limits, Recorded, Recorder, record};
use differentiation_interface::prelude::*;
use std::process::Command;
use std::time::Duration;
use workloads::bundle::Bundle;
use workloads::grids::Brusselator;
use workloads::irregular::{Kepler, RandomGraph, Table};
use workloads::losses::{AsFunction, Loss, OfLength};
use workloads::mixture::Mixture;
use workloads::sums::{Rosenbrock, Squares};
use workloads::table::{check, timed};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The argument that starts this program as the process of a work.
const CHILD: &str = "--prepare";

/// The reason why an operator accepts the points and lengths used here.
const TAKES: &str = "the backend takes this point";

/// What may be asked of a work.
#[derive(Clone, Copy)]
enum Asked {
    /// Nanoseconds for each operation.
    Nanoseconds(f64),
    /// Bytes of the recording and the program of the gradient for each operation.
    Bytes(f64),
    /// Bytes at the peak for each operation; no figure is asked for.
    Peak,
    /// Microseconds in all.
    Microseconds(f64),
    /// Megabytes at the peak in all.
    Megabytes(f64),
}

struct Work {
    name: &'static str,
    asked: &'static [Asked],
    run: fn(bool) -> Measured,
}

/// What a preparation took.
struct Measured {
    operations: usize,
    time: Duration,
    /// Growth of the peak memory of the process, if the system reports it.
    bytes: Option<f64>,
    /// Bytes of recording and program.
    kept: Option<f64>,
}

/// The figures of issue 18, item 3.
const WORKS: &[Work] = &[
    Work { name: "W1 squares 10^6", asked: REGULAR, run: |large| gradient(OfLength(Squares, size(large, 1_000_000))) },
    Work {
        name: "W2 rosenbrock 10^6",
        asked: REGULAR,
        run: |large| gradient(OfLength(Rosenbrock, size(large, 1_000_000))),
    },
    Work { name: "W2 rosenbrock 10", asked: &[Asked::Microseconds(60.0)], run: |_| gradient(OfLength(Rosenbrock, 10)) },
    Work {
        name: "W5 brusselator 64",
        asked: &[Asked::Nanoseconds(40.0), Asked::Microseconds(5000.0)],
        run: |large| grid(if large { 64 } else { 4 }),
    },
    Work {
        name: "W7 GMM 20 50",
        asked: &[
            Asked::Nanoseconds(40.0),
            Asked::Bytes(2.0),
            Asked::Peak,
            Asked::Microseconds(1e6),
            Asked::Megabytes(200.0),
        ],
        run: |large| gradient(if large { Mixture::new(20, 50, 1000) } else { Mixture::new(3, 4, 10) }),
    },
    Work { name: "W7 BA", asked: &[Asked::Microseconds(5e5), Asked::Megabytes(150.0)], run: bundle },
    Work {
        name: "irregular graph",
        asked: &[Asked::Nanoseconds(150.0)],
        run: |large| gradient(RandomGraph::new(size(large, 16_000))),
    },
    Work {
        name: "irregular Kepler",
        asked: &[Asked::Nanoseconds(150.0)],
        run: |large| gradient(Kepler(size(large, 1000))),
    },
    Work {
        name: "irregular table",
        asked: &[Asked::Nanoseconds(150.0)],
        run: |large| gradient(Table::new(size(large, 1000))),
    },
];
const REGULAR: &[Asked] = &[Asked::Nanoseconds(40.0), Asked::Bytes(2.0), Asked::Peak];

fn size(is_large: bool, large: usize) -> usize {
    if is_large { large } else { 50 }
}

/// Times a preparation and its first call: the median of some if it is short.
fn measured(mut action: impl FnMut()) -> (Duration, Option<f64>) {
    let before = peak();
    let mut times = Vec::new();
    let mut bytes = None;
    loop {
        let start = timing::now();
        action();
        times.push(timing::now() - start);
        if bytes.is_none() {
            bytes = Some(peak().zip(before).map(|(after, before)| after - before));
        }
        let total: Duration = times.iter().sum();
        if times.len() == 101 || total > Duration::from_millis(400) {
            times.sort();
            return (times[times.len() / 2], bytes.flatten());
        }
    }
}

/// Prepares the gradient of a function and calls it once, which makes the program.
fn gradient<L: Loss>(loss: L) -> Measured {
    let x = loss.point();
    let (mut memory, mut expected, mut grad) = (loss.memory(), vec![0.0; x.len()], vec![f64::NAN; x.len()]);
    loss.by_hand(&mut memory, &mut expected, &x);
    let f = AsFunction(&loss);
    let (time, bytes) = measured(|| {
        let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &x[..]).expect(TAKES);
        prepared.gradient_into(&mut grad, &x[..]).expect(TAKES);
    });
    check(&loss.name(), &grad, &expected, 1e-9);
    let mut recorder = Recorder::default();
    recorder.record_folding(&x, &[], Limits::default(), |x, _, y| y.push(loss.value(x))).expect("it is recorded");
    let operations = recorder.operations();
    let program = recorder.compile().and_then(|program| program.gradient()).expect("it has a gradient");
    let kept = Some((recorder.bytes() + program.bytes()) as f64);
    Measured { operations, time, bytes, kept }
}

fn operations(x: &[f64], f: impl FnOnce(&[Recorded], &mut Vec<Recorded>)) -> usize {
    record(x, &[], Limits::default(), |x, _, y| f(x, y)).expect("it is recorded").nodes().len()
}

/// Prepares a sparse Jacobian, with its pattern and colouring, and calls it once.
macro_rules! sparse_jacobian {
    ($f:expr, $x:expr, $expected:expr) => {
        measured(|| {
            let mut prepared = prepare_jacobian($f, &AutoSparse::new(AutoReverseDiff::compiled()), $x).expect(TAKES);
            let matrix = prepared.jacobian($x).expect(TAKES);
            check("Jacobian", matrix.values(), $expected, 1e-10);
        })
    };
}

fn grid(side: usize) -> Measured {
    let grid = Brusselator { side };
    let (n, x) = (grid.size(), &grid.point()[..]);
    let f = &in_place(grid, n);
    let mut expected = vec![f64::NAN; grid.nnz()];
    grid.by_hand(&mut expected, x);
    let (time, bytes) = sparse_jacobian!(f, x, &expected);
    let operations = operations(x, |x, y| {
        y.resize(n, x[0]);
        grid.value(y, x);
    });
    Measured { operations, time, bytes, kept: None }
}

fn bundle(is_large: bool) -> Measured {
    let (cameras, points, observations) = if is_large { (49, 7776, 31_843) } else { (3, 7, 20) };
    let bundle = &Bundle::new(cameras, points, observations);
    let x = bundle.point();
    let f = &in_place(bundle, bundle.outputs());
    let (mut y, mut expected) = (vec![0.0; bundle.outputs()], vec![f64::NAN; bundle.nnz()]);
    bundle.by_hand(&mut y, &mut expected, x);
    let (time, bytes) = sparse_jacobian!(f, x, &expected);
    let operations = operations(x, |x, y| {
        y.resize(bundle.outputs(), x[0]);
        bundle.value(y, x);
    });
    Measured { operations, time, bytes, kept: None }
}

/// The peak memory of this process in bytes, where the system reports it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

/// The work of a process: four numbers, the last two negative if unknown.
fn child() {
    let name = std::env::args().skip_while(|argument| argument != CHILD).nth(1).unwrap_or_default();
    let work = WORKS.iter().find(|work| work.name == name).expect("the parent names a work");
    let Measured { operations, time, bytes, kept } = (work.run)(timed());
    println!("{operations} {} {} {}", time.as_secs_f64(), bytes.unwrap_or(-1.0), kept.unwrap_or(-1.0));
}

/// Runs a work in a process of its own.
fn measure(work: &Work) -> Measured {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args([CHILD, work.name]);
    if timed() {
        command.arg("--bench");
    }
    let output = command.output().expect("this program starts again");
    assert!(output.status.success(), "{}: {}", work.name, String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [operations, seconds, bytes, kept] = numbers[..] else { panic!("{}: {text}", work.name) };
    let [bytes, kept] = [bytes, kept].map(|number| (number >= 0.0).then_some(number));
    Measured { operations: operations as usize, time: Duration::from_secs_f64(seconds), bytes, kept }
}

fn main() {
    if std::env::args().any(|argument| argument == CHILD) {
        return child();
    }
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(|f| f.to_lowercase()).collect();
    let mut misses = 0;
    if timed() {
        println!("{:<20} {:>10} {:>33} {:>10} {:>10} {:>7}", "work", "operations", "", "asked", "found", "ratio");
    }
    for work in WORKS.iter().filter(|work| filters.iter().all(|f| work.name.to_lowercase().contains(f))) {
        let found = measure(work);
        let (operations, seconds) = (found.operations as f64, found.time.as_secs_f64());
        if !timed() {
            continue;
        }
        for asked in work.asked {
            let (asked, unit, value) = match *asked {
                Asked::Nanoseconds(asked) => (asked, "ns per operation", Some(seconds * 1e9 / operations)),
                Asked::Bytes(asked) => (asked, "bytes per operation", found.kept.map(|bytes| bytes / operations)),
                Asked::Peak => {
                    (f64::NAN, "bytes at the peak, per operation", found.bytes.map(|bytes| bytes / operations))
                }
                Asked::Microseconds(asked) => (asked, "microseconds", Some(seconds * 1e6)),
                Asked::Megabytes(asked) => (asked, "megabytes", found.bytes.map(|bytes| bytes / 1e6)),
            };
            let Some(value) = value else { continue };
            let ratio = value / asked;
            misses += usize::from(ratio > 1.1);
            let mark = if ratio > 1.1 { "  misses" } else { "" };
            let shown = |number: f64, digits| if number.is_nan() { "-".into() } else { format!("{number:.digits$}") };
            let (asked, ratio) = (shown(asked, 1), shown(ratio, 2));
            println!("{:<20} {operations:>10} {unit:>33} {asked:>10} {value:>10.2} {ratio:>7}{mark}", work.name);
        }
    }
    if std::env::args().any(|argument| argument == "--check") && misses > 0 {
        eprintln!("preparing: {misses} figures are more than a tenth above what was asked");
        std::process::exit(1);
    }
}
