//! Scenarios for engines of tensors: elementwise functions, matrix products, broadcasting, reductions, a network, and the special cases.
//!
//! A case is a function of numbers here, so that the backends of numbers run the same scenarios. The tests of an engine of tensors give the same
//! case as a function of tensors; the scenario passes it as [`Counted`](crate::Counted) of [`TensorMap`] or [`TensorSum`].

use super::real_number::RealNumber;
use crate::operator::{Gradient, Jacobian, Pullback, Pushforward};
use crate::scenario::Scenario;
use differentiation_interface_core::{Base, Function, Scalar};

/// A function from a tensor to a tensor; numbers are row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TensorMap {
    /// x² - 3x + 1/x, entry by entry.
    Elementwise,
    /// eˣ + tanh x + sin x, entry by entry.
    Transcendental,
    /// The input itself.
    Identity,
    /// A B for A of 2 x 3 and B = [[1, 2], [3, 4], [5, 6]].
    MatrixProduct,
    /// A Aᵀ for A of 2 x 2.
    Gram,
    /// The outer product of the input with itself.
    Outer,
    /// Of a matrix of 2 x 3: the sums of the rows, then the means of the columns.
    Reductions,
    /// eˣ / Σ eˣ.
    Softmax,
    /// (2, 3), whatever the input.
    Constant,
    /// x₀², of any number of inputs.
    First,
}

/// A function from a tensor to one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TensorSum {
    /// Σ x².
    Squares,
    /// xᵀ M x for M = [[2, 1], [0, 3]].
    QuadraticForm,
    /// Σ (v · tanh(W z + b) - t)² over the samples z = (1, 2), (3, -1) with t = 1, 2. The input is W of 2 x 2, b, v.
    Network,
    /// ln Σ eˣ.
    LogSumExp,
    /// Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)².
    Rosenbrock,
    /// 7, whatever the input.
    Constant,
    /// x₀², of any number of inputs.
    First,
    /// The single input.
    Identity,
}

fn number<T: Scalar>(value: f64) -> T {
    T::constant(T::Base::from_f64(value))
}

fn sum<T: RealNumber>(numbers: impl IntoIterator<Item = T>) -> T {
    numbers.into_iter().fold(number(0.0), |sum, v| sum + v)
}

impl<T: RealNumber> Function<[T]> for TensorMap {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let n = |v| number::<T>(v);
        match self {
            TensorMap::Elementwise => x.iter().map(|&x| x * x - n(3.0) * x + n(1.0) / x).collect(),
            TensorMap::Transcendental => x.iter().map(|&x| x.exp() + x.tanh() + x.sin()).collect(),
            TensorMap::Identity => x.to_vec(),
            TensorMap::MatrixProduct => {
                let entry = |i: usize, j: usize| sum((0..3).map(|k| x[3 * i + k] * n((2 * k + j + 1) as f64)));
                vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)]
            }
            TensorMap::Gram => {
                let entry = |i: usize, j: usize| x[2 * i] * x[2 * j] + x[2 * i + 1] * x[2 * j + 1];
                vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)]
            }
            TensorMap::Outer => x.iter().flat_map(|&a| x.iter().map(move |&b| a * b)).collect(),
            TensorMap::Reductions => {
                let rows = x.chunks(3).map(|row| sum(row.iter().copied()));
                rows.chain((0..3).map(|j| (x[j] + x[3 + j]) / n(2.0))).collect()
            }
            TensorMap::Softmax => {
                let total = sum(x.iter().map(|v| v.exp()));
                x.iter().map(|v| v.exp() / total).collect()
            }
            TensorMap::Constant => vec![n(2.0), n(3.0)],
            TensorMap::First => vec![x[0] * x[0]],
        }
    }
}

impl<T: RealNumber> Function<[T]> for TensorSum {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let n = |v| number::<T>(v);
        match self {
            TensorSum::Squares => sum(x.iter().map(|&v| v * v)),
            TensorSum::QuadraticForm => n(2.0) * x[0] * x[0] + x[0] * x[1] + n(3.0) * x[1] * x[1],
            TensorSum::Network => {
                let samples = [([1.0, 2.0], 1.0), ([3.0, -1.0], 2.0)];
                sum(samples.map(|(z, t)| {
                    let hidden = |i: usize| (x[2 * i] * n(z[0]) + x[2 * i + 1] * n(z[1]) + x[4 + i]).tanh();
                    let error = x[6] * hidden(0) + x[7] * hidden(1) - n(t);
                    error * error
                }))
            }
            TensorSum::LogSumExp => sum(x.iter().map(|v| v.exp())).ln(),
            TensorSum::Rosenbrock => sum(x.windows(2).map(|pair| {
                let (valley, slope) = (pair[1] - pair[0] * pair[0], n(1.0) - pair[0]);
                n(100.0) * valley * valley + slope * slope
            })),
            TensorSum::Constant => n(7.0),
            TensorSum::First => x[0] * x[0],
            TensorSum::Identity => x[0],
        }
    }
}

