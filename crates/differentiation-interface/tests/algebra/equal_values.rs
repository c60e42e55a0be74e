//! Equal eigenvalues and singular values: derivatives are right or not finite, in every engine.

use crate::assert_close;
use crate::shortcuts::{number, weighted};
use differentiation_interface::algebra::decomposition::{
    singular_values, svd, symmetric_eigen, symmetric_eigenvalues, symmetric_function,
};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Cosh, Exp, Ln, Sin, Sqrt, Tanh};
use nalgebra::{DMatrix, Matrix3, RealField};

fn square<T: RealField + Copy>(x: &[T]) -> DMatrix<T> {
    let n = x.len().isqrt();
    DMatrix::from_column_slice(n, n, x)
}
/// V f(Λ) Vᵀ from vectors.
fn recomposed<T: Scalar + RealField>(x: &[T], f: impl Fn(T) -> T) -> DMatrix<T> {
    let eigen = symmetric_eigen(&square(x));
    &eigen.eigenvectors * DMatrix::from_diagonal(&eigen.eigenvalues.map(f)) * eigen.eigenvectors.transpose()
}

/// The gradient by each kind of engine.
macro_rules! gradients {
    ($f:expr, $x:expr) => {{
        let x: &[f64] = &$x;
        let compiled =
            prepare_gradient(&$f, &AutoReverseDiff::compiled(), &x.iter().map(|v| v + 0.01).collect::<Vec<_>>());
        [
            ("forward", gradient(&$f, &AutoForwardDiff::default(), x).unwrap()),
            ("reverse", gradient(&$f, &AutoReverseDiff::default(), x).unwrap()),
            ("compiled", compiled.unwrap().gradient(x).unwrap()),
        ]
    }};
}
/// The Hessian, row after row, by each kind of engine and pair.
macro_rules! hessians {
    ($f:expr, $x:expr) => {{
        let (x, forward, reverse): (&[f64], _, _) = (&$x, AutoForwardDiff::default(), AutoReverseDiff::default());
        [
            ("forward", hessian(&$f, &forward, x)),
            ("reverse", hessian(&$f, &reverse, x)),
            ("compiled", hessian(&$f, &AutoReverseDiff::compiled(), x)),
            ("forward over reverse", hessian(&$f, &SecondOrder(forward, reverse), x)),
            ("reverse over forward", hessian(&$f, &SecondOrder(reverse, forward), x)),
            ("compiled over forward", {
                // Recorded at a matrix with equal eigenvalues.
                let equal: Vec<f64> =
                    (0..x.len()).map(|k| if k % (x.len().isqrt() + 1) == 0 { 2.5 } else { 0.0 }).collect();
                prepare_hessian(&$f, &SecondOrder(AutoReverseDiff::compiled(), forward), &equal).unwrap().hessian(x)
            }),
        ]
        .map(|(engine, hess)| (engine, hess.unwrap().into_vec()))
    }};
}

#[track_caller]
fn all_right<const N: usize>(what: &str, found: [(&str, Vec<f64>); N], expected: &[f64], tolerance: f64) {
    for (engine, found) in found {
        assert_close(&format!("{what}, {engine}"), &found, expected, tolerance);
    }
}
/// No entry is finite and wrong.
#[track_caller]
fn right_or_not_finite<const N: usize>(what: &str, found: [(&str, Vec<f64>); N], expected: &[f64]) {
    for (engine, found) in found {
        let known: Vec<f64> = found.iter().zip(expected).map(|(f, e)| if f.is_finite() { *f } else { *e }).collect();
        assert_close(&format!("{what}, {engine}"), &known, expected, 1e-12);
    }
}

