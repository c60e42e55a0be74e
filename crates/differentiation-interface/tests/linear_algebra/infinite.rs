//! Implicit functions whose conditions have partial derivatives that are not finite: what does not depend on these stays right.

use super::*;

type Solver = fn(&[f64]) -> Vec<f64>;

/// Gradients by each engine, and by a preparation that goes up to a program.
macro_rules! assert_gradient {
    ($f:expr, $p:expr, $expected:expr) => {{
        let p: &[f64] = &$p;
        assert_eq!(gradient(&$f, &AutoForwardDiff::default(), p).unwrap(), $expected, "forward");
        assert_eq!(gradient(&$f, &AutoReverseDiff::tape(), p).unwrap(), $expected, "tape");
        assert_eq!(gradient(&$f, &AutoReverseDiff::compiled(), p).unwrap(), $expected, "compiled");
        let f = $f;
        let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), p).unwrap();
        for call in 0..60 {
            assert_eq!(prepared.gradient(p).unwrap(), $expected, "default engine, call {call}");
        }
    }};
}

/// Hessians by each engine and pairs of them.
macro_rules! assert_hessian {
    ($f:expr, $p:expr, $expected:expr) => {{
        let p: &[f64] = &$p;
        let (forward, tape, compiled) =
            (AutoForwardDiff::default(), AutoReverseDiff::tape(), AutoReverseDiff::compiled());
        for (engines, hess) in [
            ("forward", hessian(&$f, &forward, p)),
            ("tape", hessian(&$f, &tape, p)),
            ("default", hessian(&$f, &AutoReverseDiff::default(), p)),
            ("compiled", hessian(&$f, &compiled, p)),
            ("forward over tape", hessian(&$f, &SecondOrder(forward, tape), p)),
            ("forward over compiled", hessian(&$f, &SecondOrder(forward, compiled), p)),
            ("tape over forward", hessian(&$f, &SecondOrder(tape, forward), p)),
            ("tape over tape", hessian(&$f, &SecondOrder(tape, tape), p)),
            ("compiled over forward", hessian(&$f, &SecondOrder(compiled, forward), p)),
        ] {
            assert_eq!(hess.unwrap().into_vec(), $expected, "{engines}");
        }
    }};
}

/// x = p₀ + p₁ʳ.
struct Sum(f64);

impl Conditions for Sum {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        vec![x[0] - p[0] - p[1].powf(T::constant(self.0))]
    }
}

/// The same as a minimum: ½ (x - p₀ - p₁ʳ)².
impl Objective for Sum {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> T {
        let distance = x[0] - p[0] - p[1].powf(T::constant(self.0));
        0.5 * distance * distance
    }
}

/// The same as a fixed point.
impl implicit::Map for Sum {
    fn call<T: Real>(&self, _: &[T], p: &[T]) -> Vec<T> {
        vec![p[0] + p[1].powf(T::constant(self.0))]
    }
}

#[test]
fn a_parameter_with_an_infinite_derivative_spoils_no_other() {
    let solver = |p: &[f64]| vec![p[0] + p[1].sqrt()];
    let (sum, least, fixed) = (root(Sum(0.5), solver), argmin(Sum(0.5), solver), fixed_point(Sum(0.5), solver));
    assert_gradient!(|p: &[_]| sum.number(p), [1.0, 0.0], [1.0, f64::INFINITY]);
    assert_gradient!(|p: &[_]| least.number(p), [1.0, 0.0], [1.0, f64::INFINITY]);
    assert_gradient!(|p: &[_]| fixed.number(p), [1.0, 0.0], [1.0, f64::INFINITY]);
}

#[test]
fn constants_with_an_infinite_derivative_contribute_nothing() {
    fn at_zero<T: Real>(p: &[T], sum: &Custom<implicit::Implicit<Sum, Solver>>) -> T {
        sum.number(&[p[0] * p[0], T::constant(0.0)])
    }
    let sum = root(Sum(0.5), (|p: &[f64]| vec![p[0] + p[1].sqrt()]) as Solver);
    assert_gradient!(|p: &[_]| at_zero(p, &sum), [3.0], [6.0]);
    assert_hessian!(|p: &[_]| at_zero(p, &sum), [3.0], [2.0]);
}

#[test]
fn an_infinite_second_derivative_spoils_no_other() {
    fn f<T: Real>(p: &[T], sum: &Custom<implicit::Implicit<Sum, Solver>>) -> T {
        p[0] * p[0] + sum.number(p)
    }
    let sum = root(Sum(1.5), (|p: &[f64]| vec![p[0] + p[1].powf(1.5)]) as Solver);
    assert_hessian!(|p: &[_]| f(p, &sum), [1.0, 0.0], [2.0, 0.0, 0.0, f64::INFINITY]);
}

