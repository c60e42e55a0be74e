//! Operations on matrices as one rule each, by every kind of engine, beside the same operations on single numbers.

use differentiation_interface::algebra::dense::*;
use differentiation_interface::algebra::implicit::{self, Conditions, Objective, argmin, fixed_point, root};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Recip, Tanh};
use faer::{Col, Mat};

mod absent;
mod determinants;
mod eigen;
mod infinite;

/// What is computed from two matrices A and B of size n, whose entries are the point: A by columns, then B.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Product,
    ProductWithVector,
    ProductWithData,
    ProductWithConstants,
    Solve,
    SolveMany,
    SolveWithData,
    SolveSpd,
    SolveLower,
    SolveUpper,
    Inverse,
    Determinant,
    LnDeterminant,
    LnDeterminantSpd,
    QuadraticForm,
    Eigen,
    Eigenvalues,
    MatrixFunction,
    Map,
}
use Operation::*;

const ALL: [Operation; 19] = [
    Product,
    ProductWithVector,
    ProductWithData,
    ProductWithConstants,
    Solve,
    SolveMany,
    SolveWithData,
    SolveSpd,
    SolveLower,
    SolveUpper,
    Inverse,
    Determinant,
    LnDeterminant,
    LnDeterminantSpd,
    QuadraticForm,
    Eigen,
    Eigenvalues,
    MatrixFunction,
    Map,
];

/// Plain data of size n.
fn data(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| if i == j { 3.0 } else { ((2 * i + 3 * j) as f64).sin() })
}

/// A with a larger diagonal, and B.
fn matrices<T: Real>(n: usize, x: &[T]) -> (Mat<T>, Mat<T>) {
    let a = Mat::from_fn(n, n, |i, j| if i == j { x[i + n * j] + (n + 1) as f64 } else { x[i + n * j] });
    (a, Mat::from_fn(n, n, |i, j| x[n * n + i + n * j]))
}

fn column<T: Copy>(matrix: &Mat<T>) -> Col<T> {
    Col::from_fn(matrix.nrows(), |i| matrix[(i, 0)])
}

fn list<T: Copy>(matrix: &Mat<T>) -> Vec<T> {
    (0..matrix.ncols()).flat_map(|j| (0..matrix.nrows()).map(move |i| matrix[(i, j)])).collect()
}

/// An operation by its rule.
#[derive(Clone, Copy)]
struct ByRule(Operation, usize);

impl<T: Real> Function<[T]> for ByRule {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let &ByRule(operation, n) = self;
        let (a, b) = matrices(n, x);
        let data = data(n);
        let constants = Mat::from_fn(n, n, |i, j| T::constant(data[(i, j)]));
        let vector = |v: Col<T>| v.iter().copied().collect();
        match operation {
            Product => list(&matmul(&a, &b)),
            ProductWithVector => vector(matmul(&a, &column(&b))),
            ProductWithData => [list(&matmul_data(&data, &b)), vector(matmul_data(&data, &column(&a)))].concat(),
            ProductWithConstants => list(&matmul(&a, &constants)),
            Solve => vector(solve(&a, &column(&b))),
            SolveMany => list(&solve(&a, &b)),
            SolveWithData => list(&solve(&constants, &b)),
            SolveSpd => list(&solve_spd(&a, &b)),
            SolveLower => list(&solve_lower(&a, &b)),
            SolveUpper => list(&solve_upper(&a, &b)),
            Inverse => list(&inverse(&a)),
            Determinant => vec![determinant(&a)],
            LnDeterminant => vec![ln_determinant(&a).0],
            LnDeterminantSpd => vec![ln_determinant_spd(&a)],
            QuadraticForm => vec![quadratic_form(&column(&b), &a)],
            Eigen => {
                let (values, vectors) = symmetric_eigen(&a);
                let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j] * values[j]);
                list(&matmul(&scaled, &vectors.transpose()))
            }
            Eigenvalues => {
                let values = symmetric_eigenvalues(&a);
                vec![values.iter().copied().sum(), values.iter().map(|v| *v * *v).sum()]
            }
            MatrixFunction => list(&symmetric_function(Recip, &a)),
            Map => list(&map(Tanh, &b)),
        }
    }
}

