//! Sparse Jacobians and Hessians against dense ones.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::{DenseMethod, DenseSparsityDetector, KnownPattern, NoSparsityDetector};
use matrix_coloring::{ConstantColoring, GreedyColoring, Groups, Pattern, Substitution};
use sparsity_tracer::TracerLocalSparsityDetector;
use std::sync::Arc;

/// yᵢ = (x_{i+1} - xᵢ)²
#[differentiable]
pub(crate) fn squares(y: &mut [f64], x: &[f64]) {
    for i in 0..y.len() {
        y[i] = (x[i + 1] - x[i]).powi(2);
    }
}

/// Σ (x_{i+1} - xᵢ)³
#[differentiable]
pub(crate) fn cubes(x: &[f64]) -> f64 {
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

pub(crate) const X: [f64; 6] = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0];

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
    let dense = DenseSparsityDetector { backend: fd, tolerance: 0.0, method: DenseMethod::Direct };
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
    let local = AutoSparse::new(fd).with_detector(DenseSparsityDetector {
        backend: fd,
        tolerance: 0.0,
        method: DenseMethod::Iterative,
    });
    assert_eq!(hessian(&Cubes, &local, &X).unwrap().to_dense(), dense);
}

/// One rectangle of the bands below: which columns a row reads, in terms of row and band.
#[derive(Clone, Debug)]
struct Banded {
    inputs: usize,
    below: usize,
    above: usize,
}

impl<T: Real> FunctionInPlace<T, [T]> for Banded {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        for (i, y) in y.iter_mut().enumerate() {
            let (start, end) = (i.saturating_sub(self.below), (i + self.above + 1).min(self.inputs));
            *y = T::zero();
            for j in start..end {
                *y += (1.0 + (i * 7 + j) as f64 % 5.0) * x[j].sin() * x[start];
            }
        }
    }
}

impl<T: Real> Function<[T]> for Banded {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let mut sum = T::zero();
        for i in 0..self.inputs {
            for j in i..(i + self.above + 1).min(self.inputs) {
                sum += (x[i] * x[j]).sin();
            }
        }
        sum
    }
}

fn close(a: &Matrix<f64>, b: &Matrix<f64>) -> bool {
    a.as_slice().len() == b.as_slice().len()
        && a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()))
}

proptest::proptest! {
    #[test]
    fn random_bands_agree_with_dense(
        inputs in 1usize..30, outputs in 0usize..30, below in 0usize..4, above in 0usize..16, shift in -2.0..2.0f64,
    ) {
        let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        let x: Vec<f64> = (0..inputs).map(|i| shift + (i as f64).cos()).collect();
        let band = Banded { inputs, below, above };
        let f = in_place(band.clone(), outputs.min(inputs));
        let dense = jacobian(&f, &fd, &x).unwrap();
        proptest::prop_assert!(close(&jacobian(&f, &AutoSparse::new(fd), &x).unwrap().to_dense(), &dense));
        proptest::prop_assert!(close(&jacobian(&f, &AutoSparse::new(rd), &x).unwrap().to_dense(), &dense));
        let mixed = AutoSparse::new(MixedMode(fd, rd));
        proptest::prop_assert!(close(&jacobian(&f, &mixed, &x).unwrap().to_dense(), &dense));
        proptest::prop_assert!(close(&jacobian(&f, &mixed_substitution(), &x).unwrap().to_dense(), &dense));
        let dense = hessian(&band, &SecondOrder(fd, rd), &x).unwrap();
        let sparse = AutoSparse::new(SecondOrder(fd, rd));
        proptest::prop_assert!(close(&hessian(&band, &sparse, &x).unwrap().to_dense(), &dense));
        let sparse = sparse.with_decompression(Substitution);
        proptest::prop_assert!(close(&hessian(&band, &sparse, &x).unwrap().to_dense(), &dense));
    }
}

/// Nothing depends on anything.
#[differentiable]
fn zero(y: &mut [f64], _x: &[f64]) {
    y.fill(0.0);
}

/// Its Hessian is zero.
#[differentiable]
fn linear(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() + 2.0
}

