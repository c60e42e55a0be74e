//! The table of the book's chapter on performance: points at which forward mode, the tape and programs give different results.

use differentiation_interface::prelude::*;

/// A row of the table. What follows the numbers that it takes is added, so that there are other inputs.
#[derive(Clone, Copy)]
enum Row {
    RootOfSquare,
    Fused,
    QuotientOfZero,
    NegativePower,
    Factors,
    SquareOfRoot,
    SquareOfRootAndNumber,
    RootAndItsSquare,
    Distance,
}
use Row::*;

impl<T: Real> Function<[T]> for Row {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let (value, taken) = match self {
            RootOfSquare => ((x[0] * x[0]).sqrt(), 1),
            Fused => (x[0].mul_add(x[1], x[2]), 3),
            QuotientOfZero => (x[1] / x[0], 2),
            NegativePower => (x[0].powf(T::constant(-1.5)), 1),
            Factors => ((2.0 * x[0] * x[0] + 5.0 * (1.0 - x[0])) * x[1], 2),
            SquareOfRoot => (x[0].sqrt() * x[0].sqrt(), 1),
            SquareOfRootAndNumber => ((x[0].sqrt() + x[1]) * (x[0].sqrt() + x[1]), 2),
            RootAndItsSquare => (x[0].sqrt() + x[0].sqrt() * x[0].sqrt(), 1),
            Distance => ((x[0] * x[0] + x[1] * x[1]).sqrt(), 2),
        };
        x[taken..].iter().fold(value, |sum, x| sum + *x)
    }
}

/// Value and derivative by the first variable, by forward mode, the tape and a program.
fn by_engines(row: Row, x: &[f64]) -> [(f64, f64); 3] {
    let first = |(value, gradient): (f64, Vec<f64>)| (value, gradient[0]);
    [
        first(value_and_gradient(&row, &AutoForwardDiff::default(), x).unwrap()),
        first(value_and_gradient(&row, &AutoReverseDiff::tape(), x).unwrap()),
        first(value_and_gradient(&row, &AutoReverseDiff::compiled(), x).unwrap()),
    ]
}

/// Checks the derivatives of a row.
#[track_caller]
fn derivatives(row: Row, x: &[f64], expected: [f64; 3]) {
    let found = by_engines(row, x).map(|(_, derivative)| derivative);
    for (found, expected) in found.iter().zip(expected) {
        let is_same = found.is_nan() && expected.is_nan() || *found == expected;
        assert!(is_same || (found - expected).abs() <= 1e-14 * expected.abs(), "{found} for {expected}");
    }
}

#[test]
fn derivatives_are_those_of_the_table() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    derivatives(RootOfSquare, &[1e308, 1.0], [nan, nan, 0.0]);
    derivatives(RootOfSquare, &[1e308], [nan; 3]);
    derivatives(QuotientOfZero, &[5.5e-309, 0.0], [0.0, 0.0, nan]);
    derivatives(QuotientOfZero, &[5.7e-309, 0.0], [0.0; 3]);
    derivatives(NegativePower, &[-0.0], [-inf, -inf, inf]);
    derivatives(Factors, &[1.3, 9e307], [1.8e307, 1.8e307, nan]);
    derivatives(SquareOfRoot, &[0.0], [nan; 3]);
    derivatives(SquareOfRootAndNumber, &[0.0, 0.0], [nan, 0.0, nan]);
    derivatives(RootAndItsSquare, &[0.0, 1.0], [nan, nan, inf]);
    derivatives(RootAndItsSquare, &[0.0], [nan; 3]);
}

#[test]
fn fused_products_are_those_of_the_table() {
    let values = |x: [f64; 3]| by_engines(Fused, &x).map(|(value, _)| value);
    let x: [f64; 3] = [1.5e154, 1.5e154, -1e308];
    let fused = x[0].mul_add(x[1], x[2]);
    assert!(fused.is_finite());
    assert_eq!(values(x), [fused, fused, f64::INFINITY]);
    // Rounded once, but for small products twice in some programs.
    let (mut state, mut differ) = (1u64, [0; 2]);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        1.0 + (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..1000 {
        for (small, scale) in [(0, 1e-140), (1, 1.7e-154)] {
            let x: [f64; 3] = [scale * next(), scale * next(), scale * scale * next()];
            let fused = x[0].mul_add(x[1], x[2]);
            let [forward, tape, program] = values(x);
            assert_eq!((forward, tape), (fused, fused));
            differ[small] += usize::from(program != fused);
        }
    }
    assert!(differ[0] == 0 && differ[1] > 0, "{differ:?}");
}

#[test]
fn second_derivatives_are_those_of_the_table() {
    let inf = f64::INFINITY;
    let by = |found: Matrix<f64>| found.into_vec();
    let x: &[f64] = &[0.0, 0.0];
    assert!(by(hessian(&Distance, &AutoForwardDiff::default(), x).unwrap()).iter().all(|entry| entry.is_nan()));
    assert_eq!(by(hessian(&Distance, &AutoReverseDiff::tape(), x).unwrap()), [inf, 0.0, 0.0, inf]);
    assert!(by(hessian(&Distance, &AutoReverseDiff::compiled(), x).unwrap()).iter().all(|entry| entry.is_nan()));
}
