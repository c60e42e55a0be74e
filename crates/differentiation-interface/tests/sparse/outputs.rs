//! Sparse Jacobians of functions whose output has a shape, and preparations that a panic has interrupted.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::matrix_coloring::Pattern;
use differentiation_interface::sparse::{GraphSparsityDetector, KnownPattern};
use differentiation_interface_test::{allocations, counts_allocations};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Numbers in two parts.
#[derive(Clone, Debug, PartialEq, Container)]
struct Parts<T = f64> {
    a: Vec<T>,
    b: Vec<T>,
}

#[differentiable]
fn by_constant<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    let all = [x[0] * x[1], 3.0 * x[1], x[0]];
    Parts { a: all[..*split].to_vec(), b: all[*split..].to_vec() }
}

#[differentiable]
fn by_branch<T: Real>(x: &[T]) -> Parts<T> {
    let all = [x[0] * x[1], 3.0 * x[1], x[0]];
    let split = if x[0] < 0.0 { 1 } else { 2 };
    Parts { a: all[..split].to_vec(), b: all[split..].to_vec() }
}

/// More outputs than a narrow number has lanes: a dense row, so that each column has its own colour.
#[differentiable]
fn wide<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    let sum: T = x.iter().map(|v| *v * *v).sum();
    let all: Vec<T> = x.iter().map(|v| *v * sum).collect();
    Parts { a: all[..*split].to_vec(), b: all[*split..].to_vec() }
}

fn pattern() -> KnownPattern {
    KnownPattern(Arc::new(Pattern::from_triplets(3, 2, [(0, 0), (0, 1), (1, 1), (2, 0)]).unwrap()))
}

/// Runs a block with sparse backends over engines of all kinds.
macro_rules! sparse {
    ($backend:ident => $body:block) => {{
        sparse!(@ $backend, AutoSparse::new(AutoForwardDiff::default()), $body);
        sparse!(@ $backend, AutoSparse::new(AutoReverseDiff::default().recording_from(3)), $body);
        sparse!(@ $backend, AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector), $body);
        sparse!(@ $backend, AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default())), $body);
    }};
    (@ $backend:ident, $engine:expr, $body:block) => {{
        let $backend = $engine;
        $body
    }};
}

const CALLS: usize = 130;
const DENSE: [[f64; 2]; 3] = [[5.0, 2.0], [0.0, 3.0], [1.0, 0.0]];

#[test]
fn values_have_the_shape_that_their_constant_decides() {
    let x = [2.0, 5.0];
    macro_rules! run {
        ($backend:expr) => {{
            let mut prepared = prepare_jacobian(&ByConstant, &$backend, (&x, Constant(&1))).unwrap();
            for call in 0..CALLS {
                let split = (call / 2) % 4;
                let (y, jac) = prepared.value_and_jacobian((&x, Constant(&split))).unwrap();
                assert_eq!(y, by_constant(&x, &split), "call {call}");
                assert_eq!(jac.to_dense(), DENSE, "call {call}");
                assert_eq!(prepared.value((&x, Constant(&(3 - split)))).unwrap(), by_constant(&x, &(3 - split)));
            }
        }};
    }
    sparse!(backend => { run!(backend); });
    run!(AutoSparse::new(AutoForwardDiff::default()).with_detector(pattern()));
    run!(AutoSparse::new(AutoReverseDiff::compiled()).with_detector(pattern()));
    run!(AutoSparse::new(AutoReverseDiff::default()).with_detector(pattern()));
}

#[test]
fn values_of_many_colors_have_the_shape_of_the_call() {
    let x: Vec<f64> = (0..20).map(|i| f64::from(i) - 3.5).collect();
    sparse!(backend => {
        let mut prepared = prepare_jacobian(&Wide, &backend, (&x, Constant(&1))).unwrap();
        for split in (0..20).chain(0..20) {
            let y = prepared.value_and_jacobian((&x, Constant(&split))).unwrap().0;
            let expected = wide(&x, &split);
            assert_eq!((y.a.len(), y.b.len()), (expected.a.len(), expected.b.len()));
            assert!(to_flat(&y).iter().zip(to_flat(&expected)).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0)));
        }
    });
}