/// A point of a map, its value and its Jacobian, row by row, and a point of another length if the map accepts one.
type MapAnswer = (TensorMap, &'static [f64], &'static [f64], &'static [f64], Option<&'static [f64]>);

#[rustfmt::skip]
const MAPS: &[MapAnswer] = &[
    (TensorMap::Elementwise, &[1.0, 2.0, 4.0, -0.5], &[-1.0, -1.5, 4.25, -0.25],
     &[-2.0, 0.0, 0.0, 0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0, 4.9375, 0.0, 0.0, 0.0, 0.0, -8.0], Some(&[2.0, 4.0])),
    (TensorMap::Elementwise, &[2.0], &[-1.5], &[0.75], Some(&[1.0, 3.0])),
    (TensorMap::Transcendental, &[0.0, 0.0], &[1.0, 1.0], &[3.0, 0.0, 0.0, 3.0], Some(&[0.5, -0.5, 1.0])),
    (TensorMap::Identity, &[5.0], &[5.0], &[1.0], Some(&[1.0, 2.0])),
    (TensorMap::Identity, &[1.0, -2.0], &[1.0, -2.0], &[1.0, 0.0, 0.0, 1.0], None),
    (TensorMap::MatrixProduct, &[1.0, 0.0, 2.0, -1.0, 1.0, 0.0], &[11.0, 14.0, 2.0, 2.0],
     &[1.0, 3.0, 5.0, 0.0, 0.0, 0.0, 2.0, 4.0, 6.0, 0.0, 0.0, 0.0,
       0.0, 0.0, 0.0, 1.0, 3.0, 5.0, 0.0, 0.0, 0.0, 2.0, 4.0, 6.0], None),
    (TensorMap::Gram, &[1.0, 2.0, 3.0, 4.0], &[5.0, 11.0, 11.0, 25.0],
     &[2.0, 4.0, 0.0, 0.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 0.0, 0.0, 6.0, 8.0], None),
    (TensorMap::Outer, &[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0],
     &[2.0, 0.0, 0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 3.0, 2.0,
       3.0, 0.0, 1.0, 0.0, 3.0, 2.0, 0.0, 0.0, 6.0], Some(&[1.0, -1.0])),
    (TensorMap::Reductions, &[1.0, 2.0, 3.0, 5.0, 8.0, 13.0], &[6.0, 26.0, 3.0, 5.0, 8.0],
     &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0,
       0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5], None),
    (TensorMap::Softmax, &[1.0, 1.0], &[0.5, 0.5], &[0.25, -0.25, -0.25, 0.25], Some(&[0.0, 1.0, 2.0])),
    (TensorMap::Constant, &[1.0, 2.0, 3.0], &[2.0, 3.0], &[0.0; 6], Some(&[1.0])),
    (TensorMap::First, &[3.0, 9.0, 9.0], &[9.0], &[6.0, 0.0, 0.0], Some(&[3.0])),
];

/// A point of a sum, its value and its gradient, and a point of another length if the sum accepts one.
type SumAnswer = (TensorSum, &'static [f64], f64, &'static [f64], Option<&'static [f64]>);

#[rustfmt::skip]
const SUMS: &[SumAnswer] = &[
    (TensorSum::Squares, &[1.0, 2.0, 3.0], 14.0, &[2.0, 4.0, 6.0], Some(&[2.0])),
    (TensorSum::Squares, &[-3.0], 9.0, &[-6.0], Some(&[1.0, 1.0])),
    (TensorSum::QuadraticForm, &[1.0, -1.0], 4.0, &[3.0, -5.0], None),
    // With W = 0 and b = 0 the hidden layer is 0 and the errors are -1 and -2; db = -6 v, dW = v times Σ -2t z.
    (TensorSum::Network, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0], 5.0, &[-14.0, 0.0, 14.0, 0.0, -6.0, 6.0, 0.0, 0.0], None),
    (TensorSum::LogSumExp, &[0.0; 4], 2.0 * std::f64::consts::LN_2, &[0.25; 4], Some(&[1.0, 2.0])),
    (TensorSum::Rosenbrock, &[1.0, 2.0, 3.0], 201.0, &[-400.0, 1002.0, -200.0], Some(&[1.0, 1.0])),
    (TensorSum::Constant, &[1.0, 2.0], 7.0, &[0.0, 0.0], Some(&[1.0])),
    (TensorSum::First, &[3.0, 9.0, 9.0], 9.0, &[6.0, 0.0, 0.0], Some(&[3.0])),
    (TensorSum::Identity, &[4.0], 4.0, &[1.0], None),
];