#[test]
fn functions_of_vectors_are_right_or_not_finite() {
    // C·ln A at the identity has the gradient C; the entry beside the diagonal has vectors whose cotangents are all zero.
    fn weighted_logarithm<T: Scalar + RealField>(x: &[T]) -> T {
        let l = recomposed(x, nalgebra::ComplexField::ln);
        l[0] + (l[1] + l[2]) * number(2.0) + l[3] * number(3.0)
    }
    fn entry<T: Scalar + RealField>(x: &[T]) -> T {
        recomposed(x, nalgebra::ComplexField::ln)[1]
    }
    fn sum<T: Scalar + RealField>(x: &[T]) -> T {
        recomposed(x, nalgebra::ComplexField::ln).sum()
    }
    let identity = [1.0, 0.0, 0.0, 1.0];
    right_or_not_finite("C·ln A", gradients!(weighted_logarithm, identity), &[1.0, 2.0, 2.0, 3.0]);
    right_or_not_finite("an entry", gradients!(entry, identity), &[0.0, 0.5, 0.5, 0.0]);
    right_or_not_finite("the sum", gradients!(sum, identity), &[1.0; 4]);

    // The matrix itself, of low rank.
    fn itself<T: Scalar + RealField>(x: &[T]) -> T {
        weighted(recomposed(x, |l| l).iter())
    }
    let unit = |i: usize| (0..9).map(|k| if k == i { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    let mut weights: Vec<f64> = (0..9).map(|i| weighted(&unit(i))).collect();
    fn svd_itself<T: Scalar + RealField, const ROWS: usize>(x: &[T]) -> T {
        let svd = svd(&DMatrix::from_column_slice(ROWS, x.len() / ROWS, x));
        weighted((svd.u.unwrap() * DMatrix::from_diagonal(&svd.singular_values) * svd.v_t.unwrap()).iter())
    }
    let mut x = [0.0; 9];
    for first in [0.0, 1.0] {
        x[0] = first;
        right_or_not_finite("svd, 3 x 3", gradients!(svd_itself::<_, 3>, x), &weights);
        right_or_not_finite("svd, 2 x 3", gradients!(svd_itself::<_, 2>, x[..6]), &weights[..6]);
        right_or_not_finite("svd, 2 x 1", gradients!(svd_itself::<_, 2>, x[..2]), &weights[..2]);
    }
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let mean = (weights[i + 3 * j] + weights[j + 3 * i]) / 2.0;
        (weights[i + 3 * j], weights[j + 3 * i]) = (mean, mean);
    }
    for first in [0.0, 1.0] {
        x[0] = first;
        right_or_not_finite("V Λ Vᵀ", gradients!(itself, x), &weights);
    }
}

/// The Hessian of the sum of squares of the entries of a matrix; of the symmetric part, for eigenvalues.
#[test]
fn second_derivatives_of_equal_values_are_right_or_not_finite() {
    fn eigenvalues<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_eigenvalues(&square(x)).norm_squared()
    }
    fn eigen<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_eigen(&square(x)).eigenvalues.norm_squared()
    }
    fn values<T: Scalar + RealField>(x: &[T]) -> T {
        singular_values(&square(x)).norm_squared()
    }
    let symmetric = [2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    let twice: Vec<f64> = (0..16).map(|k| if k % 5 == 0 { 2.0 } else { 0.0 }).collect();
    for x in [[0.0; 4], [1.0, 0.0, 0.0, 1.0], [-3.0, 0.0, 0.0, -3.0]] {
        right_or_not_finite("eigenvalues", hessians!(eigenvalues, x), &symmetric);
        right_or_not_finite("eigen", hessians!(eigen, x), &symmetric);
        right_or_not_finite("singular values", hessians!(values, x), &twice);
    }
    // Apart they are right.
    let x = [1.0, 0.5, 0.5, -0.7];
    all_right("eigenvalues", hessians!(eigenvalues, x), &symmetric, 1e-12);
    all_right("eigen", hessians!(eigen, x), &symmetric, 1e-12);
    all_right("singular values", hessians!(values, x), &twice, 1e-12);
}

/// tr A and tr A², whatever the eigenvalues are; the vectors of equal ones have no derivative.
#[test]
fn symmetric_functions_of_equal_eigenvalues_are_right() {
    fn traces<T: Scalar + RealField>(x: &[T]) -> T {
        let values = symmetric_eigenvalues(&square(x));
        values.sum() + values.dot(&values)
    }
    /// In forward mode the decomposition with vectors serves too.
    fn with_vectors<T: Scalar + RealField>(x: &[T]) -> T {
        let values = symmetric_eigen(&square(x)).eigenvalues;
        values.sum() + values.dot(&values)
    }
    fn nuclear<T: Scalar + RealField>(x: &[T]) -> T {
        singular_values(&square(x)).sum()
    }
    fn vector_entry<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_eigen(&square(x)).eigenvectors[(1, 0)]
    }
    let identity = Matrix3::<f64>::identity();
    let x: Vec<f64> = (identity * 2.0).as_slice().to_vec();
    all_right("traces", gradients!(traces, x), (identity * 5.0).as_slice(), 1e-14);
    all_right("traces at zero", gradients!(traces, [0.0; 9]), identity.as_slice(), 1e-14);
    let forward = gradient(&with_vectors, &AutoForwardDiff::default(), &x).unwrap();
    assert_close("traces", &forward, (identity * 5.0).as_slice(), 1e-14);
    right_or_not_finite("traces with vectors", gradients!(with_vectors, x), (identity * 5.0).as_slice());
    // The vectors of nearly equal eigenvalues are as far from (1, 1)/√2 as the rounding over the distance.
    let near = symmetric_eigen(&nalgebra::Matrix2::new(1.0_f64, 1e-9, 1e-9, 1.0)).eigenvectors;
    assert!(near.iter().all(|entry| (entry.abs() - 0.5_f64.sqrt()).abs() < 1e-16 / 1e-9), "{near}");
    all_right("nuclear norm", gradients!(nuclear, x), identity.as_slice(), 1e-14);
    for (engine, grad) in gradients!(vector_entry, x) {
        assert!(grad.iter().any(|entry| !entry.is_finite()), "{engine}: {grad:?}");
    }
    // A matrix that is not finite has no decomposition.
    assert!(symmetric_eigen(&Matrix3::from_element(f64::NAN)).eigenvalues.iter().all(|value| value.is_nan()));
    assert!(svd(&Matrix3::from_element(f64::INFINITY)).singular_values.iter().all(|value| value.is_nan()));
    assert!(symmetric_function(Exp, &Matrix3::from_element(f64::NAN)).iter().all(|entry| entry.is_nan()));
}

