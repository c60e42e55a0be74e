//! Derivatives whose entries a compiled recording writes down itself, without products: values, branches, contexts, nesting,
//! what is left to products.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::matrix_coloring::Pattern;
use differentiation_interface::sparse::sparsity_tracer::TracerLocalSparsityDetector;
use differentiation_interface::sparse::{GraphSparsityDetector, KnownPattern};
use differentiation_interface_test::allocations;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Two neighbours and a square root: y_i = x_i² x_{i+1} + √x_i, in a circle.
struct Circle;
impl<T: Real> Function<[T]> for Circle {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        CALLS.set(CALLS.get() + 1);
        (0..x.len()).map(|i| x[i] * x[i] * x[(i + 1) % x.len()] + x[i].sqrt()).collect()
    }
}

fn circle_by_hand(x: &[f64]) -> Vec<(usize, usize, f64)> {
    let n = x.len();
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.0 * x[i] * x[(i + 1) % n] + 0.5 / x[i].sqrt()));
        entries.push((i, (i + 1) % n, x[i] * x[i]));
    }
    entries.sort_by_key(|(i, j, _)| (*i, *j));
    entries
}

fn assert_close(found: &SparseMatrix<f64>, expected: &[(usize, usize, f64)]) {
    assert_eq!(found.nnz(), expected.len());
    for (found, expected) in found.entries().zip(expected) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() <= 1e-14 * expected.2.abs(), "{found:?} and {expected:?}");
    }
}

#[test]
fn rows_are_written_at_every_length() {
    let compiled = AutoSparse::new(AutoReverseDiff::compiled());
    for n in [3, 4, 5, 7, 16, 33, 100] {
        let x: Vec<f64> = (0..n).map(|i| 1.0 + 0.25 * i as f64).collect();
        let mut prepared = prepare_jacobian(&Circle, &compiled, &x).unwrap();
        let mut jac = prepared.jacobian(&x).unwrap();
        let before = (allocations(), CALLS.get());
        prepared.jacobian_into(&mut jac, &x).unwrap();
        assert_eq!((allocations(), CALLS.get()), before);
        assert_close(&jac, &circle_by_hand(&x));
        let (y, jac) = prepared.value_and_jacobian(&x).unwrap();
        assert_close(&jac, &circle_by_hand(&x));
        assert!(y.iter().zip(Circle.call(&x)).all(|(a, b)| (a - b).abs() <= 1e-14 * b));
        // Dense ones too.
        let jac = jacobian(&Circle, &AutoReverseDiff::compiled(), &x).unwrap();
        for (i, j, v) in circle_by_hand(&x) {
            assert!((jac[(i, j)] - v).abs() <= 1e-14 * v);
        }
        assert_eq!(jac.as_slice().iter().filter(|v| **v != 0.0).count(), 2 * n);
    }
}

/// Outputs that are inputs, constants, the same twice, or depend on nothing that is stored.
struct Odd;
impl<T: Real> Function<[T]> for Odd {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let square = x[0] * x[0];
        vec![x[2], T::constant(3.0), square, square, x[1] * square, -x[1], x[1].floor(), (x[0] * 0.0).abs()]
    }
}

#[test]
fn outputs_of_all_kinds_have_their_entries() {
    let jac = jacobian(&Odd, &AutoSparse::new(AutoReverseDiff::compiled()), &[3.0, 5.0, 7.0]).unwrap();
    let expected = jacobian(&Odd, &AutoForwardDiff::default(), &[3.0, 5.0, 7.0]).unwrap();
    for i in 0..8 {
        for j in 0..3 {
            assert_eq!(jac.get(i, j), expected[(i, j)], "{i} {j}");
        }
    }
    assert_eq!(expected.as_slice()[12..15], [30.0, 9.0, 0.0]);
    let dense = jacobian(&Odd, &AutoReverseDiff::compiled(), &[3.0, 5.0, 7.0]).unwrap();
    assert_eq!(dense, expected);
    let none: [f64; 0] = [];
    struct Nothing;
    impl<T: Real> Function<[T]> for Nothing {
        type Output = Vec<T>;
        fn call(&self, _: &[T]) -> Vec<T> {
            vec![T::constant(1.0); 2]
        }
    }
    let sparse = AutoSparse::new(AutoReverseDiff::compiled());
    assert_eq!(jacobian(&Nothing, &sparse, &none).unwrap().nnz(), 0);
    assert_eq!(jacobian(&Nothing, &sparse, &[1.0; 3]).unwrap().nnz(), 0);
    assert_eq!(jacobian(&Nothing, &AutoReverseDiff::compiled(), &[1.0; 3]).unwrap().as_slice(), [0.0; 6]);
}