/// The same operation on single numbers.
#[derive(Clone, Copy)]
struct BySteps(Operation, usize);

impl<T: Real> Function<[T]> for BySteps {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let &BySteps(operation, n) = self;
        let (a, b) = matrices(n, x);
        let constants = Mat::from_fn(n, n, |i, j| T::constant(data(n)[(i, j)]));
        let (zero, one) = (T::constant(0.0), T::constant(1.0));
        let symmetric = Mat::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
        let triangle =
            |lower: bool| Mat::from_fn(n, n, |i, j| if i == j || (i > j) == lower { a[(i, j)] } else { zero });
        let unit = Mat::from_fn(n, n, |i, j| if i == j { one } else { zero });
        let single = Mat::from_fn(n, 1.min(n), |i, j| b[(i, j)]);
        match operation {
            Product => list(&times(&a, &b)),
            ProductWithVector => list(&times(&a, &single)),
            ProductWithData => {
                let first = Mat::from_fn(n, 1.min(n), |i, j| a[(i, j)]);
                [list(&times(&constants, &b)), list(&times(&constants, &first))].concat()
            }
            ProductWithConstants => list(&times(&a, &constants)),
            Solve => list(&eliminate(a, single).0),
            SolveMany => list(&eliminate(a, b).0),
            SolveWithData => list(&eliminate(constants, b).0),
            SolveSpd => list(&eliminate(symmetric, b).0),
            SolveLower => list(&eliminate(triangle(true), b).0),
            SolveUpper => list(&eliminate(triangle(false), b).0),
            Inverse => list(&eliminate(a, unit).0),
            Determinant => vec![eliminate(a, unit).1],
            LnDeterminant => vec![eliminate(a, unit).1.abs().ln()],
            LnDeterminantSpd => vec![eliminate(symmetric, unit).1.ln()],
            QuadraticForm => {
                let moved = times(&a, &single);
                vec![(0..n).fold(zero, |sum, i| sum + single[(i, 0)] * moved[(i, 0)])]
            }
            Eigen => list(&times(&symmetric, &symmetric)),
            // The traces of the matrix and of its square.
            Eigenvalues => {
                let trace = |m: &Mat<T>| (0..n).map(|i| m[(i, i)]).sum();
                vec![trace(&symmetric), trace(&times(&symmetric, &symmetric))]
            }
            MatrixFunction => list(&eliminate(symmetric, unit).0),
            Map => list(&b).into_iter().map(|v| v.tanh()).collect(),
        }
    }
}

fn times<T: Real>(a: &Mat<T>, b: &Mat<T>) -> Mat<T> {
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| {
        (0..a.ncols()).fold(T::constant(0.0), |sum, k| sum + a[(i, k)] * b[(k, j)])
    })
}

/// The solution and the determinant, by Gaussian elimination with partial pivoting.
fn eliminate<T: Real>(mut a: Mat<T>, mut b: Mat<T>) -> (Mat<T>, T) {
    let (n, columns) = (a.nrows(), b.ncols());
    let mut determinant = T::constant(1.0);
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[(*i, k)].primal().abs().total_cmp(&a[(*j, k)].primal().abs())).unwrap();
        if pivot != k {
            determinant = -determinant;
            for j in 0..n {
                (a[(k, j)], a[(pivot, j)]) = (a[(pivot, j)], a[(k, j)]);
            }
            for j in 0..columns {
                (b[(k, j)], b[(pivot, j)]) = (b[(pivot, j)], b[(k, j)]);
            }
        }
        determinant *= a[(k, k)];
        for i in k + 1..n {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..n {
                a[(i, j)] = a[(i, j)] - factor * a[(k, j)];
            }
            for j in 0..columns {
                b[(i, j)] = b[(i, j)] - factor * b[(k, j)];
            }
        }
    }
    for column in 0..columns {
        for i in (0..n).rev() {
            for j in i + 1..n {
                b[(i, column)] = b[(i, column)] - a[(i, j)] * b[(j, column)];
            }
            b[(i, column)] /= a[(i, i)];
        }
    }
    (b, determinant)
}

