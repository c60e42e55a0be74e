//! Each operation of linear algebra and each implicit function as one rule, beside the same operation by operation: gradients by a tape.
//!
//! `cargo bench -p differentiation-interface-benches --bench matrix_operations --features faer [-- --check]`. Results are compared before they are timed. Without
//! the argument `--bench`, nothing is timed; with `--check` the exit status is 1 if a rule takes more time than the operations one by one from 16 rows on.

#[path = "workloads/ways.rs"]
mod ways;
mod workloads;

use differentiation_interface::algebra::dense::{
    determinant, inverse, ln_determinant, ln_determinant_spd, quadratic_form, solve_lower, solve_spd, solve_upper,
};
use differentiation_interface::algebra::implicit::{Conditions, Map, Objective, argmin, fixed_point, root};
use differentiation_interface::algebra::sparse::SparseSystem;
use differentiation_interface::prelude::*;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Col, Mat};
use ways::{Asked, Missed, by};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

fn points(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

fn sum_of_squares<T: Real>(numbers: impl IntoIterator<Item = T>) -> T {
    numbers.into_iter().fold(T::constant(0.0), |sum, v| sum + v * v)
}

/// A square matrix by columns.
#[derive(Clone)]
struct Square<T> {
    n: usize,
    entries: Vec<T>,
}

impl<T: Real> Square<T> {
    fn from_fn(n: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        Square { n, entries: (0..n * n).map(|at| entry(at % n, at / n)).collect() }
    }
    /// The first numbers of `x` with a diagonal that makes elimination stable.
    fn general(n: usize, x: &[T]) -> Self {
        let diagonal = 2.0 * n as f64;
        Square::from_fn(n, |i, j| if i == j { x[i + n * j] + diagonal } else { x[i + n * j] })
    }
    /// The symmetric part of that.
    fn definite(n: usize, x: &[T]) -> Self {
        let general = Square::general(n, x);
        Square::from_fn(n, |i, j| if i == j { general.at(i, i) } else { (general.at(i, j) + general.at(j, i)) * 0.5 })
    }
    fn at(&self, i: usize, j: usize) -> T {
        self.entries[i + self.n * j]
    }
    fn diagonal(&self) -> impl Iterator<Item = T> {
        (0..self.n).map(|i| self.at(i, i))
    }
    fn quadratic_form(&self, x: &[T]) -> T {
        let line = |i: usize| (0..self.n).map(|j| self.at(i, j) * x[j]).sum::<T>();
        (0..self.n).map(|i| x[i] * line(i)).sum()
    }
    fn matrix(&self) -> Mat<T> {
        Mat::from_fn(self.n, self.n, |i, j| self.at(i, j))
    }

    /// The factors L and U in place of the matrix, whose diagonal is large: no rows are exchanged.
    fn eliminated(mut self) -> Self {
        let n = self.n;
        for k in 0..n {
            for i in k + 1..n {
                let factor = self.at(i, k) / self.at(k, k);
                self.entries[i + n * k] = factor;
                for j in k + 1..n {
                    let taken = factor * self.at(k, j);
                    self.entries[i + n * j] -= taken;
                }
            }
        }
        self
    }
    /// The solution of L U x = b.
    fn solve_by_factors(&self, mut b: Vec<T>) -> Vec<T> {
        for i in 0..self.n {
            for j in 0..i {
                let taken = self.at(i, j) * b[j];
                b[i] -= taken;
            }
        }
        self.solve_upper(b)
    }
    /// The entries of the inverse, from the factors.
    fn inverse_by_factors(&self) -> Vec<T> {
        let unit = |j: usize| (0..self.n).map(|i| T::constant(f64::from(u8::from(i == j)))).collect();
        (0..self.n).flat_map(|j| self.solve_by_factors(unit(j))).collect()
    }
    /// `scale` times the determinant, from the factors.
    fn determinant_by_factors(&self, scale: f64) -> T {
        self.diagonal().fold(T::constant(scale), |product, pivot| product * pivot)
    }
    /// The logarithm of the absolute value of the product of the diagonal.
    fn ln_of_diagonal(&self) -> T {
        self.diagonal().map(|pivot| pivot.abs().ln()).sum()
    }
    fn solve_upper(&self, mut b: Vec<T>) -> Vec<T> {
        for i in (0..self.n).rev() {
            for j in i + 1..self.n {
                let taken = self.at(i, j) * b[j];
                b[i] -= taken;
            }
            b[i] /= self.at(i, i);
        }
        b
    }
    fn solve_lower(&self, mut b: Vec<T>) -> Vec<T> {
        for i in 0..self.n {
            for j in 0..i {
                let taken = self.at(i, j) * b[j];
                b[i] -= taken;
            }
            b[i] /= self.at(i, i);
        }
        b
    }
    fn transposed(&self) -> Self {
        Square::from_fn(self.n, |i, j| self.at(j, i))
    }
    /// The lower Cholesky factor.
    fn cholesky(&self) -> Self {
        let n = self.n;
        let mut factor = Square::from_fn(n, |_, _| T::constant(0.0));
        for j in 0..n {
            for i in j..n {
                let sum = (0..j).fold(self.at(i, j), |sum, k| sum - factor.at(i, k) * factor.at(j, k));
                factor.entries[i + n * j] = if i == j { sum.sqrt() } else { sum / factor.at(j, j) };
            }
        }
        factor
    }
}

/// The right side behind the entries of a matrix.
fn right<T: Real>(n: usize, x: &[T]) -> Vec<T> {
    x[n * n..].to_vec()
}
fn column<T: Real>(n: usize, x: &[T]) -> Col<T> {
    Col::from_fn(n, |i| x[n * n + i])
}

/// What brings the determinant near 1: the diagonal is near 2n.
fn scale(n: usize) -> f64 {
    (2.0 * n as f64).powi(-(n as i32))
}

/// The five-point stencil on a grid of `k` by `k` points: 4 + xᵢ on the diagonal, -1 for neighbours.
struct Grid {
    k: usize,
    system: SparseSystem,
}

impl Grid {
    fn new(k: usize) -> Grid {
        let entries: Vec<_> =
            (0..k * k).flat_map(|j| Grid::neighbours(k, j).map(move |i| Triplet::new(i, j, 1.0))).collect();
        let pattern =
            SparseColMat::<usize, f64>::try_new_from_triplets(k * k, k * k, &entries).expect("the entries differ");
        Grid { k, system: SparseSystem::new(pattern.symbolic()).expect("the matrix can be regular") }
    }
    /// A point and its neighbours, in ascending order.
    fn neighbours(k: usize, point: usize) -> impl Iterator<Item = usize> {
        let (row, column) = (point / k, point % k);
        let near = [
            (row > 0).then(|| point - k),
            (column > 0).then(|| point - 1),
            Some(point),
            (column + 1 < k).then(|| point + 1),
            (row + 1 < k).then(|| point + k),
        ];
        near.into_iter().flatten()
    }
    fn entry<T: Real>(x: &[T], i: usize, j: usize) -> T {
        if i == j { x[i] + 4.0 } else { T::constant(-1.0) }
    }
    fn by_rule<T: Real>(&self, x: &[T]) -> T {
        let n = self.k * self.k;
        let values: Vec<T> =
            (0..n).flat_map(|j| Grid::neighbours(self.k, j).map(move |i| Grid::entry(x, i, j))).collect();
        let solution = self.system.solve(&values, &Col::from_fn(n, |i| x[i]));
        sum_of_squares(solution.iter().copied())
    }
    /// Elimination within the band.
    fn by_steps<T: Real>(&self, x: &[T]) -> T {
        let (k, n) = (self.k, self.k * self.k);
        let width = 2 * k + 1;
        let mut band = vec![T::constant(0.0); n * width];
        for j in 0..n {
            for i in Grid::neighbours(k, j) {
                band[i * width + j + k - i] = Grid::entry(x, i, j);
            }
        }
        let mut b = x[..n].to_vec();
        for pivot in 0..n {
            let last = (pivot + k).min(n - 1);
            for i in pivot + 1..=last {
                let factor = band[i * width + pivot + k - i] / band[pivot * width + k];
                for j in pivot + 1..=last {
                    let taken = factor * band[pivot * width + j + k - pivot];
                    band[i * width + j + k - i] -= taken;
                }
                let taken = factor * b[pivot];
                b[i] -= taken;
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..=(i + k).min(n - 1) {
                let taken = band[i * width + j + k - i] * b[j];
                b[i] -= taken;
            }
            b[i] /= band[i * width + k];
        }
        sum_of_squares(b)
    }
}

/// xᵢ = ½ sin xᵢ₊₁ + pᵢ, a contraction by one half.
struct Halving;

impl Map for Halving {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        (0..x.len()).map(|i| x[(i + 1) % x.len()].sin() * 0.5 + p[i]).collect()
    }
}

impl Halving {
    /// Iterations until nothing changes.
    fn solve<T: Real>(p: &[T]) -> Vec<T> {
        let mut x = p.to_vec();
        for _ in 0..60 {
            x = Halving.call(&x, p);
        }
        x
    }
}

/// Σ cosh(xᵢ - pᵢ) + ¼ (xᵢ₊₁ - xᵢ)².
struct Chain;

impl Objective for Chain {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> T {
        let n = x.len();
        (0..n).map(|i| (x[i] - p[i]).cosh() + (x[(i + 1) % n] - x[i]).powi(2) * 0.25).sum()
    }
}

/// The gradient of [`Chain`] over x.
struct Slope;

impl Conditions for Slope {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        (0..x.len()).map(|i| Chain::slope(x, p, i)).collect()
    }
}

