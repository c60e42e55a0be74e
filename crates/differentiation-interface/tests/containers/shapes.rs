//! Seeds and buffers of the right type and count in another shape: two vectors of 2 and 1 numbers in place of 1 and 2.

use differentiation_interface::prelude::*;

type Pair<T> = (Vec<T>, Vec<T>);

/// Σ aᵢ² times Σ bᵢ.
struct Product;
impl<T: Real> Function<Pair<T>> for Product {
    type Output = T;
    fn call(&self, (a, b): &Pair<T>) -> T {
        a.iter().map(|v| v * v).sum::<T>() * b.iter().copied().sum::<T>()
    }
}

/// The squares, in the shape of the point.
struct Squares;
impl<T: Real> Function<Pair<T>> for Squares {
    type Output = Pair<T>;
    fn call(&self, (a, b): &Pair<T>) -> Pair<T> {
        (a.iter().map(|v| v * v).collect(), b.iter().map(|v| v * v).collect())
    }
}

fn point() -> Pair<f64> {
    (vec![2.0, 3.0], vec![5.0])
}

/// The same numbers in another shape.
fn other() -> Pair<f64> {
    (vec![2.0], vec![3.0, 5.0])
}

macro_rules! engines {
    ($backend:ident => $body:block) => {{
        engines!(@ $backend, AutoForwardDiff::default(), $body);
        engines!(@ $backend, AutoReverseDiff::default(), $body);
        engines!(@ $backend, AutoReverseDiff::compiled(), $body);
        engines!(@ $backend, AutoFiniteDifferences::default(), $body);
    }};
    (@ $backend:ident, $engine:expr, $body:block) => {{
        let $backend = $engine;
        $body
    }};
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind) {
    assert_eq!(result.expect_err("it has another shape").kind(), kind);
}

fn close(found: &Pair<f64>, expected: &Pair<f64>) {
    let (found_flat, flat) = (to_flat(found), to_flat(expected));
    assert_eq!((found.0.len(), found.1.len()), (expected.0.len(), expected.1.len()));
    assert!(
        found_flat.iter().zip(&flat).all(|(a, b)| (a - b).abs() < 1e-4 * b.abs().max(1.0)),
        "{found:?} {expected:?}"
    );
}

const SEED: ErrorKind = ErrorKind::SeedShape { index: 0 };

#[test]
fn tangents_have_the_shape_of_the_point() {
    let (x, wrong) = (point(), other());
    engines!(backend => {
        refused(pushforward(&Squares, &backend, &x, [&wrong]), SEED);
        refused(prepare_pushforward(&Squares, &backend, &x, [&wrong]).map(drop), SEED);
        refused(prepare_pushforward_same_point(&Squares, &backend, &x, [&wrong]).map(drop), SEED);
        let mut prepared = prepare_pushforward(&Squares, &backend, &x, [&x, &x]).unwrap();
        refused(prepared.pushforward(&x, [&x, &wrong]), ErrorKind::SeedShape { index: 1 });
        let [first, second] = prepared.pushforward(&x, [&x, &x]).unwrap();
        close(&first, &(vec![8.0, 18.0], vec![50.0]));
        close(&second, &first);
        // At a point of the other shape, a tangent of the other shape is right.
        let [first, _] = prepared.pushforward(&wrong, [&wrong, &wrong]).unwrap();
        close(&first, &(vec![8.0], vec![18.0, 50.0]));
        // A slice is numbers in their order.
        close(&pushforward(&Squares, &backend, &x, [&[2.0, 3.0, 5.0]]).unwrap()[0], &(vec![8.0, 18.0], vec![50.0]));

        refused(hvp(&Product, &backend, &x, [&wrong]), SEED);
        refused(prepare_hvp(&Product, &backend, &x, [&wrong]).map(drop), SEED);
        let mut prepared = prepare_hvp(&Product, &backend, &x, [&x]).unwrap();
        refused(prepared.hvp(&x, [&wrong]), SEED);
        close(&prepared.hvp(&x, [&x]).unwrap()[0], &(vec![40.0, 60.0], vec![26.0]));
    });
    refused(jet(&Product, &AutoTaylor, &x, &wrong, Order::<2>), SEED);
    let backend = AutoReverseDiff::default();
    refused(prepare_hvp_same_point(&Product, &backend, &x, [&wrong]).map(drop), SEED);
    let mut prepared = prepare_hvp_same_point(&Product, &backend, &x, [&x]).unwrap();
    refused(prepared.hvp([&wrong]), SEED);
    close(&prepared.hvp([&x]).unwrap()[0], &(vec![40.0, 60.0], vec![26.0]));
}