/// A nonlinear function of the outputs, so that second derivatives pass through both derivatives of a rule.
#[derive(Clone, Copy)]
struct Weighted<F>(F);

impl<T: Real, F: Function<[T], Output = Vec<T>>> Function<[T]> for Weighted<F> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let y = self.0.call(x);
        let start = 0.3 * x[x.len() - 1];
        y.iter().enumerate().fold(start, |sum, (i, y)| sum + ((i + 1) as f64).sin() * *y * (1.0 + 0.1 * *y))
    }
}

fn point(n: usize) -> Vec<f64> {
    (0..2 * n * n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

#[track_caller]
fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1.0, |size: f64, v| size.max(v.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-12 * size, "{what}: entry {i} is {found}, expected {expected}");
    }
}

/// Values and Jacobians: forward mode takes the pushforwards of the rules, reverse mode the pullbacks, the compiled one replays.
#[test]
fn first_derivatives_are_those_of_the_steps() {
    for (operation, n) in ALL.into_iter().flat_map(|operation| [(operation, 1), (operation, 5)]) {
        let (rule, steps, x) = (ByRule(operation, n), BySteps(operation, n), point(n));
        let name = |engine: &str| format!("{operation:?} of size {n} by {engine}");
        assert_close(&name("value"), &rule.call(&x), &steps.call(&x));
        let expected = jacobian(&steps, &AutoForwardDiff::default(), &x).unwrap();
        assert!(expected.as_slice().iter().any(|entry| entry.abs() > 1e-3));
        let found = jacobian(&rule, &AutoForwardDiff::default(), &x).unwrap();
        assert_close(&name("forward_diff"), found.as_slice(), expected.as_slice());
        let found = jacobian(&rule, &AutoReverseDiff::default(), &x).unwrap();
        assert_close(&name("reverse_diff"), found.as_slice(), expected.as_slice());
        let elsewhere: Vec<f64> = x.iter().map(|v| 0.9 * v + 0.01).collect();
        let mut prepared = prepare_jacobian(&rule, &AutoReverseDiff::compiled(), &elsewhere).unwrap();
        for _ in 0..2 {
            assert_close(&name("compiled"), prepared.jacobian(&x).unwrap().as_slice(), expected.as_slice());
        }
    }
}

#[test]
fn second_derivatives_are_those_of_the_steps() {
    for (operation, n) in ALL.into_iter().flat_map(|operation| [(operation, 1), (operation, 3)]) {
        let (rule, steps, x) = (Weighted(ByRule(operation, n)), Weighted(BySteps(operation, n)), point(n));
        let name = |engine: &str| format!("Hessian of {operation:?} of size {n} by {engine}");
        let expected = hessian(&steps, &AutoForwardDiff::default(), &x).unwrap();
        let found = hessian(&rule, &AutoForwardDiff::default(), &x).unwrap();
        assert_close(&name("forward_diff"), found.as_slice(), expected.as_slice());
        let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
        assert_close(&name("forward over reverse"), hessian(&rule, &pair, &x).unwrap().as_slice(), expected.as_slice());
        let pair = SecondOrder(AutoReverseDiff::default(), AutoForwardDiff::default());
        assert_close(&name("reverse over forward"), hessian(&rule, &pair, &x).unwrap().as_slice(), expected.as_slice());
        let found = hessian(&rule, &AutoReverseDiff::default(), &x).unwrap();
        assert_close(&name("reverse_diff"), found.as_slice(), expected.as_slice());
        let elsewhere: Vec<f64> = x.iter().map(|v| 0.9 * v + 0.01).collect();
        let mut prepared = prepare_hessian(&rule, &AutoReverseDiff::compiled(), &elsewhere).unwrap();
        assert_close(&name("compiled"), prepared.hessian(&x).unwrap().as_slice(), expected.as_slice());
    }
}

/// A function along a line through a point.
struct AlongLine<F>(F, Vec<f64>);

