//! Operations of a rig on plain numbers, independent of operator, backend and function: compiled once for each number type.
//!
//! Called by the rig.

use super::Results;
use crate::operator::Operator;
use differentiation_interface_core::Base;

/// Numbers as `f64`.
pub(super) fn wide<S: Base>(numbers: &[S]) -> Vec<f64> {
    numbers.iter().map(|v| v.as_f64()).collect()
}

/// Several lists of numbers as `f64`.
pub(super) fn all_wide<S: Base>(lists: &[Vec<S>]) -> Vec<Vec<f64>> {
    lists.iter().map(|list| wide(list)).collect()
}

/// Numbers of the scenario's type.
pub(super) fn narrow<S: Base>(numbers: &[f64]) -> Vec<S> {
    numbers.iter().map(|&v| S::from_f64(v)).collect()
}

/// A point with one more coordinate.
pub(super) fn longer<S: Base>(x: &[S]) -> Vec<S> {
    let mut longer = x.to_vec();
    longer.push(S::ONE);
    longer
}

/// The point plus `step` times `direction`.
pub(super) fn moved<S: Base>(x: &[S], direction: &[f64], step: f64) -> Vec<S> {
    x.iter().zip(direction).map(|(x, d)| S::from_f64(x.as_f64() + step * d)).collect()
}

/// Sets the length of all seeds.
pub(super) fn resize<S: Base>(seeds: &mut [Vec<S>], length: usize) {
    seeds.iter_mut().for_each(|seed| seed.resize(length, S::ONE));
}

/// Changes the values of seeds.
pub(super) fn change<S: Base>(seeds: &mut [Vec<S>]) {
    let [three, seven] = [3.0, 7.0].map(S::from_f64);
    seeds.iter_mut().flatten().for_each(|entry| *entry = three * *entry + seven);
}

/// Fills buffers with NaN, and returns NaN.
pub(super) fn poison<S: Base>(buffers: [&mut Vec<S>; 3]) -> S {
    let nan = S::nan();
    buffers.into_iter().for_each(|buffer| buffer.fill(nan));
    nan
}

/// Makes a buffer longer.
pub(super) fn lengthen<S: Base>(buffer: &mut Vec<S>, by: usize) {
    buffer.resize(buffer.len() + by, S::ONE);
}

/// Restores the lengths of the buffers of an operator, for a number of inputs and of outputs.
pub(super) fn restore_lengths<O: Operator, S: Base>(
    first: &mut Vec<S>,
    second: &mut Vec<S>,
    (inputs, outputs): (usize, usize),
) {
    let length = match O::NAME {
        "derivative" | "second_derivative" => outputs,
        "pushforward" => outputs * O::SEEDS,
        "pullback" | "hvp" => inputs * O::SEEDS,
        "gradient" => inputs,
        _ => 0,
    };
    if O::ORDER == 1 {
        first.resize(length, S::ZERO);
    } else {
        second.resize(length, S::ZERO);
        first.resize(if O::NAME == "second_derivative" { outputs } else { inputs }, S::ZERO);
    }
}

/// How many results of the first and of the second order have the shape of the point.
pub(super) fn results_like_point<O: Operator>() -> [usize; 2] {
    match O::NAME {
        "gradient" | "hessian" => [1, 0],
        "pullback" => [O::SEEDS, 0],
        "hvp" => [1, O::SEEDS],
        _ => [0, 0],
    }
}

/// The contents of the buffers, and of the matrix if there is one: its entries and stored places.
pub(super) fn results<S: Base>(
    [value, first, second]: [&[S]; 3],
    order: u8,
    matrix: Option<(Vec<f64>, Option<Vec<(usize, usize)>>)>,
) -> Results {
    let mut results = Results { value: wide(value), first: wide(first), second: wide(second), pattern: None };
    if let Some((entries, pattern)) = matrix {
        results.pattern = pattern;
        *(if order == 1 { &mut results.first } else { &mut results.second }) = entries;
    }
    results
}

/// Runs `work` on another thread, and resumes a panic of it on this one.
pub(super) fn on_another_thread(work: &mut (dyn FnMut() + Send)) {
    std::thread::scope(|scope| {
        scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}
