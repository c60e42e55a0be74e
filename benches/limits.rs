//! Prepared calls of the compiled engine beside the works' derivatives by hand in vector instructions, with the ratios asked for.
//!
//! `cargo bench -p differentiation-interface-benches --bench limits [-- --check] [-- FILTER ...]`: ratios are of the least times over rounds
//! in which both run one after the other, on buffers at four places in memory; the least of up to three measurements counts. With
//! `--check` the exit status is 1 if a ratio is more than a tenth above the one asked for. Filters select rows by parts of their names and by
//! size. Every result is first compared with the derivative by hand, and no call may allocate. Without the
//! argument `--bench`, which `cargo bench` passes and `cargo test` does not, sizes are small and nothing is timed.

mod workloads;

use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::time::Duration;
use workloads::bundle::{Bundle, ENTRIES, Observation};
use workloads::grids::Brusselator;
use workloads::losses::{AsFunction, Loss, OfLength};
use workloads::mixture::Mixture;
use workloads::simd;
use workloads::sums::{self, Differences, Rosenbrock, Squares, Sum};
use workloads::systems::{Lorenz96, Quadrotor, System};
use workloads::table::{check, timed, wanted};
use workloads::{Random, timing};

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The reason why an operator accepts the points and lengths used here.
const TAKES: &str = "the backend takes this point";
/// Places of buffers that are tried: the time of a short call depends on whether its stores cross cache lines.
const PLACES: usize = 4;

/// Calls a derivative by hand; `main` has checked that the processor has its instructions.
macro_rules! by_hand {
    ($($module:ident)::+ ($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "functions for instructions that not every processor has")]
        // SAFETY: `main` returns unless `simd::is_supported`.
        unsafe {
            $($module)::+($($argument),*)
        }
        #[cfg(not(target_arch = "x86_64"))]
        $($module)::+($($argument),*)
    }};
}
/// What the rows have come to.
struct Table {
    missed: Vec<String>,
}

impl Table {
    /// Measures both contenders.
    fn row(&mut self, name: &str, n: usize, asked: f64, by_hand: Call<'_>, prepared: Call<'_>) {
        let mut calls = [by_hand, prepared];
        for call in &mut calls {
            call(0, 1);
        }
        let allocated = timing::allocations(|| calls[1](0, 1));
        assert_eq!(allocated, 0, "{name}, n = {n}: a prepared call allocates");
        if !timed() {
            return;
        }
        let mut best = [f64::INFINITY; 2];
        for _ in 0..3 {
            let times = least(&mut calls);
            best = [best[0].min(times[0]), best[1].min(times[1])];
            if best[1] <= 1.05 * asked * best[0] {
                break;
            }
        }
        let ratio = best[1] / best[0];
        let is_met = ratio <= 1.1 * asked;
        let mark = if is_met { "" } else { "  missed" };
        println!("{name:<26} {n:>8} {:>14.1} {:>14.1} {ratio:>8.2} {asked:>8.2}{mark}", best[0], best[1]);
        if !is_met {
            self.missed.push(format!("{name}, n = {n}: {ratio:.2}, asked {asked}"));
        }
    }
}

/// Calls on the buffer at one of the [`PLACES`], as often as is said.
type Call<'a> = Box<dyn FnMut(usize, usize) + 'a>;

/// A call that fills a slice.
fn slices<'a>(mut buffer: Buffer, mut call: impl FnMut(&mut [f64]) + 'a) -> Call<'a> {
    Box::new(move |place, loops| {
        let slice = buffer.at(place);
        for _ in 0..loops {
            call(black_box(&mut *slice));
        }
    })
}