#[test]
fn values_have_the_shape_of_their_branch() {
    macro_rules! run {
        ($dense:expr) => {{
            let backend = AutoSparse::new($dense).with_detector(pattern());
            let mut prepared = prepare_jacobian(&ByBranch, &backend, &[2.0, 5.0]).unwrap();
            for call in 0..CALLS {
                let x = [if call % 4 < 2 { 2.0 } else { -2.0 }, 5.0];
                let (y, jac) = prepared.value_and_jacobian(&x).unwrap();
                assert_eq!(y, by_branch(&x), "call {call}");
                assert_eq!(jac.to_dense(), [[5.0, x[0]], [0.0, 3.0], [1.0, 0.0]], "call {call}");
            }
        }};
    }
    run!(AutoForwardDiff::default());
    run!(AutoReverseDiff::default());
    run!(AutoReverseDiff::default().recording_from(3));
    run!(AutoReverseDiff::compiled());
}

thread_local! {
    /// The evaluations of functions that are counted.
    static RUNS: Cell<usize> = const { Cell::new(0) };
    /// The evaluations until the function panics once.
    static FUSE: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[differentiable]
fn counted<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    RUNS.set(RUNS.get() + 1);
    by_constant(x, split)
}

/// The same numbers without a shape.
#[differentiable]
fn counted_numbers<T: Real>(x: &[T], #[constant] split: &usize) -> Vec<T> {
    RUNS.set(RUNS.get() + 1);
    to_flat(&by_constant(x, split))
}

/// A shape that has come back takes no run of the function.
#[test]
fn shapes_that_are_known_cost_no_run() {
    let x = [2.0, 5.0];
    sparse!(backend => {
        // Runs of calls that take both constants by turns, after others.
        macro_rules! runs {
            ($function:expr) => {{
                let mut prepared = prepare_jacobian(&$function, &backend, (&x, Constant(&1))).unwrap();
                let mut runs = [0; 2];
                for call in 0..300 {
                    let split = 1 + call / 3 % 2;
                    let before = RUNS.get();
                    prepared.value_and_jacobian((&x, Constant(&split))).unwrap();
                    let between = RUNS.get();
                    prepared.value((&x, Constant(&split))).unwrap();
                    if call >= 270 {
                        runs[0] += between - before;
                        runs[1] += RUNS.get() - between;
                    }
                }
                runs
            }};
        }
        let numbers = runs!(CountedNumbers);
        assert_eq!(runs!(Counted), numbers, "{backend:?}");
    });
}

