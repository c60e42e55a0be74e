//! Derivatives divided among threads, over the same with one thread and without the wrapper.
//!
//! `cargo bench -p differentiation-interface-benches --features rayon --bench threaded` prints wall-clock times of prepared calls and their ratios: minima over rounds in which all
//! contenders run one after the other. It needs as many idle cores as it names threads. Arguments `serial`, `one` or `two` and `dense`, `rows` or `sparse` with a number run that alone, so many times,
//! for a count of instructions: `benches/threaded.sh` divides the counts. Without the argument `--bench`, nothing
//! is timed: the results are compared bit for bit.

mod workloads;

use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};
use workloads::grids::Brusselator;
use workloads::losses::{AsFunction, Loss, Objective, OfLength};
use workloads::mixture::Mixture;
use workloads::sums::Rosenbrock;

/// Names and numbers of threads of machine code; with 0 its loops are not divided.
const CHUNKS: [(&str, usize); 3] = [("not divided", 0), ("1 thread", 1), ("2 threads", 2)];

/// How much faster two threads are to be than one, for machine code; `--check` allows a tenth less.
const ASKED: f64 = 1.6;

/// The time for all rounds of a workload.
const BUDGET: Duration = Duration::from_secs(6);

/// Lorenz-96 with any number of states.
struct Cycle;

impl<T: Real> FunctionInPlace<T, [T]> for Cycle {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        let n = x.len();
        for i in 0..n {
            let (next, last, before) = (
                if i + 1 == n { 0 } else { i + 1 },
                if i == 0 { n - 1 } else { i - 1 },
                if i < 2 { i + n - 2 } else { i - 2 },
            );
            y[i] = (x[next] - x[before]) * x[last] - x[i] + 8.0;
        }
    }
}

/// One way to compute a derivative.
struct Contender<'a> {
    name: String,
    call: Box<dyn FnMut() + 'a>,
}

fn contender<'a>(name: impl Into<String>, call: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name: name.into(), call: Box::new(call) }
}

/// The contenders of a workload: without the wrapper, and with it on some threads.
macro_rules! contenders {
    ($f:expr, $x:expr, $backend:expr, $bits:expr) => {{
        let (f, x, backend) = ($f, $x, $backend);
        let mut plain = prepare_jacobian(f, &backend, x).expect("the backend takes this point");
        let mut jac = plain.jacobian(x).expect("the point is the prepared one");
        let expected: Vec<u64> = $bits(&jac);
        let mut all = vec![contender("serial", move || {
            black_box(plain.jacobian_into(&mut jac, black_box(x)).is_ok());
            black_box(&mut jac);
        })];
        for threads in [1, 2] {
            let threaded = AutoThreaded::new(Clone::clone(&backend)).with_threads(threads);
            let mut prepared = prepare_jacobian(f, &threaded, x).expect("the backend takes this point");
            let mut jac = prepared.jacobian(x).expect("the point is the prepared one");
            assert_eq!($bits(&jac), expected, "{threads} threads");
            all.push(contender(format!("{threads} thread(s)"), move || {
                black_box(prepared.jacobian_into(&mut jac, black_box(x)).is_ok());
                black_box(&mut jac);
            }));
        }
        all
    }};
}

/// The contenders of a gradient by machine code: loops as they are, and in chunks on some threads.
fn gradients<'a, L: Loss>(loss: &'a AsFunction<'a, L>, x: &'a [f64]) -> Vec<Contender<'a>> {
    let mut one = None;
    let of = |(name, threads)| {
        let backend = AutoReverseDiff::compiled().with_threads(threads);
        let mut prepared = prepare_gradient(loss, &backend, x).expect("the backend takes this point");
        let mut grad = prepared.gradient(x).expect("the point is the prepared one");
        if threads > 0 {
            let bits: Vec<u64> = grad.iter().map(|g| g.to_bits()).collect();
            assert_eq!(*one.get_or_insert_with(|| bits.clone()), bits, "{threads} threads");
        }
        contender(name, move || {
            black_box(prepared.gradient_into(&mut grad, black_box(x)).is_ok());
            black_box(&mut grad);
        })
    };
    CHUNKS.into_iter().map(of).collect()
}

/// The contenders of the sparse Jacobian of a grid by machine code.
fn entries(grid: Brusselator, x: &[f64]) -> Vec<Contender<'_>> {
    let mut one = None;
    let of = |(name, threads)| {
        let f = Box::new(in_place(grid, grid.size()));
        let backend = AutoSparse::new(AutoReverseDiff::compiled().with_threads(threads));
        let mut prepared = prepare_jacobian(f, &backend, x).expect("the backend takes this point");
        let mut jac = prepared.jacobian(x).expect("the point is the prepared one");
        if threads > 0 {
            let bits: Vec<u64> = jac.values().iter().map(|v| v.to_bits()).collect();
            assert_eq!(*one.get_or_insert_with(|| bits.clone()), bits, "{threads} threads");
        }
        contender(name, move || {
            black_box(prepared.jacobian_into(&mut jac, black_box(x)).is_ok());
            black_box(&mut jac);
        })
    };
    CHUNKS.into_iter().map(of).collect()
}

