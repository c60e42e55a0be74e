//! The engine that chooses its tier beside those that are fixed: after 100 calls, and in the first calls.
//!
//! `cargo bench -p differentiation-interface-benches --bench tiers [-- --check] [FILTER ...]`. Asked: after 100 calls
//! at most 1.1 times the better of tape and compiled; the first ten calls, preparation included, at most 1.2 times those of the tape. The first 100
//! calls, in which recordings and programs are made, are shown beside those of the tape; nothing is asked of them.
//! Ratios are of minima over rounds in which all contenders run one after the other. With `--check` the exit status is 1 if a
//! ratio misses by more than a tenth. Without `--bench` sizes are small and nothing is timed; results are compared all the same.

mod workloads;

use differentiation_interface::backends::AutoCompiledReverseDiff;
use differentiation_interface::backends::reverse_diff::Report;
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Real;
use differentiation_interface::sparse::SparseMatrix;
use differentiation_interface::{Const, FunctionWith};
use std::hint::black_box;
use std::time::Duration;
use workloads::bundle::{Bundle, Observation};
use workloads::grids::Brusselator;
use workloads::irregular::{Branches, Covariance, Kepler, RandomGraph, Table};
use workloads::losses::{AsFunction, Objective, OfLength};
use workloads::mixture::Mixture;
use workloads::rollout::{Angles, Torques};
use workloads::states::{Kalman, Predators, Recurrent, RungeKutta, Tridiagonal, Weather};
use workloads::sums::{Differences, Rosenbrock, Squares};
use workloads::systems::{self, Lorenz96, Quadrotor, Reactions, System};
use workloads::table::{check, timed, wanted};
use workloads::{Random, timing};

/// Calls before the ratio is measured.
const WARM: usize = 100;
/// Calls that count as the first ones.
const FIRST: usize = 10;
const ASKED: f64 = 1.1;
const ASKED_FIRST: f64 = 1.2;
const TAKES: &str = "the backend takes this point";

/// A prepared call that is repeated; it returns the report in place of calling if it is asked for.
type Call<'a> = Box<dyn FnMut(bool) -> Option<Report> + 'a>;