impl<T: Real, F: Function<[T], Output = Vec<T>>> Function<T> for AlongLine<F> {
    type Output = Vec<T>;
    fn call(&self, t: &T) -> Vec<T> {
        let x: Vec<T> = self.1.iter().enumerate().map(|(i, v)| *t * (1.0 + (i % 3) as f64) + *v).collect();
        self.0.call(&x)
    }
}

/// To the third order, where the derivative of a rule calls the rule.
#[test]
fn taylor_coefficients_are_those_of_the_steps() {
    for (operation, n) in ALL.into_iter().flat_map(|operation| [(operation, 1), (operation, 3)]) {
        let (rule, steps) = (AlongLine(ByRule(operation, n), point(n)), AlongLine(BySteps(operation, n), point(n)));
        let found = taylor_coefficients(&rule, &AutoTaylor, 0.0, Order::<3>).unwrap();
        let expected = taylor_coefficients(&steps, &AutoTaylor, 0.0, Order::<3>).unwrap();
        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_close(&format!("coefficient {k} of {operation:?} of size {n}"), found, expected);
        }
    }
}

#[test]
fn empty_matrices_have_empty_results() {
    let empty = Mat::<f64>::zeros(0, 0);
    assert_eq!(matmul(&empty, &empty).shape(), (0, 0));
    assert_eq!(solve(&empty, &Col::<f64>::zeros(0)).nrows(), 0);
    assert_eq!(solve_spd(&empty, &Mat::<f64>::zeros(0, 3)).shape(), (0, 3));
    assert_eq!(solve_lower(&empty, &empty).shape(), (0, 0));
    assert_eq!(inverse(&empty).shape(), (0, 0));
    assert_eq!((determinant(&empty), ln_determinant(&empty), ln_determinant_spd(&empty)), (1.0, (0.0, 1.0), 0.0));
    assert_eq!(quadratic_form(&Col::<f64>::zeros(0), &empty), 0.0);
    let (values, vectors) = symmetric_eigen(&empty);
    assert_eq!((values.nrows(), vectors.shape(), symmetric_eigenvalues(&empty).nrows()), (0, (0, 0), 0));
    assert_eq!((map(Tanh, &empty).shape(), symmetric_function(Tanh, &empty).shape()), ((0, 0), (0, 0)));
    // An inner dimension of zero.
    assert_eq!(matmul(&Mat::<f64>::zeros(2, 0), &Mat::<f64>::zeros(0, 3)), Mat::<f64>::zeros(2, 3));
}

#[test]
fn singular_matrices_have_results_that_are_not_finite() {
    let singular = Mat::from_fn(3, 3, |i, j| if i == 1 { 0.0 } else { (i + j) as f64 });
    let right = Col::from_fn(3, |i| 1.0 + i as f64);
    assert!(solve(&singular, &right).iter().any(|v| !v.is_finite()));
    assert!(inverse(&singular).col_iter().any(|column| column.iter().any(|v| !v.is_finite())));
    assert_eq!((determinant(&singular), ln_determinant(&singular)), (0.0, (f64::NEG_INFINITY, 0.0)));
    let indefinite = Mat::<f64>::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
    assert!(solve_spd(&indefinite, &Col::<f64>::ones(2)).iter().all(|v| v.is_nan()));
    assert!(ln_determinant_spd(&indefinite).is_nan());
    let sum = |a: &Mat<_>| solve(a, a)[(0, 0)];
    let grad = gradient(&sum, &AutoReverseDiff::default(), &singular).unwrap();
    assert!(grad.col_iter().any(|column| column.iter().any(|v| !v.is_finite())));
}

