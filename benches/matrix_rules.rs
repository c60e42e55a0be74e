//! Gradients through products, linear systems, a network and an implicit function: rules of matrices beside the same on single
//! numbers and beside code written by hand with `faer`.
//!
//! `cargo bench -p differentiation-interface-benches --bench matrix_rules --features faer [-- --check]`. Each result is compared with the others before it is timed.
//! Without the argument `--bench`, nothing is timed; with `--check` the exit status is 1 if a ratio is more than a tenth above the one asked for.

#[path = "workloads/ways.rs"]
mod ways;
mod workloads;

use differentiation_interface::algebra::dense::{map, matmul, matmul_data, solve, symmetric_eigenvalues};
use differentiation_interface::algebra::implicit::{Conditions, root};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::Tanh;
use faer::linalg::solvers::Solve;
use faer::mat::{AsMatMut, AsMatRef};
use faer::traits::RealField;
use faer::{Accum, Col, Mat, MatRef, Par, Side};
use ways::{Asked, Missed, by};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// A product by hand. Those of faer return with the upper halves of the vector registers in use, in which state each `tanh` behind them takes ten
/// times as long.
fn multiply(
    out: impl AsMatMut<T = f64, Rows = usize, Cols = usize>,
    left: impl AsMatRef<T = f64, Rows = usize, Cols = usize>,
    right: impl AsMatRef<T = f64, Rows = usize, Cols = usize>,
    factor: f64,
) {
    faer::linalg::matmul::matmul(out, Accum::Replace, left, right, factor, Par::Seq);
    #[cfg(target_arch = "x86_64")]
    if let Some(avx) = pulp::core_arch::x86::Avx::try_new() {
        avx._mm256_zeroupper();
    }
}

fn points(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

fn matrix<T: Copy>(n: usize, columns: usize, x: &[T]) -> Mat<T> {
    Mat::from_fn(n, columns, |i, j| x[i + n * j])
}

fn sum_of_squares<T: Real>(entries: impl Iterator<Item = T>) -> T {
    entries.fold(T::constant(0.0), |sum, v| sum + v * v)
}

/// Σ (A B)ᵢⱼ², by the rule and by single numbers.
fn product<T: Real>(n: usize, x: &[T]) -> T {
    let y = matmul(&matrix(n, n, x), &matrix(n, n, &x[n * n..]));
    sum_of_squares((0..n).flat_map(|j| y.col(j).iter().copied()))
}
fn product_by_steps<T: Real>(n: usize, x: &[T]) -> T {
    let (a, b) = x.split_at(n * n);
    let entry = |at: usize| (0..n).fold(T::constant(0.0), |sum, k| sum + a[at % n + n * k] * b[k + n * (at / n)]);
    sum_of_squares((0..n * n).map(entry))
}
/// The gradient with products of `faer`: 2 C Bᵀ and 2 Aᵀ C with C = A B.
fn product_by_hand(n: usize, x: &[f64], c: &mut Mat<f64>, grad: &mut [f64]) {
    let (a, b) = x.split_at(n * n);
    let [a, b] = [a, b].map(|entries| MatRef::from_column_major_slice(entries, n, n));
    multiply(c.as_mut(), a, b, 1.0);
    let (of_a, of_b) = grad.split_at_mut(n * n);
    let [of_a, of_b] = [of_a, of_b].map(|entries| faer::MatMut::from_column_major_slice_mut(entries, n, n));
    multiply(of_a, &*c, b.transpose(), 2.0);
    multiply(of_b, a.transpose(), &*c, 2.0);
}

/// Σ xᵢ² of (A + 2n) x = b, by the rule and by elimination.
fn system<T: Real>(n: usize, x: &[T]) -> T {
    let a = Mat::from_fn(n, n, |i, j| if i == j { x[i + n * j] + 2.0 * n as f64 } else { x[i + n * j] });
    sum_of_squares(solve(&a, &Col::from_fn(n, |i| x[n * n + i])).iter().copied())
}
fn system_by_steps<T: Real>(n: usize, x: &[T]) -> T {
    let a = (0..n * n).map(|at| if at % n == at / n { x[at] + 2.0 * n as f64 } else { x[at] }).collect();
    sum_of_squares(eliminate(n, a, x[n * n..].to_vec()).into_iter())
}
fn system_by_hand(n: usize, x: &[f64], grad: &mut [f64]) {
    let a = Mat::from_fn(n, n, |i, j| if i == j { x[i + n * j] + 2.0 * n as f64 } else { x[i + n * j] });
    let factors = a.partial_piv_lu();
    let solution = factors.solve(Col::from_fn(n, |i| x[n * n + i]));
    let weights = factors.solve_transpose(Col::from_fn(n, |i| 2.0 * solution[i]));
    for j in 0..n {
        for i in 0..n {
            grad[i + n * j] = -weights[i] * solution[j];
        }
    }
    grad[n * n..].iter_mut().zip(weights.iter()).for_each(|(grad, weight)| *grad = *weight);
}

/// Σ √(1 + λᵢ²) over the eigenvalues of the symmetric part of A, by the rule and by the method of `faer` on single numbers.
fn spectrum<T: Real>(n: usize, x: &[T]) -> T {
    symmetric_eigenvalues(&matrix(n, n, x)).iter().map(|v| (*v * *v + 1.0).sqrt()).sum()
}
fn spectrum_by_steps<T: Real + RealField>(n: usize, x: &[T]) -> T {
    let symmetric = Mat::from_fn(n, n, |i, j| (x[i + n * j] + x[j + n * i]) * 0.5);
    let values = symmetric.self_adjoint_eigenvalues(Side::Lower).expect("it converges");
    values.iter().map(|v| (*v * *v + 1.0).sqrt()).sum()
}
/// The gradient V diag(λ / √(1 + λ²)) Vᵀ.
fn spectrum_by_hand(n: usize, x: &[f64], grad: &mut [f64]) {
    let symmetric = Mat::from_fn(n, n, |i, j| (x[i + n * j] + x[j + n * i]) * 0.5);
    let eigen = symmetric.self_adjoint_eigen(Side::Lower).expect("it converges");
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let slope = |j: usize| values[j] / (values[j] * values[j] + 1.0).sqrt();
    let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * slope(j));
    let grad = faer::MatMut::from_column_major_slice_mut(grad, n, n);
    multiply(grad, &scaled, vectors.transpose(), 1.0);
}