#[test]
fn derivatives_without_entries_are_found() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let f = in_place(Zero, 3);
    macro_rules! check {
        ($backend:expr) => {{
            let mut prepared = prepare_jacobian(&f, &$backend, &X).unwrap();
            let (y, jac) = prepared.value_and_jacobian(&X).unwrap();
            assert_eq!((y, jac.nnz(), jac.rows(), jac.columns()), (vec![0.0; 3], 0, 3, 6));
        }};
    }
    check!(AutoSparse::new(fd));
    check!(AutoSparse::new(rd));
    check!(AutoSparse::new(MixedMode(fd, rd)));
    check!(mixed_substitution());
    macro_rules! check {
        ($backend:expr) => {{
            let (y, grad, hess) = value_gradient_and_hessian(&Linear, &AutoSparse::new($backend), &X).unwrap();
            assert_eq!((y, grad, hess.nnz(), hess.rows()), (43.0, vec![1.0; 6], 0, 6));
        }};
    }
    check!(fd);
    check!(rd);
    check!(SecondOrder(fd, rd));
    check!(SecondOrder(rd, fd));
}

#[test]
fn empty_points_are_treated_as_by_dense_backends() {
    let (fd, f) = (AutoForwardDiff::default(), in_place(Zero, 0));
    let empty: [f64; 0] = [];
    let dense = jacobian(&f, &fd, &empty).map(|jac| jac.rows()).map_err(|e| e.kind());
    let sparse = jacobian(&f, &AutoSparse::new(fd), &empty).map(|jac| jac.rows()).map_err(|e| e.kind());
    assert_eq!(sparse, dense);
}

#[test]
fn preparation_serves_on_after_wrong_buffers_and_points() {
    let f = in_place(Squares, 5);
    let mut prepared = prepare_jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &X).unwrap();
    let expected = prepared.jacobian(&X).unwrap();
    let mut other = SparseMatrix::zeros(Arc::new(Pattern::from_fn(5, 6, |i, j| i == j).unwrap()));
    assert_eq!(prepared.jacobian_into(&mut other, &X).unwrap_err().kind(), ErrorKind::BufferPattern);
    assert_eq!(prepared.jacobian(&X[..4]).unwrap_err().kind(), ErrorKind::PreparedLength { prepared: 6, found: 4 });
    assert_eq!(prepared.jacobian(&X).unwrap(), expected);
    // An equal pattern from elsewhere fits.
    let mut equal = jacobian(&f, &AutoSparse::new(AutoReverseDiff::default()), &X).unwrap();
    equal.values_mut().fill(f64::NAN);
    prepared.jacobian_into(&mut equal, &X).unwrap();
    assert_eq!(equal, expected);

    let mut prepared = prepare_hessian(&Cubes, &AutoSparse::new(AutoReverseDiff::default()), &X).unwrap();
    let expected = prepared.hessian(&X).unwrap();
    assert_eq!(prepared.hessian_into(&mut other, &X).unwrap_err().kind(), ErrorKind::BufferPattern);
    assert_eq!(prepared.hessian(&X[..4]).unwrap_err().kind(), ErrorKind::PreparedLength { prepared: 6, found: 4 });
    assert_eq!(prepared.hessian(&X).unwrap(), expected);
}

#[test]
fn preparation_cloned_to_another_thread_gives_the_same() {
    let mut prepared = prepare_hessian(&Cubes, &AutoSparse::new(AutoReverseDiff::default()), &X).unwrap();
    let mut clone = prepared.clone();
    let there = std::thread::scope(|scope| scope.spawn(move || clone.hessian(&X).unwrap()).join().unwrap());
    let here = prepared.hessian(&X).unwrap();
    assert_eq!(there, here);
    assert!(Arc::ptr_eq(there.pattern(), here.pattern()));
}

/// yᵢ = k xᵢ xᵢ₊₁ through work memory, whose content at entry is rubbish.
#[differentiable]
fn products(y: &mut [f64], x: &[f64], #[constant] k: f64, #[cache] work: &mut [f64]) {
    for i in 0..y.len() {
        work[i] = x[i] * x[i + 1];
        y[i] = k * work[i];
    }
}

/// k Σ xᵢ² xᵢ₊₁ through work memory.
#[differentiable]
fn sum_of_products(x: &[f64], #[constant] k: f64, #[cache] work: &mut [f64]) -> f64 {
    work[0] = 0.0;
    for w in x.windows(2) {
        work[0] += w[0] * w[0] * w[1];
    }
    k * work[0]
}

