//! Prepared calls into containers allocate nothing; recordings serve points with constants.

use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use faer::Mat;
use nalgebra::{DMatrix, DVector, SVector};
use ndarray::{Array1, Array2};
use num_complex::Complex;
use std::cell::Cell;

#[derive(Clone, Debug, PartialEq, Container)]
struct Ten<T = f64> {
    scale: T,
    ends: (T, T),
    array: [T; 4],
    vector: SVector<T, 3>,
}

#[derive(Clone, Debug, PartialEq, Container)]
struct Layers<T = f64> {
    weights: Vec<DMatrix<T>>,
    bias: Option<DVector<T>>,
    rates: Vec<(T, T)>,
    #[constant]
    name: String,
}

fn squares<'a, T: Real + 'a>(numbers: impl IntoIterator<Item = &'a T>) -> T {
    numbers.into_iter().enumerate().map(|(i, x)| *x * *x * (i + 1) as f64).sum()
}

/// Counts the allocations of prepared gradients, products with the Hessian and their parts, after a first call.
macro_rules! allocates_nothing {
    ($backend:expr; $($point:expr, $f:expr;)*) => {$({
        let x = $point;
        let (mut grad, mut product) = (x.clone(), x.clone());
        let name = std::any::type_name_of_val(&x);
        let f = $f;
        let mut prepared = prepare_gradient(&f, &$backend, &x).unwrap();
        let before = allocations();
        for _ in 0..2 {
            prepared.value_and_gradient_into(&mut grad, &x).unwrap();
        }
        assert_eq!(allocations() - before, 0, "gradient at {name}");
        let f = $f;
        let mut prepared = prepare_hvp(&f, &$backend, &x, [&x]).unwrap();
        let before = allocations();
        for _ in 0..2 {
            prepared.value_gradient_and_hvp_into(&mut grad, [&mut product], &x, [&x]).unwrap();
        }
        assert_eq!(allocations() - before, 0, "hvp at {name}");
        // The function is homogeneous of degree 2.
        assert_eq!(grad, product);
    })*};
}

/// At every container, by one engine.
macro_rules! at_every_container {
    ($($test:ident: $backend:expr;)*) => {$(
        #[test]
        fn $test() {
            allocates_nothing! { $backend;
                SVector::<f64, 10>::from_element(0.5), |x: &SVector<_, 10>| squares(x);
                Array1::from_elem(10, 0.5), |x: &Array1<_>| squares(x);
                Array2::from_elem((5, 2), 0.5).reversed_axes(), |x: &Array2<_>| squares(x);
                DVector::from_element(10, 0.5), |x: &DVector<_>| squares(x);
                DMatrix::from_element(5, 2, 0.5), |x: &DMatrix<_>| squares(x);
                Mat::from_fn(5, 2, |i, j| (i + j) as f64), |m: &Mat<_>| squares((0..2).flat_map(|j| (0..5).map(move |i| &m[(i, j)])));
                Ten { scale: 2.0, ends: (0.5, 1.5), array: [1.0; 4], vector: SVector::from_element(0.5) },
                    |x: &Ten<_>| squares([&x.scale, &x.ends.0, &x.ends.1].into_iter().chain(&x.array).chain(&x.vector));
                Layers {
                    weights: vec![DMatrix::from_element(2, 2, 0.5), DMatrix::from_element(1, 3, 1.5)],
                    bias: Some(DVector::from_element(2, 2.5)),
                    rates: vec![(0.5, 1.0); 3],
                    name: "net".into(),
                }, |x: &Layers<_>| squares(x.weights.iter().flatten().chain(x.bias.iter().flatten()).chain(x.rates.iter().map(|r| &r.1)));
                (vec![0.5; 3], [1.5; 2]), |x: &(Vec<_>, [_; 2])| squares(x.0.iter().chain(&x.1));
            }
        }
    )*};
}
at_every_container! {
    forward_diff_allocates_nothing_at_containers: AutoForwardDiff::default();
    reverse_diff_allocates_nothing_at_containers: AutoReverseDiff::default();
    compiled_reverse_diff_allocates_nothing_at_containers: AutoReverseDiff::compiled();
}

/// A path through the plane as a struct in several pieces.
#[derive(Clone, Debug, PartialEq, Container)]
struct Path<T = f64> {
    position: (T, T),
    radius: T,
}

fn spiral<T: Real>(t: T) -> Path<T> {
    Path { position: (t * t, t * t * t), radius: 2.0 * t }
}

#[test]
fn derivatives_of_structs_are_written_without_allocation() {
    let other = Path { position: (0.0, 0.0), radius: 0.0 };
    let (mut first, mut second) = (other.clone(), other);
    let backend = AutoForwardDiff::default();
    let mut derivative = prepare_derivative(&spiral, &backend, 1.0).unwrap();
    let mut twice = prepare_second_derivative(&spiral, &backend, 1.0).unwrap();
    let before = allocations();
    for _ in 0..2 {
        derivative.derivative_into(&mut first, 2.0).unwrap();
        twice.second_derivative_into(&mut second, 2.0).unwrap();
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!(first, Path { position: (4.0, 12.0), radius: 2.0 });
    assert_eq!(second, Path { position: (2.0, 12.0), radius: 0.0 });
}

#[test]
fn gradients_of_free_entries_are_written_without_allocation() {
    let x = Ten { scale: 2.0, ends: (0.5, 1.5), array: [1.0; 4], vector: SVector::from_element(0.5) };
    let free = [true, false, true, true, false, false, true, true, true, true];
    let f = |x: &Ten<_>| squares([&x.scale, &x.ends.0, &x.ends.1].into_iter().chain(&x.array).chain(&x.vector));
    let mut grad = [0.0; 7];
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), Masked(&x, &free)).unwrap();
    let before = allocations();
    for _ in 0..2 {
        prepared.gradient_into(&mut grad, Masked(&x, &free)).unwrap();
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!(grad, [4.0, 9.0, 8.0, 14.0, 8.0, 9.0, 10.0]);
}

