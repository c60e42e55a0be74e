//! A user's test of one function of their own.

use differentiation_interface::prelude::*;
use differentiation_interface_test::*;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    (0..x.len() - 1).map(|i| 100.0 * (x[i + 1] - x[i] * x[i]).powi(2) + (1.0 - x[i]).powi(2)).sum()
}

/// A model with data.
struct Circle {
    radius: f64,
}
impl<T: Real> Function<T> for Circle {
    type Output = [T; 2];
    fn call(&self, t: &T) -> [T; 2] {
        [self.radius * t.cos(), self.radius * t.sin()]
    }
}

fn weighted<T: Real>(x: &[T], k: &f64) -> T {
    x.iter().map(|v| *k * v.powi(3)).sum()
}
struct Weighted;
impl<T: Real> FunctionWith<[T], (differentiation_interface::Const<f64>,)> for Weighted {
    type Output = T;
    fn call_with(&self, x: &[T], (k,): (&f64,)) -> T {
        weighted(x, k)
    }
}

#[test]
fn rosenbrock_is_differentiated_right_by_all() {
    let forward = AutoForwardDiff::default();
    let reverse = AutoReverseDiff::default();
    let backends = (
        forward,
        reverse,
        named("central", AutoFiniteDiff::central()),
        second_order_only(SecondOrder(forward, reverse)),
        hessian_only("sparse", AutoSparse::new(SecondOrder(forward, reverse))),
    );
    let x = vec![-1.2, 1.0];
    let scenarios = (
        Scenario::gradient(Rosenbrock, x.clone()).expecting([-215.6, -88.0]).expecting_value([24.2]),
        Scenario::hessian(Rosenbrock, x.clone()).expecting([1330.0, 480.0, 480.0, 200.0]).expecting_pattern([
            (0, 0),
            (0, 1),
            (1, 0),
            (1, 1),
        ]),
        Scenario::hvp(Rosenbrock, x.clone(), [vec![1.0, 0.0], vec![0.0, 1.0]]).expecting([1330.0, 480.0, 480.0, 200.0]),
        Scenario::gradient(Weighted, (vec![1.0, 2.0], OwnedConstant(2.0))).expecting([6.0, 24.0]),
    );
    let outcome = test_differentiation(&backends, &scenarios, &Options::default());
    outcome.assert();
    let counts: Vec<(usize, usize)> = outcome.counts().iter().map(|c| (c.scenarios, c.skipped)).collect();
    assert_eq!(counts, [(4, 0), (4, 0), (4, 0), (2, 2), (1, 3)]);
}

#[test]
fn without_answers_differences_and_adjoints_are_checked() {
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
    let scenarios = (
        Scenario::gradient(Rosenbrock, vec![-1.2, 1.0, 0.5]),
        Scenario::hessian(Rosenbrock, vec![-1.2, 1.0, 0.5]),
        Scenario::hvp(Rosenbrock, vec![-1.2, 1.0], [vec![3.0, 0.5]]),
        Scenario::derivative(Circle { radius: 2.0 }, 0.3),
        Scenario::second_derivative(Circle { radius: 2.0 }, 0.3),
        Scenario::pushforward(Circle { radius: 2.0 }, 0.3, [vec![1.5]]),
        Scenario::pullback(Circle { radius: 2.0 }, 0.3, [vec![1.5, -2.0]]),
    );
    test_differentiation(&backends, &scenarios, &Options::default()).assert();
}