/// Nor does it take memory but that of the result, of two vectors.
#[test]
fn shapes_that_are_known_allocate_nothing() {
    assert!(counts_allocations());
    let x = [2.0, 5.0];
    let backend = AutoSparse::new(AutoReverseDiff::default().recording_from(3)).with_detector(pattern());
    let mut prepared = prepare_jacobian(&ByBranch, &backend, &x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    for call in 0..100 {
        let x = [if call % 4 < 2 { 2.0 } else { -2.0 }, 5.0];
        let before = allocations();
        let y = prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
        let found = allocations() - before;
        assert_eq!(y, by_branch(&x));
        // Programs are made in the first calls with each path, and in the 16th one.
        assert!(call < 60 || found == 2, "call {call}: {found}");
    }
}

/// Products of pairs, and a part whose length follows from the number of pairs.
#[differentiable]
fn products<T: Real>(x: &[T], #[constant] pairs: &[(usize, usize)]) -> Parts<T> {
    burn();
    Parts { a: pairs.iter().map(|&(i, j)| x[i] * x[j] + x[i]).collect(), b: vec![x[0] * 2.0; pairs.len() % 3 + 1] }
}

fn burn() {
    let left = FUSE.get();
    if left != usize::MAX {
        FUSE.set(left.wrapping_sub(1));
        assert!(left > 0, "the fuse has burnt");
    }
}

#[test]
fn a_panic_with_new_constants_leaves_a_preparation_that_works() {
    let x = [0.5, 1.5, -0.7, 0.3];
    let all = [vec![(0, 1)], vec![(2, 3), (1, 2)], vec![(0, 3), (1, 1), (2, 0)]];
    sparse!(backend => {
        for first in &all {
            for second in &all {
                let (first, second) = (&first[..], &second[..]);
                for fuse in 0..6 {
                    FUSE.set(usize::MAX);
                    let expected = value_and_jacobian(&Products, &AutoForwardDiff::default(), (&x, Constant(second)));
                    let (y, dense) = expected.unwrap();
                    let of_first = jacobian(&Products, &AutoForwardDiff::default(), (&x, Constant(first))).unwrap();
                    let mut prepared = prepare_jacobian(&Products, &backend, (&x, Constant(first))).unwrap();
                    FUSE.set(fuse);
                    let call = AssertUnwindSafe(|| prepared.value_and_jacobian((&x, Constant(second))).map(drop));
                    let failed = catch_unwind(call).is_err();
                    FUSE.set(usize::MAX);
                    for call in 0..40 {
                        let (found, jac) = prepared.value_and_jacobian((&x, Constant(second))).unwrap();
                        assert_eq!(found, y, "{first:?} {second:?} fuse {fuse} {failed} call {call}");
                        assert_eq!(jac.to_dense(), dense, "{first:?} {second:?} fuse {fuse} {failed} call {call}");
                    }
                    assert_eq!(prepared.jacobian((&x, Constant(first))).unwrap().to_dense(), of_first);
                }
            }
        }
    });
}

/// Whether the last calls after an interruption have run the function, where they need not.
fn runs_at_the_end(mut call: impl FnMut()) -> usize {
    (0..80).for_each(|_| call());
    let before = RUNS.get();
    (0..10).for_each(|_| call());
    RUNS.get() - before
}

/// The same as [`products`], counted.
#[differentiable]
fn counted_products<T: Real>(x: &[T], #[constant] pairs: &[(usize, usize)]) -> Parts<T> {
    RUNS.set(RUNS.get() + 1);
    products(x, pairs)
}

/// The sum of the products, whose Hessian has an entry for each pair.
#[differentiable]
fn counted_sum<T: Real>(x: &[T], #[constant] pairs: &[(usize, usize)]) -> T {
    RUNS.set(RUNS.get() + 1);
    products(x, pairs).a.into_iter().sum()
}

/// The default engine goes on with programs after a call, or a preparation, that the function has interrupted.
#[test]
fn programs_are_made_after_a_panic() {
    let x = [0.5, 1.5, -0.7, 0.3];
    let pairs = [vec![(0, 1)], vec![(2, 3), (1, 2)]];
    let (first, second) = ((&x, Constant(&pairs[0][..])), (&x, Constant(&pairs[1][..])));
    let backend = AutoSparse::new(AutoReverseDiff::default().recording_from(3));
    for fuse in 0..3 {
        for again in [false, true] {
            macro_rules! interrupted {
                ($prepared:ident, $call:expr) => {{
                    let mut $prepared = $prepared;
                    FUSE.set(fuse);
                    let call = AssertUnwindSafe(|| if again { $prepared.prepare_again(second) } else { $call });
                    let _ = catch_unwind(call);
                    FUSE.set(usize::MAX);
                    let value = $prepared.value(second).unwrap();
                    let runs = runs_at_the_end(|| $call.unwrap());
                    assert_eq!(runs, 0, "fuse {fuse} again {again} {value:?}");
                }};
            }
            FUSE.set(usize::MAX);
            let prepared = prepare_jacobian(&CountedProducts, &backend, first).unwrap();
            interrupted!(prepared, prepared.jacobian(second).map(drop));
            let prepared = prepare_hessian(&CountedSum, &backend, first).unwrap();
            interrupted!(prepared, prepared.hessian(second).map(drop));
        }
    }
}