impl Chain {
    fn slope<T: Real>(x: &[T], p: &[T], i: usize) -> T {
        let (last, next) = (x[(i + x.len() - 1) % x.len()], x[(i + 1) % x.len()]);
        (x[i] - p[i]).sinh() + (x[i] * 2.0 - last - next) * 0.5
    }
    /// Newton's method with the diagonal of the second derivatives, whose other entries are smaller.
    fn solve<T: Real>(p: &[T]) -> Vec<T> {
        let n = p.len();
        let mut x = p.to_vec();
        for _ in 0..80 {
            x = (0..n).map(|i| x[i] - Chain::slope(&x, p, i) / ((x[i] - p[i]).cosh() + 1.0)).collect();
        }
        x
    }
}

/// Compares a rule with the operations one by one.
macro_rules! operation {
    ($missed:ident, $title:expr, $x:expr, $asked:expr, $rule:expr, $steps:expr) => {{
        let (tape, x) = (AutoReverseDiff::tape(), $x);
        let x = &x[..];
        let asked = [Asked { way: "rule", over: "operation by operation", most: 1.0 }];
        let ways = vec![
            ("operation by operation", by!(tape, x, $steps) as Box<dyn FnMut(&mut [f64])>),
            ("rule", by!(tape, x, $rule)),
        ];
        $missed.compare(&$title, x.len(), ways, if $asked { &asked } else { &[] });
    }};
}

