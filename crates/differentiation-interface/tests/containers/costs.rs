//! Prepared calls into containers allocate nothing.

use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations;
use faer::Mat;
use nalgebra::{DMatrix, DVector, SVector};
use ndarray::{Array1, Array2};

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