/// The contenders of one workload.
struct Contest<'a> {
    name: String,
    n: usize,
    /// Tape, compiled, and the engine that chooses.
    warm: [Call<'a>; 3],
    /// Preparation and the first calls, by the tape and by the engine that chooses.
    first: [Call<'a>; 2],
    /// The same up to the call from which the ratio is measured: recordings and programs are made in these calls.
    all: [Call<'a>; 2],
}

/// Nanoseconds of `loops` calls.
fn sample(call: &mut Call<'_>, loops: usize) -> f64 {
    let start = timing::now();
    for _ in 0..loops {
        call(false);
    }
    (timing::now() - start).as_nanos() as f64 / loops as f64
}

/// The least time of each call in nanoseconds.
fn least<const K: usize>(calls: &mut [Call<'_>; K]) -> [f64; K] {
    let loops: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            let once = sample(call, 1).min(sample(call, 1)).max(10.0);
            ((3e5 / once) as usize).max(1)
        })
        .collect();
    let mut least = [f64::INFINITY; K];
    let start = timing::now();
    let mut rounds = 0;
    while rounds < 5 || (rounds < 60 && timing::now() - start < Duration::from_millis(1500)) {
        for ((call, &loops), least) in calls.iter_mut().zip(&loops).zip(&mut least) {
            *least = least.min(sample(call, loops));
        }
        rounds += 1;
    }
    least
}

/// Runs a contest and prints its line; returns whether both ratios are met.
fn run(contest: Contest<'_>) -> bool {
    let Contest { name, n, mut warm, mut first, mut all } = contest;
    for call in &mut warm {
        for _ in 0..if timed() { WARM } else { 60 } {
            call(false);
        }
    }
    if !timed() {
        return true;
    }
    let [tape, compiled, chosen] = least(&mut warm);
    let [first_tape, first_chosen] = least(&mut first);
    let (ratio, first) = (chosen / tape.min(compiled), first_chosen / first_tape);
    let [all_tape, all_chosen] =
        all.each_mut().map(|call| (0..3).map(|_| sample(call, 1)).fold(f64::INFINITY, f64::min));
    let all = all_chosen / all_tape;
    let (is_met, is_met_first) = (ratio <= 1.1 * ASKED, first <= 1.1 * ASKED_FIRST);
    println!(
        "{name:<26} {n:>7} {tape:>12.0} {compiled:>12.0} {chosen:>12.0} {ratio:>7.2} {} {first:>7.2} {} {all:>8.2}  {}",
        if is_met { " " } else { "!" },
        if is_met_first { " " } else { "!" },
        warm[2](true).map_or(String::new(), |report| report.to_string()),
    );
    is_met && is_met_first
}

/// Contenders of an operator: how to prepare, how to fill, and what it fills.
macro_rules! contest {
    ($name:expr, $n:expr, $f:expr, $points:expr, |$g:ident, $backend:ident, $at:ident| $prepare:expr, |$call:ident, $out:ident, $x:ident| $fill:expr,
     |$asked:ident| $report:expr, $buffer:expr, $same:expr) => {{
        let (f, points) = ($f, $points);
        again_if_missed(|| {
            macro_rules! prepare {
                ($of:expr) => {{
                    let ($g, $backend, $at) = (f, &$of, points[0]);
                    $prepare.expect(TAKES)
                }};
            }
            macro_rules! fill {
                ($prepared:expr, $buffer_:expr, $point:expr) => {{
                    let ($call, $out, $x) = (&mut $prepared, &mut $buffer_, $point);
                    $fill
                }};
            }
            let (mut chosen, mut tape) = (prepare!(AutoReverseDiff::default()), prepare!(AutoReverseDiff::tape()));
            let mut compiled = prepare!(AutoCompiledReverseDiff::default());
            let [mut by_tape, mut by_compiled, mut by_chosen] = [$buffer, $buffer, $buffer];
            for (k, x) in points.iter().copied().cycle().take(60).enumerate() {
                fill!(tape, by_tape, x).expect(TAKES);
                fill!(chosen, by_chosen, x).expect(TAKES);
                $same("adaptive", &by_chosen, &by_tape);
                if k < 3 {
                    fill!(compiled, by_compiled, x).expect(TAKES);
                    $same("compiled", &by_compiled, &by_tape);
                }
            }
            let (mut i, mut j, mut k) = (0, 0, 0);
            let next = |i: &mut usize| {
                *i = if *i + 1 < points.len() { *i + 1 } else { 0 };
                black_box(points[*i])
            };
            let beginning = move |backend: AutoReverseDiff, calls: usize| {
                let mut buffer = $buffer;
                move |_| {
                    let mut prepared = prepare!(backend);
                    for x in points.iter().copied().cycle().take(calls) {
                        black_box(fill!(prepared, buffer, x).is_ok());
                    }
                    None
                }
            };
            run(Contest {
                name: $name,
                n: $n,
                warm: [
                    Box::new(move |_| {
                        black_box(fill!(tape, by_tape, next(&mut i)).is_ok());
                        None
                    }),
                    Box::new(move |_| {
                        black_box(fill!(compiled, by_compiled, next(&mut j)).is_ok());
                        None
                    }),
                    Box::new(move |asked| {
                        if asked {
                            let $asked = &chosen;
                            return $report;
                        }
                        black_box(fill!(chosen, by_chosen, next(&mut k)).is_ok());
                        None
                    }),
                ],
                first: [AutoReverseDiff::tape(), AutoReverseDiff::default()]
                    .map(|b| Box::new(beginning(b, FIRST)) as Call<'_>),
                all: [AutoReverseDiff::tape(), AutoReverseDiff::default()]
                    .map(|b| Box::new(beginning(b, WARM)) as Call<'_>),
            })
        })
    }};
}

/// Measures up to three times, each time with new preparations: the time of a short program depends on where its memory lies, and two
/// preparations of the same program can differ by a third.
fn again_if_missed(contest: impl FnMut() -> bool) -> bool {
    std::iter::repeat_with(contest).take(3).any(|is_met| is_met)
}

/// Gradients at these points, of which each has `n` numbers.
macro_rules! gradients_at {
    ($name:expr, $n:expr, $f:expr, $points:expr) => {{
        let n = $n;
        contest!(
            $name,
            n,
            $f,
            $points,
            |f, b, x| prepare_gradient(f, b, x),
            |p, out, x| p.value_and_gradient_into(out, x),
            |p| Some(p.report()),
            vec![f64::NAN; n],
            |what: &str, found: &[f64], expected: &[f64]| check(what, found, expected, 1e-9)
        )
    }};
}

/// Gradients at these points; at that of the objective if there are none.
fn gradients<L: Objective>(loss: &L, points: Vec<Vec<f64>>) -> bool {
    let points = if points.is_empty() { vec![loss.point()] } else { points };
    let n = points[0].len();
    if !wanted(&format!("{} gradient", loss.name()), n) {
        return true;
    }
    let f = &AsFunction(loss);
    let points: &[&[f64]] = &points.iter().map(|x| &x[..]).collect::<Vec<_>>();
    gradients_at!(loss.name(), n, f, points)
}

/// Dense Jacobians of this size at these points.
macro_rules! dense_jacobians {
    ($name:expr, $size:expr, $f:expr, $points:expr) => {{
        let ((rows, columns), f, points) = ($size, $f, $points);
        let same = |what: &str, found: &Matrix<f64>, expected: &Matrix<f64>| {
            check(what, found.as_slice(), expected.as_slice(), 1e-9);
        };
        let buffer = || Matrix::filled(rows, columns, f64::NAN);
        contest!(
            $name,
            columns,
            f,
            points,
            |f, b, x| prepare_jacobian(f, b, x),
            |p, out, x| p.jacobian_into(out, x),
            |p| Some(p.report()),
            buffer(),
            same
        )
    }};
}

fn jacobians<W: System>(system: W) -> bool
where
    systems::AsFunction<W>: Sync,
{
    let point = W::point();
    let (n, points) = (point.len(), &[&point[..]]);
    if !wanted(&format!("{} Jacobian", W::NAME), n) {
        return true;
    }
    let f = &systems::AsFunction(system);
    let (mut y, mut by_hand) = (vec![0.0; n], vec![0.0; n * n]);
    W::by_hand(&mut y, &mut by_hand, &point);
    let by_tape = jacobian(f, &AutoReverseDiff::tape(), &point[..]).expect(TAKES);
    check("tape", by_tape.as_slice(), &by_hand, 1e-9);
    dense_jacobians!(format!("{} Jacobian", W::NAME), (n, n), f, points)
}

/// Σ (xᵢ - dᵢ)² with the data as a constant.
struct Fit;

impl<T: Real> FunctionWith<[T], (Const<Vec<f64>>,)> for Fit {
    type Output = T;
    fn call_with(&self, x: &[T], (data,): (&Vec<f64>,)) -> T {
        x.iter().zip(data).map(|(x, d)| (*x - *d) * (*x - *d)).sum()
    }
}

/// Gradients with constants: call `k` has those with the number `which(k)`, modulo the number of constants.
fn fits(n: usize, what: &str, count: usize, calls: usize, which: impl Fn(usize) -> usize) -> bool {
    let name = || format!("constants, {what}");
    if !wanted(&name(), n) {
        return true;
    }
    let (x, data) = (Random::around(5, n, 0.0, 1.0), Random::around(6, n + count, 0.0, 1.0));
    let data: Vec<Vec<f64>> = (0..count).map(|k| data[k..k + n].to_vec()).collect();
    let points: &[_] = &(0..calls).map(|k| (&x[..], Constant(&data[which(k) % count]))).collect::<Vec<_>>();
    gradients_at!(name(), n, &Fit, points)
}

/// Hessians, their sparse form and their products at the point of the objective.
fn second_order<L: Objective>(loss: &L) -> bool {
    let point = loss.point();
    let (n, points, f) = (point.len(), &[&point[..]], &AsFunction(loss));
    let close = |what: &str, found: &[f64], expected: &[f64]| check(what, found, expected, 1e-9);
    let tangent = &vec![0.5; n][..];
    let mut all = true;
    let name = |what: &str| format!("{} {what}", loss.name());
    if wanted(&name("Hessian"), n) && n <= 100 {
        let same = |what: &str, found: &Matrix<f64>, expected: &Matrix<f64>| {
            close(what, found.as_slice(), expected.as_slice());
        };
        let buffer = || Matrix::filled(n, n, f64::NAN);
        all &= contest!(
            name("Hessian"),
            n,
            f,
            points,
            |f, b, x| prepare_hessian(f, b, x),
            |p, out, x| p.hessian_into(out, x),
            |p| Some(p.report()),
            buffer(),
            same
        );
    }
    if wanted(&name("sparse Hessian"), n) {
        let same = |what: &str, found: &SparseMatrix<f64>, expected: &SparseMatrix<f64>| {
            close(what, found.values(), expected.values());
        };
        let buffer = || hessian(f, &AutoSparse::new(AutoReverseDiff::tape()), &point[..]).expect(TAKES);
        all &= contest!(
            name("sparse Hessian"),
            n,
            f,
            points,
            |f, b, x| prepare_hessian(f, &AutoSparse::new(*b), x),
            |p, out, x| p.hessian_into(out, x),
            |_p| None,
            buffer(),
            same
        );
    }
    if wanted(&name("hvp"), n) {
        let buffer = || vec![f64::NAN; n];
        all &= contest!(
            name("hvp"),
            n,
            f,
            points,
            |f, b, x| prepare_hvp(f, b, x, [tangent]),
            |p, out, x| p.hvp_into([&mut out[..]], x, [tangent]),
            |p| Some(p.report()),
            buffer(),
            close
        );
    }
    all
}

/// Sparse Jacobians at one point.
macro_rules! sparse_jacobians {
    ($name:expr, $n:expr, $f:expr, $x:expr) => {{
        let (f, points) = ($f, &[$x]);
        let same = |what: &str, found: &SparseMatrix<f64>, expected: &SparseMatrix<f64>| {
            check(what, found.values(), expected.values(), 1e-9);
        };
        let buffer = || jacobian(f, &AutoSparse::new(AutoReverseDiff::tape()), points[0]).expect(TAKES);
        !wanted(&$name, $n)
            || contest!(
                $name,
                $n,
                f,
                points,
                |f, b, x| prepare_jacobian(f, &AutoSparse::new(*b), x),
                |p, out, x| p.jacobian_into(out, x),
                |_p| None,
                buffer(),
                same
            )
    }};
}

/// Pullbacks, pushforwards and sparse Jacobians.
fn products<W: System>(system: W) -> bool
where
    systems::AsFunction<W>: Sync,
{
    let point = W::point();
    let (n, points, f) = (point.len(), &[&point[..]], &systems::AsFunction(system));
    let close = |what: &str, found: &Vec<f64>, expected: &Vec<f64>| check(what, found, expected, 1e-9);
    let seed = &vec![0.5; n][..];
    let mut all = true;
    let name = |what: &str| format!("{} {what}", W::NAME);
    let buffer = || vec![f64::NAN; n];
    if wanted(&name("pullback"), n) {
        all &= contest!(
            name("pullback"),
            n,
            f,
            points,
            |f, b, x| prepare_pullback(f, b, x, [seed]),
            |p, out, x| p.pullback_into([&mut out[..]], x, [seed]),
            |p| Some(p.report()),
            buffer(),
            close
        );
    }
    if wanted(&name("pushforward"), n) {
        all &= contest!(
            name("pushforward"),
            n,
            f,
            points,
            |f, b, x| prepare_pushforward(f, b, x, [seed]),
            |p, out, x| p.pushforward_into([&mut out[..]], x, [seed]),
            |p| Some(p.report()),
            buffer(),
            close
        );
    }
    all & sparse_jacobians!(name("sparse Jacobian"), n, f, &point[..])
}

/// Jacobians of single observations, each with its feature as a parameter, by one preparation.
fn blocks(bundle: &Bundle) -> bool {
    let (name, n) = ("W7 BA, blocks", Observation::INPUTS);
    if !wanted(name, n) {
        return true;
    }
    let observations: Vec<_> = (0..bundle.observations().min(1000))
        .map(|i| {
            let mut numbers = [0.0; Observation::INPUTS];
            let feature = *bundle.observation(&mut numbers, bundle.point(), i);
            (numbers, feature)
        })
        .collect();
    let points: &[_] = &observations.iter().map(|(x, feature)| (x, Parameter(feature))).collect::<Vec<_>>();
    dense_jacobians!(name.to_string(), (2, n), &Observation, points)
}

/// exp(sin x) ln(1 + x²) / (2 + cos 3x).
struct Elementary;

impl<T: Real> Function<T> for Elementary {
    type Output = T;
    fn call(&self, x: &T) -> T {
        let x = *x;
        x.sin().exp() * (x * x).ln_1p() / ((3.0 * x).cos() + 2.0)
    }
}

fn second_derivatives() -> bool {
    let name = || "second derivative".to_string();
    if !wanted(&name(), 1) {
        return true;
    }
    let same = |what: &str, found: &f64, expected: &f64| check(what, &[*found], &[*expected], 1e-9);
    contest!(
        name(),
        1,
        &Elementary,
        &[0.7],
        |f, b, x| prepare_second_derivative(f, b, x),
        |p, out, x| p.second_derivative(x).map(|found| *out = found),
        |p| Some(p.report()),
        f64::NAN,
        same
    )
}

/// Points whose first `signs` numbers have random signs.
fn points(n: usize, signs: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(12);
    (0..1000)
        .map(|_| {
            let sign = |i: usize, v: f64| if i < signs { v } else { v.abs() };
            (0..n).map(|i| sign(i, 0.9 * random.signed())).collect()
        })
        .collect()
}

fn main() {
    let (wide, long) = if timed() { (100_000, 1000) } else { (30, 20) };
    if timed() {
        println!(
            "{:<26} {:>7} {:>12} {:>12} {:>12} {:>9} {:>9} {:>8}  asked: {ASKED} after {WARM} calls, {ASKED_FIRST} in the first {FIRST}",
            "", "n", "tape ns", "compiled ns", "chosen ns", "/better", "first/tape", "all/tape"
        );
    }
    let mut all = true;
    for n in [10, 100, 1000, wide] {
        all &= gradients(&OfLength(Squares, n), Vec::new());
        all &= gradients(&OfLength(Rosenbrock, n), Vec::new());
    }
    all &= gradients(&OfLength(Squares, 1), Vec::new());
    all &= jacobians(Lorenz96);
    all &= jacobians(Quadrotor);
    all &= jacobians(Reactions);
    all &= jacobians(Angles::<10>) & jacobians(Angles::<50>);
    all &= gradients(&Covariance(if timed() { 60 } else { 6 }), Vec::new());
    all &= gradients(&RungeKutta::new(long), Vec::new());
    all &= gradients(&Predators(long), Vec::new());
    all &= gradients(&Weather(long / 5), Vec::new());
    all &= gradients(&Kalman::new(long), Vec::new());
    all &= gradients(&Tridiagonal(long), Vec::new());
    all &= gradients(&Recurrent::new(long / 10), Vec::new());
    all &= gradients(&Branches, points(7, 7));
    all &= gradients(&Branches, points(7, 1));
    all &= gradients(&Branches, points(7, 0));
    all &= gradients(&RandomGraph::new(long), Vec::new());
    all &= gradients(&RandomGraph::new(16 * long), Vec::new());
    all &= gradients(&Kepler(long), Vec::new());
    all &= gradients(&Table::new(long), Vec::new());
    all &= second_order(&OfLength(Rosenbrock, 10));
    all &= second_order(&OfLength(Rosenbrock, 100));
    all &= second_order(&OfLength(Rosenbrock, 10 * long));
    all &= second_order(&OfLength(Differences, long));
    all &= second_order(&RungeKutta::new(long));
    all &= second_order(&Torques(10)) & second_order(&Torques(50));
    all &= products(Lorenz96);
    all &= products(Quadrotor);
    let grid = Brusselator { side: if timed() { 64 } else { 4 } };
    all &= sparse_jacobians!(
        format!("{} sparse Jacobian", Brusselator::NAME),
        grid.size(),
        &in_place(grid, grid.size()),
        &grid.point()[..]
    );
    let bundle = &if timed() { Bundle::new(5, 778, 3184) } else { Bundle::new(3, 7, 20) };
    all &= sparse_jacobians!(
        format!("{} sparse Jacobian", Bundle::NAME),
        bundle.point().len(),
        &in_place(bundle, bundle.outputs()),
        bundle.point()
    );
    all &= blocks(bundle);
    all &= second_derivatives();
    for n in [8, 1000] {
        all &= fits(n, "fixed", 1, 1, |_| 0);
        all &= fits(n, "new at every call", 1000, 1000, |k| k);
        all &= fits(n, "new at every 200th call", 50, 10_000, |k| k / 200);
        all &= fits(n, "four in turn", 4, 4, |k| k);
    }
    let mixtures: &[_] = if timed() { &[(10, 25, 1000), (20, 50, 1000)] } else { &[(3, 4, 10)] };
    for &(d, k, points) in mixtures {
        all &= gradients(&Mixture::new(d, k, points), Vec::new());
    }
    if !all && std::env::args().any(|argument| argument == "--check") {
        std::process::exit(1);
    }
}