/// x² = p has a double root at p = 0. The cotangent 2x of x² vanishes there, and says nothing about the derivative 1 of x² = p.
#[test]
fn double_roots_have_no_derivatives() {
    struct Square;
    impl Conditions for Square {
        fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
            vec![x[0] * x[0] - p[0]]
        }
    }
    fn squared<T: Real>(x: T) -> T {
        x * x
    }
    let x = root(Square, |p: &[f64]| vec![p[0].sqrt()]);
    let (forward, tape, compiled) = (AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    macro_rules! check {
        ($operator:ident $entry:tt, $derivative:literal at 4: $($backend:expr),*) => {$({
            let at = |p: f64| $operator(&|p: &[_]| squared(x.number(p)), &$backend, &[p]).unwrap() $entry;
            assert!((at(4.0) - $derivative).abs() < 1e-15 && !at(0.0).is_finite(), "{:?}: {} and {}", $backend, at(4.0), at(0.0));
        })*};
    }
    check!(gradient[0], 1.0 at 4: forward, tape, compiled);
    check!(hessian[(0, 0)], 0.0 at 4: forward, tape, compiled, SecondOrder(forward, tape), SecondOrder(forward, compiled));
    check!(hessian[(0, 0)], 0.0 at 4: SecondOrder(tape, forward), SecondOrder(compiled, forward), SecondOrder(tape, tape));
}

/// Equations of other lengths than the solution are an error, and the preparation stays usable.
#[test]
fn there_are_as_many_conditions_as_unknowns() {
    /// x = p for one unknown, whatever the solver returns.
    struct One;
    impl Conditions for One {
        fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
            vec![x[0] - p[0]]
        }
    }
    /// x = x/2 + p and one image too many.
    struct Two;
    impl implicit::Map for Two {
        fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
            vec![0.5 * x[0] + p[0], 123.0 * p[0]]
        }
    }
    let expected = |unknowns, found| ErrorKind::ConditionsLength { unknowns, found };
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let long = root(One, |p: &[f64]| if p[0] > 5.0 { vec![p[0], 0.0] } else { vec![p[0]] });
            let sum = |p: &[_]| long.call(p).into_iter().fold(p[0], |sum, x| sum + x);
            let mut prepared = prepare_gradient(&sum, &$backend, &[1.0]).unwrap();
            assert_eq!(prepared.gradient(&[6.0]).unwrap_err().kind(), expected(2, 1));
            assert_eq!(prepared.gradient(&[2.0]).unwrap(), [2.0]);
            let cut = fixed_point(Two, |p: &[f64]| vec![2.0 * p[0]]);
            assert_eq!(jacobian(&cut, &$backend, &[1.0]).unwrap_err().kind(), expected(1, 2));
        })*};
    }
    check!(
        AutoForwardDiff::default(),
        AutoReverseDiff::tape(),
        AutoReverseDiff::default(),
        AutoReverseDiff::compiled()
    );
}

/// The sign follows the values at which a recording is replayed.
#[test]
fn the_sign_of_a_determinant_is_that_of_the_point() {
    let f = |x: &[_]| {
        let (ln, sign) = ln_determinant(&Mat::from_fn(2, 2, |i, j| x[i + 2 * j]));
        ln * sign
    };
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &[2.0, 0.0, 0.0, 3.0]).unwrap();
    assert_eq!(prepared.gradient(&[2.0, 0.0, 0.0, 4.0]).unwrap(), [0.5, 0.0, 0.0, 0.25]);
    // [[0, 2], [4, 0]] has the determinant -8.
    assert_eq!(prepared.gradient(&[0.0, 4.0, 2.0, 0.0]).unwrap(), [-0.0, -0.25, -0.5, -0.0]);
}

#[test]
fn single_precision_is_computed_in_double() {
    fn f<T: Real<f32>>(x: &[T]) -> T {
        let a = Mat::from_fn(2, 2, |i, j| x[i + 2 * j]);
        determinant(&matmul_data(&Mat::from_fn(2, 2, |i, j| if i == j { 2.0_f32 } else { 0.0 }), &a))
    }
    // 4 (x₀ x₃ - x₁ x₂).
    let x = [4.0_f32, 1.0, 2.0, 3.0];
    assert_eq!(gradient(&|x: &[_]| f(x), &AutoReverseDiff::default(), &x).unwrap(), [12.0, -8.0, -4.0, 16.0]);
    assert_eq!(gradient(&|x: &[_]| f(x), &AutoForwardDiff::default(), &x).unwrap(), [12.0, -8.0, -4.0, 16.0]);
}

const UNKNOWNS: usize = 6;

/// x = G(x, p), a contraction for p around 0.5.
struct Contraction;

