//! Derivatives of determinants: of singular matrices, and where the determinant is out of range.

use differentiation_interface::algebra::dense::{determinant, ln_determinant};
use differentiation_interface::prelude::*;
use faer::{Mat, mat};

/// The matrix of cofactors by minors: the gradient of the determinant.
fn minors(a: &Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    Mat::from_fn(n, n, |i, j| {
        let skip = |k: usize, without: usize| if k < without { k } else { k + 1 };
        let minor: Vec<f64> =
            (0..(n - 1) * (n - 1)).map(|at| a[(skip(at % (n - 1), i), skip(at / (n - 1), j))]).collect();
        let determinant = expansion(&minor, n - 1);
        if (i + j).is_multiple_of(2) { determinant } else { -determinant }
    })
}

/// The determinant by expansion along the first column, exact for small integers.
fn expansion(a: &[f64], n: usize) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let of_row = |row: usize| {
        let minor: Vec<f64> =
            (1..n).flat_map(|j| (0..n).filter(move |i| *i != row).map(move |i| a[i + n * j])).collect();
        let sign = if row.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * a[row] * expansion(&minor, n - 1)
    };
    (0..n).map(of_row).sum()
}

fn singular() -> [Mat<f64>; 9] {
    [
        Mat::from_fn(1, 1, |_, _| 0.0),
        mat![[1.0, 2.0], [2.0, 4.0]],
        mat![[0.0, 0.0], [0.0, 3.0]],
        Mat::from_fn(3, 3, |i, j| (3 * i + j) as f64),
        // The zero pivot is not the last one.
        mat![[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 7.0]],
        mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0]],
        // Of rank 1: all cofactors are zero.
        Mat::from_fn(3, 3, |i, j| ((i + 1) * (j + 2)) as f64),
        Mat::from_fn(4, 4, |i, j| if i == 3 { (j * j) as f64 } else { ((i + 2) * j * j + i) as f64 }),
        Mat::zeros(3, 3),
    ]
}

#[test]
fn the_determinant_of_a_singular_matrix_has_a_derivative() {
    let singular = singular();
    for a in &singular {
        let expected = minors(a);
        for grad in [
            gradient(&|a: &Mat<_>| determinant(a), &AutoForwardDiff::default(), a).unwrap(),
            gradient(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::tape(), a).unwrap(),
            gradient(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::compiled(), a).unwrap(),
        ] {
            let scale = a.norm_max().powi(a.nrows() as i32 - 1).max(1.0);
            assert!((&grad - &expected).norm_max() <= 1e-14 * scale, "{a:?}: {grad:?} instead of {expected:?}");
        }
    }
    // An elimination that ends early leaves no NaN.
    let ended = [mat![[0.0, 1.0], [0.0, 2.0]], Mat::from_fn(3, 3, |_, _| 1.0), Mat::zeros(2, 2)];
    let unit = Mat::from_fn(20, 20, |i, j| if i == j && i != 7 { 1.0 } else { 0.0 });
    for a in singular.iter().chain(&ended).chain([&unit]) {
        let (value, _) = value_and_gradient(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::compiled(), a).unwrap();
        let scale = a.norm_max().powi(a.nrows() as i32).max(1.0);
        assert!(value.abs() <= 1e-13 * scale, "{a:?}: {value}");
        let (ln, sign) = ln_determinant(a);
        assert!(
            if value == 0.0 { (ln, sign) == (f64::NEG_INFINITY, 0.0) } else { sign == value.signum() },
            "{a:?}: {ln}, {sign}"
        );
    }
    assert!(ended.iter().chain([&unit]).all(|a| determinant(a) == 0.0));
    let unknown = mat![[f64::NAN, 1.0], [1.0, 1.0]];
    assert!(determinant(&unknown).is_nan() && determinant(&mat![[0.0, f64::NAN], [0.0, 1.0]]).is_nan());
    let grad = gradient(&|a: &Mat<_>| determinant(a), &AutoForwardDiff::default(), &unknown).unwrap();
    assert!(grad[(1, 1)].is_nan());
}

