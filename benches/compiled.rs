//! Compiled recordings through the public operators, beside derivatives by hand and beside the tape that is recorded anew in
//! each call.
//!
//! `cargo bench -p differentiation-interface-benches --bench compiled [-- FILTER ...]`: programs become machine code, with
//! `RUSTFLAGS="--cfg ad_interpreter"` they are interpreted. Filters select groups by parts of their names (`gradient`, `W3`, `GMM`, `irregular`,
//! `blocks`, `constants`, `costs`, `memory`) and by size (`rosenbrock 1000`). Ratios are medians over rounds in which all contenders run one after
//! the other; every result is first compared with the derivative by hand, and prepared calls must not allocate. Without the
//! argument `--bench`, which `cargo bench` passes and `cargo test` does not, nothing is timed and sizes are small.

mod workloads;

use compiled_trace::{Limits, Recorded, compile, record};
use differentiation_interface::backend::Backend;
use differentiation_interface::context::Parameter;
use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::sync::Once;
use std::time::Duration;
use workloads::bundle::{Bundle, Observation};
use workloads::grids::Brusselator;
use workloads::irregular::{Kepler, RandomGraph, Table};
use workloads::losses::{AsFunction, Loss, OfLength};
use workloads::mixture::Mixture;
use workloads::simd::{self, Gradient};
use workloads::sums::{self, Differences, Rosenbrock, Squares, Sum};
use workloads::systems::{self, Lorenz96, Quadrotor, System};
use workloads::table::{Row, check, prepared, print, row, time_of, timed, wanted};
use workloads::{Random, constants, peak, timing};

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The reason why an operator accepts the points and lengths used here.
const TAKES: &str = "the backend takes this point";

/// A row of gradients with their values.
fn gradient_row<'a, L: Loss, B>(
    engine: &str,
    backend: B,
    f: &'a AsFunction<'a, L>,
    x: &'a [f64],
    expected: (f64, &[f64]),
) -> Row<'a>
where
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let (mut state, time) = time_of(|| prepare_gradient(f, &backend, x).expect(TAKES));
    let mut grad = vec![f64::NAN; x.len()];
    let value = state.value_and_gradient_into(&mut grad, x).expect(TAKES);
    check(engine, &[value], &[expected.0], 1e-10);
    check(engine, &grad, expected.1, 1e-10);
    prepared(engine, time, move || {
        black_box(state.value_and_gradient_into(&mut grad, black_box(x)).is_ok());
        black_box(&mut grad);
    })
}

/// The row of a gradient by hand in vector instructions.
fn simd_row<'a>(mut gradient: Gradient<'a>, x: &'a [f64], expected: (f64, &[f64])) -> Row<'a> {
    let mut grad = vec![f64::NAN; x.len()];
    check("SIMD", &[gradient(&mut grad, x)], &[expected.0], 1e-10);
    check("SIMD", &grad, expected.1, 1e-10);
    row("SIMD", move || {
        black_box(gradient(&mut grad, black_box(x)));
        black_box(&mut grad);
    })
}

/// Gradients, also by hand in vector instructions if there are such.
fn gradients<L: Loss>(loss: &L, simd: Option<Gradient<'_>>) {
    let x = &loss.point()[..];
    if !wanted(&format!("{} gradient", loss.name()), x.len()) {
        return;
    }
    let (mut memory, mut grad) = (loss.memory(), vec![0.0; x.len()]);
    let value = loss.by_hand(&mut memory, &mut grad, x);
    let (f, expected) = (&AsFunction(loss), grad.clone());
    let by_hand = row("by hand", || {
        black_box(loss.by_hand(&mut memory, &mut grad, black_box(x)));
        black_box(&mut grad);
    });
    let function = row("function", || {
        black_box(loss.value(black_box(x)));
    });
    let mut rows = vec![by_hand, function];
    rows.extend(simd.map(|simd| simd_row(simd, x, (value, &expected))));
    rows.push(gradient_row("compiled", AutoReverseDiff::compiled(), f, x, (value, &expected)));
    rows.push(gradient_row("tape", AutoReverseDiff::tape(), f, x, (value, &expected)));
    print(&loss.name(), x.len(), rows);
}

