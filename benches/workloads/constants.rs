//! Gradients of functions with data that they capture, or take as a `Constant`, which the compiled engine compares in every call.

use super::Random;
use super::losses::Objective;
use super::mixture::Mixture;
use super::table::{Row, check, prepared, print, row, time_of, wanted};
use differentiation_interface::prelude::*;
use differentiation_interface::{Const, FunctionWith};
use std::hint::black_box;

/// The reason why an operator accepts the points and lengths used here.
const TAKES: &str = "the backend takes this point";

/// A function of a point and data.
trait OfData {
    fn value<T: Real>(&self, x: &[T], data: &[f64]) -> T;
}

struct AsFunction<'a, F>(&'a F);

impl<T: Real, F: OfData> FunctionWith<[T], (Const<Vec<f64>>,)> for AsFunction<'_, F> {
    type Output = T;
    fn call_with(&self, x: &[T], (data,): (&Vec<f64>,)) -> T {
        self.0.value(x, data)
    }
}

/// Data of a type that is not compared.
struct Hidden(Vec<f64>);

impl<T: Real, F: OfData> FunctionWith<[T], (Const<Hidden>,)> for AsFunction<'_, F> {
    type Output = T;
    fn call_with(&self, x: &[T], (data,): (&Hidden,)) -> T {
        self.0.value(x, &data.0)
    }
}

struct Captured<'a, F>(&'a F, &'a [f64]);

impl<T: Real, F: OfData> Function<[T]> for Captured<'_, F> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.value(x, self.1)
    }
}

/// A row of gradients.
macro_rules! gradient_row {
    ($engine:expr, $backend:expr, $f:expr, $x:expr, $point:expr, $expected:expr) => {{
        let (mut state, time) = time_of(|| prepare_gradient($f, &$backend, $point).expect(TAKES));
        let mut grad = vec![f64::NAN; $x.len()];
        state.gradient_into(&mut grad, $point).expect(TAKES);
        check($engine, &grad, $expected, 1e-10);
        prepared($engine, time, move || {
            black_box(state.gradient_into(&mut grad, black_box($point)).is_ok());
            black_box(&mut grad);
        })
    }};
}

fn rows<F: OfData>(name: &str, f: &F, x: &[f64], data: &Vec<f64>) {
    let (compiled, tape) = (AutoReverseDiff::compiled(), AutoReverseDiff::tape());
    let (function, captured, hidden) = (&AsFunction(f), &Captured(f, data), &Hidden(data.clone()));
    let expected = &gradient(captured, &tape, x).expect(TAKES);
    let plain = row("function", || {
        black_box(f.value(black_box(x), black_box(data)));
    });
    let rows: Vec<Row<'_>> = vec![
        gradient_row!("compiled, captured", compiled, captured, x, x, expected),
        gradient_row!("compiled, Constant", compiled, function, x, (x, Constant(data)), expected),
        plain,
        gradient_row!("other type, compiled", compiled, function, x, (x, Constant(hidden)), expected),
        gradient_row!("tape, Constant", tape, function, x, (x, Constant(data)), expected),
    ];
    print(name, x.len(), rows);
}

/// Σ (xᵢ - dᵢ)².
struct Fit;
impl OfData for Fit {
    fn value<T: Real>(&self, x: &[T], data: &[f64]) -> T {
        x.iter().zip(data).map(|(x, d)| (*x - *d) * (*x - *d)).sum()
    }
}

/// A short function of `n` numbers and as many constants.
pub(crate) fn fits(n: usize) {
    if wanted("constants fit", n) {
        rows("constants fit", &Fit, &Random::around(5, n, 0.0, 1.0), &Random::around(6, n, 0.0, 1.0));
    }
}

impl OfData for Mixture {
    fn value<T: Real>(&self, x: &[T], data: &[f64]) -> T {
        self.value_at(data, x)
    }
}

/// A mixture, whose data points are constants.
pub(crate) fn mixtures(mixture: &Mixture) {
    let x = &mixture.point()[..];
    if wanted(&format!("constants {}", mixture.name()), x.len()) {
        rows(&format!("constants {}", mixture.name()), mixture, x, &mixture.points);
    }
}
