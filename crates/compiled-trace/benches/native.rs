//! Compiled gradients as machine code beside gradients written by hand: W1, W2, the GMM of W7, and the logistic map as an
//! example of a recurrence.
//!
//! `cargo bench -p compiled-trace --features native --bench native` prints everything, `-- W2 1000` only groups whose name and
//! size match. Samples of at least 0.5 ms in turns, ratios are medians over the rounds; every gradient is compared with the one
//! by hand first. With `LISTING=directory` the code is written to files there.

#![expect(clippy::needless_range_loop, reason = "the gradient by hand is written with indices, as its formulas are")]

use compiled_trace::native::{Compiled, Options};
use compiled_trace::{Limits, Recorded, compile, record};
use differentiation_interface_core::Real;
use std::hint::black_box;
use std::time::{Duration, Instant};

const SAMPLE: Duration = Duration::from_micros(500);
const BUDGET: f64 = 1.5;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let is_wanted = |name: &str, n: usize| match wanted.as_slice() {
        [] => true,
        [only] => only == name,
        [group, size, ..] => group == name && *size == n.to_string(),
    };
    if wanted.is_empty() || wanted[0] == "settings" {
        println!(
            "operations  emitted  quickly ns/instruction  well ns/instruction  quick ns  well/quick  interpreter/quick"
        );
        [100, 300, 1_000, 2_000, 4_000, 10_000].into_iter().for_each(settings);
    }
    println!(
        "work         n  operations  statements  instructions  emitted  code bytes  compile ns/emitted  by hand ns  interpreter/hand  native/hand"
    );
    for n in [10, 100, 1_000, 10_000, 100_000, 1_000_000] {
        if is_wanted("W1", n) {
            measure("W1", &random(1, n), squares::<Recorded>, squares_by_hand);
        }
        if is_wanted("W2", n) {
            measure("W2", &random(2, n), rosenbrock::<Recorded>, rosenbrock_by_hand);
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
            measure("GMM", &gmm.start, |x| gmm.value(x), |g, x| gmm.by_hand(&mut memory, g, x));
        }
    }
}

/// Irregular code, which stays one long body: what the two compiler settings cost and give.
fn settings(operations: usize) {
    let mut random = Random(17);
    let x: Vec<f64> = (0..20).map(|_| random.unit()).collect();
    let mut f = |x: &[Recorded], y: &mut Vec<Recorded>| {
        let mut v = x.to_vec();
        for _ in 0..operations / 2 {
            let mut pick = || (random.unit() * 20.0) as usize;
            let (i, j, k) = (pick(), pick(), pick());
            v[i] = if random.unit() < 0.5 { v[j] * v[k] } else { v[j] + v[k] } * (0.5 + random.unit() * 0.4);
        }
        y.push(v.into_iter().sum());
    };
    let graph = record(&x, &[], Limits::default(), |x, _, y| f(x, y)).expect("the function is recorded");
    let program = compile(&graph).expect("it compiles").adjoint(1).expect("it has an adjoint");
    let compiled = [0, usize::MAX].map(|optimised| {
        let mut options = Options::default();
        options.optimised = optimised;
        let start = Instant::now();
        let compiled = Compiled::<f64>::new(&program, options).expect("it becomes machine code");
        (start.elapsed().as_nanos() as f64 / compiled.instructions() as f64, compiled)
    });
    let executable = program.executable();
    let mut memory = executable.workspace::<f64>();
    let (mut quick_memory, mut good_memory) = (compiled[0].1.workspace(), compiled[1].1.workspace());
    let (mut y, mut grad, mut quick_y, mut quick_grad, mut good_y, mut good_grad) =
        ([0.0], vec![0.0; 20], [0.0], vec![0.0; 20], [0.0], vec![0.0; 20]);
    let inputs: [&[f64]; 3] = [&x, &[], &[1.0]];
    let mut contenders: [Box<dyn FnMut() + '_>; 3] = [
        Box::new(|| {
            black_box(compiled[0].1.run(&mut quick_memory, &inputs, &mut [&mut quick_y, &mut quick_grad]).is_ok());
        }),
        Box::new(|| {
            black_box(compiled[1].1.run(&mut good_memory, &inputs, &mut [&mut good_y, &mut good_grad]).is_ok());
        }),
        Box::new(|| {
            black_box(executable.run(&mut memory, &inputs, &mut [&mut y, &mut grad]).is_ok());
        }),
    ];
    let (quick, ratios) = in_turns(&mut contenders);
    drop(contenders);
    assert!(y == quick_y && y == good_y && grad == quick_grad && grad == good_grad, "all add in the same order");
    println!(
        "{operations:10}  {:7}  {:21.0}  {:20.0}  {quick:8.0}  {:10.2}  {:17.2}",
        compiled[0].1.instructions(),
        compiled[0].0,
        compiled[1].0,
        ratios[0],
        ratios[1],
    );
}

