//! Patterns that constants decide: a call with other constants never uses the pattern of the preparation where that lacks entries.

use differentiation_interface::function::Const;
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::{KnownPattern, MixedMode};
use matrix_coloring::Pattern;
use std::cell::Cell;
use std::sync::Arc;

const X: [f64; 3] = [1.0, 2.0, 3.0];

/// 3 is the slope along x₁, or 1 that along x₀, as the constant says.
#[differentiable(Either)]
fn either(x: &[f64], #[constant] left: bool) -> Vec<f64> {
    vec![if left { x[0] } else { 3.0 * x[1] }, x[0] * x[2]]
}
const LEFT: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [3.0, 0.0, 1.0]];
const RIGHT: [[f64; 3]; 2] = [[0.0, 3.0, 0.0], [3.0, 0.0, 1.0]];

/// x₀x₁ or x₁x₂.
#[differentiable(Product)]
fn product(x: &[f64], #[constant] left: bool) -> f64 {
    if left { x[0] * x[1] } else { x[1] * x[2] }
}
const LEFT_PRODUCT: [[f64; 3]; 3] = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
const RIGHT_PRODUCT: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];

#[test]
fn jacobians_follow_a_constant() {
    let (at, other) = ((&X, Constant(&true)), (&X, Constant(&false)));
    macro_rules! check {
        ($backend:expr) => {{
            let mut prepared = prepare_jacobian(&Either, &$backend, at).unwrap();
            for _ in 0..2 {
                assert_eq!(prepared.jacobian(at).unwrap().to_dense(), LEFT);
                assert_eq!(prepared.jacobian(other).unwrap().to_dense(), RIGHT);
                assert_eq!(prepared.value_and_jacobian(other).unwrap().0, [6.0, 3.0]);
            }
        }};
    }
    check!(AutoSparse::new(AutoForwardDiff::default()));
    check!(AutoSparse::new(AutoForwardDiff::with_chunk::<1>()));
    check!(AutoSparse::new(AutoReverseDiff::default()));
    check!(AutoSparse::new(AutoReverseDiff::tape()));
    check!(AutoSparse::new(AutoReverseDiff::compiled()));
    check!(AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::tape())));
}

#[test]
fn hessians_follow_a_constant() {
    let (at, other) = ((&X, Constant(&true)), (&X, Constant(&false)));
    macro_rules! check {
        ($backend:expr) => {{
            let mut prepared = prepare_hessian(&Product, &$backend, at).unwrap();
            for _ in 0..2 {
                assert_eq!(prepared.hessian(at).unwrap().to_dense(), LEFT_PRODUCT);
                assert_eq!(prepared.hessian(other).unwrap().to_dense(), RIGHT_PRODUCT);
                let (value, grad, _) = prepared.value_gradient_and_hessian(other).unwrap();
                assert_eq!((value, grad), (6.0, vec![0.0, 3.0, 2.0]));
            }
        }};
    }
    check!(AutoSparse::new(AutoForwardDiff::default()));
    check!(AutoSparse::new(AutoReverseDiff::default()));
    check!(AutoSparse::new(AutoReverseDiff::tape()));
    check!(AutoSparse::new(AutoReverseDiff::compiled()));
    check!(AutoSparse::new(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::tape())));
}

/// The matrix is the caller's, so that its pattern cannot follow.
#[test]
fn a_buffer_of_the_old_pattern_is_refused() {
    let (at, other) = ((&X, Constant(&true)), (&X, Constant(&false)));
    let mut prepared = prepare_jacobian(&Either, &AutoSparse::new(AutoForwardDiff::default()), at).unwrap();
    let mut jac = prepared.jacobian(at).unwrap();
    let error = prepared.jacobian_into(&mut jac, other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferPattern);
    // The pattern has the entries of both.
    let mut jac = prepared.jacobian(other).unwrap();
    assert_eq!(jac.to_dense(), RIGHT);
    prepared.jacobian_into(&mut jac, at).unwrap();
    assert_eq!(jac.to_dense(), LEFT);

    let mut prepared = prepare_hessian(&Product, &AutoSparse::new(AutoReverseDiff::tape()), at).unwrap();
    let mut hess = prepared.hessian(at).unwrap();
    let error = prepared.hessian_into(&mut hess, other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferPattern);
    let mut hess = prepared.hessian(at).unwrap();
    prepared.hessian_into(&mut hess, other).unwrap();
    assert_eq!(hess.to_dense(), RIGHT_PRODUCT);
}