/// Gaussian elimination with partial pivoting, by columns.
fn eliminate<T: Real>(n: usize, mut a: Vec<T>, mut b: Vec<T>) -> Vec<T> {
    for k in 0..n {
        let size = |i: &usize| a[i + n * k].primal().abs();
        let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(k);
        if pivot != k {
            (k..n).for_each(|j| a.swap(k + n * j, pivot + n * j));
            b.swap(k, pivot);
        }
        for i in k + 1..n {
            let factor = a[i + n * k] / a[k + n * k];
            for j in k + 1..n {
                a[i + n * j] = a[i + n * j] - factor * a[k + n * j];
            }
            b[i] = b[i] - factor * b[k];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] = b[i] - a[i + n * j] * b[j];
        }
        b[i] /= a[i + n * i];
    }
    b
}

const SAMPLES: usize = 256;
const INPUTS: usize = 8;
const HIDDEN: usize = 32;
/// Weights and biases of both layers.
const PARAMETERS: usize = (INPUTS + 1) * HIDDEN + HIDDEN + 1;

/// Samples by row, with a column of ones for the biases, and what the network should return for them.
struct Data {
    inputs: Mat<f64>,
    targets: Vec<f64>,
}

impl Data {
    fn new() -> Self {
        let entries = points(SAMPLES * INPUTS);
        let inputs = Mat::from_fn(SAMPLES, INPUTS + 1, |i, j| if j == INPUTS { 1.0 } else { entries[i + SAMPLES * j] });
        Data { inputs, targets: (0..SAMPLES).map(|i| (0.1 * i as f64).cos()).collect() }
    }
}

