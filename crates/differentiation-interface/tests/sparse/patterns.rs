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
    // Of neither size: the function says how many outputs it has.
    let pattern = KnownPattern(Arc::new(Pattern::from_fn(6, 5, |i, j| i == j).unwrap()));
    let backend = AutoSparse::new(AutoForwardDiff::default()).with_detector(pattern);
    let error = jacobian(&in_place(Squares, 5), &backend, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PatternSize { expected: (5, 6), found: (6, 5) });
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