/// The bits of positive zeros for all zeros.
fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    values.into_iter().map(|value| (value + 0.0).to_bits()).collect()
}

fn main() {
    // On a thread of the pool, as in a program that computes on one: other threads hand each call over, and wait.
    rayon::join(run, || ());
}

fn run() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |argument: &str| arguments.iter().any(|a| a == argument);
    let timed = has("--bench");
    let alone = ["serial", "one", "two"].iter().position(|&name| has(name));
    let calls: usize = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1);
    let (states, side) = if timed || alone.is_some() { (400, 128) } else { (60, 12) };
    let x: Vec<f64> = (0..states).map(|i| 8.0 + ((i * 37) % 41) as f64 / 41.0).collect();
    let grid = Brusselator { side };
    let point = grid.point();
    let (cycle, square) = (in_place(Cycle, states), in_place(grid, grid.size()));
    let wanted = |name: &str| alone.is_none() || has(name);
    let mut workloads = Vec::new();
    if wanted("dense") {
        let forward = AutoForwardDiff::default();
        let all = contenders!(&cycle, &x[..], forward, |jac: &Matrix<f64>| bits(jac.as_slice()));
        workloads.push((format!("dense Jacobian, Lorenz-96, n = {states}, forward mode"), all));
    }
    if wanted("rows") {
        let tapes = AutoReverseDiff::tape();
        let all = contenders!(&cycle, &x[..], tapes, |jac: &Matrix<f64>| bits(jac.as_slice()));
        workloads.push((format!("dense Jacobian, Lorenz-96, n = {states}, tapes"), all));
    }
    if wanted("sparse") {
        let sparse = AutoSparse::new(AutoForwardDiff::default());
        let all = contenders!(&square, &point[..], sparse, |jac: &SparseMatrix<f64>| bits(jac.values()));
        workloads.push((format!("sparse Jacobian, {}, N = {side}, forward mode", Brusselator::NAME), all));
    }
    for (name, mut contenders) in workloads {
        match alone {
            Some(which) => (0..calls).for_each(|_| (contenders[which].call)()),
            None if timed && !has("chunks") => {
                print(&name, &mut contenders);
            }
            None => contenders.iter_mut().for_each(|contender| (contender.call)()),
        }
    }
    if alone.is_none() {
        let are_met = in_chunks(timed);
        if has("--check") && !are_met {
            std::process::exit(1);
        }
    }
}

/// Machine code in chunks; returns whether two threads are as much faster than one as asked, within a tenth.
fn in_chunks(timed: bool) -> bool {
    let (terms, side, mixtures) =
        if timed { (1_000_000, 256, &[(10, 25), (20, 50)][..]) } else { (100_000, 64, &[(3, 4)][..]) };
    let rosenbrock = OfLength(Rosenbrock, terms);
    let point = rosenbrock.point();
    let grid = Brusselator { side };
    let square = grid.point();
    let mixtures: Vec<Mixture> = mixtures.iter().map(|(d, k)| Mixture::new(*d, *k, 1000)).collect();
    let starts: Vec<Vec<f64>> = mixtures.iter().map(Objective::point).collect();
    let functions: Vec<_> = mixtures.iter().map(AsFunction).collect();
    let rosenbrock_function = AsFunction(&rosenbrock);
    let mut workloads = vec![
        (format!("{} gradient, n = {terms}, machine code", rosenbrock.name()), gradients(&rosenbrock_function, &point)),
        (format!("{} sparse Jacobian, N = {side}, machine code", Brusselator::NAME), entries(grid, &square)),
    ];
    for ((mixture, f), x) in mixtures.iter().zip(&functions).zip(&starts) {
        workloads.push((format!("{} gradient, machine code", mixture.name()), gradients(f, x)));
    }
    let mut are_met = true;
    for (name, mut contenders) in workloads {
        if !timed {
            contenders.iter_mut().for_each(|contender| (contender.call)());
            continue;
        }
        let least = print(&name, &mut contenders);
        let ratio = least[1].as_secs_f64() / least[2].as_secs_f64();
        let is_met = ratio >= 0.9 * ASKED;
        println!("  two threads over one: {ratio:.2}, asked {ASKED}{}", if is_met { "" } else { ": missed" });
        are_met &= is_met;
    }
    are_met
}

/// Prints the least times and their ratios to the first contender; returns the times.
fn print(name: &str, contenders: &mut [Contender<'_>]) -> Vec<Duration> {
    let mut least = vec![Duration::MAX; contenders.len()];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 5 || start.elapsed() < BUDGET {
        for (contender, least) in contenders.iter_mut().zip(&mut least) {
            // Threads that sleep wake in the first call.
            (contender.call)();
            let begin = Instant::now();
            (contender.call)();
            *least = (*least).min(begin.elapsed());
        }
        rounds += 1;
    }
    println!("{name}, {rounds} rounds");
    for (contender, time) in contenders.iter().zip(&least) {
        let ratio = least[0].as_secs_f64() / time.as_secs_f64();
        println!(
            "  {:<12} {:>9.1} us   {ratio:.2} times as fast as {}",
            contender.name,
            time.as_secs_f64() * 1e6,
            contenders[0].name
        );
    }
    least
}