#[test]
fn functions_of_matrices_are_right_at_equal_and_nearly_equal_eigenvalues() {
    // C·f(A) at a multiple of the identity has the gradient f′ C.
    fn logarithm<T: Scalar + RealField>(x: &[T]) -> T {
        let l = symmetric_function(Ln, &square(x));
        l[0] + (l[1] + l[2]) * number(2.0) + l[3] * number(3.0)
    }
    all_right("ln", gradients!(logarithm, [4.0, 0.0, 0.0, 4.0]), &[0.25, 0.5, 0.5, 0.75], 1e-15);
    // √A at diag(4, 4, 1): Lᵢⱼ = 1/(√λᵢ + √λⱼ), whatever the distance.
    fn root<T: Scalar + RealField>(x: &[T]) -> T {
        let root = symmetric_function(Sqrt, &square(x));
        root.sum() + root.trace()
    }
    for apart in [0.0, 1e-15, 1e-9, 1e-5, 1e-2] {
        let (a, b, c) = (2.0_f64, f64::sqrt(4.0 + apart), 1.0);
        let l = |x: f64, y: f64| 1.0 / (x + y);
        let mut expected = [a, b, c].map(|x| [a, b, c].map(|y| l(x, y)));
        (0..3).for_each(|i| expected[i][i] *= 2.0);
        let x = [4.0, 0.0, 0.0, 0.0, 4.0 + apart, 0.0, 0.0, 0.0, 1.0];
        all_right("root", gradients!(root, x), expected.as_flattened(), 1e-12);
    }
    // e^A at diag(0, d): L = (e^d - 1)/d, where differences of values have no digits.
    fn exponential<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_function(Exp, &square(x)).sum()
    }
    for d in [0.0, 1e-12, 1e-9, -1e-6, 1e-3, 0.3, -2.0] {
        let l = if d == 0.0 { 1.0 } else { f64::exp_m1(d) / d };
        all_right("exp", gradients!(exponential, [0.0, 0.0, 0.0, d]), &[1.0, l, l, f64::exp(d)], 1e-12);
    }
}

/// Where eigenvalues differ, second derivatives too: those of e^A against differences of gradients, and of A by its root against none.
#[test]
fn second_derivatives_of_functions_of_matrices_are_right() {
    fn exponential<T: Scalar + RealField>(x: &[T]) -> T {
        weighted(symmetric_function(Exp, &square(x)).iter())
    }
    let x = [0.3, 0.2, -0.1, 0.9];
    let rows =
        (0..4).map(|i| crate::differences(|x| gradient(&exponential, &AutoForwardDiff::default(), x).unwrap()[i], &x));
    all_right("exp", hessians!(exponential, x), &rows.collect::<Vec<_>>().concat(), 1e-9);
    fn squared_root<T: Scalar + RealField>(x: &[T]) -> T {
        let root = symmetric_function(Sqrt, &square(x));
        weighted((&root * &root).iter())
    }
    all_right("squared root", hessians!(squared_root, [2.0, 0.3, 0.3, 1.0]), &[0.0; 16], 1e-12);
}

fn eigenvalues_alone<T: Scalar + RealField>(x: &[T]) -> T {
    weighted(symmetric_eigenvalues(&square(x)).iter())
}
fn tall_values_alone<T: Scalar + RealField>(x: &[T]) -> T {
    weighted(singular_values(&DMatrix::from_column_slice(3, 2, x)).iter())
}
fn logarithm<T: Scalar + RealField>(x: &[T]) -> T {
    weighted(symmetric_function(Ln, &square(x)).iter())
}
mod gradients {
    crate::gradients_are_differences! {
        eigenvalues_alone at [2.0, 0.3, -0.8, 0.5, -1.0, 0.6, 0.0, 0.2, 0.4], 1e-9;
        tall_values_alone at [1.0, 0.0, 0.4, 0.0, 2.0, 0.3], 1e-9;
        logarithm at [3.0, 0.3, -0.4, 0.5, 2.0, 0.6, 0.0, 0.2, 1.4], 1e-9;
    }
}