/// The diagonals of the Hessian of [`Differences`]: 2, 4, .., 4, 2 and -2 beside it, row by row.
fn differences_hessian(mut set: impl FnMut(usize, usize, f64), n: usize) {
    for i in 0..n {
        if i > 0 {
            set(i, i - 1, -2.0);
        }
        set(i, i, if i == 0 || i + 1 == n { 2.0 } else { 4.0 });
        if i + 1 < n {
            set(i, i + 1, -2.0);
        }
    }
}

/// A row of dense Hessians.
macro_rules! dense_hessian {
    ($engine:expr, $backend:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (mut state, time) = time_of(|| prepare_hessian($f, &$backend, $x).expect(TAKES));
        let mut hess = Matrix::filled($x.len(), $x.len(), f64::NAN);
        state.hessian_into(&mut hess, $x).expect(TAKES);
        check($engine, hess.as_slice(), $expected, 1e-12);
        prepared($engine, time, move || {
            black_box(state.hessian_into(&mut hess, black_box($x)).is_ok());
            black_box(&mut hess);
        })
    }};
}

/// A row of sparse Hessians or Jacobians: the operator, its method and the method that writes into a matrix.
macro_rules! sparse {
    ($prepare:ident $plain:ident $into:ident, $engine:expr, $backend:expr, $f:expr, $x:expr, $expected:expr, $tolerance:expr) => {{
        let (mut state, time) = time_of(|| $prepare($f, &$backend, $x).expect(TAKES));
        let mut matrix = state.$plain($x).expect(TAKES);
        check($engine, matrix.values(), $expected, $tolerance);
        prepared($engine, time, move || {
            black_box(state.$into(&mut matrix, black_box($x)).is_ok());
            black_box(&mut matrix);
        })
    }};
}