/// Three unknowns that do not depend on each other, with their conditions in another order: x₀ = p₀, x₁ = √p₁, x₂ = p₂, each times `scale`, whose
/// derivatives make ∂F/∂x move.
struct Apart;

impl Conditions for Apart {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let scale = p[0] + 1.0;
        vec![(x[1] - p[1].sqrt()) * scale, (x[2] - p[2]) * scale, (x[0] - p[0]) * scale]
    }
}

#[test]
fn an_unknown_with_an_infinite_derivative_spoils_no_other() {
    fn f<T: Real>(p: &[T], apart: &Custom<implicit::Implicit<Apart, Solver>>) -> T {
        let x = apart.call(p);
        x[0] * x[0] + x[0] * x[2]
    }
    let apart = root(Apart, (|p: &[f64]| vec![p[0], p[1].sqrt(), p[2]]) as Solver);
    // p₀² + p₀ p₂
    assert_gradient!(|p: &[_]| f(p, &apart), [3.0, 0.0, 1.0], [7.0, 0.0, 3.0]);
    assert_hessian!(|p: &[_]| f(p, &apart), [3.0, 0.0, 1.0], [2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let jac = jacobian(&apart, &AutoForwardDiff::default(), &[3.0, 0.0, 1.0]).unwrap();
    assert_eq!(jac, [[1.0, 0.0, 0.0], [0.0, f64::INFINITY, 0.0], [0.0, 0.0, 1.0]]);
    // One direction that moves all of them.
    let p: &[f64] = &[3.0, 0.0, 1.0];
    let along = pushforward(&apart, &AutoForwardDiff::default(), p, [&[1.0, 1.0, 1.0][..]]).unwrap();
    assert_eq!(along, [[1.0, f64::INFINITY, 1.0]]);
}

/// x₀ = p₀ and, after it, x₁² = p₁ x₀: the second condition is singular at p₁ = 0.
struct After;

impl Conditions for After {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        vec![x[0] - p[0], x[1] * x[1] - p[1] * x[0]]
    }
}

/// Forward mode knows what is absent. Reverse mode cannot tell a cotangent of zero from one that is absent, so that the parameters of the
/// singular part, and of the part that it takes an unknown from, have no derivative.
#[test]
fn what_a_singular_part_does_not_move_stays_right() {
    fn f<T: Real>(p: &[T], after: &Custom<implicit::Implicit<After, Solver>>) -> T {
        let x = after.call(p);
        x[0] * x[0]
    }
    let after = root(After, (|p: &[f64]| vec![p[0], (p[0] * p[1]).sqrt()]) as Solver);
    assert_gradient!(|p: &[_]| f(p, &after), [3.0, 1.0], [6.0, 0.0]);
    let p: &[f64] = &[3.0, 0.0];
    let along = pushforward(&|p: &[_]| after.call(p), &AutoForwardDiff::default(), p, [&[0.0, 1.0][..]]).unwrap();
    assert_eq!(along, [[0.0, f64::INFINITY]]);
    for grad in [
        gradient(&|p: &[_]| f(p, &after), &AutoReverseDiff::tape(), p).unwrap(),
        gradient(&|p: &[_]| f(p, &after), &AutoReverseDiff::compiled(), p).unwrap(),
    ] {
        assert!(grad.iter().all(|slope| slope.is_nan()), "{grad:?}");
    }
}

/// x₀ = p₀, x₁ = x₀ + p₁, x₂ = √(x₁ - 3), x₃ = p₂.
struct Chain;

impl Conditions for Chain {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        vec![x[0] - p[0], x[1] - x[0] - p[1], x[2] * x[2] - x[1] + 3.0, x[3] - p[2]]
    }
}

/// The cotangent of x₂ = 0 is 0, its derivative by x₁ infinite, and x₂² + x₀ + x₃ has the gradient (2, 1, 1): what leads to x₂ must not be without its term.
#[test]
fn a_singular_part_spoils_all_that_leads_to_it() {
    fn f<T: Real>(p: &[T], chain: &Custom<implicit::Implicit<Chain, Solver>>, weight: f64) -> T {
        let x = chain.call(p);
        x[2] * x[2] + weight * x[0] + x[3]
    }
    let chain = root(Chain, (|p: &[f64]| vec![p[0], p[0] + p[1], (p[0] + p[1] - 3.0).max(0.0).sqrt(), p[2]]) as Solver);
    assert_gradient!(|p: &[_]| f(p, &chain, 1.0), [2.0, 2.0, 5.0], [2.0, 1.0, 1.0]);
    for weight in [0.0, 1.0] {
        for grad in [
            gradient(&|p: &[_]| f(p, &chain, weight), &AutoReverseDiff::tape(), &[2.0_f64, 1.0, 5.0]).unwrap(),
            gradient(&|p: &[_]| f(p, &chain, weight), &AutoReverseDiff::compiled(), &[2.0_f64, 1.0, 5.0]).unwrap(),
        ] {
            assert!(grad[0].is_nan() && grad[1].is_nan() && grad[2] == 1.0, "{grad:?}");
        }
    }
}