/// Slopes at three points do not show what lies between them.
#[test]
fn functions_of_far_eigenvalues_with_equal_slopes() {
    fn steps<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_function(Tanh, &square(x))[(0, 1)]
    }
    fn waves<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_function(Sin, &square(x))[(0, 1)]
    }
    for (engine, grad) in gradients!(steps, [-25.0, 0.0, 0.0, 75.0]) {
        assert!((grad[1] + grad[2] - 0.02).abs() < 1e-15, "{engine}: {grad:?}");
    }
    for (engine, grad) in gradients!(waves, [0.5, 0.0, 0.0, 0.5 + 4.0 * std::f64::consts::PI]) {
        assert!((grad[1] + grad[2]).abs() < 1e-15, "{engine}: {grad:?}");
    }
}

/// Where the slope is small too, a difference of values has no digits, and the mean of slopes has all.
#[test]
fn functions_of_nearly_equal_eigenvalues_near_an_extremum() {
    fn f<T: Scalar + RealField>(x: &[T]) -> T {
        symmetric_function(Cosh, &square(x))[(0, 1)]
    }
    for scale in [1e-9, 1e-8, 1e-4, 1.0] {
        let (a, b): (f64, f64) = (scale, 2.0 * scale);
        // Off the diagonal the derivative is the divided difference, cosh a - cosh b = 2 sinh((a + b) / 2) sinh((a - b) / 2).
        let slope = 2.0 * (0.5 * (a + b)).sinh() * (0.5 * (a - b)).sinh() / (a - b);
        for (engine, grad) in gradients!(f, [a, 0.0, 0.0, b]) {
            let found = grad[1] + grad[2];
            assert!((found - slope).abs() <= 1e-6 * slope, "{engine}: {found} for {slope} at {a} and {b}");
        }
    }
}

/// The empty matrix has singular values, none of them, and no vectors.
#[test]
fn empty_matrices_are_refused_by_name() {
    fn norm<T: Real + RealField>(rows: usize, columns: usize, x: &[T]) -> T {
        x[0] * 2.0 + singular_values(&DMatrix::from_column_slice(rows, columns, &x[..0])).sum()
    }
    let empty = |rows: usize, columns: usize| DMatrix::<f64>::zeros(rows, columns);
    let refused = |run: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    };
    let text =
        |function: &str, shape: &str| format!("`{function}` needs a matrix that is not empty, this one is {shape}");
    assert_eq!(refused(&|| drop(symmetric_eigen(&empty(0, 0)))), text("symmetric_eigen", "0 x 0"));
    assert_eq!(refused(&|| drop(symmetric_eigenvalues(&empty(0, 0)))), text("symmetric_eigenvalues", "0 x 0"));
    assert_eq!(refused(&|| drop(symmetric_function(Exp, &empty(0, 0)))), text("symmetric_function", "0 x 0"));
    assert_eq!(refused(&|| drop(svd(&empty(2, 0)))), text("svd", "2 x 0"));
    for (rows, columns) in [(0, 0), (2, 0), (0, 3)] {
        assert_eq!(singular_values(&empty(rows, columns)).len(), 0);
        macro_rules! gradients {
            ($($backend:expr),*) => {[$(
                gradient(&|x: &[_]| norm(rows, columns, x), &$backend, &[1.0]).unwrap()
            ),*]};
        }
        let grads = gradients!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
        assert_eq!(grads, [[2.0], [2.0], [2.0]]);
    }
}

/// Rotations have the singular values 1, 1, 1 but for rounding, so that a quotient of their differences would be finite and wrong. The Hessian of Σ σ² is 2.
#[test]
fn singular_values_that_are_equal_but_for_rounding_count_as_equal() {
    fn squares<T: Scalar + RealField>(x: &[T]) -> T {
        singular_values(&square(x)).norm_squared()
    }
    for angle in [0.3, 0.7, 1.1] {
        let (turn, tilt) = (nalgebra::Rotation3::from_euler_angles(angle, 0.4, -0.9), [1.5, -0.25, 0.5]);
        let x: Vec<f64> = (turn * nalgebra::Rotation3::new(tilt.into())).matrix().iter().copied().collect();
        let two: Vec<f64> = (0..81).map(|at| if at % 10 == 0 { 2.0 } else { 0.0 }).collect();
        right_or_not_finite("singular values", hessians!(squares, x), &two);
        all_right("singular values", gradients!(squares, x), &x.iter().map(|v| 2.0 * v).collect::<Vec<_>>(), 1e-12);
    }
}
