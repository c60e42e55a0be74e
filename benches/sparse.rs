//! Time of prepared sparse derivatives beside the bare function, the derivative by hand and the dense derivative, and the costs
//! of the preparation.
//!
//! `cargo bench -p differentiation-interface-benches --bench sparse [-- FILTER ...]`: only groups whose name contains every filter. Ratios are medians over
//! rounds in which all contenders run one after the other; absolute times mean little on a shared machine. Every result is
//! compared with the derivative by hand before anything is timed. Without the argument `--bench`, which `cargo bench`
//! passes and `cargo test` does not, nothing is timed: small sizes are checked, and prepared calls must not allocate.

mod workloads;

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::GraphSparsityDetector;
use differentiation_interface::sparse::matrix_coloring::Substitution;
use differentiation_interface::sparse::sparsity_tracer::{TracerSparsityDetector, hessian_sparsity, jacobian_sparsity};
use std::hint::black_box;
use workloads::grids::Brusselator;
use workloads::sums::{AsFunction, Differences, Sum};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The values of the Hessian of [`Differences`], row by row.
fn differences_hessian(values: &mut [f64], n: usize) {
    let mut k = 0;
    for i in 0..n {
        let inner = i > 0 && i + 1 < n;
        let row: &[f64] = if inner { &[-2.0, 4.0, -2.0] } else { [&[2.0, -2.0], &[-2.0, 2.0]][usize::from(i > 0)] };
        values[k..k + row.len()].copy_from_slice(row);
        k += row.len();
    }
}

/// A row of the table under construction.
struct Row<'a> {
    engine: &'static str,
    /// Whether a call may allocate: preparations do.
    allocates: bool,
    call: Box<dyn FnMut() + 'a>,
}

fn row<'a>(engine: &'static str, call: impl FnMut() + 'a) -> Row<'a> {
    Row { engine, allocates: false, call: Box::new(call) }
}

/// Whether two derivatives agree, relative to the largest entry.
fn check(what: &str, found: &[f64], expected: &[f64]) {
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    assert_eq!(found.len(), expected.len(), "{what}: stored entries");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-12 * scale, "{what}: entry {i} is {a}, expected {b}");
    }
}

const FUNCTION: usize = 0;
const BY_HAND: usize = 1;

/// Whether to time as well as to check.
fn timed() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Prints times of the rows and their ratios to the first two and to the last; a call finds `nnz` entries.
fn print(workload: &str, n: usize, nnz: usize, rows: Vec<Row<'_>>) {
    let (labels, mut calls): (Vec<_>, Vec<_>) =
        rows.into_iter().map(|row| ((row.engine, row.allocates), row.call)).unzip();
    for (call, (engine, allocates)) in calls.iter_mut().zip(&labels) {
        call();
        let allocations = timing::allocations(call);
        assert!(*allocates || allocations == 0, "{workload}, n = {n}: a call of {engine} allocates");
    }
    if !timed() {
        return;
    }
    let samples = timing::measure(&mut calls);
    let last = labels.len() - 1;
    println!(
        "{:<16} {:>6}  {:<30} {:>13} {:>10} {:>10} {:>10} {:>12}",
        "workload", "n", "engine", "ns/call", "/function", "/by hand", "M nnz/s", "/last row"
    );
    for (i, (engine, _)) in labels.into_iter().enumerate() {
        println!(
            "{workload:<16} {n:>6}  {engine:<30} {:>13.1} {:>10.2} {:>10.2} {:>10.1} {:>12.4}",
            samples.time(i),
            samples.ratio(i, FUNCTION),
            samples.ratio(i, BY_HAND),
            1e3 * nnz as f64 / samples.time(i),
            samples.ratio(i, last),
        );
    }
    println!();
}

/// A row of detections, which must find as many entries as expected.
macro_rules! detection_row {
    ($engine:expr, $detect:ident, $detector:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (f, x) = ($f, $x);
        let found = $detect(f, &$detector, x).expect("the function does not branch");
        assert_eq!(found.nnz(), $expected.len(), "{}: stored entries", $engine);
        Row {
            allocates: true,
            ..row($engine, move || {
                black_box($detect(f, &$detector, black_box(x)).is_ok());
            })
        }
    }};
}

