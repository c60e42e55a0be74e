//! Tests of preparations that are made again and fail: later calls become programs as before.

use super::products::three;
use crate::backends::reverse_diff::{AutoReverseDiff, Form};
use differentiation_interface_core::operators::{prepare_hessian, prepare_hvp, prepare_pullback, prepare_pushforward};
use differentiation_interface_core::scalar::Real;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Points from here on make the functions panic.
const PANICS: f64 = 100.0;

fn checked<T: Real>(x: &[T]) -> Vec<T> {
    assert!(x[0] < PANICS, "in the function");
    three(x)
}

fn curved<T: Real>(x: &[T]) -> T {
    assert!(x[0] < PANICS, "in the function");
    x[0] * x[0] * x[1]
}

#[test]
fn calls_become_programs_after_a_failed_preparation() {
    let backend = AutoReverseDiff::default().recording_from(3);
    let (vector, number) = (|x: &[_]| checked(x), |x: &[_]| curved(x));
    let (x, panics, seed, cotangent) = ([2.0, 3.0], [PANICS, 3.0], [1.0; 2], [1.0; 3]);
    macro_rules! check {
        ($prepared:ident = $prepare:expr; $($fails:expr),*; $call:expr) => {$({
            let mut $prepared = $prepare.unwrap();
            let failed = catch_unwind(AssertUnwindSafe(|| $fails));
            assert!(!matches!(failed, Ok(Ok(()))));
            for _ in 0..12 {
                $call.unwrap();
            }
            assert_ne!($prepared.report().form, Form::Tape, "{}: {}", stringify!($fails), $prepared.report());
        })*};
    }
    check!(
        prepared = prepare_pushforward(&vector, &backend, &x, [&seed]);
        prepared.prepare_again(&panics, [&seed]);
        prepared.pushforward(&x, [&seed])
    );
    check!(
        prepared = prepare_pullback(&vector, &backend, &x, [&cotangent]);
        prepared.prepare_again(&panics, [&cotangent]), prepared.prepare_again(&x, [&seed]);
        prepared.pullback(&x, [&cotangent])
    );
    check!(
        prepared = prepare_hvp(&number, &backend, &x, [&seed]);
        prepared.prepare_again(&panics, [&seed]);
        prepared.hvp(&x, [&seed])
    );
    check!(
        prepared = prepare_hessian(&number, &backend, &x);
        prepared.prepare_again(&panics);
        prepared.hessian(&x)
    );
}