fn hessians() {
    let (f, n) = (&sums::AsFunction(Differences), if timed() { 1000 } else { 40 });
    let x = &Differences::point(n)[..];
    let (tape, compiled) = (AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    if wanted("W3 dense hessian", n) {
        let mut expected = vec![0.0; n * n];
        differences_hessian(|i, j, v| expected[i * n + j] = v, n);
        let mut hand = expected.clone();
        let by_hand = row("by hand", || {
            hand.fill(0.0);
            differences_hessian(|i, j, v| hand[i * n + j] = v, black_box(n));
            black_box(&mut hand);
        });
        let rows = vec![
            by_hand,
            dense_hessian!("compiled", compiled, f, x, &expected),
            dense_hessian!("tape", tape, f, x, &expected),
        ];
        print("W3 dense Hessian", n, rows);
    }
    if wanted("W3 sparse hessian", n) {
        let mut expected = Vec::new();
        differences_hessian(|_, _, v| expected.push(v), n);
        let mut hand = expected.clone();
        let by_hand = row("by hand", || {
            hand.clear();
            differences_hessian(|_, _, v| hand.push(v), black_box(n));
            black_box(&mut hand);
        });
        macro_rules! sparse_hessian {
            ($engine:expr, $backend:expr) => {
                sparse!(prepare_hessian hessian hessian_into, $engine, AutoSparse::new($backend), f, x, &expected, 1e-12)
            };
        }
        let rows = vec![by_hand, sparse_hessian!("compiled", compiled), sparse_hessian!("tape", tape)];
        print("W3 sparse Hessian", n, rows);
    }
}

/// The product of the Hessian of [`Rosenbrock`] with `v`, in one pass.
fn rosenbrock_product(product: &mut [f64], x: &[f64], v: &[f64]) {
    product[0] = 0.0;
    for i in 0..x.len() - 1 {
        let diagonal = 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        let beside = -400.0 * x[i];
        product[i] += diagonal * v[i] + beside * v[i + 1];
        product[i + 1] = 200.0 * v[i + 1] + beside * v[i];
    }
}

/// A row of Hessian-vector products.
macro_rules! product_row {
    ($engine:expr, $backend:expr, $f:expr, $x:expr, $v:expr, $expected:expr) => {{
        let (mut state, time) = time_of(|| prepare_hvp($f, &$backend, $x, [$v]).expect(TAKES));
        let mut product = vec![f64::NAN; $x.len()];
        state.hvp_into([&mut product], $x, [$v]).expect(TAKES);
        check($engine, &product, $expected, 1e-12);
        prepared($engine, time, move || {
            black_box(state.hvp_into([&mut product], black_box($x), [black_box($v)]).is_ok());
            black_box(&mut product);
        })
    }};
}

fn products() {
    let (f, n) = (&sums::AsFunction(Rosenbrock), if timed() { 10_000 } else { 40 });
    if !wanted("W4 hvp rosenbrock", n) {
        return;
    }
    let (x, v) = (&Random::around(3, n, 0.0, 1.0)[..], &Random::around(4, n, 0.0, 1.0)[..]);
    let mut expected = vec![0.0; n];
    rosenbrock_product(&mut expected, x, v);
    let mut hand = expected.clone();
    let (tape, compiled) = (AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    let by_hand = row("by hand", || {
        rosenbrock_product(black_box(&mut hand), black_box(x), black_box(v));
    });
    let rows = vec![
        by_hand,
        product_row!("compiled", compiled, f, x, v, &expected),
        product_row!("tape", tape, f, x, v, &expected),
    ];
    print("W4 hvp Rosenbrock", n, rows);
}

fn grids(side: usize) {
    if !wanted("W5 brusselator sparse jacobian", side) {
        return;
    }
    let grid = Brusselator { side };
    let (n, x) = (grid.size(), &grid.point()[..]);
    let f = &in_place(grid, n);
    let mut expected = vec![f64::NAN; grid.nnz()];
    grid.by_hand(&mut expected, x);
    let (mut hand, mut y) = (expected.clone(), vec![0.0; n]);
    let by_hand = row("by hand", || {
        grid.by_hand(black_box(&mut hand), black_box(x));
    });
    let function = row("function", || {
        grid.value(black_box(&mut y), black_box(x));
        black_box(&mut y);
    });
    macro_rules! jacobian {
        ($engine:expr, $backend:expr) => {
            sparse!(prepare_jacobian jacobian jacobian_into, $engine, AutoSparse::new($backend), f, x, &expected, 1e-12)
        };
    }
    let rows = vec![
        by_hand,
        function,
        jacobian!("compiled", AutoReverseDiff::compiled()),
        jacobian!("forward", AutoForwardDiff::default()),
        jacobian!("tape", AutoReverseDiff::tape()),
    ];
    print(&format!("W5 {side} x {side} sparse"), n, rows);
}

/// A row of dense Jacobians with their values.
fn jacobian_row<'a, W: System, B>(
    engine: &str,
    backend: B,
    f: &'a systems::AsFunction<W>,
    x: &'a [f64],
    expected: &[f64],
) -> Row<'a>
where
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let (mut state, time) = time_of(|| prepare_jacobian(f, &backend, x).expect(TAKES));
    let mut jac = Matrix::filled(x.len(), x.len(), f64::NAN);
    state.value_and_jacobian_into(&mut jac, x).expect(TAKES);
    check(engine, jac.as_slice(), expected, 1e-12);
    prepared(engine, time, move || {
        black_box(state.value_and_jacobian_into(&mut jac, black_box(x)).is_ok());
        black_box(&mut jac);
    })
}

fn jacobians<W: System>(f: &systems::AsFunction<W>) {
    let (n, x) = (W::SIZE, &W::point()[..]);
    if !wanted(&format!("{} dense jacobian", W::NAME), n) {
        return;
    }
    let (mut y, mut expected) = (vec![0.0; n], vec![0.0; n * n]);
    W::by_hand(&mut y, &mut expected, x);
    let (mut hand, mut y2) = (expected.clone(), y.clone());
    let by_hand = row("by hand", || {
        W::by_hand(&mut y, &mut hand, black_box(x));
        black_box((&mut y, &mut hand));
    });
    let function = row("function", || {
        W::value(&mut y2, black_box(x));
        black_box(&mut y2);
    });
    let rows = vec![
        by_hand,
        function,
        jacobian_row("compiled", AutoReverseDiff::compiled(), f, x, &expected),
        jacobian_row("forward", AutoForwardDiff::default(), f, x, &expected),
        jacobian_row("tape", AutoReverseDiff::tape(), f, x, &expected),
    ];
    print(W::NAME, n, rows);
}