/// A row of sparse Hessians.
macro_rules! hessian_row {
    ($engine:expr, $backend:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (f, x) = ($f, $x);
        let mut prepared = prepare_hessian(f, &$backend, x).expect("the backend takes this point");
        let mut hess = prepared.hessian(x).expect("the point is the prepared one");
        check($engine, hess.values(), $expected);
        row($engine, move || {
            black_box(prepared.hessian_into(&mut hess, black_box(x)).is_ok());
            black_box(&mut hess);
        })
    }};
}

fn hessians() {
    let (f, n) = (&AsFunction(Differences), if timed() { 1000 } else { 50 });
    let x = &Differences::point(n)[..];
    let mut expected = vec![0.0; 3 * n - 2];
    differences_hessian(&mut expected, n);
    let mut hand = expected.clone();
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::tape());
    let two = AutoSparse::new(reverse).with_decompression(Substitution);
    let mut grad = vec![0.0; n];
    let mut prepared_gradient = prepare_gradient(f, &reverse, x).expect("the backend takes this point");
    let mut dense = Matrix::filled(n, n, f64::NAN);
    let mut prepared = prepare_hessian(f, &reverse, x).expect("the backend takes this point");
    let rows = vec![
        row("function", || {
            black_box(Differences::value(black_box(x)));
        }),
        row("by hand", || {
            differences_hessian(black_box(&mut hand), n);
        }),
        row("gradient, reverse", || {
            black_box(prepared_gradient.gradient_into(&mut grad, black_box(x)).is_ok());
            black_box(&mut grad);
        }),
        hessian_row!("sparse reverse", AutoSparse::new(reverse), f, x, &expected),
        hessian_row!("same, by substitution", two, f, x, &expected),
        hessian_row!("sparse reverse over forward", AutoSparse::new(SecondOrder(reverse, forward)), f, x, &expected),
        hessian_row!("sparse forward", AutoSparse::new(forward), f, x, &expected),
        hessian_row!("sparse, compiled", AutoSparse::new(AutoReverseDiff::compiled()), f, x, &expected),
        Row {
            allocates: true,
            ..row("preparation, reverse", || {
                black_box(prepare_hessian(f, &AutoSparse::new(reverse), black_box(x)).is_ok());
            })
        },
        detection_row!("detection by the tracer", hessian_sparsity, TracerSparsityDetector, f, x, expected),
        detection_row!("detection by a recording", hessian_sparsity, GraphSparsityDetector, f, x, expected),
        row("dense reverse", || {
            black_box(prepared.hessian_into(&mut dense, black_box(x)).is_ok());
            black_box(&mut dense);
        }),
    ];
    print(Differences::NAME, n, expected.len(), rows);
}

fn jacobians(side: usize) {
    let grid = Brusselator { side };
    let n = grid.size();
    let (f, x) = (&in_place(grid, n), &grid.point()[..]);
    let mut expected = vec![f64::NAN; grid.nnz()];
    grid.by_hand(&mut expected, x);
    let (mut hand, mut y) = (expected.clone(), vec![0.0; n]);
    let backend = AutoSparse::new(AutoForwardDiff::default());
    let mut prepared = prepare_jacobian(f, &backend, x).expect("the backend takes this point");
    if timed() {
        println!("{} colours", prepared.state().ncolors());
    }
    let mut jac = prepared.jacobian(x).expect("the point is the prepared one");
    check("sparse forward", jac.values(), &expected);
    let rows = vec![
        row("function", || {
            grid.value(black_box(&mut y), black_box(x));
            black_box(&mut y);
        }),
        row("by hand", || {
            grid.by_hand(black_box(&mut hand), black_box(x));
        }),
        row("sparse forward", || {
            black_box(prepared.jacobian_into(&mut jac, black_box(x)).is_ok());
            black_box(&mut jac);
        }),
        detection_row!("detection by the tracer", jacobian_sparsity, TracerSparsityDetector, f, x, expected),
        detection_row!("detection by a recording", jacobian_sparsity, GraphSparsityDetector, f, x, expected),
        Row {
            allocates: true,
            ..row("preparation", || {
                black_box(prepare_jacobian(f, &backend, black_box(x)).is_ok());
            })
        },
    ];
    print(Brusselator::NAME, n, grid.nnz(), rows);
}

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| filters.iter().all(|f| name.contains(f.as_str()));
    if wanted(Differences::NAME) {
        hessians();
    }
    let sides: &[usize] = if timed() { &[16, 32, 64, 128] } else { &[4, 7] };
    for &side in sides {
        if wanted(&format!("{} {side}", Brusselator::NAME)) {
            jacobians(side);
        }
    }
}