impl implicit::Map for Contraction {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let n = x.len();
        (0..n).map(|i| p[i + 1] - 0.2 * p[i] * x[(i + 1) % n].sin() - 0.1 * x[i].powi(3)).collect()
    }
}

impl Conditions for Contraction {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        x.iter().zip(implicit::Map::call(self, x, p)).map(|(x, image)| 2.0 * (image - x)).collect()
    }
}

/// The fixed point by iteration, in any numbers.
fn iterate<T: Real>(p: &[T]) -> Vec<T> {
    let mut x = vec![T::constant(0.0); UNKNOWNS];
    for _ in 0..80 {
        x = implicit::Map::call(&Contraction, &x, p);
    }
    x
}

#[derive(Clone, Copy)]
struct Unrolled;
impl<T: Real> Function<[T]> for Unrolled {
    type Output = Vec<T>;
    fn call(&self, p: &[T]) -> Vec<T> {
        iterate(p)
    }
}

/// Values and derivatives by all engines are those of another function.
macro_rules! assert_same_derivatives {
    ($name:expr, $found:expr, $expected:expr, $p:expr) => {{
        let (found, expected, p): (_, _, &[f64]) = ($found, $expected, $p);
        let elsewhere: Vec<f64> = p.iter().map(|v| 0.9 * v + 0.01).collect();
        let name = |engine: &str| format!("{} by {engine}", $name);
        assert_close($name, &Function::call(&found, p), &Function::call(&expected, p));
        let jac = jacobian(&expected, &AutoForwardDiff::default(), p).unwrap();
        let by = jacobian(&found, &AutoForwardDiff::default(), p).unwrap();
        assert_close(&name("forward_diff"), by.as_slice(), jac.as_slice());
        let by = jacobian(&found, &AutoReverseDiff::default(), p).unwrap();
        assert_close(&name("reverse_diff"), by.as_slice(), jac.as_slice());
        let mut prepared = prepare_jacobian(&found, &AutoReverseDiff::compiled(), &elsewhere).unwrap();
        assert_close(&name("compiled"), prepared.jacobian(p).unwrap().as_slice(), jac.as_slice());
        let (found, expected) = (Weighted(found), Weighted(expected));
        let hess = hessian(&expected, &AutoForwardDiff::default(), p).unwrap();
        let by = hessian(&found, &AutoForwardDiff::default(), p).unwrap();
        assert_close(&name("forward_diff twice"), by.as_slice(), hess.as_slice());
        let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
        assert_close(&name("forward over reverse"), hessian(&found, &pair, p).unwrap().as_slice(), hess.as_slice());
        let mut prepared = prepare_hessian(&found, &AutoReverseDiff::compiled(), &elsewhere).unwrap();
        assert_close(&name("compiled twice"), prepared.hessian(p).unwrap().as_slice(), hess.as_slice());
    }};
}

#[test]
fn implicit_functions_have_the_derivatives_of_the_iteration() {
    let p = [0.5, 0.4, -0.3, 0.6, 0.2, -0.5, 0.7];
    assert_same_derivatives!("root", root(Contraction, |p: &[f64]| iterate(p)), Unrolled, &p);
    assert_same_derivatives!("fixed point", fixed_point(Contraction, |p: &[f64]| iterate(p)), Unrolled, &p);
}

/// ½ xᵀ A(p) x - bᵀ x with a rule of linear algebra inside, which is smallest at A⁻¹ b.
struct Energy;

fn stiffness<T: Real>(p: &[T]) -> Mat<T> {
    Mat::from_fn(2, 2, |i, j| if i == j { 2.0 + p[i] * p[i] } else { 0.5 * p[0] * p[1] })
}

impl Objective for Energy {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> T {
        let x = Col::from_fn(2, |i| x[i]);
        0.5 * quadratic_form(&x, &stiffness(p)) - p[2] * x[0] - x[1]
    }
}