/// Rows that all depend on a long computation are left to products; on the other branch they do not.
struct Coupled;
impl<T: Real> Function<[T]> for Coupled {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        if x[0] > 0.0 {
            return x.iter().map(|v| *v * *v).collect();
        }
        let mut state = x[0];
        for _ in 0..50 {
            for v in x {
                state = (state * 0.5 + *v).sin();
            }
        }
        x.iter().map(|v| *v * state).collect()
    }
}

#[test]
fn branches_may_need_products() {
    let all = Pattern::from_triplets(4, 4, (0..16).map(|k| (k / 4, k % 4))).unwrap();
    let (above, below) = ([1.0_f64, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0]);
    let compiled = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(KnownPattern(Arc::new(all)));
    for order in [[above, below, above], [below, above, below]] {
        let mut prepared = prepare_jacobian(&Coupled, &compiled, &order[0]).unwrap();
        for x in order {
            let found = prepared.jacobian(&x).unwrap().to_dense();
            let expected = jacobian(&Coupled, &AutoForwardDiff::default(), &x).unwrap();
            for (a, b) in found.as_slice().iter().zip(expected.as_slice()) {
                assert!((a - b).abs() <= 1e-13_f64, "{a} and {b}");
            }
        }
    }
}

/// Changing constants, whose places become parameters of the program.
#[test]
fn constants_may_change() {
    let compiled = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector);
    let f = |x: &[_], c: &Vec<f64>| vec![x[0] * x[1] * c[0], x[1] * c[1] + x[2] * x[2], x[2] * c[0]];
    let x = [2.0, 3.0, 5.0];
    let c = vec![1.0, 1.0];
    let mut prepared = prepare_jacobian(&f, &compiled, (&x, Constant(&c))).unwrap();
    for c in [[1.0, 1.0], [2.0, 1.0], [2.0, -7.0], [0.5, 0.25]] {
        let jac = prepared.jacobian((&x, Constant(&c.to_vec()))).unwrap();
        assert_eq!(jac.values(), [3.0 * c[0], 2.0 * c[0], c[1], 10.0, c[0]]);
    }
}

/// Entries on numbers that carry derivatives: the third derivative of Σ xᵢ³ x_{i+1} through a sparse Hessian and a Jacobian.
#[test]
fn entries_are_differentiated() {
    struct Chain;
    impl<T: Real> Function<[T]> for Chain {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x.windows(2).map(|w| w[0] * w[0] * w[0] * w[1]).sum()
        }
    }
    fn entries<T: Real>(x: &[T]) -> Vec<T> {
        let sparse = AutoSparse::new(AutoReverseDiff::compiled());
        let hess = hessian(&Chain, &sparse, x).unwrap();
        let jac = jacobian(&Circle, &sparse, x).unwrap();
        vec![hess.get(0, 0), hess.get(1, 0), hess.get(0, 1), jac.get(0, 1)]
    }
    // 6 x₀ x₁, 3 x₀² twice, and x₀².
    let x = [2.0, 3.0, 5.0];
    let expected = [18.0, 12.0, 0.0, 12.0, 0.0, 0.0, 12.0, 0.0, 0.0, 4.0, 0.0, 0.0];
    let by_forward = jacobian(&|x: &[_]| entries(x), &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!(by_forward.as_slice(), expected);
    let by_reverse = jacobian(&|x: &[_]| entries(x), &AutoReverseDiff::default(), &x).unwrap();
    assert_eq!(by_reverse.as_slice(), expected);
}