/// x₀x₁x₂, or x₂ twice.
#[differentiable(Widths)]
fn widths(x: &[f64], #[constant] wide: bool) -> Vec<f64> {
    if wide { vec![x[0] * x[1] * x[2]] } else { vec![x[2], x[2]] }
}

/// Two lanes are too many for one colour.
#[test]
fn a_preparation_is_usable_after_an_error() {
    let (at, other) = ((&X, Constant(&true)), (&X, Constant(&false)));
    let backend = AutoSparse::new(AutoForwardDiff::with_chunk::<2>());
    let mut prepared = prepare_jacobian(&Widths, &backend, at).unwrap();
    assert_eq!(prepared.jacobian(at).unwrap().to_dense(), [[6.0, 3.0, 2.0]]);
    for x in [[5.0, 2.0, 1.0], [1.0, 1.0, 7.0]] {
        let error = prepared.jacobian(other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ChunkExceedsColors { chunk: 2, colors: 1 });
        let jac = prepared.jacobian((&x, Constant(&true))).unwrap();
        assert_eq!(jac.to_dense(), [[x[1] * x[2], x[0] * x[2], x[0] * x[1]]]);
    }
}

/// Constants of an own type, of which nothing can be compared.
struct Mesh {
    edges: Cell<&'static [(usize, usize)]>,
}
struct Lengths;
impl<T: Real> FunctionWith<[T], (Const<Mesh>,)> for Lengths {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (mesh,): (&Mesh,)) -> Vec<T> {
        mesh.edges.get().iter().map(|&(i, j)| (x[i] - x[j]) * (x[i] - x[j])).collect()
    }
}

#[test]
fn a_constant_of_any_type_is_followed() {
    let mesh = Mesh { edges: Cell::new(&[(0, 1), (1, 2)]) };
    let at = (&X, Constant(&mesh));
    let mut prepared = prepare_jacobian(&Lengths, &AutoSparse::new(AutoForwardDiff::default()), at).unwrap();
    assert_eq!(prepared.jacobian(at).unwrap().to_dense(), [[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0]]);
    mesh.edges.set(&[(0, 2), (1, 2)]);
    assert_eq!(prepared.jacobian(at).unwrap().to_dense(), [[-4.0, 0.0, 4.0], [0.0, -2.0, 2.0]]);
    // Another number of outputs.
    mesh.edges.set(&[(0, 2), (1, 2), (0, 1)]);
    let jac = prepared.jacobian(at).unwrap();
    assert_eq!(jac.to_dense(), [[-4.0, 0.0, 4.0], [0.0, -2.0, 2.0], [-2.0, 2.0, 0.0]]);
    mesh.edges.set(&[]);
    assert_eq!(prepared.jacobian(at).unwrap().values(), [0.0; 0]);
}

/// Positions, and which of them are connected.
#[derive(Clone, Debug, Container)]
struct Chain<T = f64> {
    positions: Vec<T>,
    #[constant]
    edges: Vec<(usize, usize)>,
    #[constant]
    name: String,
}

fn stretch<T: Real>(chain: &Chain<T>) -> Vec<T> {
    let x = &chain.positions;
    chain.edges.iter().map(|&(i, j)| (x[i] - x[j]) * (x[i] - x[j])).collect()
}

#[test]
fn constant_fields_are_followed() {
    let mut chain = Chain { positions: X.to_vec(), edges: vec![(0, 1), (1, 2)], name: "chain".into() };
    struct Stretch;
    impl<T: Real> Function<Chain<T>> for Stretch {
        type Output = Vec<T>;
        fn call(&self, chain: &Chain<T>) -> Vec<T> {
            stretch(chain)
        }
    }
    macro_rules! check {
        ($backend:expr) => {{
            chain.edges = vec![(0, 1), (1, 2)];
            let mut prepared = prepare_jacobian(&Stretch, &$backend, &chain).unwrap();
            assert_eq!(prepared.jacobian(&chain).unwrap().to_dense(), [[-2.0, 2.0, 0.0], [0.0, -2.0, 2.0]]);
            chain.edges[0] = (0, 2);
            assert_eq!(prepared.jacobian(&chain).unwrap().to_dense(), [[-4.0, 0.0, 4.0], [0.0, -2.0, 2.0]]);
        }};
    }
    check!(AutoSparse::new(AutoForwardDiff::default()));
    check!(AutoSparse::new(AutoReverseDiff::tape()));
    check!(AutoSparse::new(AutoReverseDiff::compiled()));
}