/// Compares and times a compiled gradient and the one by hand.
fn measure(
    name: &str,
    x: &[f64],
    f: impl FnOnce(&[Recorded]) -> Recorded,
    mut by_hand: impl FnMut(&mut [f64], &[f64]) -> f64,
) {
    let graph = record(x, &[], Limits::default(), |x, _, y| y.push(f(x))).expect("the function is recorded");
    let program = compile(&graph).expect("it compiles").adjoint(1).expect("it has an adjoint");
    let (statements, instructions) = (program.statement_count(), program.instruction_count());
    let directory = std::env::var("LISTING").ok();
    let mut options = Options::default();
    options.listing = directory.is_some();
    if let Some(n) = std::env::var("OPTIMISED").ok().and_then(|n| n.parse().ok()) {
        options.optimised = n;
    }
    if let Err(refused) = Compiled::<f64>::new(&program, options) {
        println!("{name:4} {:9}  {:10}  {statements:10}  {instructions:12}  {refused}", x.len(), graph.nodes().len());
        return;
    }
    let mut compiling = Vec::new();
    for _ in 0..if instructions > 5000 { 1 } else { 7 } {
        let start = Instant::now();
        let compiled = Compiled::<f64>::new(&program, options).expect("it becomes machine code");
        compiling.push(start.elapsed().as_nanos() as f64 / compiled.instructions() as f64);
    }
    let native = Compiled::<f64>::new(&program, options).expect("it becomes machine code");
    if let Some(directory) = directory {
        std::fs::write(format!("{directory}/{name}{}.program", x.len()), program.to_string())
            .expect("the directory exists");
        for (i, function) in native.listing().iter().enumerate() {
            std::fs::write(format!("{directory}/{name}{}.{i}.clif", x.len()), &function.text)
                .expect("the directory exists");
            std::fs::write(format!("{directory}/{name}{}.{i}.bin", x.len()), &function.code)
                .expect("the directory exists");
        }
    }
    let executable = program.executable();
    let (mut memory, mut native_memory) = (executable.workspace::<f64>(), native.workspace());

    let (mut y, mut grad, mut expected) = ([0.0], vec![0.0; x.len()], vec![0.0; x.len()]);
    let (mut native_y, mut native_grad) = ([f64::NAN], vec![f64::NAN; x.len()]);
    let value = by_hand(&mut expected, x);
    native.run(&mut native_memory, &[x, &[], &[1.0]], &mut [&mut native_y, &mut native_grad]).expect("the guards hold");
    assert!((native_y[0] - value).abs() <= 1e-9 * value.abs().max(1.0), "{name}: value {} is not {value}", native_y[0]);
    for (i, (found, expected)) in native_grad.iter().zip(&expected).enumerate() {
        assert!(
            (found - expected).abs() <= 1e-8 * expected.abs().max(1.0),
            "{name}: gradient {i}: {found} is not {expected}"
        );
    }
    let mut contenders: [Box<dyn FnMut() + '_>; 3] = [
        Box::new(|| {
            black_box(by_hand(black_box(&mut expected), black_box(x)));
        }),
        Box::new(|| {
            let inputs = [black_box(x), &[], &[1.0]];
            black_box(executable.run(&mut memory, &inputs, &mut [&mut y, black_box(&mut grad)]).is_ok());
        }),
        Box::new(|| {
            let inputs = [black_box(x), &[], &[1.0]];
            black_box(
                native.run(&mut native_memory, &inputs, &mut [&mut native_y, black_box(&mut native_grad)]).is_ok(),
            );
        }),
    ];
    let (hand, ratios) = in_turns(&mut contenders);
    println!(
        "{name:4} {:9}  {:10}  {statements:10}  {instructions:12}  {:7}  {:10}  {:18.0}  {hand:10.0}  {:16.2}  {:11.2}",
        x.len(),
        graph.nodes().len(),
        native.instructions(),
        native.bytes(),
        median(compiling),
        ratios[0],
        ratios[1],
    );
}

