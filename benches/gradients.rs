//! Time of prepared first-order calls beside the bare function, the derivative by hand, and the same method by hand.
//!
//! `cargo bench -p differentiation-interface-benches --bench gradients [-- FILTER ...]`: only groups whose name and size contain every filter, such as
//! `rosenbrock 1000`. Ratios are medians over rounds in which all contenders run one after the other; absolute times
//! mean little on a shared machine. Every result is compared with the derivative by hand before anything is timed.
//! Without the argument `--bench`, which `cargo bench` passes and `cargo test` does not, nothing is timed: small sizes are
//! checked, and prepared calls must not allocate.
//!
//! Forward mode and finite differences cost n² and stop at n = 10⁴ (their time grows a hundredfold per row).

mod workloads;

use differentiation_interface::Function;
use differentiation_interface::backend::Backend;
use differentiation_interface::prelude::*;
use std::cell::Cell;
use std::hint::black_box;
use workloads::sums::{self, Rosenbrock, Squares, Sum};
use workloads::systems::{self, Lorenz96, Quadrotor, System};
use workloads::{duals, tape, timing};

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// A row of the table under construction.
struct Row<'a> {
    engine: &'static str,
    /// Index of the row of the same method by hand.
    by_hand: Option<usize>,
    calls: usize,
    call: Box<dyn FnMut() + 'a>,
}

/// A function that counts its calls.
struct Counted<'a, F>(&'a F, Cell<usize>);

impl<X: ?Sized, F: Function<X>> Function<X> for Counted<'_, F> {
    type Output = F::Output;
    fn call(&self, x: &X) -> F::Output {
        self.1.set(self.1.get() + 1);
        self.0.call(x)
    }
    fn call_into(&self, x: &X, y: &mut F::Output) {
        self.1.set(self.1.get() + 1);
        self.0.call_into(x, y);
    }
}

const FUNCTION: usize = 0;
const BY_HAND: usize = 1;
const DUALS: usize = 2;
const TAPE: usize = 3;
const DIFFERENCES: usize = 4;

/// Whether two derivatives agree to a relative error.
fn check(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{what}: entry {i} is {a}, expected {b}");
    }
}

/// Step of forward differences at a coordinate, as in `AutoFiniteDiff`.
fn step(x: f64) -> f64 {
    let root = f64::EPSILON.sqrt();
    (x + (root * x.abs()).max(root)) - x
}

fn gradient_row<'a, W, B>(
    engine: &'static str,
    by_hand: usize,
    backend: B,
    f: &'a sums::AsFunction<W>,
    x: &'a [f64],
    expected: &[f64],
) -> Row<'a>
where
    W: Sum,
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let counted = Counted(f, Cell::new(0));
    let mut grad = vec![f64::NAN; x.len()];
    let mut prepared = prepare_gradient(&counted, &backend, x).expect("the backend takes this point");
    counted.1.set(0);
    prepared.value_and_gradient_into(&mut grad, x).expect("the point is the prepared one");
    let calls = counted.1.get();
    check(engine, &grad, expected, if by_hand == DIFFERENCES { 1e-4 } else { 1e-12 });

    let mut prepared = prepare_gradient(f, &backend, x).expect("the backend takes this point");
    let call = Box::new(move || {
        black_box(prepared.value_and_gradient_into(&mut grad, black_box(x)).is_ok());
        black_box(&mut grad);
    });
    Row { engine, by_hand: Some(by_hand), calls, call }
}

