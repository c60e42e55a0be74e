//! The scenarios of the command line: functions of any length, with derivatives worked out by hand.
//!
//! Run by `run.rs`; each line of the table at the end is one operator on one function.

use differentiation_interface::prelude::*;
use differentiation_interface_test as kit;
use differentiation_interface_test::{Run, Scenario};

/// ||x||²
#[differentiable]
pub(crate) fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

/// Σ 100·(xᵢ₊₁ − xᵢ²)² + (1 − xᵢ)²
#[differentiable]
pub(crate) fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// yᵢ = (xᵢ₊₁ − xᵢ₋₂)·xᵢ₋₁ − xᵢ + 8, on a ring: the weather model of Lorenz (1996).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lorenz96;

/// The indices of xᵢ₊₁, xᵢ₋₂ and xᵢ₋₁ on a ring.
fn neighbours(i: usize, n: usize) -> [usize; 3] {
    [(i + 1) % n, (i + 2 * n - 2) % n, (i + n - 1) % n]
}

impl<T: Real> Function<[T]> for Lorenz96 {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let mut y = Vec::with_capacity(x.len());
        self.call_into(x, &mut y);
        y
    }
    fn call_into(&self, x: &[T], y: &mut Vec<T>) {
        y.clear();
        y.extend((0..x.len()).map(|i| {
            let [next, before, last] = neighbours(i, x.len());
            (x[next] - x[before]) * x[last] - x[i] + 8.0
        }));
    }
}

/// Σ sin(k·t)/k³ over k = 1, …, terms
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waves {
    terms: usize,
}

impl<T: Real> Function<T> for Waves {
    type Output = T;
    fn call(&self, t: &T) -> T {
        (1..=self.terms).map(|k| k as f64).map(|k| (k * *t).sin() / (k * k * k)).sum()
    }
}

/// A point without symmetries, entries from 0.5 to 1.5.
fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.5 * (1.7 * i as f64).sin()).collect()
}

/// A tangent or cotangent.
fn seed(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.3 + 1.1 * i as f64).cos()).collect()
}

fn twice(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| 2.0 * v).collect()
}

/// The identity times `factor`, row by row.
fn diagonal(n: usize, factor: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry = factor);
    matrix
}

fn gradient_of_rosenbrock(x: &[f64]) -> Vec<f64> {
    let mut grad = vec![0.0; x.len()];
    for (i, w) in x.windows(2).enumerate() {
        grad[i] += -400.0 * w[0] * (w[1] - w[0] * w[0]) - 2.0 * (1.0 - w[0]);
        grad[i + 1] += 200.0 * (w[1] - w[0] * w[0]);
    }
    grad
}

/// The terms of the entries of the Hessian of Rosenbrock's function: row, column, number.
fn hessian_of_rosenbrock(x: &[f64]) -> impl Iterator<Item = (usize, usize, f64)> {
    x.windows(2).enumerate().flat_map(|(i, w)| {
        let across = -400.0 * w[0];
        [
            (i, i, 1200.0 * w[0] * w[0] - 400.0 * w[1] + 2.0),
            (i, i + 1, across),
            (i + 1, i, across),
            (i + 1, i + 1, 200.0),
        ]
    })
}

/// The terms of the entries of the Jacobian of the weather model.
fn jacobian_of_lorenz96(x: &[f64]) -> impl Iterator<Item = (usize, usize, f64)> {
    (0..x.len()).flat_map(move |i| {
        let [next, before, last] = neighbours(i, x.len());
        [(i, next, x[last]), (i, before, -x[last]), (i, last, x[next] - x[before]), (i, i, -1.0)]
    })
}

/// The matrix with the sums of these terms, row by row.
fn matrix(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    entries.for_each(|(i, j, entry)| matrix[i * n + j] += entry);
    matrix
}

/// The matrix with the sums of these terms times `v`.
fn product(entries: impl Iterator<Item = (usize, usize, f64)>, v: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; v.len()];
    entries.for_each(|(i, j, entry)| y[i] += entry * v[j]);
    y
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

type Numbers = Vec<f64>;
type Pushforward = kit::Pushforward<1>;
type Pullback = kit::Pullback<1>;
type Hvp = kit::Hvp<1>;

/// The longest point at which matrices are computed, as dense ones of a million numbers.
const LARGEST_MATRIX: usize = 1000;

/// Receives scenarios with the backend that runs them.
pub(crate) trait Visitor {
    /// Receives one scenario.
    fn visit<O, F, P, B>(&mut self, backend: &B, scenario: Scenario<O, F, P>)
    where
        O: kit::Operator,
        P: kit::OwnedPoint,
        B: Run<O, F, P>;
}