#[test]
fn cotangents_have_the_shape_of_the_output() {
    let (x, wrong) = (point(), other());
    engines!(backend => {
        refused(pullback(&Squares, &backend, &x, [&wrong]), SEED);
        refused(prepare_pullback(&Squares, &backend, &x, [&wrong]).map(drop), SEED);
        let mut prepared = prepare_pullback(&Squares, &backend, &x, [&x]).unwrap();
        for _ in 0..3 {
            refused(prepared.pullback(&x, [&wrong]), SEED);
            close(&prepared.pullback(&x, [&x]).unwrap()[0], &(vec![8.0, 18.0], vec![50.0]));
            // The output follows the point.
            close(&prepared.pullback(&wrong, [&wrong]).unwrap()[0], &(vec![8.0], vec![18.0, 50.0]));
            refused(prepared.pullback(&wrong, [&x]), SEED);
            close(&prepared.pullback(&x, [&[2.0, 3.0, 5.0]]).unwrap()[0], &(vec![8.0, 18.0], vec![50.0]));
        }
        let mut prepared = prepare_pullback_same_point(&Squares, &backend, &x, [&x]).unwrap();
        refused(prepared.pullback([&wrong]), SEED);
        close(&prepared.pullback([&x]).unwrap()[0], &(vec![8.0, 18.0], vec![50.0]));
    });
}

#[test]
fn buffers_have_the_shape_of_the_result() {
    let (x, wrong) = (point(), other());
    let kind = ErrorKind::BufferShape;
    engines!(backend => {
        let mut buffer = wrong.clone();
        refused(gradient_into(&Product, &mut buffer, &backend, &x), kind);
        refused(value_and_gradient_into(&Product, &mut buffer, &backend, &x), kind);
        refused(prepare_gradient(&Product, &backend, &x).unwrap().gradient_into(&mut buffer, &x), kind);
        refused(pushforward_into(&Squares, [&mut buffer], &backend, &x, [&x]), kind);
        refused(pullback_into(&Squares, [&mut buffer], &backend, &x, [&x]), kind);
        refused(hvp_into(&Product, [&mut buffer], &backend, &x, [&x]), kind);
        refused(gradient_and_hvp_into(&Product, &mut buffer, [&mut x.clone()], &backend, &x, [&x]), kind);
        let hess = &mut Matrix::filled(3, 3, 0.0);
        refused(value_gradient_and_hessian_into(&Product, &mut buffer, hess, &backend, &x), kind);
        assert_eq!(buffer, wrong, "nothing was written");
        // Another length is another error.
        let mut long = (vec![0.0; 2], vec![0.0; 2]);
        refused(gradient_into(&Product, &mut long, &backend, &x), ErrorKind::BufferLength { expected: 3, found: 4 });
        // A point of another length than the preparation comes before the buffer.
        let kind = ErrorKind::PreparedLength { prepared: 3, found: 4 };
        refused(prepare_gradient(&Product, &backend, &x).unwrap().gradient_into(&mut x.clone(), &long), kind);
        let mut flat = vec![0.0; 3];
        gradient_into(&Product, &mut flat, &backend, &x).unwrap();
        close(&(flat[..2].to_vec(), flat[2..].to_vec()), &(vec![20.0, 30.0], vec![13.0]));
    });
}

#[cfg(feature = "ndarray")]
#[test]
fn transposed_arrays_are_refused() {
    use ndarray::Array2;
    let x = Array2::from_shape_fn((2, 3), |(i, j)| (3 * i + j) as f64);
    let h = |x: &Array2<_>| x * x;
    let backend = AutoForwardDiff::default();
    let error = pushforward(&h, &backend, &x, [&x.t().to_owned()]).unwrap_err();
    assert_eq!(error.kind(), SEED);
    assert!(error.to_string().contains("a different shape"), "{error}");
    assert_eq!(pushforward(&h, &backend, &x, [&x]).unwrap(), [2.0 * &x * &x]);
}
