//! Symmetric matrices where decompositions are hard: equal and nearly equal eigenvalues, zeros, entries of any size.

use super::assert_close;
use differentiation_interface::algebra::dense::*;
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Exp, Ln, Sqrt};
use faer::Mat;

fn square<T: Real>(x: &[T]) -> Mat<T> {
    let n = x.len().isqrt();
    Mat::from_fn(n, n, |i, j| x[i + n * j])
}

/// The sum of all entries, with weights.
fn weighted<T: Real>(a: &Mat<T>) -> T {
    let weight = |i: usize, j: usize| ((i + 2 * j + 1) as f64).sin();
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| (i, j))).map(|(i, j)| a[(i, j)] * weight(i, j)).sum()
}

/// The gradient by each kind of engine; that of the compiled one recorded beside the point.
macro_rules! gradients {
    ($what:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (x, expected): (&[f64], &[f64]) = (&$x, &$expected);
        assert_close(&format!("{}, forward", $what), &gradient(&$f, &AutoForwardDiff::default(), x).unwrap(), expected);
        assert_close(&format!("{}, tape", $what), &gradient(&$f, &AutoReverseDiff::tape(), x).unwrap(), expected);
        let beside: Vec<f64> = x.iter().enumerate().map(|(i, v)| v + 0.01 * (i + 1) as f64).collect();
        let mut compiled = prepare_gradient(&$f, &AutoReverseDiff::compiled(), &beside).unwrap();
        assert_close(&format!("{}, compiled", $what), &compiled.gradient(x).unwrap(), expected);
    }};
}

#[test]
fn functions_of_matrices_are_right_at_equal_and_nearly_equal_eigenvalues() {
    // C·ln A at a multiple of the identity has the gradient C / λ, symmetric.
    fn logarithm<T: Real>(x: &[T]) -> T {
        weighted(&symmetric_function(Ln, &square(x)))
    }
    let mean = (2f64.sin() + 3f64.sin()) / 2.0;
    gradients!("ln", logarithm, [4.0, 0.0, 0.0, 4.0], [1f64.sin() / 4.0, mean / 4.0, mean / 4.0, 4f64.sin() / 4.0]);
    // √A at diag(4, 4 + δ): Lᵢⱼ = 1 / (√λᵢ + √λⱼ), whatever the distance.
    fn root<T: Real>(x: &[T]) -> T {
        weighted(&symmetric_function(Sqrt, &square(x)))
    }
    // e^A at diag(0, d): L = (e^d - 1) / d, where differences of values have no digits.
    fn exponential<T: Real>(x: &[T]) -> T {
        weighted(&symmetric_function(Exp, &square(x)))
    }
    for d in [1e-15, 1e-12, 1e-9, -1e-6, 1e-3, 0.3, -2.0] {
        let (a, b) = (2.0, f64::sqrt(4.0 + d));
        let expected = [1f64.sin() / (2.0 * a), mean / (a + b), mean / (a + b), 4f64.sin() / (2.0 * b)];
        gradients!("root", root, [4.0, 0.0, 0.0, 4.0 + d], expected);
        let l = f64::exp_m1(d) / d;
        gradients!("exp", exponential, [0.0, 0.0, 0.0, d], [1f64.sin(), mean * l, mean * l, 4f64.sin() * d.exp()]);
    }
}

/// tr A³ has the gradient 3 A² of a symmetric matrix, at equal eigenvalues and at zeros too; by `faer` entry by entry it is lost there.
#[test]
fn symmetric_functions_of_eigenvalues_are_right_everywhere() {
    fn cubes<T: Real>(x: &[T]) -> T {
        symmetric_eigenvalues(&square(x)).iter().map(|v| *v * *v * *v).sum()
    }
    let identity = |s: f64| [s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s];
    gradients!("cubes", cubes, identity(2.0), identity(12.0));
    gradients!("cubes", cubes, identity(0.0), identity(0.0));
    let blocks = [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0];
    gradients!("cubes", cubes, blocks, [15.0, 12.0, 0.0, 12.0, 15.0, 0.0, 0.0, 0.0, 27.0]);
}

/// The vectors of diag(1, 2, 4) turn by dΩᵢⱼ = dAᵢⱼ / (λⱼ - λᵢ).
#[test]
fn vectors_of_diagonal_matrices_turn() {
    fn entry<T: Real>(x: &[T]) -> T {
        symmetric_eigen(&square(x)).1[(2, 0)]
    }
    let diagonal = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let turn = -1.0 / 3.0 / 2.0;
    gradients!("a vector", entry, diagonal, [0.0, 0.0, turn, 0.0, 0.0, 0.0, turn, 0.0, 0.0]);
    // With the values as those of `faer` itself.
    let a = square(&[2.0, -1.0, 0.5, -1.0, 0.0, 3.0, 0.5, 3.0, 1.0]);
    let values = a.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    assert_close("values", &symmetric_eigenvalues(&a).iter().copied().collect::<Vec<_>>(), &values);
}

