//! Patterns that do not fit the function: of another size, or with too few entries.

use crate::matrices::{Cubes, Squares, X};
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::KnownPattern;
use matrix_coloring::Pattern;
use sparsity_tracer::TracerLocalSparsityDetector;
use std::sync::Arc;

#[test]
fn known_pattern_of_other_size_is_refused() {
    let pattern = KnownPattern(Arc::new(Pattern::from_fn(5, 7, |i, j| i == j).unwrap()));
    let backend = AutoSparse::new(AutoForwardDiff::default()).with_detector(pattern);
    let error = jacobian(&in_place(Squares, 5), &backend, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (5, 6), found: (5, 7) });
    let error = hessian(&Cubes, &backend, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (6, 6), found: (5, 7) });
    // Right columns, wrong rows: found when the function has run.
    let pattern = KnownPattern(Arc::new(Pattern::from_fn(4, 6, |i, j| i == j).unwrap()));
    let backend = AutoSparse::new(AutoForwardDiff::default()).with_detector(pattern.clone());
    let error = jacobian(&in_place(Squares, 5), &backend, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (5, 6), found: (4, 6) });
    let backend = AutoSparse::new(AutoReverseDiff::default()).with_detector(pattern);
    let error = jacobian(&in_place(Squares, 5), &backend, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (5, 6), found: (4, 6) });
}

/// Other entries on each side of 1.
struct Branching;

impl<T: Real> Function<[T]> for Branching {
    type Output = Vec<T>;

    fn call(&self, x: &[T]) -> Vec<T> {
        if x[0] < 1.0 { vec![x[0], x[1] * x[1]] } else { vec![x[0] * x[1], x[0] + x[1]] }
    }
}

/// The chapter on sparsity warns of it: both columns have one colour, so an entry is the sum of its row.
#[test]
fn entries_of_a_pattern_that_is_too_small_are_sums() {
    let local = AutoSparse::new(AutoForwardDiff::default()).with_detector(TracerLocalSparsityDetector);
    let mut prepared = prepare_jacobian(&Branching, &local, &[0.5, 5.0]).unwrap();
    assert_eq!(prepared.jacobian(&[0.5, 5.0]).unwrap().to_dense(), [[1.0, 0.0], [0.0, 10.0]]);
    // The Jacobian is [[5, 2], [1, 1]].
    assert_eq!(prepared.jacobian(&[2.0, 5.0]).unwrap().to_dense(), [[7.0, 0.0], [0.0, 2.0]]);
    let known = KnownPattern(Arc::new(Pattern::from_fn(2, 2, |i, j| i == j).unwrap()));
    let backend = AutoSparse::new(AutoForwardDiff::default()).with_detector(known);
    assert_eq!(jacobian(&Branching, &backend, &[2.0, 5.0]).unwrap().to_dense(), [[7.0, 0.0], [0.0, 2.0]]);
}

/// 3 is the slope along x₁, or 1 that along x₀, as the constant says.
#[differentiable(Either)]
fn either(x: &[f64], #[constant] left: bool) -> Vec<f64> {
    vec![if left { x[0] } else { 3.0 * x[1] }, x[0] * x[2]]
}

/// The chapter on sparsity warns of it: the pattern is that of the constant at the preparation.
#[test]
fn a_constant_that_decides_the_pattern_needs_another_preparation() {
    let x = [1.0, 2.0, 3.0];
    let (at, other) = ((&x, Constant(&true)), (&x, Constant(&false)));
    let right = [[0.0, 3.0, 0.0], [3.0, 0.0, 1.0]];
    macro_rules! check {
        ($backend:expr, $wrong:expr) => {{
            let mut prepared = prepare_jacobian(&Either, &$backend, at).unwrap();
            assert_eq!(prepared.jacobian(at).unwrap().to_dense(), [[1.0, 0.0, 0.0], [3.0, 0.0, 1.0]]);
            assert_eq!(prepared.jacobian(other).unwrap().to_dense(), $wrong);
            prepared.prepare_again(other).unwrap();
            assert_eq!(prepared.jacobian(other).unwrap().to_dense(), right);
        }};
    }
    // x₀ and x₁ have one colour; a row by its adjoint has no entry there.
    check!(AutoSparse::new(AutoForwardDiff::default()), [[3.0, 0.0, 0.0], [3.0, 0.0, 1.0]]);
    check!(AutoSparse::new(AutoReverseDiff::default()), [[0.0, 0.0, 0.0], [3.0, 0.0, 1.0]]);
    let both = KnownPattern(Arc::new(Pattern::from_fn(2, 3, |i, j| (i, j) != (0, 2) && (i, j) != (1, 1)).unwrap()));
    let backend = AutoSparse::new(AutoForwardDiff::default()).with_detector(both);
    let mut prepared = prepare_jacobian(&Either, &backend, at).unwrap();
    assert_eq!(prepared.jacobian(other).unwrap().to_dense(), right);
}