#[test]
fn hessians_are_symmetric_to_the_last_bit_and_come_with_value_and_gradient() {
    struct Smooth;
    impl<T: Real> Function<[T]> for Smooth {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x.windows(3).map(|w| (w[0] * w[1]).sin() * w[2] + (w[0] - w[2]).powi(4)).sum()
        }
    }
    let x: Vec<f64> = (0..40).map(|i| 0.3 + 0.07 * i as f64).collect();
    let expected = hessian(&Smooth, &AutoForwardDiff::default(), &x).unwrap();
    let (value, grad) = value_and_gradient(&Smooth, &AutoForwardDiff::default(), &x).unwrap();
    macro_rules! check {
        ($backend:expr) => {
            let mut prepared = prepare_hessian(&Smooth, &AutoSparse::new($backend), &x).unwrap();
            let before = allocations();
            let (found, mut g) = (Cell::new(0.0), vec![0.0; x.len()]);
            let mut hess = prepared.hessian(&x).unwrap();
            assert!(allocations() > before, "results are allocated");
            let before = allocations();
            found.set(prepared.value_gradient_and_hessian_into(&mut g, &mut hess, &x).unwrap());
            prepared.hessian_into(&mut hess, &x).unwrap();
            assert_eq!(allocations(), before);
            assert!((found.get() - value).abs() <= 1e-13 * value.abs());
            assert!(g.iter().zip(&grad).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0)));
            for (i, j, v) in hess.entries() {
                assert_eq!(v.to_bits(), hess.get(j, i).to_bits());
                assert!((v - expected[(i, j)]).abs() <= 1e-12 * v.abs().max(1.0), "{i} {j}: {v}");
            }
            assert_eq!(hess.nnz(), 40 + 2 * (39 + 38));
            // Dense ones too.
            let mut prepared = prepare_hessian(&Smooth, &$backend, &x).unwrap();
            let mut dense = prepared.hessian(&x).unwrap();
            let before = allocations();
            prepared.value_gradient_and_hessian_into(&mut g, &mut dense, &x).unwrap();
            assert_eq!(allocations(), before);
            for (i, j) in (0..x.len()).flat_map(|i| (0..x.len()).map(move |j| (i, j))) {
                assert_eq!(dense[(i, j)], hess.get(i, j), "{i} {j}");
            }
        };
    }
    check!(AutoReverseDiff::compiled());
    check!(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::compiled()));
}

/// With a pattern that misses entries of a row, a product adds them to those that are there.
#[test]
fn entries_are_not_products() {
    // A diagonal, and a block that takes three colours.
    let block = (3..6).flat_map(|i| (3..6).map(move |j| (i, j)));
    let pattern = Pattern::from_triplets(6, 6, (0..3).map(|i| (i, i)).chain(block)).unwrap();
    let detector = || KnownPattern(Arc::new(pattern.clone()));
    let x = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0];
    struct Cubes;
    impl<T: Real> Function<[T]> for Cubes {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x.windows(2).map(|w| w[0] * w[0] * w[1]).sum()
        }
    }
    let chosen: AnyBackend = "ReverseDiff(compile=true)".parse().unwrap();
    let compiled = AutoReverseDiff::compiled();
    macro_rules! check {
        ($backend:expr, $jacobian:expr, $hessian:expr) => {
            let sparse = AutoSparse::new($backend).with_detector(detector());
            assert_eq!(jacobian(&Circle, &sparse, &x).unwrap().get(0, 0), $jacobian);
            assert_eq!(hessian(&Cubes, &sparse, &x).unwrap().get(0, 0), $hessian);
        };
    }
    // y₀ = x₀² x₁ + √x₀ has 2 x₀ x₁ + 1 / 2√x₀ and x₀²; x₀² x₁ has 2 x₁ and 2 x₀.
    check!(compiled, 8.5, 8.0);
    check!(chosen, 8.5, 8.0);
    check!(AutoForwardDiff::default(), 9.5, 10.0);
    let pair = AutoSparse::new(SecondOrder(AutoForwardDiff::default(), compiled)).with_detector(detector());
    assert_eq!(hessian(&Cubes, &pair, &x).unwrap().get(0, 0), 8.0);
}