/// x₀x₂ if x₁ is positive, else x₀.
struct Gate;
impl<T: Real> Function<[T]> for Gate {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        vec![if x[1] > T::constant(0.0) { x[0] * x[2] } else { x[0] }]
    }
}

#[test]
fn frozen_numbers_are_followed() {
    let free = [true, false, true];
    macro_rules! check {
        ($backend:expr) => {{
            let mut x = X.to_vec();
            x[1] = -1.0;
            let mut prepared = prepare_jacobian(&Gate, &$backend, Masked(&x, &free)).unwrap();
            assert_eq!(prepared.jacobian(Masked(&x, &free)).unwrap().to_dense(), [[1.0, 0.0]]);
            let x = X.to_vec();
            assert_eq!(prepared.jacobian(Masked(&x, &free)).unwrap().to_dense(), [[3.0, 1.0]]);
        }};
    }
    check!(AutoSparse::new(AutoForwardDiff::default()));
    check!(AutoSparse::new(AutoReverseDiff::tape()));
    check!(AutoSparse::new(AutoReverseDiff::compiled()));
}

/// Counts its runs.
struct Counted(Cell<usize>);
impl<T: Real> FunctionWith<[T], (Const<f64>,)> for Counted {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (scale,): (&f64,)) -> Vec<T> {
        self.0.set(self.0.get() + 1);
        x.iter().map(|v| *v * *v * *scale).collect()
    }
}

#[test]
fn equal_constants_cost_no_detection() {
    let counted = Counted(Cell::new(0));
    let runs = |call: &mut dyn FnMut()| {
        let before = counted.0.get();
        call();
        counted.0.get() - before
    };
    let backend = AutoSparse::new(AutoForwardDiff::default());
    let mut prepared = prepare_jacobian(&counted, &backend, (&X, Constant(&2.0))).unwrap();
    let mut jac = prepared.jacobian((&X, Constant(&2.0))).unwrap();
    assert_eq!(runs(&mut || prepared.jacobian_into(&mut jac, (&X, Constant(&2.0))).unwrap()), 1);
    assert_eq!(runs(&mut || prepared.jacobian_into(&mut jac, (&X, Constant(&3.0))).unwrap()), 2);
    assert_eq!(runs(&mut || prepared.jacobian_into(&mut jac, (&X, Constant(&3.0))).unwrap()), 1);
    assert_eq!(jac.values(), [6.0, 12.0, 18.0]);
    // A pattern that is given is not detected.
    let known = backend.with_detector(KnownPattern(Arc::new(Pattern::banded(3, 0).unwrap())));
    let mut prepared = prepare_jacobian(&counted, &known, (&X, Constant(&2.0))).unwrap();
    assert_eq!(runs(&mut || prepared.jacobian_into(&mut jac, (&X, Constant(&4.0))).unwrap()), 1);
    assert_eq!(jac.values(), [8.0, 16.0, 24.0]);
}

/// s x₀² + x₁, or a branch on s.
struct Scaled {
    branches: bool,
}
impl<T: Real> FunctionWith<[T], (Const<T>,)> for Scaled {
    type Output = Vec<T>;
    fn call_with(&self, x: &[T], (scale,): (&T,)) -> Vec<T> {
        let small = self.branches && *scale < T::constant(1.0);
        vec![if small { x[1] } else { x[1] + *scale * x[0] * x[0] }, scale.max(T::constant(2.0))]
    }
}

/// A pattern holds for all values of a parameter, zero among them.
#[test]
fn parameters_do_not_decide() {
    let backend = AutoSparse::new(AutoForwardDiff::default());
    let f = Scaled { branches: false };
    let mut prepared = prepare_jacobian(&f, &backend, (&X, Parameter(&0.0))).unwrap();
    let mut jac = prepared.jacobian((&X, Parameter(&0.0))).unwrap();
    assert_eq!(jac.to_dense(), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]);
    prepared.jacobian_into(&mut jac, (&X, Parameter(&5.0))).unwrap();
    assert_eq!(jac.to_dense(), [[10.0, 1.0, 0.0], [0.0, 0.0, 0.0]]);
    let error = jacobian(&Scaled { branches: true }, &backend, (&X, Parameter(&0.0))).unwrap_err();
    let ErrorKind::ValueDecides { place } = error.kind() else { panic!("{error}") };
    assert!(place.file().ends_with("constants.rs"));
}