#[test]
fn entries_may_have_any_size_and_be_missing() {
    for scale in [1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e300] {
        let a = square(&[2.0, 1.0, 1.0, 2.0].map(|v| scale * v));
        let (values, vectors) = symmetric_eigen(&a);
        assert_close("values", &[values[0] / scale, values[1] / scale], &[1.0, 3.0]);
        assert_close("vectors", &[vectors[(0, 0)], vectors[(1, 0)]], &[0.5f64.sqrt(), -(0.5f64.sqrt())]);
        fn largest<T: Real>(x: &[T]) -> T {
            symmetric_eigenvalues(&square(x))[1]
        }
        gradients!(scale, largest, [2.0 * scale, scale, scale, 2.0 * scale], [0.5; 4]);
    }
    // The ends of the range, alone and as symmetric parts.
    for end in [f64::MAX, f64::from_bits(1)] {
        assert_eq!(symmetric_eigenvalues(&square(&[end, 0.0, 0.0, end]))[1], end);
        assert_eq!(symmetric_function(Sqrt, &square(&[end]))[(0, 0)], end.sqrt());
    }
    for missing in [f64::NAN, f64::INFINITY] {
        let a = square(&[1.0, missing, 0.0, 1.0]);
        assert!(symmetric_eigenvalues(&a).iter().all(|v| v.is_nan()));
        assert!(symmetric_function(Exp, &a).col_iter().all(|column| column.iter().all(|v| v.is_nan())));
    }
}

#[test]
fn single_precision_is_computed_in_double() {
    let largest = |x: &[_]| symmetric_eigenvalues(&Mat::from_fn(2, 2, |i, j| x[i + 2 * j]))[1];
    let grad = gradient(&largest, &AutoReverseDiff::default(), &[2.0f32, 1.0, 1.0, 2.0]).unwrap();
    assert!(grad.iter().all(|v| (v - 0.5).abs() < 1e-7), "{grad:?}");
}

/// Blocks that nothing joins are decomposed apart: a diagonal to the bit, however far its entries are apart.
#[test]
fn small_blocks_keep_their_digits_beside_large_ones() {
    let values = |x: &[f64]| symmetric_eigenvalues(&square(x)).iter().copied().collect::<Vec<_>>();
    for [large, small] in [[1e10, 1e-10], [1e17, 3.0], [1e300, 1e-300]] {
        assert_eq!(values(&[large, 0.0, 0.0, small]), [small, large]);
        fn logarithm<T: Real>(x: &[T]) -> T {
            symmetric_function(Ln, &square(x))[(1, 1)]
        }
        let grad = gradient(&logarithm, &AutoReverseDiff::default(), &[large, 0.0, 0.0, small]).unwrap();
        assert_close("ln", &[grad[3] * small], &[1.0]);
    }
    let beside = values(&[2e-9, 1e-9, 0.0, 1e-9, 2e-9, 0.0, 0.0, 0.0, 1e9]);
    assert_close("a block", &[beside[0] * 1e9, beside[1] * 1e9, beside[2]], &[1.0, 3.0, 1e9]);
    // Entries off the diagonal whose squares vanish.
    let s = 1e-307;
    let tiny = values(&[2.0 * s, 0.1 * s, 0.1 * s, 2.0 * s]);
    assert_close("tiny", &[tiny[0] / s, tiny[1] / s], &[1.9, 2.1]);
}

/// λ = 2, 2, 3 but for rounding: what goes through vectors is not finite, and no quotient of rounding errors.
#[test]
fn eigenvalues_that_are_equal_but_for_rounding_count_as_equal() {
    let a: Vec<f64> = (0..9).map(|k| if k % 4 == 0 { 2.0 + 1.0 / 3.0 } else { 1.0 / 3.0 }).collect();
    fn squares<T: Real>(x: &[T]) -> T {
        symmetric_eigenvalues(&square(x)).iter().map(|v| *v * *v).sum()
    }
    gradients!("squares", squares, a, a.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    macro_rules! not_wrong {
        ($($backend:expr),*) => {$({
            // 2 on the diagonal; half of it on both places of a pair beside the diagonal.
            let hess = hessian(&squares, &$backend, &a[..]).unwrap();
            for (i, j) in (0..81).map(|at| (at / 9, at % 9)) {
                let is_pair = i == 3 * (j % 3) + j / 3;
                let expected = if i == j { 1.0 } else { 0.0 } + if is_pair { 1.0 } else { 0.0 };
                let found = hess[(i, j)];
                assert!(!found.is_finite() || (found - expected).abs() < 1e-9, "({i}, {j}): {found} for {expected}");
            }
        })*};
    }
    not_wrong!(AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
}

/// The signs of vectors do not hang on rounding where an entry has half the size of the largest one.
#[test]
fn vectors_of_differences_on_a_grid_do_not_flip() {
    let laplacian = |turn: f64| {
        let entry = |i: usize, j: usize| if i == j { 2.0 + turn * i as f64 } else { -f64::from(i.abs_diff(j) == 1) };
        symmetric_eigen(&Mat::from_fn(5, 5, entry)).1
    };
    let signs = |vectors: Mat<f64>| (0..5).map(|j| vectors[(2, j)].signum()).collect::<Vec<_>>();
    let last = |turn: f64| signs(laplacian(turn))[4];
    assert_eq!((last(1e-15), last(-1e-15)), (last(0.0), last(0.0)));
}