/// The squared error of a network with one hidden layer of tanh, with products as rules and `hidden` between them.
fn network<T: Real>(data: &Data, x: &[T], hidden: impl Fn(&Mat<T>) -> Mat<T>) -> T {
    let (first, rest) = x.split_at((INPUTS + 1) * HIDDEN);
    let hidden = hidden(&matmul_data(&data.inputs, &matrix(INPUTS + 1, HIDDEN, first)));
    let outputs = matmul(&hidden, &Col::from_fn(HIDDEN, |i| rest[i]));
    sum_of_squares(outputs.iter().zip(&data.targets).map(|(y, target)| *y + rest[HIDDEN] - *target))
}
fn by_map<T: Real>(x: &Mat<T>) -> Mat<T> {
    map(Tanh, x)
}
fn by_entry<T: Real>(x: &Mat<T>) -> Mat<T> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)].tanh())
}
fn network_by_steps<T: Real>(data: &Data, x: &[T]) -> T {
    let (first, rest) = x.split_at((INPUTS + 1) * HIDDEN);
    let zero = T::constant(0.0);
    let output = |sample: usize| {
        let unit = |j: usize| {
            (0..=INPUTS).fold(zero, |sum, k| sum + first[k + (INPUTS + 1) * j] * data.inputs[(sample, k)]).tanh()
        };
        (0..HIDDEN).fold(rest[HIDDEN], |sum, j| sum + rest[j] * unit(j)) - data.targets[sample]
    };
    sum_of_squares((0..SAMPLES).map(output))
}
/// The gradient with products of `faer`.
fn network_by_hand(data: &Data, x: &[f64], memory: &mut [Mat<f64>; 2], grad: &mut [f64]) {
    let (first, rest) = x.split_at((INPUTS + 1) * HIDDEN);
    let first = MatRef::from_column_major_slice(first, INPUTS + 1, HIDDEN);
    let second = MatRef::from_column_major_slice(&rest[..HIDDEN], HIDDEN, 1);
    let [hidden, back] = memory;
    multiply(hidden.as_mut(), &data.inputs, first, 1.0);
    for j in 0..HIDDEN {
        hidden.col_mut(j).iter_mut().for_each(|v| *v = v.tanh());
    }
    let mut error = Mat::zeros(SAMPLES, 1);
    multiply(error.as_mut(), &*hidden, second, 1.0);
    for (i, target) in data.targets.iter().enumerate() {
        error[(i, 0)] = 2.0 * (error[(i, 0)] + rest[HIDDEN] - target);
    }
    multiply(back.as_mut(), &error, second.transpose(), 1.0);
    for j in 0..HIDDEN {
        for (back, hidden) in back.col_mut(j).iter_mut().zip(hidden.col(j).iter()) {
            *back *= 1.0 - hidden * hidden;
        }
    }
    let (of_first, of_rest) = grad.split_at_mut((INPUTS + 1) * HIDDEN);
    let of_first = faer::MatMut::from_column_major_slice_mut(of_first, INPUTS + 1, HIDDEN);
    multiply(of_first, data.inputs.transpose(), &*back, 1.0);
    let (of_second, of_bias) = of_rest.split_at_mut(HIDDEN);
    let of_second = faer::MatMut::from_column_major_slice_mut(of_second, HIDDEN, 1);
    multiply(of_second, hidden.transpose(), &error, 1.0);
    of_bias[0] = error.col(0).iter().sum();
}

/// Two layers over a batch, written as loops over single numbers: samples of `inputs` numbers, `hidden` units of tanh, `outputs` numbers.
struct Layers {
    samples: usize,
    inputs: usize,
    hidden: usize,
    outputs: usize,
    /// By rows.
    data: Vec<f64>,
}

impl Layers {
    fn new([samples, inputs, hidden, outputs]: [usize; 4]) -> Layers {
        Layers { samples, inputs, hidden, outputs, data: points(samples * inputs) }
    }
    /// Weights by rows and biases of each layer.
    fn point(&self) -> Vec<f64> {
        points((self.inputs + 1) * self.hidden + (self.hidden + 1) * self.outputs).iter().map(|v| 0.1 * v).collect()
    }
    /// The sum of the squares of all outputs.
    fn value<T: Real>(&self, x: &[T]) -> T {
        let (first, rest) = x.split_at(self.inputs * self.hidden);
        let (first_bias, rest) = rest.split_at(self.hidden);
        let (second, second_bias) = rest.split_at(self.hidden * self.outputs);
        let mut total = T::constant(0.0);
        for sample in self.data.chunks(self.inputs) {
            let weights = first.chunks(self.inputs).zip(first_bias);
            let units = weights
                .map(|(row, bias)| row.iter().zip(sample).fold(*bias, |sum, (weight, x)| sum + *weight * *x).tanh());
            let units: Vec<T> = units.collect();
            for (row, bias) in second.chunks(self.hidden).zip(second_bias) {
                let output = row.iter().zip(&units).fold(*bias, |sum, (weight, unit)| sum + *weight * *unit);
                total += output * output;
            }
        }
        total
    }
    /// The gradient with products of `faer`. Matrices are by columns, so those by rows are their transposes.
    fn by_hand(&self, x: &[f64], memory: &mut [Mat<f64>; 3], grad: &mut [f64]) {
        let Layers { samples, inputs, hidden, outputs, .. } = *self;
        let [units, found, back] = memory;
        let (first, rest) = x.split_at(inputs * hidden);
        let (first_bias, rest) = rest.split_at(hidden);
        let (second, second_bias) = rest.split_at(hidden * outputs);
        let first = MatRef::from_column_major_slice(first, inputs, hidden);
        let second = MatRef::from_column_major_slice(second, hidden, outputs);
        let data = MatRef::from_column_major_slice(&self.data, inputs, samples);
        multiply(units.as_mut(), first.transpose(), data, 1.0);
        for i in 0..samples {
            units.col_mut(i).iter_mut().zip(first_bias).for_each(|(unit, bias)| *unit = (*unit + bias).tanh());
        }
        multiply(found.as_mut(), second.transpose(), &*units, 1.0);
        for i in 0..samples {
            found.col_mut(i).iter_mut().zip(second_bias).for_each(|(y, bias)| *y = 2.0 * (*y + bias));
        }
        multiply(back.as_mut(), second, &*found, 1.0);
        for i in 0..samples {
            let units = units.col(i);
            back.col_mut(i).iter_mut().zip(units.iter()).for_each(|(back, unit)| *back *= 1.0 - unit * unit);
        }
        let (of_first, rest) = grad.split_at_mut(inputs * hidden);
        let (of_first_bias, rest) = rest.split_at_mut(hidden);
        let (of_second, of_second_bias) = rest.split_at_mut(hidden * outputs);
        let of_first = faer::MatMut::from_column_major_slice_mut(of_first, inputs, hidden);
        multiply(of_first, data, back.transpose(), 1.0);
        let of_second = faer::MatMut::from_column_major_slice_mut(of_second, hidden, outputs);
        multiply(of_second, &*units, found.transpose(), 1.0);
        for (of_bias, matrix) in [(of_first_bias, &*back), (of_second_bias, &*found)] {
            of_bias.fill(0.0);
            for i in 0..samples {
                of_bias.iter_mut().zip(matrix.col(i).iter()).for_each(|(sum, number)| *sum += number);
            }
        }
    }
}