fn main() {
    let mut missed = Missed::default();
    for n in [8, 16, 64] {
        let (asked, entries, system) = (n >= 16, points(n * n), points(n * n + n));
        operation!(
            missed,
            format!("solve_spd, n = {n}"),
            &system,
            asked,
            move |x: &[_]| sum_of_squares(solve_spd(&Square::definite(n, x).matrix(), &column(n, x)).iter().copied()),
            move |x: &[_]| {
                let factor = Square::definite(n, x).cholesky();
                sum_of_squares(factor.transposed().solve_upper(factor.solve_lower(right(n, x))))
            }
        );
        operation!(
            missed,
            format!("solve_lower, n = {n}"),
            &system,
            asked,
            move |x: &[_]| sum_of_squares(solve_lower(&Square::general(n, x).matrix(), &column(n, x)).iter().copied()),
            move |x: &[_]| sum_of_squares(Square::general(n, x).solve_lower(right(n, x)))
        );
        operation!(
            missed,
            format!("solve_upper, n = {n}"),
            &system,
            asked,
            move |x: &[_]| sum_of_squares(solve_upper(&Square::general(n, x).matrix(), &column(n, x)).iter().copied()),
            move |x: &[_]| sum_of_squares(Square::general(n, x).solve_upper(right(n, x)))
        );
        operation!(
            missed,
            format!("inverse, n = {n}"),
            &entries,
            asked,
            move |x: &[_]| {
                let inverse = inverse(&Square::general(n, x).matrix());
                sum_of_squares((0..n).flat_map(|j| inverse.col(j).iter().copied()))
            },
            move |x: &[_]| sum_of_squares(Square::general(n, x).eliminated().inverse_by_factors())
        );
        operation!(
            missed,
            format!("determinant, n = {n}"),
            &entries,
            asked,
            move |x: &[_]| determinant(&Square::general(n, x).matrix()) * scale(n),
            move |x: &[_]| Square::general(n, x).eliminated().determinant_by_factors(scale(n))
        );
        operation!(
            missed,
            format!("ln_determinant, n = {n}"),
            &entries,
            asked,
            move |x: &[_]| ln_determinant(&Square::general(n, x).matrix()).0,
            move |x: &[_]| Square::general(n, x).eliminated().ln_of_diagonal()
        );
        operation!(
            missed,
            format!("ln_determinant_spd, n = {n}"),
            &entries,
            asked,
            move |x: &[_]| ln_determinant_spd(&Square::definite(n, x).matrix()),
            move |x: &[_]| Square::definite(n, x).cholesky().ln_of_diagonal() * 2.0
        );
        operation!(
            missed,
            format!("quadratic_form, n = {n}"),
            &system,
            asked,
            move |x: &[_]| quadratic_form(&column(n, x), &Square::general(n, x).matrix()),
            move |x: &[_]| Square::general(n, x).quadratic_form(&right(n, x))
        );
        let closest = argmin(Chain, |p: &[f64]| Chain::solve(p));
        operation!(
            missed,
            format!("argmin of {n} unknowns, 80 iterations"),
            &entries[..n],
            asked,
            move |p: &[_]| sum_of_squares(closest.call(p)),
            |p: &[_]| sum_of_squares(Chain::solve(p))
        );
        let stationary = root(Slope, |p: &[f64]| Chain::solve(p));
        operation!(
            missed,
            format!("root of the gradient, {n} unknowns, 80 iterations"),
            &entries[..n],
            asked,
            move |p: &[_]| sum_of_squares(stationary.call(p)),
            |p: &[_]| sum_of_squares(Chain::solve(p))
        );
        let halved = fixed_point(Halving, |p: &[f64]| Halving::solve(p));
        operation!(
            missed,
            format!("fixed_point of {n} unknowns, 60 iterations"),
            &entries[..n],
            asked,
            move |p: &[_]| sum_of_squares(halved.call(p)),
            |p: &[_]| sum_of_squares(Halving::solve(p))
        );
    }
    for k in [4, 16] {
        let (grid, same) = (Grid::new(k), Grid::new(k));
        operation!(
            missed,
            format!("SparseSystem, grid of {k} by {k}"),
            &points(k * k),
            true,
            move |x: &[_]| grid.by_rule(x),
            move |x: &[_]| same.by_steps(x)
        );
    }
    missed.report();
}