/// The determinant is linear in each entry, so its second derivatives are differences of cofactors, whatever the step.
fn second_minors(a: &Mat<f64>) -> Vec<f64> {
    let n = a.nrows();
    let entries = (0..n * n).map(|at| (at % n, at / n));
    entries
        .flat_map(|(k, l)| {
            let with =
                |value: f64| minors(&Mat::from_fn(n, n, |i, j| if (i, j) == (k, l) { value } else { a[(i, j)] }));
            let difference = with(1.0) - with(0.0);
            (0..n * n).map(move |at| difference[(at % n, at / n)]).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn the_second_derivative_is_right_at_singular_matrices_and_near_them() {
    let near = |rounding: f64| {
        let mut a = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
        a[(2, 2)] += rounding;
        a
    };
    let nearly = [0.0, 1e-15, 1e-12, 1e-8, 1e-4, 1e-2].map(near);
    // Whose last pivot is a rounding error; of several scales.
    let others = [
        mat![[0.1, 0.2], [0.3, 0.6]],
        mat![[1e200, 0.0], [0.0, 1e-200]],
        mat![[1.0, 0.0, 0.0], [0.0, 1e-8, 0.0], [0.0, 0.0, 1e-16]],
    ];
    for a in singular().iter().chain(&nearly).chain(&others) {
        let expected = second_minors(a);
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        // Recorded at a regular matrix.
        let elsewhere = Mat::from_fn(a.nrows(), a.nrows(), |i, j| if i == j { 3.0 } else { 0.5 });
        let compiled_over = SecondOrder(AutoReverseDiff::compiled(), forward);
        let mut recorded = prepare_hessian(&|a: &Mat<_>| determinant(a), &compiled_over, &elsewhere).unwrap();
        let scale = expected.iter().fold(1e-30_f64, |most, v| most.max(v.abs()));
        for (engine, hess) in [
            ("forward", hessian(&|a: &Mat<_>| determinant(a), &forward, a)),
            ("reverse", hessian(&|a: &Mat<_>| determinant(a), &reverse, a)),
            ("compiled", hessian(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::compiled(), a)),
            ("forward over reverse", hessian(&|a: &Mat<_>| determinant(a), &SecondOrder(forward, reverse), a)),
            ("reverse over forward", hessian(&|a: &Mat<_>| determinant(a), &SecondOrder(reverse, forward), a)),
            ("compiled over forward", recorded.hessian(a)),
        ] {
            for (found, expected) in hess.unwrap().as_slice().iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-11 * scale, "{engine}, {a:?}: {found} instead of {expected}");
            }
        }
    }
    // Each scale keeps its digits.
    let hess = hessian(&|a: &Mat<_>| determinant(a), &AutoReverseDiff::default(), &others[2]).unwrap();
    assert!((hess[(0, 4)] / 1e-16 - 1.0).abs() < 1e-14 && (hess[(4, 8)] - 1.0).abs() < 1e-14, "{hess:?}");
    // det (A + t I) = -18 t + 15 t² + t³: series of A that is singular to rounding have no coefficient of t³.
    for a in &nearly[..4] {
        let series =
            jet(&|a: &Mat<_>| determinant(a), &AutoTaylor, a, &Mat::<f64>::identity(3, 3), Order::<3>).unwrap();
        for (found, expected) in series.iter().zip([0.0, -18.0, 15.0, 1.0]) {
            let is_right = (found - expected).abs() < 1e-6;
            assert!(is_right || expected == 1.0 && !found.is_finite(), "{a:?}: {series:?}");
        }
    }
}

#[test]
fn a_determinant_out_of_range_has_the_right_derivatives() {
    let f = |x: &[_]| determinant(&Mat::from_fn(2, 2, |i, j| x[i + 2 * j]));
    for (x, value) in [
        ([1e-200, 0.0, 0.0, 1e-200], 0.0),
        ([1e200, 0.0, 0.0, 1e200], f64::INFINITY),
        ([0.0, -1e170, 1e170, 0.0], f64::INFINITY),
    ] {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs();
        let (y, grad) = value_and_gradient(&f, &AutoForwardDiff::default(), &x).unwrap();
        assert_eq!(y, value);
        let expected = [x[3], -x[2], -x[1], x[0]];
        assert!(grad.iter().zip(expected).all(|(a, b)| near(*a, b)), "{grad:?} at {x:?}");
        // d² det = 2 (dx₀ dx₃ - dx₁ dx₂).
        let of_hessian = |x: &[_]| determinant(&Mat::from_fn(2, 2, |i, j| x[i + 2 * j]));
        let hess = hessian(&of_hessian, &AutoReverseDiff::tape(), &x).unwrap();
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let expected = if i + j != 3 {
                0.0
            } else if i == 0 || j == 0 {
                1.0
            } else {
                -1.0
            };
            assert!(near(hess[(i, j)], expected), "{hess:?} at {x:?}");
        }
    }
    // 1e200² · 1e-300 · 1e-100, whose first product overflows.
    let diagonal: [f64; 4] = [1e200, 1e200, 1e-300, 1e-100];
    let f = |x: &[_]| determinant(&Mat::from_fn(4, 4, |i, j| if i == j { x[i] } else { x[i] * 0.0 }));
    let (y, grad) = value_and_gradient(&f, &AutoForwardDiff::default(), &diagonal).unwrap();
    assert!((y - 1.0).abs() < 1e-14);
    for (slope, x) in grad.iter().zip(diagonal) {
        assert!((slope * x - 1.0).abs() < 1e-14);
    }
}

/// The determinant of t I, 2 x 2, is t², and its product with t has the third derivative 6. A recording differentiates a rule twice.
#[test]
fn third_derivatives_are_those_of_all_engines_but_the_compiled_one() {
    fn cube<T: Real>(t: T) -> T {
        determinant(&Mat::from_fn(2, 2, |i, j| if i == j { t } else { T::zero() })) * t
    }
    let third = |backend: AutoReverseDiff| nth_derivative(&|t: _| cube(t), &backend, 2.0, Order::<3>);
    assert_eq!(third(AutoReverseDiff::default()), Ok(6.0));
    assert_eq!(third(AutoReverseDiff::tape()), Ok(6.0));
    assert_eq!(nth_derivative(&|t: _| cube(t), &AutoForwardDiff::default(), 2.0, Order::<3>), Ok(6.0));
    let error = nth_derivative(&|t: _| cube(t), &AutoReverseDiff::compiled(), 2.0, Order::<3>).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RuleOrder { .. }), "{error}");
    assert_eq!(nth_derivative(&|t: _| cube(t), &AutoReverseDiff::compiled(), 2.0, Order::<2>), Ok(12.0));
}