/// Median time of the first contender, and median ratios of the others to it.
fn in_turns(contenders: &mut [Box<dyn FnMut() + '_>; 3]) -> (f64, [f64; 2]) {
    let sample = |call: &mut Box<dyn FnMut() + '_>, loops: usize| {
        let start = Instant::now();
        (0..loops).for_each(|_| call());
        start.elapsed()
    };
    let mut once = Duration::ZERO;
    let loops = contenders.each_mut().map(|call| {
        let mut loops = 1;
        loop {
            let time = sample(call, loops);
            if time >= SAMPLE {
                once += time;
                return loops;
            }
            loops =
                (loops * 2).max((loops as f64 * 1.1 * SAMPLE.as_secs_f64() / time.as_secs_f64().max(1e-9)) as usize);
        }
    });
    let rounds = ((BUDGET / once.as_secs_f64()) as usize).clamp(7, 101);
    let (mut times, mut ratios) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..rounds {
        let [hand, first, second] =
            [0, 1, 2].map(|c| sample(&mut contenders[c], loops[c]).as_nanos() as f64 / loops[c] as f64);
        times.push(hand);
        ratios[0].push(first / hand);
        ratios[1].push(second / hand);
    }
    (median(times), ratios.map(median))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The numbers of the workloads: splitmix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.unit(), self.unit());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn random(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random(seed);
    (0..n).map(|_| 2.0 * random.unit() - 1.0).collect()
}

fn squares<T: Real>(x: &[T]) -> T {
    x.iter().map(|v| *v * *v).sum()
}

fn squares_by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (g, v) in grad.iter_mut().zip(x) {
        sum += v * v;
        *g = 2.0 * v;
    }
    sum
}

fn rosenbrock<T: Real>(x: &[T]) -> T {
    let mut sum = T::constant(0.0);
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * (d * d) + e * e;
    }
    sum
}

fn rosenbrock_by_hand(grad: &mut [f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    grad[0] = 0.0;
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * (d * d) + e * e;
        grad[i] += -400.0 * d * x[i] - 2.0 * e;
        grad[i + 1] = 200.0 * d;
    }
    sum
}

/// The Gaussian mixture of W7, without its constant term.
struct Mixture {
    d: usize,
    k: usize,
    points: Vec<f64>,
    /// Weights, means, factors: the parameters at which it is measured.
    start: Vec<f64>,
}

/// What the gradient by hand keeps.
struct Memory {
    exp_q: Vec<f64>,
    sum_q: Vec<f64>,
    terms: Vec<f64>,
    centred: Vec<f64>,
    mapped: Vec<f64>,
}

impl Mixture {
    fn new(d: usize, k: usize, n: usize) -> Mixture {
        let mut random = Random(8);
        let mut start: Vec<f64> = (0..k).map(|_| random.normal()).collect();
        start.extend((0..k * d).map(|_| random.unit()));
        start.extend((0..k * d * (d + 1) / 2).map(|_| 0.5 * random.normal()));
        let points = (0..n * d).map(|_| random.normal()).collect();
        Mixture { d, k, points, start }
    }

    fn memory(&self) -> Memory {
        let (d, k) = (self.d, self.k);
        Memory {
            exp_q: vec![0.0; k * d],
            sum_q: vec![0.0; k],
            terms: vec![0.0; k],
            centred: vec![0.0; k * d],
            mapped: vec![0.0; k * d],
        }
    }