/// One operator on one function: its names, the largest size, and how the scenario is made.
macro_rules! scenarios {
    ($($name:literal, $Operator:ty, $Function:ty, $Point:ty, $largest:expr, $make:expr;)*) => {
        /// Scenario, operator and largest size of every line.
        pub(crate) const LINES: &[(&str, &str, usize)] = &[$(($name, <$Operator as kit::Operator>::NAME, $largest)),*];

        /// A backend that runs them all.
        pub(crate) trait RunsAll: $(Run<$Operator, $Function, $Point> +)* Sized {}
        impl<B: $(Run<$Operator, $Function, $Point> +)*> RunsAll for B {}

        /// Makes the scenario of a line at a size.
        pub(crate) fn visit<B: RunsAll>(line: usize, size: usize, backend: &B, visitor: &mut impl Visitor) {
            let mut lines = 0..;
            $(if lines.next() == Some(line) {
                let scenario: Scenario<$Operator, $Function, $Point> = ($make)(size);
                return visitor.visit(backend, named(scenario, $name, size));
            })*
        }
    };
}
scenarios! {
    "norm2", kit::Gradient, Norm2, Numbers, usize::MAX,
        |n| Scenario::gradient(Norm2, point(n)).expecting(twice(&point(n)));
    "norm2", Pushforward, Norm2, Numbers, usize::MAX,
        |n| Scenario::pushforward(Norm2, point(n), [seed(n)]).expecting([2.0 * dot(&point(n), &seed(n))]);
    "norm2", Pullback, Norm2, Numbers, usize::MAX,
        |n| Scenario::pullback(Norm2, point(n), [vec![3.0]]).expecting(point(n).iter().map(|v| 6.0 * v).collect::<Vec<_>>());
    "norm2", Hvp, Norm2, Numbers, usize::MAX,
        |n| Scenario::hvp(Norm2, point(n), [seed(n)]).expecting(twice(&seed(n))).expecting_first(twice(&point(n)));
    "norm2", kit::Hessian, Norm2, Numbers, LARGEST_MATRIX,
        |n| Scenario::hessian(Norm2, point(n)).expecting(diagonal(n, 2.0)).expecting_first(twice(&point(n)));
    "rosenbrock", kit::Gradient, Rosenbrock, Numbers, usize::MAX,
        |n| Scenario::gradient(Rosenbrock, point(n)).expecting(gradient_of_rosenbrock(&point(n)));
    "rosenbrock", Hvp, Rosenbrock, Numbers, usize::MAX,
        |n| Scenario::hvp(Rosenbrock, point(n), [seed(n)])
            .expecting(product(hessian_of_rosenbrock(&point(n)), &seed(n)))
            .expecting_first(gradient_of_rosenbrock(&point(n)));
    "rosenbrock", kit::Hessian, Rosenbrock, Numbers, LARGEST_MATRIX,
        |n| Scenario::hessian(Rosenbrock, point(n))
            .expecting(matrix(n, hessian_of_rosenbrock(&point(n))))
            .expecting_first(gradient_of_rosenbrock(&point(n)));
    "lorenz96", kit::Jacobian, Lorenz96, Numbers, LARGEST_MATRIX,
        |n| Scenario::jacobian(Lorenz96, point(n)).expecting(matrix(n, jacobian_of_lorenz96(&point(n))));
    "lorenz96", Pushforward, Lorenz96, Numbers, usize::MAX,
        |n| Scenario::pushforward(Lorenz96, point(n), [seed(n)])
            .expecting(product(jacobian_of_lorenz96(&point(n)), &seed(n)));
    "lorenz96", Pullback, Lorenz96, Numbers, usize::MAX,
        |n| Scenario::pullback(Lorenz96, point(n), [seed(n)])
            .expecting(product(jacobian_of_lorenz96(&point(n)).map(|(i, j, entry)| (j, i, entry)), &seed(n)));
    "waves", kit::Derivative, Waves, f64, usize::MAX,
        |n| Scenario::derivative(Waves { terms: n }, 0.7).expecting([waves(n, |k| (0.7 * k).cos() / (k * k))]);
    "waves", kit::SecondDerivative, Waves, f64, usize::MAX,
        |n| Scenario::second_derivative(Waves { terms: n }, 0.7)
            .expecting([waves(n, |k| -(0.7 * k).sin() / k)])
            .expecting_first([waves(n, |k| (0.7 * k).cos() / (k * k))]);
}

/// Names a scenario, with the size if the point does not determine it.
fn named<O: kit::Operator, F, P: kit::OwnedPoint>(
    scenario: Scenario<O, F, P>,
    name: &str,
    size: usize,
) -> Scenario<O, F, P> {
    let told = scenario.point().coordinates().len() == size;
    scenario.named(if told { name.to_owned() } else { format!("{name}({size})") })
}

/// Σ term(k) over k = 1, …, terms
fn waves(terms: usize, term: impl Fn(f64) -> f64) -> f64 {
    (1..=terms).map(|k| term(k as f64)).sum()
}

/// The names, each once, in the order of the table.
pub(crate) const NAMES: [&str; 4] = ["norm2", "rosenbrock", "lorenz96", "waves"];

/// What the functions compute, in the order of [`NAMES`].
pub(crate) const FORMULAS: [&str; 4] = [
    "||x||²",
    "Σ 100 (x[i+1] - x[i]²)² + (1 - x[i])²",
    "y[i] = (x[i+1] - x[i-2]) x[i-1] - x[i] + 8, on a ring",
    "Σ sin(k t)/k³, with as many terms as the size says; t is one number",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_table_and_every_operator_is_there() {
        let mut names: Vec<_> = LINES.iter().map(|line| line.0).collect();
        names.dedup();
        assert_eq!(names, NAMES);
        for operator in kit::OPERATORS {
            assert!(LINES.iter().any(|line| line.1 == operator), "no scenario of {operator}");
        }
    }
}