#[test]
fn values_at_structs_are_computed_without_allocation() {
    let x = Ten { scale: 2.0, ends: (0.5, 1.5), array: [1.0; 4], vector: SVector::from_element(0.5) };
    let f = |x: &Ten<_>| squares([&x.scale, &x.ends.0, &x.ends.1].into_iter().chain(&x.array).chain(&x.vector));
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &x).unwrap();
    let expected = prepared.value(&x).unwrap();
    let before = allocations();
    assert_eq!(prepared.value(&x).unwrap(), expected);
    assert_eq!(allocations() - before, 0);
    assert_eq!(expected, 4.0 + 0.5 + 6.75 + 22.0 + 6.75);
}

/// A spring whose law is a constant: plain data, and an own type.
#[derive(Clone, Debug, PartialEq, Container)]
struct Spring<T = f64> {
    lengths: Vec<T>,
    #[constant]
    power: i32,
    #[constant]
    rests: DVector<f64>,
    #[constant]
    name: Option<String>,
}
#[derive(Clone, Debug, PartialEq)]
struct Law(i32);
#[derive(Clone, Debug, PartialEq, Container)]
struct OwnSpring<T = f64> {
    length: T,
    #[constant]
    law: Law,
}

/// A recording serves points with the constants that it was made with, and no others.
#[test]
fn recordings_serve_points_with_equal_constants() {
    let runs = Cell::new(0);
    let mut spring = Spring { lengths: vec![1.0, 2.0], power: 2, rests: DVector::from_element(2, 0.5), name: None };
    fn energy<T: Real>(s: &Spring<T>) -> T {
        s.lengths.iter().zip(&s.rests).map(|(length, rest)| (*length - *rest).powi(s.power)).sum()
    }
    let f = |s: &Spring<_>| {
        runs.set(runs.get() + 1);
        energy(s)
    };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &spring).unwrap();
    let mut runs_at = |spring: &Spring, expected: [f64; 2]| {
        let before = runs.get();
        assert_eq!(prepared.gradient(spring).unwrap().lengths, expected, "{spring:?}");
        runs.get() - before
    };
    assert_eq!(runs_at(&spring, [1.0, 3.0]), 0);
    spring.lengths[0] = 3.0;
    assert_eq!(runs_at(&spring, [5.0, 3.0]), 0);
    let changes: [fn(&mut Spring); 3] = [|s| s.power = 3, |s| s.rests[1] = 1.0, |s| s.name = Some(String::new())];
    for change in changes {
        let mut other = spring.clone();
        change(&mut other);
        let power = other.power;
        let slope = |i: usize| power as f64 * (other.lengths[i] - other.rests[i]).powi(power - 1);
        assert_eq!(runs_at(&other, [slope(0), slope(1)]), 1);
        // The program may have been replaced by one that takes a constant as a parameter.
        runs_at(&spring, [5.0, 3.0]);
        assert_eq!((runs_at(&other, [slope(0), slope(1)]), runs_at(&spring, [5.0, 3.0])), (0, 0), "{other:?}");
    }

    fn bent<T: Real>(s: &OwnSpring<T>) -> T {
        s.length.powi(s.law.0)
    }
    let mut spring = OwnSpring { length: 3.0, law: Law(2) };
    let f = |s: &OwnSpring<_>| {
        runs.set(runs.get() + 1);
        bent(s)
    };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &spring).unwrap();
    for (power, slope) in [(2, 6.0), (3, 27.0), (2, 6.0)] {
        spring.law = Law(power);
        let before = runs.get();
        assert_eq!(prepared.gradient(&spring).unwrap().length, slope);
        assert_eq!(runs.get() - before, 1, "nothing is known of `Law`");
    }

    let free = [true, false];
    let f = |x: &[_]| {
        runs.set(runs.get() + 1);
        x[0] * x[0] * x[1]
    };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), Masked(&vec![3.0, 5.0], &free)).unwrap();
    for (x, slope, expected_runs) in [
        ([2.0, 5.0], 20.0, 0),
        ([2.0, 7.0], 28.0, 1),
        ([1.0, 7.0], 14.0, 0),
        ([1.0, 5.0], 10.0, 0),
        ([4.0, 7.0], 56.0, 0),
    ] {
        let before = runs.get();
        assert_eq!(prepared.gradient(Masked(&x.to_vec(), &free)).unwrap(), [slope, 0.0]);
        assert_eq!(runs.get() - before, expected_runs, "{x:?}");
    }

    let f = |z: &Complex<_>| {
        runs.set(runs.get() + 1);
        *z * *z
    };
    let point = Complex::new(3.0, 4.0);
    let mut prepared = prepare_derivative(&f, &AutoReverseDiff::compiled(), point).unwrap();
    for (point, expected_runs) in
        [(Complex::new(1.0, 4.0), 0), (Complex::new(1.0, 2.0), 1), (Complex::new(5.0, 2.0), 0), (point, 0)]
    {
        let before = runs.get();
        assert_eq!(prepared.derivative(point).unwrap(), 2.0 * point);
        assert_eq!(runs.get() - before, expected_runs, "{point}");
    }
}