/// The tape has no row: its mode colours rows, and hundreds of residuals depend on each camera.
fn bundles() {
    let (cameras, points, observations) = if timed() { (49, 7776, 31_843) } else { (3, 7, 20) };
    let bundle = &Bundle::new(cameras, points, observations);
    let x = bundle.point();
    if !wanted(&format!("{} sparse jacobian", Bundle::NAME), x.len()) {
        return;
    }
    let f = &in_place(bundle, bundle.outputs());
    let (mut y, mut expected) = (vec![0.0; bundle.outputs()], vec![f64::NAN; bundle.nnz()]);
    bundle.by_hand(&mut y, &mut expected, x);
    let (mut hand, mut y2, mut y3) = (expected.clone(), y.clone(), y.clone());
    bundle.value(&mut y2, x);
    check("bundle by hand", &y, &y2, 1e-12);
    let by_hand = row("by hand", || {
        bundle.by_hand(black_box(&mut y3), black_box(&mut hand), black_box(x));
    });
    let function = row("function", || {
        bundle.value(black_box(&mut y2), black_box(x));
    });
    macro_rules! jacobian {
        ($engine:expr, $backend:expr) => {
            sparse!(prepare_jacobian jacobian jacobian_into, $engine, AutoSparse::new($backend), f, x, &expected, 1e-10)
        };
    }
    let rows = vec![
        by_hand,
        function,
        jacobian!("compiled", AutoReverseDiff::compiled()),
        jacobian!("forward", AutoForwardDiff::default()),
    ];
    print(Bundle::NAME, x.len(), rows);
}

/// The dense Jacobians of all observations one by one, by one prepared object with the feature as a parameter.
macro_rules! blocks_row {
    ($engine:expr, $backend:expr, $bundle:expr, $x:expr, $expected:expr) => {{
        let (bundle, x) = ($bundle, $x);
        let mut numbers = [0.0; Observation::INPUTS];
        let feature = *bundle.observation(&mut numbers, x, 0);
        let prepare = || prepare_jacobian(&Observation, &$backend, (&numbers, Parameter(&feature))).expect(TAKES);
        let (mut state, time) = time_of(prepare);
        let mut jac = Matrix::filled(2, Observation::INPUTS, f64::NAN);
        let mut blocks = vec![f64::NAN; Observation::NNZ * bundle.observations()];
        let mut all = move |blocks: &mut [f64], x: &[f64]| {
            for (i, block) in blocks.chunks_exact_mut(Observation::NNZ).enumerate() {
                let feature = bundle.observation(&mut numbers, x, i);
                black_box(state.jacobian_into(&mut jac, (&numbers, Parameter(feature))).is_ok());
                block.copy_from_slice(jac.as_slice());
            }
        };
        all(&mut blocks, x);
        check($engine, &blocks, $expected, 1e-10);
        prepared($engine, time, move || all(black_box(&mut blocks), black_box(x)))
    }};
}

fn blocks() {
    let (cameras, points, observations) = if timed() { (49, 7776, 31_843) } else { (3, 7, 20) };
    let bundle = &Bundle::new(cameras, points, observations);
    let x = bundle.point();
    if !wanted(&format!("{} blocks jacobian", Bundle::NAME), Observation::INPUTS) {
        return;
    }
    let mut expected = vec![f64::NAN; Observation::NNZ * observations];
    bundle.blocks_by_hand(&mut expected, x);
    let mut hand = expected.clone();
    let by_hand = row("by hand", || bundle.blocks_by_hand(black_box(&mut hand), black_box(x)));
    let rows = vec![
        by_hand,
        blocks_row!("compiled", AutoReverseDiff::compiled(), bundle, x, &expected),
        blocks_row!("forward", AutoForwardDiff::default(), bundle, x, &expected),
        blocks_row!("tape", AutoReverseDiff::tape(), bundle, x, &expected),
    ];
    print(&format!("{} blocks 2 x 15", Bundle::NAME), observations, rows);
}