fn gradients<W: Sum>(f: &sums::AsFunction<W>, n: usize, quadratic: bool) {
    let x = &W::point(n)[..];
    let mut expected = vec![0.0; n];
    W::by_hand(&mut expected, x);
    let mut grad = vec![f64::NAN; n];

    let mut dual_memory = duals::Memory::new(n, 1);
    if quadratic {
        dual_memory.gradient::<W>(&mut grad, x);
        check("hand duals", &grad, &expected, 1e-12);
    }
    let mut tape_memory = tape::Memory::new(n, 1);
    tape_memory.gradient::<W>(&mut grad, x);
    check("hand tape", &grad, &expected, 1e-12);

    let (mut grad1, mut grad2, mut grad3, mut grad4) = (grad.clone(), grad.clone(), grad.clone(), grad.clone());
    let mut moved = x.to_vec();
    let mut rows = vec![
        row("function", 1, || {
            black_box(W::value(black_box(x)));
        }),
        row("by hand", 0, || {
            black_box(W::by_hand(&mut grad1, black_box(x)));
            black_box(&mut grad1);
        }),
        row("hand duals", n.div_ceil(duals::LANES), || {
            black_box(dual_memory.gradient::<W>(&mut grad2, black_box(x)));
            black_box(&mut grad2);
        }),
        row("hand tape", 1, || {
            black_box(tape_memory.gradient::<W>(&mut grad3, black_box(x)));
            black_box(&mut grad3);
        }),
        row("hand differences", n + 1, || {
            let base = W::value(black_box(x));
            for i in 0..n {
                let h = step(x[i]);
                moved[i] = x[i] + h;
                grad4[i] = (W::value(&moved) - base) / h;
                moved[i] = x[i];
            }
            black_box(&mut grad4);
        }),
    ];
    rows.push(gradient_row("reverse_diff", TAPE, AutoReverseDiff::tape(), f, x, &expected));
    rows.push(gradient_row("compiled_reverse_diff", TAPE, AutoReverseDiff::compiled(), f, x, &expected));
    if quadratic {
        rows.push(gradient_row("forward_diff", DUALS, AutoForwardDiff::default(), f, x, &expected));
        rows.push(gradient_row("finite_diff", DIFFERENCES, AutoFiniteDiff::forward(), f, x, &expected));
    } else {
        rows[DUALS].calls = 0;
        rows[DIFFERENCES].calls = 0;
        rows[DUALS].call = Box::new(|| ());
        rows[DIFFERENCES].call = Box::new(|| ());
    }
    print(W::NAME, n, rows, quadratic);
}

fn jacobian_row<'a, W, B>(
    engine: &'static str,
    by_hand: usize,
    backend: B,
    f: &'a systems::AsFunction<W>,
    x: &'a [f64],
    expected: &[f64],
) -> Row<'a>
where
    W: System,
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let counted = Counted(f, Cell::new(0));
    let mut jac = Matrix::filled(W::SIZE, W::SIZE, f64::NAN);
    let mut prepared = prepare_jacobian(&counted, &backend, x).expect("the backend takes this point");
    counted.1.set(0);
    prepared.value_and_jacobian_into(&mut jac, x).expect("the point is the prepared one");
    let calls = counted.1.get();
    check(engine, jac.as_slice(), expected, if by_hand == DIFFERENCES { 1e-4 } else { 1e-12 });

    let mut prepared = prepare_jacobian(f, &backend, x).expect("the backend takes this point");
    let call = Box::new(move || {
        black_box(prepared.value_and_jacobian_into(&mut jac, black_box(x)).is_ok());
        black_box(&mut jac);
    });
    Row { engine, by_hand: Some(by_hand), calls, call }
}

