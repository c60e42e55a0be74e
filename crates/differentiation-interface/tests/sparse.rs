//! Sparse Jacobians and Hessians against dense ones.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::{DenseSparsityDetector, KnownPattern, NoSparsityDetector};
use matrix_coloring::{GreedyColoring, Pattern, Substitution};
use sparsity_tracer::TracerLocalSparsityDetector;
use std::sync::Arc;

/// yᵢ = (x_{i+1} - xᵢ)²
#[differentiable]
fn squares(y: &mut [f64], x: &[f64]) {
    for i in 0..y.len() {
        y[i] = (x[i + 1] - x[i]).powi(2);
    }
}

/// Σ (x_{i+1} - xᵢ)³
#[differentiable]
fn cubes(x: &[f64]) -> f64 {
    x.windows(2).map(|w| (w[1] - w[0]).powi(3)).sum()
}

/// A dense first row and first column beside the diagonal.
#[differentiable]
fn arrow(y: &mut [f64], x: &[f64]) {
    y[0] = x.iter().map(|v| v * v).sum();
    for i in 1..y.len() {
        y[i] = x[0] * x[i];
    }
}

const X: [f64; 6] = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0];

macro_rules! agrees_with_dense {
    ($f:expr, $backend:expr, $colors:expr) => {{
        let dense = jacobian(&$f, &AutoForwardDiff::default(), &X).unwrap();
        let f = $f;
        let mut prepared = prepare_jacobian(&f, &$backend, &[0.5; 6]).unwrap();
        assert_eq!(prepared.state().ncolors(), $colors);
        let (y, jac) = prepared.value_and_jacobian(&X).unwrap();
        assert_eq!(jac.to_dense(), dense);
        assert_eq!(y, value_and_jacobian(&$f, &AutoForwardDiff::default(), &X).unwrap().0);
        let mut again = jac.clone();
        again.values_mut().fill(f64::NAN);
        prepared.jacobian_into(&mut again, &X).unwrap();
        assert_eq!(again, jac);
        assert_eq!(jacobian(&$f, &$backend, &X).unwrap().to_dense(), dense);
    }};
}

#[test]
fn sparse_jacobian_equals_dense_one_by_columns_rows_and_both() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    agrees_with_dense!(in_place(Squares, 5), AutoSparse::new(fd), 2);
    agrees_with_dense!(in_place(Squares, 5), AutoSparse::new(rd), 2);
    agrees_with_dense!(in_place(Squares, 5), AutoSparse::new(fd).with_coloring(GreedyColoring::default()), 2);
    agrees_with_dense!(in_place(Squares, 5), AutoSparse::new(fd).with_detector(NoSparsityDetector), 6);
    agrees_with_dense!(in_place(Arrow, 6), AutoSparse::new(fd), 6);
    let mixed = AutoSparse::new(MixedMode(fd, rd)).with_coloring(GreedyColoring::default());
    agrees_with_dense!(in_place(Arrow, 6), mixed, 3);
    let mixed = mixed_substitution();
    agrees_with_dense!(in_place(Arrow, 6), mixed, 3);
    let dense = DenseSparsityDetector { backend: fd, tolerance: 0.0 };
    let known = KnownPattern(Arc::new(Pattern::from_fn(5, 6, |i, j| j == i || j == i + 1).unwrap()));
    agrees_with_dense!(in_place(Squares, 5), AutoSparse::new(fd).with_detector(known.clone()), 2);
    let f = in_place(Squares, 5);
    let jac = jacobian(&f, &AutoSparse::new(rd).with_detector(dense), &X).unwrap();
    assert_eq!(jac.nnz(), 10);
    let jac = jacobian(&f, &AutoSparse::new(rd).with_detector(TracerLocalSparsityDetector), &X).unwrap();
    assert_eq!(jac.nnz(), 10);
}

fn mixed_substitution() -> AutoSparse<
    MixedMode<AutoForwardDiff, AutoReverseDiff>,
    sparsity_tracer::TracerSparsityDetector,
    GreedyColoring,
    Substitution,
> {
    AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()))
        .with_coloring(GreedyColoring::default())
        .with_decompression(Substitution)
}

#[test]
fn sparse_hessian_equals_dense_one() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let (value, grad, dense) = value_gradient_and_hessian(&Cubes, &fd, &X).unwrap();
    macro_rules! check {
        ($backend:expr, $colors:expr) => {{
            let mut prepared = prepare_hessian(&Cubes, &$backend, &[0.5; 6]).unwrap();
            assert_eq!(prepared.state().ncolors(), $colors);
            let (y, g, hess) = prepared.value_gradient_and_hessian(&X).unwrap();
            assert_eq!((y, g.as_slice()), (value, grad.as_slice()));
            assert_eq!(hess.to_dense(), dense);
            assert_eq!(hess.nnz(), 16);
        }};
    }
    check!(AutoSparse::new(fd), 3);
    check!(AutoSparse::new(SecondOrder(fd, rd)), 3);
    check!(AutoSparse::new(SecondOrder(rd, fd)), 3);
    check!(AutoSparse::new(rd), 3);
    check!(AutoSparse::new(SecondOrder(fd, rd)).with_decompression(Substitution), 2);
    check!(AutoSparse::new(SecondOrder(rd, rd)).with_decompression(Substitution), 2);
    let local = AutoSparse::new(fd).with_detector(DenseSparsityDetector { backend: fd, tolerance: 0.0 });
    assert_eq!(hessian(&Cubes, &local, &X).unwrap().to_dense(), dense);
}