#[derive(Clone, Copy)]
struct Smallest;
impl<T: Real> Function<[T]> for Smallest {
    type Output = Vec<T>;
    fn call(&self, p: &[T]) -> Vec<T> {
        let a = stiffness(p);
        let determinant = a[(0, 0)] * a[(1, 1)] - a[(0, 1)] * a[(1, 0)];
        vec![(a[(1, 1)] * p[2] - a[(0, 1)]) / determinant, (a[(0, 0)] - a[(1, 0)] * p[2]) / determinant]
    }
}

#[test]
fn a_minimum_has_the_derivatives_of_its_closed_form() {
    let solver = |p: &[f64]| Smallest.call(p);
    assert_same_derivatives!("argmin", argmin(Energy, solver), Smallest, &[0.7, -0.4, 1.3]);
}

/// A tridiagonal system with active entries, beside the dense rule.
#[cfg(feature = "faer-sparse")]
mod sparse {
    use super::*;
    use differentiation_interface::algebra::sparse::SparseSystem;
    use faer::sparse::{SparseColMat, SymbolicSparseColMat, Triplet};

    const SIZE: usize = 5;

    fn pattern() -> SymbolicSparseColMat<usize> {
        let band = |j: usize| (j.saturating_sub(1)..SIZE.min(j + 2)).map(move |i| Triplet::new(i, j, 1.0));
        let entries: Vec<_> = (0..SIZE).flat_map(band).collect();
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(SIZE, SIZE, &entries).unwrap();
        matrix.symbolic().to_owned().unwrap()
    }

    /// Entries, row and column by position.
    fn places() -> Vec<(usize, usize)> {
        let pattern = pattern();
        (0..SIZE).flat_map(|j| pattern.row_idx_of_col(j).map(move |i| (i, j)).collect::<Vec<_>>()).collect()
    }

    struct BySparseRule(SparseSystem);
    impl<T: Real> Function<[T]> for BySparseRule {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            let values: Vec<T> = places().iter().zip(x).map(|((i, j), v)| if i == j { 4.0 + *v } else { *v }).collect();
            let right = Mat::from_fn(SIZE, 2, |i, j| x[values.len() + i + SIZE * j]);
            list(&self.0.solve(&values, &right))
        }
    }

    #[derive(Clone, Copy)]
    struct ByDenseRule;
    impl<T: Real> Function<[T]> for ByDenseRule {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            let mut a = Mat::from_fn(SIZE, SIZE, |i, j| T::constant(if i == j { 4.0 } else { 0.0 }));
            let places = places();
            for (&(i, j), v) in places.iter().zip(x) {
                a[(i, j)] += *v;
            }
            list(&solve(&a, &Mat::from_fn(SIZE, 2, |i, j| x[places.len() + i + SIZE * j])))
        }
    }

    #[test]
    fn sparse_solutions_have_the_derivatives_of_dense_ones() {
        let x: Vec<f64> = (0..places().len() + 2 * SIZE).map(|i| (1.7 * i as f64 + 0.3).sin()).collect();
        let system = SparseSystem::new(pattern().as_ref()).unwrap();
        assert_same_derivatives!("sparse system", BySparseRule(system), ByDenseRule, &x);
    }

    /// `new_unsorted_checked` of faer accepts them.
    #[test]
    #[should_panic(expected = "needs ascending row indices in every column")]
    fn rows_out_of_order_are_refused() {
        let pattern = SymbolicSparseColMat::new_unsorted_checked(2, 2, vec![0, 2, 4], None, vec![1, 0, 0, 1]);
        let _ = SparseSystem::new(pattern.as_ref());
    }

    #[test]
    fn singular_sparse_systems_have_no_finite_solution() {
        let system = SparseSystem::new(pattern().as_ref()).unwrap();
        let right = Col::from_fn(SIZE, |i| 1.0 + i as f64);
        for value in [0.0, f64::NAN] {
            let solution = system.solve(&vec![value; places().len()], &right);
            assert!(solution.iter().any(|v| !v.is_finite()), "{solution:?}");
        }
        let empty = SparseColMat::<usize, f64>::try_new_from_triplets(0, 0, &[]).unwrap();
        assert_eq!(SparseSystem::new(empty.symbolic()).unwrap().solve(&[], &Col::<f64>::zeros(0)).nrows(), 0);
    }
}