/// ∛(x₀ - p₀) = 0, x₁ = √p₁.
struct Steep;

impl Conditions for Steep {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        vec![(x[0] - p[0]).cbrt(), x[1] * x[1] - p[1]]
    }
}

#[test]
fn a_singular_part_is_found_beside_an_infinite_one() {
    let steep = root(Steep, (|p: &[f64]| vec![p[0], p[1].sqrt()]) as Solver);
    fn f<T: Real>(p: &[T], steep: &Custom<implicit::Implicit<Steep, Solver>>) -> T {
        let x = steep.call(p);
        x[1] * x[1] + p[0]
    }
    for grad in [
        gradient(&|p: &[_]| f(p, &steep), &AutoReverseDiff::tape(), &[3.0_f64, 0.0]).unwrap(),
        gradient(&|p: &[_]| f(p, &steep), &AutoReverseDiff::compiled(), &[3.0, 0.0]).unwrap(),
    ] {
        assert!(grad[0] == 1.0 && grad[1].is_nan(), "{grad:?}");
    }
}

/// x₀ = p₀, x₁ = √p₁, x₂ = p₂, each by itself.
struct Beside;

impl Conditions for Beside {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        vec![x[0] - p[0], x[1] * x[1] - p[1], x[2] - p[2]]
    }
}

/// An equation that is singular does not spoil an unused one beside it.
#[test]
fn unused_equations_beside_a_singular_one_stay_right() {
    fn f<T: Real>(p: &[T], apart: &Custom<implicit::Implicit<Beside, Solver>>) -> T {
        let x = apart.call(p);
        x[0] + x[1]
    }
    let apart = root(Beside, (|p: &[f64]| vec![p[0], p[1].sqrt(), p[2]]) as Solver);
    assert_gradient!(|p: &[_]| f(p, &apart), [3.0, 0.0, 2.0], [1.0, f64::INFINITY, 0.0]);
}

/// xᵢ = √pᵢ, by one rule for all roots, for more unknowns than an evaluation has tangents.
struct Roots;

impl Conditions for Roots {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        let roots = map(differentiation_interface::rules::Sqrt, &Col::from_fn(p.len(), |i| p[i]));
        (0..p.len()).map(|i| x[i] - roots[i]).collect()
    }
}

#[test]
fn rules_inside_conditions_leave_out_what_is_absent() {
    let roots = root(Roots, |p: &[f64]| p.iter().map(|p| p.sqrt()).collect());
    let p: &[f64] = &[4.0, 0.0, 16.0, 0.25, 0.0, 1.0];
    let slopes = [0.25, f64::INFINITY, 0.125, 1.0, f64::INFINITY, 0.5];
    let forward = jacobian(&roots, &AutoForwardDiff::default(), p).unwrap();
    let tape = jacobian(&roots, &AutoReverseDiff::tape(), p).unwrap();
    let compiled = jacobian(&roots, &AutoReverseDiff::compiled(), p).unwrap();
    for (engine, jac) in [("forward", forward), ("tape", tape), ("compiled", compiled)] {
        for (at, entry) in jac.into_vec().into_iter().enumerate() {
            assert_eq!(entry, if at % 7 == 0 { slopes[at / 7] } else { 0.0 }, "{engine}, entry {at}");
        }
    }
}

/// x = p.
struct Same;

impl Conditions for Same {
    fn call<T: Real>(&self, x: &[T], p: &[T]) -> Vec<T> {
        x.iter().zip(p).map(|(x, p)| *x - *p).collect()
    }
}

/// An unknown that does not move is absent in what follows as well.
#[test]
fn unknowns_that_do_not_move_are_absent_in_what_follows() {
    fn f<T: Real>(p: &[T], same: &Custom<implicit::Implicit<Same, Solver>>, r: f64) -> T {
        let x = same.call(p);
        x[0] * x[0] + x[1].powf(T::constant(r))
    }
    let same = root(Same, (|p: &[f64]| p.to_vec()) as Solver);
    assert_gradient!(|p: &[_]| f(p, &same, 0.5), [3.0, 0.0], [6.0, f64::INFINITY]);
    assert_hessian!(|p: &[_]| f(p, &same, 1.5), [3.0, 0.0], [2.0, 0.0, 0.0, f64::INFINITY]);
}