#[test]
fn a_backend_chosen_at_run_time_writes_entries_too() {
    let chosen: AnyBackend = "ReverseDiff(compile=true)".parse().unwrap();
    let x = [1.0, 4.0, 9.0, 16.0];
    let mut prepared = prepare_jacobian(&Circle, &AutoSparse::new(chosen), &x).unwrap();
    assert_close(&prepared.jacobian(&x).unwrap(), &circle_by_hand(&x));
    struct Cubes;
    impl<T: Real> Function<[T]> for Cubes {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x.windows(2).map(|w| w[0] * w[0] * w[1]).sum()
        }
    }
    let hess = hessian(&Cubes, &AutoSparse::new(chosen), &x).unwrap();
    assert_eq!(hess.values(), [8.0, 2.0, 2.0, 18.0, 8.0, 8.0, 32.0, 18.0, 18.0]);
}

/// Single precision stays single.
#[test]
fn single_precision() {
    let compiled = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector);
    let f = |x: &[_]| x.windows(2).map(|w| w[0] * w[0] * w[1] + num_traits::Float::sqrt(w[0])).collect::<Vec<_>>();
    let jac = jacobian(&f, &compiled, &[1.0f32, 4.0, 9.0]).unwrap();
    assert_eq!(jac.values(), [8.5f32, 1.0, 72.25, 16.0]);
}

/// A custom rule with several outputs is left to products.
#[test]
fn custom_rules_go_by_products() {
    let rule =
        Custom::new(PlainRule::new("swap", |x: &[f64], y: &mut Vec<f64>| *y = vec![x[1] * x[1], x[0]]).with_pullback(
            |x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| (dx[0], dx[1]) = (dy[1], 2.0 * x[1] * dy[0]),
        ));
    let compiled = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector);
    let jac = jacobian(&|x: &[_]| rule.call(&[x[0], x[1]]), &compiled, &[2.0, 3.0]).unwrap();
    assert_eq!(jac.values(), [0.0, 6.0, 1.0, 0.0]);
}

/// x₀ + |(x₀, x₃)|, by a logarithm that is not chosen where x₀ < 1, and is NaN where x₀ < 0.
struct Unchosen;
impl<T: Real> Function<[T]> for Unchosen {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x[0].at_least(T::one()).select(x[0].log2() * x[0], x[0]) + x[0].hypot(x[3])
    }
}

/// There are as many entries as inputs, so a gradient fits into the memory of the entries.
#[test]
fn gradients_beside_entries_are_not_taken_for_them() {
    let x = [-1.0, 1.0, 1.0, 1.0];
    let (root, sparse) = (0.5f64.sqrt(), AutoSparse::new(AutoReverseDiff::compiled()));
    let bend = root / 2.0;
    let expected = [(0, 0, bend), (0, 3, bend), (3, 0, bend), (3, 3, bend)];
    let close = |found: &[f64], expected: &[f64]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-15);
    assert_close(&hessian(&Unchosen, &sparse, &x).unwrap(), &expected);
    let mut prepared = prepare_hessian(&Unchosen, &sparse, &x).unwrap();
    for _ in 0..40 {
        assert_close(&prepared.hessian(&x).unwrap(), &expected);
        let (value, grad, hess) = prepared.value_gradient_and_hessian(&x).unwrap();
        assert!(close(&[value], &[-1.0 + 2.0f64.sqrt()]) && close(&grad, &[1.0 - root, 0.0, 0.0, root]));
        assert_close(&hess, &expected);
    }
}

/// The square of x by a rule, after a comparison of 1.5 x, in one rounding, with x.
struct ComparesFusedSum;
impl<T: Real> Function<[T]> for ComparesFusedSum {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let square = PlainRule::new("square", |x: &[f64], y: &mut Vec<f64>| {
            y.clear();
            y.push(x[0] * x[0]);
        })
        .with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| dx[0] = 2.0 * x[0] * dy[0]);
        let sign = if x[0].mul_add(T::constant(0.5), x[0]) >= x[0] { 1.0 } else { -1.0 };
        Custom::new(square).call(&[x[0] * sign])
    }
}

/// 1.5 times the smallest number is twice that in one rounding, and the number itself in the two of a program, so the recording compares
/// what the program compares.
#[test]
fn comparisons_of_the_smallest_fused_sums_are_those_of_the_program() {
    let backend = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(TracerLocalSparsityDetector);
    for x in [5e-324, -5e-324, 1.0] {
        assert_eq!(jacobian(&ComparesFusedSum, &backend, &[x]).unwrap().values(), [2.0 * x]);
    }
}