#[test]
fn constants_of_the_call_count_and_caches_serve() {
    let (fd, rd, work) = (AutoForwardDiff::default(), AutoReverseDiff::default(), [f64::NAN; 2]);
    let (x, other) = ([2.0, 3.0, 5.0], [0.0; 3]);
    let f = in_place(Products, 2);
    macro_rules! check {
        ($backend:expr) => {{
            let mut prepared = prepare_jacobian(&f, &$backend, (&other, Constant(&-3.0), Cache(&work[..]))).unwrap();
            for k in [1.0, 10.0] {
                let (y, jac) = prepared.value_and_jacobian((&x, Constant(&k), Cache(&work[..]))).unwrap();
                assert_eq!(y, [6.0 * k, 15.0 * k]);
                assert_eq!(jac.values(), [3.0 * k, 2.0 * k, 5.0 * k, 3.0 * k]);
            }
        }};
    }
    check!(AutoSparse::new(fd));
    check!(AutoSparse::new(rd));
    check!(AutoSparse::new(MixedMode(fd, rd)));
    macro_rules! check {
        ($backend:expr) => {{
            let at = (&other, Constant(&-3.0), Cache(&work[..]));
            let mut prepared = prepare_hessian(&SumOfProducts, &AutoSparse::new($backend), at).unwrap();
            for k in [1.0, 10.0] {
                let hess = prepared.hessian((&x, Constant(&k), Cache(&work[..]))).unwrap();
                let expected = [6.0, 4.0, 4.0, 10.0, 6.0, 6.0].map(|v| k * v);
                assert_eq!(hess.values(), expected);
            }
        }};
    }
    check!(fd);
    check!(SecondOrder(fd, rd));
    check!(SecondOrder(rd, fd));
    check!(rd);
}

/// Takes another way for negative inputs.
#[differentiable]
fn branching(y: &mut [f64], x: &[f64]) {
    y[0] = if x[0] < 0.0 { x[1] } else { x[0] };
}

#[test]
fn branch_is_refused_for_all_points_and_taken_for_one() {
    let (f, x) = (in_place(Branching, 1), [1.0, 2.0]);
    let backend = AutoSparse::new(AutoForwardDiff::default());
    let error = jacobian(&f, &backend, &x).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueDecides { place } if place.file().ends_with(file!())));
    assert!(error.to_string().starts_with("jacobian with sparse(forward_diff): "), "{error}");
    let jac = jacobian(&f, &backend.with_detector(TracerLocalSparsityDetector), &x).unwrap();
    assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 0, 1.0)]);
}

fn cases() -> Vec<serde_json::Value> {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["kind"].as_str().unwrap().starts_with("sparse_")).cloned().collect()
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value.as_array() {
        Some(entries) => entries.iter().flat_map(numbers).collect(),
        None => vec![value.as_f64().unwrap()],
    }
}

/// Squares of differences stacked on their cubes.
#[differentiable]
fn squares_and_cubes(y: &mut [f64], x: &[f64]) {
    let n = x.len() - 1;
    for i in 0..n {
        y[i] = (x[i + 1] - x[i]).powi(2);
        y[n + i] = (x[i + 1] - x[i]).powi(3);
    }
}

/// x_{i+1}² - xᵢ² + x_{n-i}² - x_{n-i+1}², counted from 1.
#[differentiable]
fn tutorial(y: &mut [f64], x: &[f64]) {
    let n = x.len();
    for i in 1..n {
        y[i - 1] = x[i] * x[i] - x[i - 1] * x[i - 1] + x[n - i - 1] * x[n - i - 1] - x[n - i] * x[n - i];
    }
}

/// An upper band times the squares, or the quadratic form of the squares.
struct UpperBand(usize);

impl UpperBand {
    fn entry(i: usize, j: usize) -> f64 {
        1.0 + ((3 * i + 5 * j) % 7) as f64
    }
}

impl<T: Real> FunctionInPlace<T, [T]> for UpperBand {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = (i..(i + self.0 + 1).min(x.len())).map(|j| UpperBand::entry(i, j) * x[j] * x[j]).sum();
        }
    }
}

impl<T: Real> Function<[T]> for UpperBand {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let mut y = vec![T::zero(); x.len()];
        self.call_in_place(&mut y, x);
        x.iter().zip(&y).map(|(x, y)| x * x * y).sum()
    }
}

