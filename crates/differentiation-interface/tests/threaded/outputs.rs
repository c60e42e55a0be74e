//! Outputs whose shape follows from a constant: each share of the work finds that of the call.

use crate::{divided, point};
use differentiation_interface::prelude::*;

/// Numbers in two parts.
#[derive(Clone, Debug, PartialEq, Container)]
struct Parts<T = f64> {
    a: Vec<T>,
    b: Vec<T>,
}

/// Squares of the differences of neighbours.
#[differentiable]
fn split_at<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    let all: Vec<T> = x.windows(2).map(|w| (w[1] - w[0]) * (w[1] - w[0])).collect();
    Parts { a: all[..*split].to_vec(), b: all[*split..].to_vec() }
}

#[test]
fn values_have_the_shape_of_the_call() {
    let x = point(40);
    let seeds = [vec![1.0; 40], vec![0.5; 40]];
    let cotangents = [vec![1.0; 39], vec![0.5; 39]];
    macro_rules! run {
        ($($dense:expr),*) => {$(
            let backend = divided($dense, 2);
            let sparse = divided(AutoSparse::new($dense), 2);
            let at = (&x, Constant(&1));
            let mut jac = prepare_jacobian(&SplitAt, &backend, at).unwrap();
            let mut entries = prepare_jacobian(&SplitAt, &sparse, at).unwrap();
            let mut along = prepare_pushforward(&SplitAt, &backend, at, seeds.each_ref()).unwrap();
            let mut back = prepare_pullback(&SplitAt, &backend, at, cotangents.each_ref()).unwrap();
            for call in 0..60 {
                let split = (call / 2) % 40;
                let at = (&x, Constant(&split));
                let expected = split_at(&x, &split);
                let products = pushforward(&SplitAt, &AutoForwardDiff::default(), at, seeds.each_ref()).unwrap();
                assert_eq!(jac.value_and_jacobian(at).unwrap().0, expected, "call {call}");
                assert_eq!(entries.value_and_jacobian(at).unwrap().0, expected, "call {call}");
                assert_eq!(along.value_and_pushforward(at, seeds.each_ref()).unwrap().0, expected, "call {call}");
                assert_eq!(along.pushforward(at, seeds.each_ref()).unwrap(), products, "call {call}");
                assert_eq!(back.value_and_pullback(at, cotangents.each_ref()).unwrap().0, expected, "call {call}");
            }
        )*};
    }
    run!(
        AutoForwardDiff::default(),
        AutoReverseDiff::tape(),
        AutoReverseDiff::default().recording_from(3),
        AutoReverseDiff::compiled()
    );
}

/// Each output depends on all coordinates, so that each column has its own colour and the threads share the colours.
#[differentiable]
fn dense_at<T: Real>(x: &[T], #[constant] split: &usize) -> Parts<T> {
    let sum: T = x.iter().map(|v| *v * *v).sum();
    let all: Vec<T> = x.iter().map(|v| *v * sum).collect();
    Parts { a: all[..*split].to_vec(), b: all[*split..].to_vec() }
}

#[test]
fn values_of_shared_colors_have_the_shape_of_the_call() {
    let x = point(40);
    macro_rules! run {
        ($($dense:expr),*) => {$(
            let backend = divided(AutoSparse::new($dense), 2);
            let mut prepared = prepare_jacobian(&DenseAt, &backend, (&x, Constant(&1))).unwrap();
            for call in 0..80 {
                let split = (call / 2) % 40;
                let (y, _) = prepared.value_and_jacobian((&x, Constant(&split))).unwrap();
                let expected = dense_at(&x, &split);
                assert_eq!((y.a.len(), y.b.len()), (split, 40 - split), "call {call}");
                assert!(to_flat(&y).iter().zip(to_flat(&expected)).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()));
            }
        )*};
    }
    run!(
        AutoForwardDiff::default(),
        AutoReverseDiff::tape(),
        AutoReverseDiff::default().recording_from(3),
        AutoReverseDiff::compiled()
    );
}