fn jacobians<W: System>(f: &systems::AsFunction<W>) {
    let n = W::SIZE;
    let x = &W::point()[..];
    let mut y = vec![0.0; n];
    let mut expected = vec![0.0; n * n];
    W::by_hand(&mut y, &mut expected, x);
    let mut jac = vec![f64::NAN; n * n];
    let mut dual_memory = duals::Memory::new(n, n);
    dual_memory.jacobian::<W>(&mut y, &mut jac, x);
    check("hand duals", &jac, &expected, 1e-12);
    let mut tape_memory = tape::Memory::new(n, n);
    tape_memory.jacobian::<W>(&mut y, &mut jac, x);
    check("hand tape", &jac, &expected, 1e-12);

    let (mut y1, mut y2, mut y3, mut y4, mut right) = (y.clone(), y.clone(), y.clone(), y.clone(), y.clone());
    let (mut jac2, mut jac3, mut jac4) = (jac.clone(), jac.clone(), jac.clone());
    let mut moved = x.to_vec();
    let mut rows = vec![
        row("function", 1, || {
            W::value(&mut y, black_box(x));
            black_box(&mut y);
        }),
        row("by hand", 0, || {
            W::by_hand(&mut y1, &mut jac, black_box(x));
            black_box((&mut y1, &mut jac));
        }),
        row("hand duals", n.div_ceil(duals::LANES), || {
            dual_memory.jacobian::<W>(&mut y2, &mut jac2, black_box(x));
            black_box((&mut y2, &mut jac2));
        }),
        row("hand tape", 1, || {
            tape_memory.jacobian::<W>(&mut y3, &mut jac3, black_box(x));
            black_box((&mut y3, &mut jac3));
        }),
        row("hand differences", n + 1, || {
            W::value(&mut y4, black_box(x));
            for j in 0..n {
                let h = step(x[j]);
                moved[j] = x[j] + h;
                W::value(&mut right, &moved);
                for i in 0..n {
                    jac4[i * n + j] = (right[i] - y4[i]) / h;
                }
                moved[j] = x[j];
            }
            black_box((&mut y4, &mut jac4));
        }),
    ];
    rows.push(jacobian_row("reverse_diff", TAPE, AutoReverseDiff::tape(), f, x, &expected));
    rows.push(jacobian_row("compiled_reverse_diff", TAPE, AutoReverseDiff::compiled(), f, x, &expected));
    rows.push(jacobian_row("forward_diff", DUALS, AutoForwardDiff::default(), f, x, &expected));
    rows.push(jacobian_row("finite_diff", DIFFERENCES, AutoFiniteDiff::forward(), f, x, &expected));
    print(W::NAME, n, rows, true);
}

fn row<'a>(engine: &'static str, calls: usize, call: impl FnMut() + 'a) -> Row<'a> {
    Row { engine, by_hand: None, calls, call: Box::new(call) }
}

/// Whether to time as well as to check.
fn timed() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

fn print(workload: &str, n: usize, rows: Vec<Row<'_>>, quadratic: bool) {
    let (labels, mut calls): (Vec<_>, Vec<_>) =
        rows.into_iter().map(|row| ((row.engine, row.by_hand, row.calls), row.call)).unzip();
    let allocations: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            call();
            timing::allocations(call)
        })
        .collect();
    for ((engine, ..), allocations) in labels.iter().zip(&allocations) {
        assert_eq!(*allocations, 0, "{workload}, n = {n}: a call of {engine} allocates");
    }
    if !timed() {
        return;
    }
    let samples = timing::measure(&mut calls);
    for (i, (engine, by_hand, calls)) in labels.into_iter().enumerate() {
        if !quadratic && (i == DUALS || i == DIFFERENCES) {
            continue;
        }
        let same = by_hand.map_or("-".into(), |base| format!("{:.2}", samples.ratio(i, base)));
        println!(
            "{workload:<14} {n:>7}  {engine:<21} {:>12.0} {:>10.2} {:>10.2} {same:>10} {calls:>7} {:>6}",
            samples.time(i),
            samples.ratio(i, FUNCTION),
            samples.ratio(i, BY_HAND),
            allocations[i],
        );
    }
    println!();
}

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str, n: usize| {
        filters.iter().all(|f| f.parse().map_or_else(|_| name.contains(f.as_str()), |size: usize| size == n))
    };
    if timed() {
        println!(
            "{:<14} {:>7}  {:<21} {:>12} {:>10} {:>10} {:>10} {:>7} {:>6}",
            "workload", "n", "engine", "ns/call", "/function", "/by hand", "/same", "calls", "allocs"
        );
    }
    let sizes: &[usize] = if timed() { &[10, 100, 1_000, 10_000, 100_000] } else { &[10, 100] };
    for &n in sizes {
        if wanted(Squares::NAME, n) {
            gradients(&sums::AsFunction(Squares), n, n <= 10_000);
        }
        if wanted(Rosenbrock::NAME, n) {
            gradients(&sums::AsFunction(Rosenbrock), n, n <= 10_000);
        }
    }
    if wanted(Lorenz96::NAME, Lorenz96::SIZE) {
        jacobians(&systems::AsFunction(Lorenz96));
    }
    if wanted(Quadrotor::NAME, Quadrotor::SIZE) {
        jacobians(&systems::AsFunction(Quadrotor));
    }
}