#[test]
fn stated_cases_of_sparse_derivatives_hold() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let grid: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i) / 49.0).collect();
    for case in cases() {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        match name {
            "diffsquarecube.jacobian" => {
                let (x, f) = (numbers(&case["input"]["x"]), in_place(SquaresAndCubes, 10));
                let mut prepared = prepare_jacobian(&f, &AutoSparse::new(fd), &x).unwrap();
                assert_eq!(prepared.state().ncolors(), case["colors"]["column_greedy_natural"]);
                let jac = prepared.jacobian(&x).unwrap();
                assert_eq!((jac.to_dense().as_slice(), jac.nnz()), (&numbers(expected)[..], 20));
                let mut prepared = prepare_jacobian(&f, &AutoSparse::new(rd), &x).unwrap();
                assert_eq!(prepared.state().ncolors(), case["colors"]["row_greedy_natural"]);
                assert_eq!(prepared.jacobian(&x).unwrap().to_dense().as_slice(), numbers(expected));
            }
            "sumdiffcube.hessian" => {
                let x = numbers(&case["input"]["x"]);
                let mut prepared = prepare_hessian(&Cubes, &AutoSparse::new(rd), &x).unwrap();
                assert_eq!(prepared.state().ncolors(), case["colors"]["star_natural"]);
                let (_, grad, hess) = prepared.value_gradient_and_hessian(&x).unwrap();
                assert_eq!(grad, numbers(&expected["grad"]));
                assert_eq!(hess.to_dense().as_slice(), numbers(&expected["hess"]));
                let substitution = AutoSparse::new(rd).with_decompression(Substitution);
                let mut prepared = prepare_hessian(&Cubes, &substitution, &x).unwrap();
                assert_eq!(prepared.state().ncolors(), case["colors"]["acyclic_natural"]);
                assert_eq!(prepared.hessian(&x).unwrap().to_dense().as_slice(), numbers(&expected["hess"]));
            }
            "banded_linear_map" => {
                for (k, &band) in [5, 10, 20].iter().enumerate() {
                    let f = in_place(UpperBand(band), 50);
                    let mut prepared = prepare_jacobian(&f, &AutoSparse::new(fd), &grid).unwrap();
                    assert_eq!(prepared.state().ncolors(), expected["column_colors_natural"][k]);
                    let jac = prepared.jacobian(&grid).unwrap();
                    assert_eq!(jac.nnz(), expected["nnz"][k]);
                    for (i, j, v) in jac.entries() {
                        assert!((v - 2.0 * UpperBand::entry(i, j) * grid[j]).abs() < 1e-12);
                    }
                    let prepared = prepare_jacobian(&f, &AutoSparse::new(rd), &grid).unwrap();
                    assert_eq!(prepared.state().ncolors(), expected["row_colors_natural"][k]);
                }
            }
            "banded_quadratic_form" => {
                for (k, &band) in [5, 10, 20].iter().enumerate() {
                    let f = UpperBand(band);
                    let mut prepared = prepare_hessian(&f, &AutoSparse::new(rd), &grid).unwrap();
                    assert_eq!(prepared.state().ncolors(), expected["star_colors_natural"][k]);
                    let hess = prepared.hessian(&grid).unwrap();
                    assert_eq!(hess.nnz(), expected["pattern_nnz"][k]);
                    for (i, j, v) in hess.entries().filter(|(i, j, _)| i < j) {
                        let by_hand = 4.0 * UpperBand::entry(i, j) * grid[i] * grid[j];
                        assert!((v - by_hand).abs() < 1e-11, "({i}, {j}) is {v}, expected {by_hand}");
                    }
                    let substitution = AutoSparse::new(rd).with_decompression(Substitution);
                    let prepared = prepare_hessian(&f, &substitution, &grid).unwrap();
                    assert_eq!(prepared.state().ncolors(), expected["acyclic_colors_natural"][k]);
                }
            }
            "docs.tutorial_jacobian" => {
                let (x, f) = (numbers(&case["input"]["x"]), in_place(Tutorial, 7));
                for jac in
                    [jacobian(&f, &AutoSparse::new(fd), &x).unwrap(), jacobian(&f, &AutoSparse::new(rd), &x).unwrap()]
                {
                    assert_eq!(jac.to_dense().as_slice(), numbers(&expected["jac"]));
                }
            }
            _ => panic!("the case {name} has no function here"),
        }
    }
}

