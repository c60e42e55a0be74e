//! Results that are not used: their parts of a derivative are absent, also beside numbers that are not finite. And what rules keep of earlier calls.

use differentiation_interface::algebra::dense::{map, matmul, matmul_data, solve};
use differentiation_interface::algebra::implicit::{Conditions, root};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::Sqrt;
use faer::{Col, Mat};

/// The gradient by each engine, and by a preparation that goes up to a program.
macro_rules! assert_gradient {
    ($f:expr, $x:expr, $expected:expr) => {{
        let x: &[f64] = &$x;
        assert_eq!(gradient(&$f, &AutoForwardDiff::default(), x).unwrap(), $expected, "forward");
        assert_eq!(gradient(&$f, &AutoReverseDiff::tape(), x).unwrap(), $expected, "tape");
        assert_eq!(gradient(&$f, &AutoReverseDiff::compiled(), x).unwrap(), $expected, "compiled");
        let mut prepared = prepare_gradient(&$f, &AutoReverseDiff::default(), x).unwrap();
        for call in 0..60 {
            assert_eq!(prepared.gradient(x).unwrap(), $expected, "default engine, call {call}");
        }
    }};
}

#[test]
fn entries_of_a_map_that_are_not_used() {
    fn f<T: Real>(x: &[T]) -> T {
        map(Sqrt, &Col::from_fn(2, |i| x[i]))[0]
    }
    // √x has an infinite slope at 0.
    assert_gradient!(f, [4.0, 0.0], [0.25, 0.0]);
    for hess in [
        hessian(&f, &AutoForwardDiff::default(), &[4.0, 0.0]),
        hessian(&f, &AutoReverseDiff::tape(), &[4.0, 0.0]),
        hessian(&f, &AutoReverseDiff::compiled(), &[4.0, 0.0]),
    ] {
        assert_eq!(hess.unwrap().into_vec(), [-1.0 / 32.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn rows_of_data_that_are_not_used() {
    fn rows() -> Mat<f64> {
        Mat::from_fn(3, 2, |i, j| [[1.0, 2.0], [f64::NAN, f64::NAN], [3.0, 4.0]][i][j])
    }
    fn with_data<T: Real>(x: &[T]) -> T {
        let y = matmul_data(&rows(), &Col::from_fn(2, |i| x[i]));
        y[0] * y[0] + y[2] * y[2]
    }
    fn with_constants<T: Real>(x: &[T]) -> T {
        let y = matmul(&Mat::from_fn(3, 2, |i, j| T::constant(rows()[(i, j)])), &Col::from_fn(2, |i| x[i]));
        y[0] * y[0] + y[2] * y[2]
    }
    assert_gradient!(with_data, [1.0, 2.0], [76.0, 108.0]);
    assert_gradient!(with_constants, [1.0, 2.0], [76.0, 108.0]);
    for hess in [
        hessian(&with_data, &AutoForwardDiff::default(), &[1.0, 2.0]),
        hessian(&with_data, &AutoReverseDiff::tape(), &[1.0, 2.0]),
    ] {
        // 2 Dᵀ D of the rows that are used.
        assert_eq!(hess.unwrap().into_vec(), [20.0, 28.0, 28.0, 40.0]);
    }
}

/// Both factors have derivatives; an entry of the one is infinite, in a row that is not used.
#[test]
fn rows_of_a_factor_that_are_not_used() {
    fn f<T: Real>(x: &[T]) -> T {
        let left = Mat::from_fn(2, 2, |i, j| if i == 0 { x[j] } else { x[j] / 0.0 });
        matmul(&left, &Col::from_fn(2, |i| x[2 + i]))[0]
    }
    let x: &[f64] = &[1.0, 2.0, 3.0, 4.0];
    for grad in
        [gradient(&f, &AutoReverseDiff::tape(), x).unwrap(), gradient(&f, &AutoReverseDiff::compiled(), x).unwrap()]
    {
        // Those of the factor with the infinite entries are not asserted: x₀ / 0 has an infinite derivative itself.
        assert_eq!(grad[2..], [1.0, 2.0]);
    }
}

/// A row that is not used has a finite value and an infinite derivative, with which derivatives multiply an absent one.
#[test]
fn rows_that_are_not_used_do_not_meet_infinite_derivatives() {
    fn f<T: Real>(x: &[T]) -> T {
        let left = Mat::from_fn(2, 2, |i, j| if i == 0 { x[j] } else { x[j].sqrt() });
        matmul(&left, &Col::from_fn(2, |i| x[i]))[0]
    }
    // x₀² + x₁² at x₀ = 0, where √x₀ has an infinite slope.
    assert_gradient!(f, [0.0, 1.0], [0.0, 2.0]);
    let (forward, reverse, compiled) =
        (AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
    for (engines, hess) in [
        ("forward over reverse", hessian(&f, &SecondOrder(forward, reverse), &[0.0, 1.0])),
        ("reverse", hessian(&f, &reverse, &[0.0, 1.0])),
        ("forward", hessian(&f, &forward, &[0.0, 1.0])),
        ("compiled", hessian(&f, &compiled, &[0.0, 1.0])),
        ("forward over compiled", hessian(&f, &SecondOrder(forward, compiled), &[0.0, 1.0])),
    ] {
        assert_eq!(hess.unwrap().into_vec(), [2.0, 0.0, 0.0, 2.0], "{engines}");
    }
}

/// A cotangent that a rule returns as zero and that moves with the point is not absent in second derivatives, beside one that is.
#[test]
fn zeros_that_move_are_not_absent() {
    fn f<T: Real>(x: &[T]) -> T {
        let left = Mat::from_fn(2, 2, |i, j| if i == 1 { x[2].sqrt() } else { [x[0] * x[0], x[0]][j] });
        matmul(&left, &Col::from_fn(2, |_| x[1]))[0]
    }
    // x₀² x₁ + x₀ x₁, with √x₂ in a row that is not used.
    let x = [3.0, 0.0, 0.0];
    assert_gradient!(f, x, [0.0, 12.0, 0.0]);
    let (forward, compiled) = (AutoForwardDiff::default(), AutoReverseDiff::compiled());
    for (engines, hess) in [
        ("compiled", hessian(&f, &compiled, &x)),
        ("forward over compiled", hessian(&f, &SecondOrder(forward, compiled), &x)),
    ] {
        assert_eq!(hess.unwrap().into_vec(), [0.0, 7.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{engines}");
    }
}

/// Of two products, the tangent does not move the one with an infinite derivative behind it.
#[test]
fn products_that_do_not_move() {
    fn f<T: Real>(x: &[T]) -> Vec<T> {
        let product = |i| matmul(&Mat::from_fn(1, 1, |_, _| x[i]), &Col::from_fn(1, |_| x[2]))[0];
        vec![product(0).sqrt(), product(1).sqrt()]
    }
    // (√(x₀ x₂), √(x₁ x₂)) along x₀.
    let (x, dx): (&[f64], &[f64]) = (&[2.0, 0.0, 2.0], &[1.0, 0.0, 0.0]);
    assert_eq!(pushforward(&f, &AutoReverseDiff::compiled(), x, [dx]).unwrap(), [[0.5, 0.0]]);
}

/// Numbers of other engines do not tell which zeros a rule leaves out, but a product that is not used is absent as a whole.
#[test]
fn products_that_are_not_used_are_absent_within_other_engines() {
    fn f<T: Real>(x: &[T]) -> T {
        let left = Mat::from_fn(2, 2, |_, j| x[j].sqrt());
        let y = matmul(&left, &Col::from_fn(2, |i| x[i]));
        x[0].greater_than(T::constant(0.0)).select(y[0] * x[1], x[1] * x[1] * x[1])
    }
    macro_rules! slopes {
        () => {
            |x: &[_]| {
                let grad: Vec<_> = gradient(&f, &AutoReverseDiff::compiled(), x).unwrap();
                grad[0] + grad[1] * grad[1]
            }
        };
    }
    // (3 x₁²)², as the product with √x₀ is on the side that is not taken; then that of x₀^(3/2) x₁ + x₁^(5/2).
    for (x, expected) in [([0.0, 1.0], [0.0, 36.0]), ([1.0, 1.0], [11.25, 27.75])] {
        assert_eq!(gradient(&slopes!(), &AutoForwardDiff::default(), &x).unwrap(), expected, "forward");
        assert_eq!(gradient(&slopes!(), &AutoReverseDiff::tape(), &x).unwrap(), expected, "tape");
        assert_eq!(gradient(&slopes!(), &AutoReverseDiff::compiled(), &x).unwrap(), expected, "compiled");
    }
}

#[test]
fn solutions_that_are_not_used() {
    fn f<T: Real>(x: &[T]) -> T {
        let a = Mat::from_fn(2, 2, |i, j| if i == j { x[i] } else { T::constant(0.0) });
        let b = Mat::from_fn(2, 2, |_, j| T::constant(if j == 0 { 1.0 } else { f64::NAN }));
        let solution = solve(&a, &b);
        solution[(0, 0)] + solution[(1, 0)]
    }
    // 1 / x₀ + 1 / x₁
    assert_gradient!(f, [2.0, 4.0], [-0.25, -0.0625]);
}

/// A singular matrix has no solution, which only right sides of solutions that are used are told.
#[test]
fn right_sides_of_solutions_that_are_not_used() {
    fn f<T: Real>(x: &[T]) -> T {
        let singular = Mat::from_fn(2, 2, |_, _| T::constant(1.0));
        solve(&singular, &Mat::from_fn(2, 2, |i, j| x[i + 2 * j]))[(0, 0)]
    }
    let grad: Vec<f64> = gradient(&f, &AutoReverseDiff::tape(), &[1.0, 2.0, 3.0, 4.0][..]).unwrap();
    assert!(!grad[0].is_finite() && !grad[1].is_finite(), "{grad:?}");
    assert_eq!(grad[2..], [0.0, 0.0]);
}

/// x₀ = p₀ whatever the scale, which depends on the sign of a zero.
struct Scaled;

impl Conditions for Scaled {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let scale = if p[1].is_sign_negative() { 4.0 } else { 2.0 };
        vec![(x[0] - p[0]) * scale]
    }
}

/// (i + 1) xᵢ³ = (i + 1) p of an index that wraps.
struct Cubes;

impl Conditions for Cubes {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        (0..x.len()).map(|i| (x[i] * x[i] * x[i] - p[i % p.len()]) * (i + 1) as f64).collect()
    }
}

/// Of two points with equal numbers, one has another zero, or ends the unknowns elsewhere.
#[test]
fn implicit_functions_keep_what_belongs_to_the_point() {
    let scaled = root(Scaled, |p: &[f64]| vec![p[0]]);
    for p in [[1.0, 0.0], [1.0, -0.0], [1.0, 0.0]] {
        let forward = jacobian(&scaled, &AutoForwardDiff::default(), &p).unwrap();
        let reverse = jacobian(&scaled, &AutoReverseDiff::tape(), &p).unwrap();
        assert_eq!([forward.into_vec(), reverse.into_vec()], [[1.0, 0.0], [1.0, 0.0]], "at {p:?}");
    }
    let cubes = root(Cubes, |p: &[f64]| vec![1.0; 4 - p.len()]);
    let third = 1.0 / 3.0;
    for _ in 0..2 {
        let three = jacobian(&cubes, &AutoForwardDiff::default(), &[1.0, 1.0, 1.0]).unwrap();
        assert_eq!(three.into_vec(), [third, 0.0, 0.0]);
        let two = jacobian(&cubes, &AutoForwardDiff::default(), &[1.0, 1.0]).unwrap();
        assert_eq!(two.into_vec(), [third, 0.0, 0.0, third]);
    }
}