/// A call that fills a matrix.
fn matrices<'a, M: Clone + 'a>(matrix: &M, mut call: impl FnMut(&mut M) + 'a) -> Call<'a> {
    // Allocations of other sizes between them, so that they lie differently in cache lines.
    let mut places: Vec<(M, Vec<u8>)> = (1..=PLACES).map(|i| (matrix.clone(), vec![0; 16 * i])).collect();
    Box::new(move |place, loops| {
        let matrix = &mut places[place].0;
        for _ in 0..loops {
            call(black_box(&mut *matrix));
        }
    })
}

/// The least time of each call in nanoseconds.
fn least(calls: &mut [Call<'_>; 2]) -> [f64; 2] {
    let sample = |call: &mut Call<'_>, place: usize, loops: usize| {
        let start = timing::now();
        call(place, loops);
        (timing::now() - start).as_nanos() as f64 / loops as f64
    };
    let loops = [0, 1].map(|i| {
        let once = sample(&mut calls[i], 0, 1).min(sample(&mut calls[i], 0, 1)).max(10.0);
        ((2e5 / once) as usize).max(1)
    });
    let (mut least, start, mut rounds) = ([f64::INFINITY; 2], timing::now(), 0);
    while rounds < 2 * PLACES || (rounds < 120 && timing::now() - start < Duration::from_millis(1000)) {
        for ((call, loops), least) in calls.iter_mut().zip(loops).zip(&mut least) {
            *least = least.min(sample(call, rounds % PLACES, loops));
        }
        rounds += 1;
    }
    least
}

/// A buffer of which slices at [`PLACES`] can be taken.
struct Buffer {
    numbers: Vec<f64>,
    length: usize,
}

impl Buffer {
    fn new(length: usize) -> Buffer {
        Buffer { numbers: vec![f64::NAN; length + PLACES - 1], length }
    }
    fn at(&mut self, place: usize) -> &mut [f64] {
        &mut self.numbers[place..][..self.length]
    }
}

/// A gradient that is written into a slice.
fn gradient_of<L: Loss>(table: &mut Table, loss: &L, asked: f64, mut by_hand: impl FnMut(&mut [f64], &[f64])) {
    let (name, x) = (loss.name(), &loss.point()[..]);
    let n = x.len();
    if !wanted(&name, n) {
        return;
    }
    let (mut hand, mut own) = (Buffer::new(n), Buffer::new(n));
    by_hand(hand.at(0), x);
    let f = &AsFunction(loss);
    let mut prepared = prepare_gradient(f, &AutoReverseDiff::compiled(), x).expect(TAKES);
    prepared.gradient_into(own.at(0), x).expect(TAKES);
    check(&name, own.at(0), hand.at(0), 1e-10);
    table.row(
        &name,
        n,
        asked,
        slices(hand, |grad| by_hand(grad, black_box(x))),
        slices(own, |grad| {
            black_box(prepared.gradient_into(grad, black_box(x)).is_ok());
        }),
    );
}

/// A result that is a matrix: the prepared operator, its method that returns one and its method that fills one.
macro_rules! matrix_row {
    ($table:expr, $name:expr, $n:expr, $asked:expr, $prepared:expr, $plain:ident, $into:ident, $numbers:ident, $x:expr, $tolerance:expr, $by_hand:expr) => {{
        let (mut prepared, x, by_hand) = ($prepared, $x, $by_hand);
        let result = prepared.$plain(x).expect(TAKES);
        let (mut own, mut hand) = (result.clone(), result);
        hand.$numbers().fill(f64::NAN);
        by_hand(hand.$numbers(), x);
        check($name, own.$numbers(), hand.$numbers(), $tolerance);
        $table.row(
            $name,
            $n,
            $asked,
            matrices(&hand, |matrix| by_hand(matrix.$numbers(), black_box(x))),
            matrices(&own, |matrix| {
                black_box(prepared.$into(matrix, black_box(x)).is_ok());
            }),
        );
    }};
}

fn sums(table: &mut Table) {
    let sizes: &[usize] = if timed() { &[10, 100, 1000, 100_000] } else { &[10, 100] };
    let asked = |n| match n {
        10 => [2.0, 2.0],
        100 => [1.6, 1.5],
        1000 => [1.3, 1.4],
        _ => [1.3, 1.3],
    };
    for &n in sizes {
        gradient_of(table, &OfLength(Squares, n), asked(n)[0], |grad, x| by_hand!(simd::sums::squares(grad, x)));
    }
    for &n in sizes {
        gradient_of(table, &OfLength(Rosenbrock, n), asked(n)[1], |grad, x| by_hand!(simd::sums::rosenbrock(grad, x)));
    }
}

fn second_order(table: &mut Table) {
    let (n, compiled) = (if timed() { 1000 } else { 40 }, AutoReverseDiff::compiled());
    if wanted("W3 sparse Hessian", n) {
        let (f, x) = (&sums::AsFunction(Differences), &Differences::point(n)[..]);
        let prepared = prepare_hessian(f, &AutoSparse::new(compiled), x).expect(TAKES);
        let by_hand = |values: &mut [f64], x: &[f64]| by_hand!(simd::sums::differences_hessian(values, x.len()));
        matrix_row!(table, "W3 sparse Hessian", n, 1.2, prepared, hessian, hessian_into, values_mut, x, 1e-12, by_hand);
    }
    let n = if timed() { 10_000 } else { 40 };
    if wanted("W4 product", n) {
        let (f, x, v) =
            (&sums::AsFunction(Rosenbrock), &Random::around(3, n, 0.0, 1.0)[..], &Random::around(4, n, 0.0, 1.0)[..]);
        let mut prepared = prepare_hvp(f, &compiled, x, [v]).expect(TAKES);
        let (mut hand, mut own) = (Buffer::new(n), Buffer::new(n));
        prepared.hvp_into([own.at(0)], x, [v]).expect(TAKES);
        by_hand!(simd::sums::rosenbrock_product(hand.at(0), x, v));
        check("W4 product", own.at(0), hand.at(0), 1e-12);
        table.row(
            "W4 product",
            n,
            1.4,
            slices(hand, |product| by_hand!(simd::sums::rosenbrock_product(product, black_box(x), black_box(v)))),
            slices(own, |product| {
                black_box(prepared.hvp_into([product], black_box(x), [black_box(v)]).is_ok());
            }),
        );
    }
}

fn grids(table: &mut Table) {
    let sides: &[(usize, f64)] = if timed() { &[(16, 1.3), (64, 1.4), (128, 1.5)] } else { &[(4, 1.3)] };
    for &(side, asked) in sides {
        if !wanted("W5 sparse Jacobian", side) {
            continue;
        }
        let grid = Brusselator { side };
        let (f, x) = (&in_place(grid, grid.size()), &grid.point()[..]);
        let prepared = prepare_jacobian(f, &AutoSparse::new(AutoReverseDiff::compiled()), x).expect(TAKES);
        let by_hand = |values: &mut [f64], x: &[f64]| by_hand!(simd::grids::jacobian(grid, values, x));
        matrix_row!(
            table,
            "W5 sparse Jacobian",
            side,
            asked,
            prepared,
            jacobian,
            jacobian_into,
            values_mut,
            x,
            1e-12,
            by_hand
        );
    }
}

fn system<W: System>(table: &mut Table, asked: f64, by_hand: impl Fn(&mut [f64], &[f64])) {
    if !wanted(W::NAME, W::SIZE) {
        return;
    }
    let (f, x) = (&in_place(|y: &mut [_], x: &[_]| W::value(y, x), W::SIZE), &W::point()[..]);
    let prepared = prepare_jacobian(f, &AutoReverseDiff::compiled(), x).expect(TAKES);
    matrix_row!(table, W::NAME, W::SIZE, asked, prepared, jacobian, jacobian_into, as_mut_slice, x, 1e-12, by_hand);
}

fn bundles(table: &mut Table) {
    let (cameras, points, observations) = if timed() { (49, 7776, 31_843) } else { (3, 7, 20) };
    let bundle = &Bundle::new(cameras, points, observations);
    let x = bundle.point();
    let by_hand = |values: &mut [f64], x: &[f64]| by_hand!(simd::bundle::jacobian(bundle, values, x));
    if wanted("W7 BA sparse Jacobian", observations) {
        let f = &in_place(bundle, bundle.outputs());
        let prepared = prepare_jacobian(f, &AutoSparse::new(AutoReverseDiff::compiled()), x).expect(TAKES);
        matrix_row!(
            table,
            "W7 BA sparse Jacobian",
            observations,
            1.3,
            prepared,
            jacobian,
            jacobian_into,
            values_mut,
            x,
            1e-10,
            by_hand
        );
    }
    if wanted("W7 BA by blocks", observations) {
        let mut numbers = [0.0; Observation::INPUTS];
        let first = *bundle.observation(&mut numbers, x, 0);
        let at = (&numbers, Parameter(&first));
        let mut prepared = prepare_jacobian(&Observation, &AutoReverseDiff::compiled(), at).expect(TAKES);
        let (mut jac, mut hand) = (Matrix::filled(2, Observation::INPUTS, f64::NAN), Buffer::new(bundle.nnz()));
        let mut own = Buffer::new(Observation::NNZ * observations);
        by_hand(hand.at(0), x);
        let mut blocks = move |own: &mut [f64]| {
            for (i, own) in own.as_chunks_mut::<{ Observation::NNZ }>().0.iter_mut().enumerate() {
                let feature = bundle.observation(&mut numbers, x, i);
                black_box(prepared.jacobian_into(&mut jac, (&numbers, Parameter(feature))).is_ok());
                own.copy_from_slice(jac.as_slice());
            }
        };
        blocks(own.at(0));
        for (own, hand) in
            own.at(0).as_chunks::<{ Observation::INPUTS }>().0.iter().zip(hand.at(0).as_chunks::<ENTRIES>().0)
        {
            let stored: Vec<f64> = own.iter().copied().filter(|entry| *entry != 0.0).collect();
            check("W7 BA by blocks", &stored, hand, 1e-10);
        }
        table.row(
            "W7 BA by blocks",
            observations,
            2.2,
            slices(hand, |values| by_hand(values, black_box(x))),
            slices(own, blocks),
        );
    }
}

/// W8, the second derivative of a number.
fn peak(table: &mut Table) {
    if !wanted("W8 second derivative", 1) {
        return;
    }
    let x = 0.7;
    let f = &|x: _| composite(x);
    let mut prepared = prepare_second_derivative(f, &AutoReverseDiff::compiled(), x).expect(TAKES);
    let found = prepared.second_derivative(x).expect(TAKES);
    check("W8 second derivative", &[found], &[by_hand!(simd::numbers::peak_second(x))], 1e-13);
    table.row(
        "W8 second derivative",
        1,
        0.95,
        slices(Buffer::new(1), |y| y[0] = by_hand!(simd::numbers::peak_second(black_box(x)))),
        slices(Buffer::new(1), |y| y[0] = prepared.second_derivative(black_box(x)).expect(TAKES)),
    );
}

/// exp(sin x) ln(1 + x²) / (2 + cos 3x).
fn composite<T: Real>(x: T) -> T {
    x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
}

fn main() {
    if !simd::is_supported() {
        println!("the derivatives by hand need a processor with AVX2, BMI2 and FMA: nothing is compared");
        return;
    }
    if timed() {
        println!("{:<26} {:>8} {:>14} {:>14} {:>8} {:>8}", "", "n", "by hand, ns", "compiled, ns", "ratio", "asked");
    }
    let table = &mut Table { missed: Vec::new() };
    sums(table);
    second_order(table);
    grids(table);
    system::<Quadrotor>(table, 1.1, |jac, x| by_hand!(simd::numbers::quadrotor(jac, x)));
    system::<Lorenz96>(table, 1.3, |jac, x| by_hand!(simd::numbers::lorenz(jac, x)));
    let mixtures: &[_] = if timed() { &[(10, 25, 1000, 3.0), (20, 50, 1000, 4.0)] } else { &[(3, 4, 10, 3.0)] };
    for &(d, k, points, asked) in mixtures {
        let mixture = Mixture::new(d, k, points);
        let mut by_hand = simd::mixture::gradient(&mixture);
        gradient_of(table, &mixture, asked, |grad, x| {
            by_hand(grad, x);
        });
    }
    bundles(table);
    peak(table);
    if !table.missed.is_empty() {
        println!("missed by more than a tenth:\n{}", table.missed.join("\n"));
        if std::env::args().any(|argument| argument == "--check") {
            std::process::exit(1);
        }
    }
}