#[test]
fn colouring_that_mixes_entries_is_refused() {
    let (f, fd) = (in_place(Squares, 5), AutoForwardDiff::default());
    let known = AutoSparse::new(fd).with_coloring(ConstantColoring::columns([0, 1, 0, 1, 0, 1]));
    assert_eq!(jacobian(&f, &known, &X).unwrap(), jacobian(&f, &AutoSparse::new(fd), &X).unwrap());
    let wrong = AutoSparse::new(fd).with_coloring(ConstantColoring::columns([0, 0, 1, 0, 1, 0]));
    let error = jacobian(&f, &wrong, &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidColoring { row: 0, column: 1 });
    assert_eq!(
        error.to_string(),
        "jacobian with sparse(forward_diff): entry (0, 1) cannot be recovered with the colouring; use another colouring"
    );
    let short = AutoSparse::new(fd).with_coloring(ConstantColoring::columns([0, 1]));
    assert_eq!(jacobian(&f, &short, &X).unwrap_err().kind(), ErrorKind::BufferLength { expected: 6, found: 2 });
}

#[test]
fn errors_name_the_dense_part() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    let f = in_place(Squares, 5);
    let other = SparseMatrix::zeros(Arc::new(Pattern::from_fn(5, 6, |i, j| i == j).unwrap()));
    macro_rules! check {
        ($operator:ident, $f:expr, $backend:expr, $expected:expr) => {{
            let error = $operator($f, &mut other.clone(), &AutoSparse::new($backend), &X).unwrap_err();
            assert_eq!((error.kind(), error.backend()), (ErrorKind::BufferPattern, $expected));
        }};
    }
    check!(jacobian_into, &f, fd, "sparse(forward_diff)");
    check!(jacobian_into, &f, MixedMode(fd, rd), "sparse(forward_diff and reverse_diff)");
    check!(hessian_into, &Cubes, rd, "sparse(reverse_diff)");
    check!(hessian_into, &Cubes, SecondOrder(fd, rd), "sparse(forward_diff over reverse_diff)");
    let error = prepare_hessian(&Cubes, &AutoSparse::new(SecondOrder(fd, rd)), &X).unwrap().hessian(&X[..4]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "hessian with sparse(forward_diff over reverse_diff): prepared for 6 inputs, called with 4; prepare again with a point of length 4"
    );
}

