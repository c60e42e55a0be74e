//! Limits of recordings: which recordings end, which pass, and how long many rules take. Times are measured, so the tests of this file
//! run one at a time; `memory.rs` measures memory.

use compiled_trace::{Limits, Recorded, Recorder, compile, record};
use differentiation_interface_core::Real;
use differentiation_interface_core::error::ErrorKind;
use num_traits::Float;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_function_that_records_for_ever_ends() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let forever = |x: &[Recorded], _: &[Recorded], _: &mut Vec<Recorded>| {
        let mut v = x[0];
        loop {
            v *= x[0];
        }
    };
    let found = record(&[1.0], &[], Limits { bytes: 100_000 }, forever);
    assert_eq!(found.unwrap_err().kind(), ErrorKind::TapeOverflow);
    // An inner recording that ends does not end the outer one, and vice versa.
    let nested = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
        assert!(record(&[1.0], &[], Limits { bytes: 100_000 }, forever).is_err());
        y.push(x[0] * x[0]);
    };
    assert_eq!(record(&[1.0], &[], Limits::default(), nested).unwrap().nodes().len(), 1);
    let outer = |x: &[Recorded], _: &[Recorded], _: &mut Vec<Recorded>| {
        let _ = record(&[1.0], &[], Limits::default(), |_, _, _| {
            let mut v = x[0];
            loop {
                v *= x[0];
            }
        });
    };
    assert_eq!(record(&[1.0], &[], Limits { bytes: 100_000 }, outer).unwrap_err().kind(), ErrorKind::TapeOverflow);
}

/// A function that catches the panic of its ended recording and continues has ended all the same.
#[test]
fn catching_the_end_does_not_undo_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = record(&[1.0], &[], Limits { bytes: 10_000 }, |x, _, y| {
        let _ = catch_unwind(AssertUnwindSafe(|| (0..100_000).fold(x[0], |s, _| s * x[0])));
        y.push(x[0]);
    });
    assert_eq!(found.unwrap_err().kind(), ErrorKind::TapeOverflow);
}

/// Memory that an earlier recording took does not count.
#[test]
fn a_recorder_serves_smaller_limits_after_larger_ones() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut recorder = Recorder::default();
    let powers = |count: usize| {
        move |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push((0..count).fold(x[0], |s, _| s * x[0]))
    };
    assert!(recorder.record(&[1.0], &[], Limits::default(), powers(10_000)).is_ok());
    recorder.reserve_constants(10_000);
    assert!(recorder.record(&[1.0], &[], Limits { bytes: 10_000 }, powers(100)).is_ok());
    assert!(recorder.record(&[1.0], &[], Limits { bytes: 10_000 }, powers(10_000)).is_err());
}

#[test]
fn panics_of_the_function_pass() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let panic = catch_unwind(|| record(&[1.0], &[], Limits { bytes: 10_000 }, |_, _, _| std::panic::panic_any(17u8)));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&17u8));
}

/// 66,000 exponents take as long as that many operations, and their derivatives are right.
#[test]
fn many_constant_exponents_take_linear_time() {
    let exponent = |i: usize| 1.0 + i as f64 * 1e-5;
    let time = |count: usize| {
        let start = Instant::now();
        let graph = record(&[1.5, 0.5], &[], Limits::default(), |x, _, y| {
            y.push((0..count).map(|i| x[i % 2].powc(exponent(i))).sum());
        })
        .unwrap();
        let gradient = compile(&graph).unwrap().gradient().unwrap().executable();
        let (mut y, mut found) = ([0.0], [0.0; 2]);
        gradient.run(&mut gradient.workspace(), &[&[1.5, 0.5], &[]], &mut [&mut y, &mut found]).unwrap();
        let time = start.elapsed();
        for (k, x) in [1.5f64, 0.5].into_iter().enumerate() {
            let terms = (k..count).step_by(2).map(|i| exponent(i) * x.powf(exponent(i) - 1.0));
            let expected: f64 = terms.sum();
            assert!((found[k] / expected - 1.0).abs() < 1e-12, "{} is not {expected}", found[k]);
        }
        time
    };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let most = if cfg!(debug_assertions) { 16_500 } else { 66_000 };
    let (few, many) = (time(most / 4), time(most));
    // Four times as many; a linear search would take sixteen times as long.
    assert!(many < 10 * few, "{few:?} for a quarter of {most}, {many:?} for all");
}

/// At zero a power has its limit, whichever way its exponent was recorded.
#[test]
fn exponents_beyond_the_table_give_the_same_derivatives() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let exponents = [0.0, 0.5, 1.0, 2.0, 3.0, 2.5];
    let gradient = |others: usize, x: f64, exponent: f64| {
        let graph = record(&[x, 1.0], &[], Limits::default(), |x, _, y| {
            let others: Recorded = (0..others).map(|i| x[1].powc(7.0 + i as f64 * 1e-5)).sum();
            y.push(x[0].powc(exponent) + others);
        });
        let product = compile(&graph.unwrap()).unwrap().gradient().unwrap().tangent(1).unwrap().executable();
        let (mut outputs, seed) = ([vec![0.0], vec![0.0; 2], vec![0.0], vec![0.0; 2]], [1.0, 0.0]);
        let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        product.run(&mut product.workspace(), &[&[x, 1.0], &[], &seed], &mut slices).unwrap();
        [outputs[1][0], outputs[3][0]]
    };
    for exponent in exponents {
        for x in [0.0, -2.0] {
            let (table, operand) = (gradient(0, x, exponent), gradient(4200, x, exponent));
            let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
            assert!(
                table.into_iter().zip(operand).all(|(a, b)| same(a, b)),
                "{exponent} at {x}: {table:?}, {operand:?}"
            );
        }
    }
}

#[test]
fn more_integer_exponents_than_numbers_are_named() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let error = record(&[1.0], &[], Limits::default(), |x, _, y| y.push((0..70_000).map(|i| x[0].powi(i)).sum()));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::RuleCount);
}