    fn value<T: Real>(&self, x: &[T]) -> T {
        let (d, k) = (self.d, self.k);
        let (alpha, rest) = x.split_at(k);
        let (means, factors) = rest.split_at(k * d);
        let width = d * (d + 1) / 2;
        let mut exp_q = Vec::with_capacity(k * d);
        let mut sum_q = Vec::with_capacity(k);
        for factor in factors.chunks(width) {
            let mut sum = T::constant(0.0);
            for q in &factor[..d] {
                exp_q.push(q.exp());
                sum += *q;
            }
            sum_q.push(sum);
        }
        let mut total = T::constant(0.0);
        let mut terms = Vec::with_capacity(k);
        let mut centred = Vec::with_capacity(d);
        let mut mapped: Vec<T> = Vec::with_capacity(d);
        for point in self.points.chunks(d) {
            terms.clear();
            for c in 0..k {
                centred.clear();
                centred.extend((0..d).map(|j| point[j] - means[c * d + j]));
                mapped.clear();
                mapped.extend((0..d).map(|j| exp_q[c * d + j] * centred[j]));
                let mut l = c * width + d;
                for column in 0..d {
                    for row in column + 1..d {
                        mapped[row] += factors[l] * centred[column];
                        l += 1;
                    }
                }
                let norm: T = mapped.iter().map(|v| *v * *v).sum();
                terms.push(alpha[c] + sum_q[c] - 0.5 * norm);
            }
            total += log_sum_exp(&terms);
        }
        total -= self.points.len() as f64 / d as f64 * log_sum_exp(alpha);
        let mut prior = T::constant(0.0);
        for v in &exp_q {
            prior += *v * *v;
        }
        for factor in factors.chunks(width) {
            for l in &factor[d..] {
                prior += *l * *l;
            }
        }
        total + 0.5 * prior
    }

    fn by_hand(&self, memory: &mut Memory, grad: &mut [f64], x: &[f64]) -> f64 {
        let (d, k) = (self.d, self.k);
        let n = self.points.len() / d;
        let (alpha, rest) = x.split_at(k);
        let (means, factors) = rest.split_at(k * d);
        let width = d * (d + 1) / 2;
        let Memory { exp_q, sum_q, terms, centred, mapped } = memory;
        grad.fill(0.0);
        let (grad_alpha, rest) = grad.split_at_mut(k);
        let (grad_means, grad_factors) = rest.split_at_mut(k * d);
        for c in 0..k {
            sum_q[c] = 0.0;
            for j in 0..d {
                let q = factors[c * width + j];
                exp_q[c * d + j] = q.exp();
                sum_q[c] += q;
            }
        }
        let mut total = 0.0;
        for point in self.points.chunks(d) {
            for c in 0..k {
                let (centred, mapped) = (&mut centred[c * d..][..d], &mut mapped[c * d..][..d]);
                for j in 0..d {
                    centred[j] = point[j] - means[c * d + j];
                    mapped[j] = exp_q[c * d + j] * centred[j];
                }
                let mut l = c * width + d;
                for column in 0..d {
                    for row in column + 1..d {
                        mapped[row] += factors[l] * centred[column];
                        l += 1;
                    }
                }
                let norm: f64 = mapped.iter().map(|v| v * v).sum();
                terms[c] = alpha[c] + sum_q[c] - 0.5 * norm;
            }
            let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for term in terms.iter_mut() {
                *term = (*term - most).exp();
                sum += *term;
            }
            total += most + sum.ln();
            for c in 0..k {
                let weight = terms[c] / sum;
                let (centred, mapped) = (&centred[c * d..][..d], &mapped[c * d..][..d]);
                grad_alpha[c] += weight;
                let grad_factor = &mut grad_factors[c * width..][..width];
                let grad_mean = &mut grad_means[c * d..][..d];
                for j in 0..d {
                    let adjoint = -weight * mapped[j];
                    grad_factor[j] += weight + adjoint * exp_q[c * d + j] * centred[j];
                    grad_mean[j] -= adjoint * exp_q[c * d + j];
                }
                let mut l = d;
                for column in 0..d {
                    let mut sum = 0.0;
                    for row in column + 1..d {
                        let adjoint = -weight * mapped[row];
                        grad_factor[l] += adjoint * centred[column];
                        sum += adjoint * factors[c * width + l];
                        l += 1;
                    }
                    grad_mean[column] -= sum;
                }
            }
        }
        let most = alpha.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = alpha.iter().map(|a| (a - most).exp()).sum();
        total -= n as f64 * (most + sum.ln());
        for c in 0..k {
            grad_alpha[c] -= n as f64 * (alpha[c] - most).exp() / sum;
        }
        let mut prior = 0.0;
        for c in 0..k {
            for j in 0..d {
                let e = exp_q[c * d + j];
                prior += e * e;
                grad_factors[c * width + j] += e * e;
            }
            for l in c * width + d..(c + 1) * width {
                prior += factors[l] * factors[l];
                grad_factors[l] += factors[l];
            }
        }
        total + 0.5 * prior
    }
}

fn log_sum_exp<T: Real>(x: &[T]) -> T {
    let most = x.iter().copied().fold(x[0], |m, v| m.max(v));
    most + x.iter().map(|v| (*v - most).exp()).sum::<T>().ln()
}