#[test]
fn chunk_larger_than_the_colours_is_refused() {
    let chunk = AutoForwardDiff::with_chunk::<4>();
    let error = jacobian(&in_place(Squares, 5), &AutoSparse::new(chunk), &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChunkExceedsColors { chunk: 4, colors: 2 });
    assert_eq!(
        error.to_string(),
        "jacobian with sparse(forward_diff): chunk size 4 is larger than the 2 colours of the sparse derivative; use a chunk size of at most 2, or the automatic one"
    );
    let error = hessian(&Cubes, &AutoSparse::new(SecondOrder(AutoReverseDiff::default(), chunk)), &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChunkExceedsColors { chunk: 4, colors: 3 });
    let error = hessian(&Cubes, &AutoSparse::new(SecondOrder(AutoReverseDiff::default(), chunk)), &X[..3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChunkTooLarge { chunk: 4, inputs: 3 });
    let at_run_time = AutoForwardDiff::with_runtime_chunk(Some(4)).expect("a number has room for four lanes");
    let error = hessian(&Cubes, &AutoSparse::new(at_run_time), &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChunkExceedsColors { chunk: 4, colors: 3 });
    // The inner gradient is dense, so its chunk is compared with the inputs.
    let inner = SecondOrder(AutoForwardDiff::default(), chunk);
    assert_eq!(hessian(&Cubes, &AutoSparse::new(inner), &X).unwrap().nnz(), 16);
}

#[test]
fn preparations_can_be_inspected() {
    let (fd, rd, f) = (AutoForwardDiff::default(), AutoReverseDiff::default(), in_place(Arrow, 6));
    let lists = |groups: Option<&Groups>| groups.map(|groups| groups.iter().map(<[u32]>::to_vec).collect::<Vec<_>>());
    let arrow = Pattern::from_fn(6, 6, |i, j| i == j || i == 0 || j == 0).unwrap();

    let squares = in_place(Squares, 5);
    let rows = prepare_jacobian(&squares, &AutoSparse::new(rd), &X).unwrap();
    let state = rows.state();
    assert_eq!((state.column_colors(), state.row_colors(), state.ncolors()), (&[][..], &[0, 1, 0, 1, 0][..], 2));
    assert_eq!(
        (lists(state.column_groups()), lists(state.row_groups())),
        (None, Some(vec![vec![0, 2, 4], vec![1, 3]]))
    );

    let both = prepare_jacobian(&f, &AutoSparse::new(MixedMode(fd, rd)), &X).unwrap();
    let state = both.state();
    assert_eq!(**state.sparsity_pattern().unwrap(), arrow);
    let (columns, rows) = (lists(state.column_groups()).unwrap(), lists(state.row_groups()).unwrap());
    assert_eq!((columns.len() + rows.len(), state.ncolors()), (3, 3));
    // The dense row and the dense column are alone with their colours.
    assert!(columns.contains(&vec![0]) && rows.contains(&vec![0]), "{columns:?} {rows:?}");

    let hess = prepare_hessian(&Cubes, &AutoSparse::new(rd), &X).unwrap();
    let state = hess.state();
    assert_eq!(**state.sparsity_pattern().unwrap(), Pattern::banded(6, 1).unwrap());
    assert_eq!((state.column_colors(), state.ncolors()), (&[0, 1, 0, 2, 0, 1][..], 3));
    assert_eq!(lists(state.column_groups()), Some(vec![vec![0, 2, 4], vec![1, 5], vec![3]]));
}

#[test]
fn dense_detection_is_the_same_at_once_and_in_chunks() {
    let (fd, rd) = (AutoForwardDiff::default(), AutoReverseDiff::default());
    // More columns than lanes, more rows than are swept together.
    let (inputs, outputs) = (31, 21);
    let x: Vec<f64> = (0..inputs).map(|i| 0.3 + (i as f64).cos()).collect();
    let (band, hess) =
        (in_place(Banded { inputs, below: 2, above: 3 }, outputs), Banded { inputs, below: 0, above: 3 });
    // Row i has the columns i - 2 .. i + 3; the quadratic form couples columns up to 3 apart.
    let rows = Pattern::from_fn(outputs, inputs, |i, j| j + 2 >= i && j <= i + 3).unwrap();
    for method in [DenseMethod::Iterative, DenseMethod::Direct] {
        macro_rules! check {
            ($backend:expr) => {{
                let detector = DenseSparsityDetector { backend: $backend, tolerance: 1e-9, method };
                let jac = jacobian(&band, &AutoSparse::new(fd).with_detector(detector), &x).unwrap();
                assert_eq!(**jac.pattern(), rows, "{method:?}");
                let hess = hessian(&hess, &AutoSparse::new(rd).with_detector(detector), &x).unwrap();
                assert_eq!(**hess.pattern(), Pattern::banded(inputs, 3).unwrap(), "{method:?}");
                let none = jacobian(&in_place(Zero, 3), &AutoSparse::new(fd).with_detector(detector), &X).unwrap();
                assert_eq!((none.rows(), none.columns(), none.nnz()), (3, 6, 0));
            }};
        }
        check!(fd);
        check!(rd);
    }
    let detector = |tolerance, method| DenseSparsityDetector { backend: fd, tolerance, method };
    for method in [DenseMethod::Iterative, DenseMethod::Direct] {
        // The derivatives of the squares are ±2, ±4, ±6, ±8, ±10 at this point.
        let backend = AutoSparse::new(fd).with_detector(detector(6.0, method));
        assert_eq!(jacobian(&in_place(Squares, 5), &backend, &X).unwrap().nnz(), 4);
    }
}

#[test]
fn differences_and_backends_chosen_at_run_time_serve_as_dense_parts() {
    let f = in_place(Squares, 5);
    let expected = jacobian(&f, &AutoForwardDiff::default(), &X).unwrap();
    let hess = hessian(&Cubes, &AutoForwardDiff::default(), &X).unwrap();
    for name in ["ForwardDiff", "ForwardDiff(chunk=2)", "ReverseDiff"] {
        let backend = AutoSparse::new(name.parse::<AnyBackend>().unwrap());
        assert_eq!(jacobian(&f, &backend, &X).unwrap().to_dense(), expected, "{name}");
        assert_eq!(hessian(&Cubes, &backend, &X).unwrap().to_dense(), hess, "{name}");
    }
    let differences = AutoSparse::new(AutoFiniteDiff::default());
    let error = |a: &Matrix<f64>, b: &Matrix<f64>| {
        a.as_slice().iter().zip(b.as_slice()).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
    };
    assert!(error(&jacobian(&f, &differences, &X).unwrap().to_dense(), &expected) < 1e-4);
    // Differences of differences, as exact as without colours.
    let dense = error(&hessian(&Cubes, &AutoFiniteDiff::default(), &X).unwrap(), &hess);
    assert!(error(&hessian(&Cubes, &differences, &X).unwrap().to_dense(), &hess) <= dense && dense < 0.1);
}