fn vector<S: Base>(numbers: &[f64]) -> Vec<S> {
    numbers.iter().map(|&v| S::from_f64(v)).collect()
}

/// Scenarios of `gradient`.
pub fn tensor_gradients<S: Base>() -> Vec<Scenario<Gradient, TensorSum, Vec<S>>> {
    let scenario = |&(f, x, value, grad, other): &SumAnswer| {
        let scenario = Scenario::gradient(f, vector(x)).named(format!("{f:?}"));
        let scenario = scenario.expecting(grad).expecting_value([value]);
        match other {
            Some(other) => scenario.prepared_again_from(vector(other)),
            None => scenario,
        }
    };
    SUMS.iter().map(scenario).collect()
}

/// Scenarios of `jacobian`.
pub fn tensor_jacobians<S: Base>() -> Vec<Scenario<Jacobian, TensorMap, Vec<S>>> {
    let scenario = |&(f, x, value, jac, other): &MapAnswer| {
        let scenario = Scenario::jacobian(f, vector(x)).named(format!("{f:?}"));
        let scenario = scenario.expecting(jac).expecting_value(value);
        match other {
            Some(other) => scenario.prepared_again_from(vector(other)),
            None => scenario,
        }
    };
    MAPS.iter().map(scenario).collect()
}

/// Seed `k` of `length` small integers.
fn seed(k: usize, length: usize) -> Vec<f64> {
    (0..length).map(|i| [2.0, -1.0, 3.0, 0.0, 1.0][(i + 2 * k) % 5]).collect()
}

/// Scenarios of `pullback` with `T` cotangents: products with the same Jacobians.
pub fn tensor_pullbacks<S: Base, const T: usize>() -> Vec<Scenario<Pullback<T>, TensorMap, Vec<S>>> {
    let scenario = |&(f, x, value, jac, _): &MapAnswer| {
        let seeds: [Vec<f64>; T] = std::array::from_fn(|k| seed(k, value.len()));
        let column =
            |seed: &[f64], j: usize| seed.iter().enumerate().map(|(i, dy)| dy * jac[i * x.len() + j]).sum::<f64>();
        let products: Vec<f64> = seeds.iter().flat_map(|seed| (0..x.len()).map(|j| column(seed, j))).collect();
        let scenario = Scenario::pullback(f, vector(x), seeds.map(|seed| vector(&seed))).named(format!("{f:?}"));
        scenario.expecting(products).expecting_value(value)
    };
    MAPS.iter().map(scenario).collect()
}

/// Scenarios of `pushforward` with `T` tangents: products with the same Jacobians.
pub fn tensor_pushforwards<S: Base, const T: usize>() -> Vec<Scenario<Pushforward<T>, TensorMap, Vec<S>>> {
    let scenario = |&(f, x, value, jac, _): &MapAnswer| {
        let seeds: [Vec<f64>; T] = std::array::from_fn(|k| seed(k, x.len()));
        let row = |seed: &[f64], row: &[f64]| row.iter().zip(seed).map(|(a, dx)| a * dx).sum::<f64>();
        let products: Vec<f64> = seeds.iter().flat_map(|seed| jac.chunks(x.len()).map(|r| row(seed, r))).collect();
        let scenario = Scenario::pushforward(f, vector(x), seeds.map(|seed| vector(&seed))).named(format!("{f:?}"));
        scenario.expecting(products).expecting_value(value)
    };
    MAPS.iter().map(scenario).collect()
}

/// All of them, with one and two seeds.
#[expect(clippy::type_complexity, reason = "a list of lists, whose types differ by operator")]
pub fn tensor_scenarios<S: Base>() -> (
    Vec<Scenario<Gradient, TensorSum, Vec<S>>>,
    Vec<Scenario<Jacobian, TensorMap, Vec<S>>>,
    (Vec<Scenario<Pullback<1>, TensorMap, Vec<S>>>, Vec<Scenario<Pullback<2>, TensorMap, Vec<S>>>),
    (Vec<Scenario<Pushforward<1>, TensorMap, Vec<S>>>, Vec<Scenario<Pushforward<2>, TensorMap, Vec<S>>>),
) {
    (
        tensor_gradients(),
        tensor_jacobians(),
        (tensor_pullbacks(), tensor_pullbacks()),
        (tensor_pushforwards(), tensor_pushforwards()),
    )
}