/// The equations 2 xᵢ + ½ sin xᵢ₊₁ + xᵢ³/10 + pᵢ xᵢ₋₁ = pᵢ₊₁, whose Jacobian is known.
struct Chain;

impl Conditions for Chain {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let n = x.len();
        let right = |i: usize| 0.5 * x[(i + 1) % n].sin() + p[i] * x[(i + n - 1) % n] - p[(i + 1) % n];
        (0..n).map(|i| 2.0 * x[i] + 0.1 * x[i].powi(3) + right(i)).collect()
    }
}

/// Newton's method in any numbers, with a given way to solve the linear systems.
fn newton<T: Real>(p: &[T], solve: impl Fn(Vec<T>, Vec<T>) -> Vec<T>) -> Vec<T> {
    let n = p.len();
    let mut x = vec![T::constant(0.0); n];
    for _ in 0..6 {
        let mut jacobian = vec![T::constant(0.0); n * n];
        for i in 0..n {
            jacobian[i + n * i] = 2.0 + 0.3 * x[i] * x[i];
            jacobian[i + n * ((i + 1) % n)] += 0.5 * x[(i + 1) % n].cos();
            jacobian[i + n * ((i + n - 1) % n)] += p[i];
        }
        let step = solve(jacobian, Chain.call(&x, p));
        x.iter_mut().zip(step).for_each(|(x, step)| *x -= step);
    }
    x
}
fn newton_by_steps<T: Real>(p: &[T]) -> Vec<T> {
    newton(p, |a, b| eliminate(p.len(), a, b))
}
fn newton_by_rule<T: Real>(p: &[T]) -> Vec<T> {
    let n = p.len();
    newton(p, |a, b| solve(&matrix(n, n, &a), &Col::from_fn(n, |i| b[i])).iter().copied().collect())
}

