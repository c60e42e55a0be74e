//! Many shapes of outputs: the memory that a preparation keeps for them, and the runs of the function that they take.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::KnownPattern;
use differentiation_interface::sparse::matrix_coloring::Pattern;
use differentiation_interface_test::{allocated_bytes, counts_allocations};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;

thread_local! {
    static RUNS: Cell<usize> = const { Cell::new(0) };
}

/// More than a preparation keeps.
const SHAPES: usize = 130;

/// Squares in two parts.
#[derive(Clone, Debug, PartialEq, Container)]
struct Parts<T = f64> {
    a: Vec<T>,
    b: Vec<T>,
}

/// Squares with data of a type that can be compared, and of one that cannot.
#[derive(Clone, Debug, PartialEq, Container)]
struct Timed<T = f64> {
    y: Vec<T>,
    #[constant]
    time: f64,
}
#[derive(Clone, Debug, PartialEq)]
struct Unit(&'static str);
#[derive(Clone, Debug, PartialEq, Container)]
struct Measured<T = f64> {
    y: Vec<T>,
    #[constant]
    unit: Unit,
}

fn squares<T: Real>(x: &[T]) -> Vec<T> {
    RUNS.set(RUNS.get() + 1);
    x.iter().map(|v| *v * *v).collect()
}

#[differentiable]
fn split<T: Real>(x: &[T], #[constant] at: &usize) -> Parts<T> {
    let mut a = squares(x);
    let b = a.split_off(*at);
    Parts { a, b }
}

/// The same numbers without a shape.
#[differentiable]
fn whole<T: Real>(x: &[T], #[constant] at: &usize) -> Vec<T> {
    to_flat(&split(x, at))
}

#[differentiable(TimedSquares)]
fn timed<T: Real>(x: &[T], #[constant] time: &f64) -> Timed<T> {
    Timed { y: squares(x), time: *time }
}

#[differentiable(MeasuredSquares)]
fn measured<T: Real>(x: &[T], #[constant] _time: &f64) -> Measured<T> {
    Measured { y: squares(x), unit: Unit("metre") }
}

fn diagonal(n: usize) -> KnownPattern {
    KnownPattern(Arc::new(Pattern::banded(n, 0).unwrap()))
}

/// Runs a block with dense backends of all kinds.
macro_rules! engines {
    ($engine:ident => $body:block) => {{
        engines!(@ $engine, AutoForwardDiff::default(), $body);
        engines!(@ $engine, AutoReverseDiff::tape(), $body);
        engines!(@ $engine, AutoReverseDiff::default().recording_from(3), $body);
        engines!(@ $engine, AutoReverseDiff::compiled(), $body);
        engines!(@ $engine, MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()), $body);
    }};
    (@ $engine:ident, $value:expr, $body:block) => {{
        let $engine = $value;
        $body
    }};
}

/// A shape in use takes no run of the function for good, however many others the preparation has met.
#[test]
fn shapes_in_use_are_met_again_after_many_others() {
    let x = vec![1.5; SHAPES];
    engines!(engine => {
        let backend = AutoSparse::new(engine).with_detector(diagonal(SHAPES));
        macro_rules! runs {
            ($function:expr, $with_matrix:expr, $with_matrices:expr) => {{
                let mut prepared = prepare_jacobian(&$function, &backend, (&x, Constant(&0))).unwrap();
                let mut call = |at: &usize, with_matrix: bool| match with_matrix {
                    true => prepared.value_and_jacobian((&x, Constant(at))).map(drop).unwrap(),
                    false => prepared.value((&x, Constant(at))).map(drop).unwrap(),
                };
                (0..20).for_each(|_| call(&0, $with_matrix));
                (0..2).flat_map(|_| 1..SHAPES).for_each(|at| call(&at, $with_matrices));
                let before = RUNS.get();
                (0..80).for_each(|_| call(&0, $with_matrix));
                RUNS.get() - before
            }};
        }
        for (with_matrix, with_matrices) in [(true, false), (true, true), (false, true)] {
            let found = runs!(Split, with_matrix, with_matrices);
            let expected = runs!(Whole, with_matrix, with_matrices);
            // The name of the shape, and then its output, may have been forgotten.
            let case = format!("{engine:?}, matrix {with_matrix}, matrices of the others {with_matrices}");
            assert!(found <= expected + 2, "{case}: {found} runs for {expected}");
        }
    });
}

/// Data that differ in each call, or cannot be compared, leave no copies of the output behind, but those of recordings.
#[test]
fn shapes_that_come_once_are_not_copied() {
    assert!(counts_allocations());
    let x = vec![1.5; 1000];
    engines!(engine => {
        let backend = AutoSparse::new(engine).with_detector(diagonal(1000));
        macro_rules! grown {
            ($function:expr, $with_matrix:expr) => {{
                let mut prepared = prepare_jacobian(&$function, &backend, (&x, Constant(&0.0))).unwrap();
                let mut held = [0; 2];
                for call in 0..200 {
                    let at = (&x, Constant(&f64::from(call)));
                    match $with_matrix {
                        true => drop(prepared.value_and_jacobian(at).unwrap()),
                        false => drop(prepared.value(at).unwrap()),
                    }
                    if call == 20 || call == 199 {
                        // A copy takes the memory that is held.
                        let before = allocated_bytes();
                        drop(black_box(prepared.clone()));
                        held[usize::from(call > 20)] = allocated_bytes() - before;
                    }
                }
                held[1].saturating_sub(held[0])
            }};
        }
        // Names and words take 64 bytes each. An output has 8000 bytes at least, and 16,000 on numbers that an engine records: the
        // default engine makes 9 recordings between these calls, `compiled()` one in each call, of which 64 are kept.
        let name = format!("{engine:?}");
        let of_engine = match &name {
            name if name.starts_with("AutoCompiled") => 44 * 16_000,
            name if name.contains("first: 3") => 10 * 16_000,
            _ => 0,
        };
        for (with_matrix, most) in [(true, of_engine + 6000), (false, 6000)] {
            let grown = [grown!(TimedSquares, with_matrix), grown!(MeasuredSquares, with_matrix)];
            assert!(grown.iter().all(|grown| *grown <= most), "{name}, with matrix {with_matrix}: {grown:?}, {most}");
        }
    });
}