/// Costs of recording and compiling a gradient per recorded operation, which the operator includes in its preparation.
fn costs<L: Loss>(loss: &L) {
    let x = &loss.point()[..];
    if !wanted(&format!("{} costs", loss.name()), x.len()) {
        return;
    }
    let recorded = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push(loss.value(x));
    let (graph, recording) = time_of(|| record(x, &[], Limits::default(), recorded).expect("it is recorded"));
    let adjoint = || compile(&graph).and_then(|program| program.adjoint(1)).expect("it has an adjoint");
    let (program, compiling) = time_of(adjoint);
    let bytes = (graph.bytes() + program.bytes()) as f64;
    let (operations, instructions) = (graph.nodes().len() as f64, program.instruction_count());
    let (making, time) = execution(program);
    if timed() {
        static HEAD: Once = Once::new();
        HEAD.call_once(|| {
            println!(
                "{:<24} {:>8} {:>10} {:>13} {:>13} {:>13} {:>13} {:>11}  (ns and bytes per recorded operation)",
                "costs", "n", "operations", "instructions", "recording", "compiling", "making code", "bytes"
            );
        });
        println!(
            "{:<24} {:>8} {operations:>10} {instructions:>13} {:>13.1} {:>13.1} {:>13.1} {:>11.1}  {making}",
            loss.name(),
            x.len(),
            recording.as_nanos() as f64 / operations,
            compiling.as_nanos() as f64 / operations,
            time.as_nanos() as f64 / operations,
            bytes / operations,
        );
    }
}

/// The executor of a program, and the time to make it.
fn execution(program: compiled_trace::Program) -> (String, Duration) {
    use compiled_trace::native::{Compiled, Options};
    let (made, time) = time_of(|| Compiled::<f64>::new(&program, Options::default()));
    match made {
        Ok(code) => {
            let each = time.as_nanos() as f64 / code.instructions() as f64;
            (format!("{} machine instructions, {each:.0} ns each", code.instructions()), time)
        }
        Err(refused) => (format!("interpreted: {refused}"), time),
    }
}

fn main() {
    if peak::is_child() {
        return peak::child();
    }
    if timed() {
        let executor = if cfg!(ad_interpreter) {
            "interpreter (`--cfg ad_interpreter`)"
        } else {
            "machine code where the processor has a code generator (what is too large for it is interpreted)"
        };
        println!("compiled = AutoReverseDiff::compiled(), run by {executor}; tape = AutoReverseDiff::tape()\n");
    }
    let sizes: &[usize] = if timed() { &[10, 100, 1_000, 10_000, 100_000, 1_000_000] } else { &[10, 100] };
    let simd = |n, gradient: fn() -> Gradient<'static>| (n >= 100).then(gradient);
    sizes.iter().for_each(|&n| gradients(&OfLength(Squares, n), simd(n, simd::squares)));
    sizes.iter().for_each(|&n| gradients(&OfLength(Rosenbrock, n), simd(n, simd::rosenbrock)));
    hessians();
    products();
    (if timed() { &[16, 32, 64, 128][..] } else { &[4] }).iter().for_each(|&side| grids(side));
    jacobians(&systems::AsFunction(Lorenz96));
    jacobians(&systems::AsFunction(Quadrotor));
    let mixtures: &[_] = if timed() { &[(10, 25, 1000), (20, 50, 1000)] } else { &[(3, 4, 10)] };
    let mixtures = mixtures.iter().map(|&(d, k, n)| Mixture::new(d, k, n)).collect::<Vec<_>>();
    mixtures.iter().for_each(|mixture| gradients(mixture, Some(simd::mixture::gradient(mixture))));
    bundles();
    blocks();
    let steps: &[usize] = if timed() { &[1000, 16_000, 64_000] } else { &[200] };
    steps.iter().for_each(|&steps| gradients(&RandomGraph::new(steps), None));
    let inputs = if timed() { 1000 } else { 20 };
    gradients(&Kepler(inputs), None);
    gradients(&Table::new(inputs), None);
    constants::fits(8);
    mixtures.iter().for_each(constants::mixtures);

    let large = if timed() { 100_000 } else { 200 };
    costs(&OfLength(Squares, large));
    costs(&OfLength(Rosenbrock, inputs));
    costs(&OfLength(Rosenbrock, large));
    mixtures.iter().for_each(costs);
    costs(&RandomGraph::new(16 * inputs));
    costs(&Kepler(inputs));
    costs(&Table::new(inputs));
    peak::report();
}