fn main() {
    let (tape, compiled) = (AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    let mut missed = Missed::default();
    for n in [4, 8, 16, 32, 64, 128] {
        let x = points(2 * n * n);
        let x = &x[..];
        let mut memory = Mat::zeros(n, n);
        missed.compare(
            &format!("sum of squares of A B, n = {n}"),
            x.len(),
            vec![
                ("by hand with faer", Box::new(|grad: &mut [f64]| product_by_hand(n, x, &mut memory, grad))),
                ("compiled by single numbers", by!(compiled, x, move |x: &[_]| product_by_steps(n, x))),
                ("reverse by rule", by!(tape, x, move |x: &[_]| product(n, x))),
                ("reverse by single numbers", by!(tape, x, move |x: &[_]| product_by_steps(n, x))),
                ("compiled by rule", by!(compiled, x, move |x: &[_]| product(n, x))),
            ],
            if n < 16 {
                &[]
            } else {
                &[Asked { way: "reverse by rule", over: "reverse by single numbers", most: 1.0 }]
            },
        );
    }
    for n in [16, 100] {
        let x = points(n * n + n);
        let x = &x[..];
        missed.compare(
            &format!("sum of squares of A^-1 b, n = {n}"),
            x.len(),
            vec![
                ("by hand with faer", Box::new(|grad: &mut [f64]| system_by_hand(n, x, grad))),
                ("reverse by rule", by!(tape, x, move |x: &[_]| system(n, x))),
                ("reverse by single numbers", by!(tape, x, move |x: &[_]| system_by_steps(n, x))),
                ("compiled by rule", by!(compiled, x, move |x: &[_]| system(n, x))),
            ],
            &[Asked {
                way: "reverse by rule",
                over: "reverse by single numbers",
                most: if n == 100 { 1.0 / 20.0 } else { 1.0 },
            }],
        );
    }
    for n in [16, 64] {
        let x = points(n * n);
        let x = &x[..];
        missed.compare(
            &format!("a function of the eigenvalues of A, n = {n}"),
            x.len(),
            vec![
                ("by hand with faer", Box::new(|grad: &mut [f64]| spectrum_by_hand(n, x, grad))),
                ("reverse by rule", by!(tape, x, move |x: &[_]| spectrum(n, x))),
                ("reverse by single numbers", by!(tape, x, move |x: &[_]| spectrum_by_steps(n, x))),
                ("compiled by rule", by!(compiled, x, move |x: &[_]| spectrum(n, x))),
            ],
            &[Asked { way: "reverse by rule", over: "reverse by single numbers", most: 1.0 }],
        );
    }
    let (data, x) = (&Data::new(), points(PARAMETERS));
    let x = &x[..];
    let mut memory = [Mat::zeros(SAMPLES, HIDDEN), Mat::zeros(SAMPLES, HIDDEN)];
    missed.compare(
        "tanh network, 256 samples, 8 inputs, 32 hidden",
        x.len(),
        vec![
            ("by hand with faer", Box::new(|grad: &mut [f64]| network_by_hand(data, x, &mut memory, grad))),
            ("reverse, tanh by map", by!(tape, x, |x: &[_]| network(data, x, by_map))),
            ("reverse, tanh by entry", by!(tape, x, |x: &[_]| network(data, x, by_entry))),
            ("reverse by single numbers", by!(tape, x, |x: &[_]| network_by_steps(data, x))),
            ("compiled by single numbers", by!(compiled, x, |x: &[_]| network_by_steps(data, x))),
            (
                "default engine, tanh by map",
                by!(after 100 calls: AutoReverseDiff::default(), x, |x: &[_]| network(data, x, by_map)),
            ),
            ("compiled, tanh by map", by!(compiled, x, |x: &[_]| network(data, x, by_map))),
            ("compiled, tanh by entry", by!(compiled, x, |x: &[_]| network(data, x, by_entry))),
        ],
        &[
            Asked { way: "reverse, tanh by map", over: "by hand with faer", most: 1.5 },
            Asked { way: "compiled, tanh by map", over: "by hand with faer", most: 1.5 },
            Asked { way: "default engine, tanh by map", over: "by hand with faer", most: 1.5 },
        ],
    );
    for sizes in [[256, 32, 64, 10], [256, 64, 128, 32]] {
        let layers = &Layers::new(sizes);
        let x = layers.point();
        let x = &x[..];
        let [samples, inputs, hidden, outputs] = sizes;
        let mut memory = [hidden, outputs, hidden].map(|rows| Mat::zeros(rows, samples));
        missed.compare(
            &format!("two layers, {samples} samples, {inputs} inputs, {hidden} hidden, {outputs} outputs"),
            x.len(),
            vec![
                ("by hand with faer", Box::new(|grad: &mut [f64]| layers.by_hand(x, &mut memory, grad))),
                ("compiled by single numbers", by!(compiled, x, |x: &[_]| layers.value(x))),
            ],
            &[],
        );
    }
    for n in [4, 16] {
        let p: Vec<f64> = points(n).iter().map(|v| 0.5 * v).collect();
        let p = &p[..];
        let chain = root(Chain, |p: &[f64]| newton_by_steps(p));
        missed.compare(
            &format!("implicit function of {n} unknowns, 6 Newton steps"),
            n,
            vec![
                ("root by rule", by!(tape, p, |p: &[_]| sum_of_squares(chain.call(p).into_iter()))),
                ("unrolled, single numbers", by!(tape, p, |p: &[_]| sum_of_squares(newton_by_steps(p).into_iter()))),
                ("unrolled, systems by rule", by!(tape, p, |p: &[_]| sum_of_squares(newton_by_rule(p).into_iter()))),
            ],
            &[Asked { way: "root by rule", over: "unrolled, single numbers", most: 1.0 }],
        );
    }
    missed.report();
}
