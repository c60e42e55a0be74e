//! Estimates of the time of machine code: what counts once, and what counts as often as it runs.

use super::*;
use crate::{Limits, Recorded, compile, record};
use num_traits::Float;

/// The code for a function of so many numbers.
fn compiled(n: usize, f: fn(&[Recorded]) -> Recorded) -> Compiled<f64> {
    let x: Vec<f64> = (0..n).map(|i| 0.5 + 0.1 * (i as f64).sin()).collect();
    let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).expect("it can be recorded");
    let program = compile(&graph).expect("it can be compiled");
    Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code")
}

/// The estimate for it.
fn time(n: usize, f: fn(&[Recorded]) -> Recorded) -> f64 {
    compiled(n, f).time()
}

fn squares(x: &[Recorded]) -> Recorded {
    x.iter().fold(x[0] * 0.0, |sum, v| sum + *v * *v)
}

fn exponentials(x: &[Recorded]) -> Recorded {
    x.iter().fold(x[0] * 0.0, |sum, v| sum + (*v * *v).exp())
}

/// Each step waits for the one before it.
fn recurrence(x: &[Recorded]) -> Recorded {
    x.iter().fold(x[0], |state, v| state * 0.5 / (*v + state))
}

#[test]
fn iterations_are_counted() {
    for f in [squares, exponentials, recurrence] {
        let ratio = time(4000, f) / time(2000, f);
        assert!(ratio > 1.7 && ratio < 2.1, "{ratio}");
    }
}

#[test]
fn functions_take_longer_than_products_and_chains_longer_than_sums() {
    let [plain, called, chained] = [squares, exponentials, recurrence].map(|f| time(2000, f));
    assert!(called > 5.0 * plain, "{called} {plain}");
    assert!(chained > 5.0 * plain, "{chained} {plain}");
    // An addition and a division take 16 cycles, one unit.
    assert!(chained > 2000.0, "{chained}");
}

#[test]
fn code_that_was_made_before_has_the_same_estimate() {
    let [first, second] = [0, 1].map(|_| compiled(50, squares));
    assert!(Arc::ptr_eq(&first.shared.code, &second.shared.code));
    assert_eq!(first.time().to_bits(), second.time().to_bits());
}

#[test]
fn products_of_matrices_count() {
    // n x n numbers times n x n numbers, an entry of the result after the other.
    let product = |n: usize| {
        let x = vec![0.5; 2 * n * n];
        let graph = record(&x, &[], Limits::default(), |x: &[Recorded], _, y| {
            let entry = |i: usize, j: usize| (0..n).fold(x[0] * 0.0, |s, k| s + x[i * n + k] * x[n * n + k * n + j]);
            y.extend((0..n * n).map(|at| entry(at / n, at % n)));
        });
        let program = compile(&graph.expect("it can be recorded")).expect("it can be compiled");
        Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code").time()
    };
    let ratio = product(40) / product(20);
    assert!(ratio > 4.0 && ratio < 10.0, "{ratio}");
}
