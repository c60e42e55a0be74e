//! Numbers of an outer differentiation in an inner function, captured as [`lift`] makes them.

use differentiation_interface::prelude::*;

#[derive(Clone, Debug, PartialEq, Container)]
struct Spring<T = f64> {
    stiffness: T,
    rest: Vec<T>,
    #[constant]
    name: String,
}

/// k/2 Σ (x - rest)²
fn energy<T: Real>(spring: &Spring<T>, x: &[T]) -> T {
    x.iter().zip(&spring.rest).map(|(x, rest)| spring.stiffness * (*x - *rest).powi(2) * 0.5).sum()
}

/// Runs a block with each pair of engines that nest, `outer` and `inner`.
macro_rules! every_pair {
    ($outer:ident, $inner:ident => $body:block) => {
        every_pair!(@ $outer, $inner, AutoForwardDiff::default(), AutoForwardDiff::default(), $body);
        every_pair!(@ $outer, $inner, AutoForwardDiff::default(), AutoReverseDiff::default(), $body);
        every_pair!(@ $outer, $inner, AutoReverseDiff::default(), AutoForwardDiff::default(), $body);
        every_pair!(@ $outer, $inner, AutoReverseDiff::default(), AutoReverseDiff::default(), $body);
        every_pair!(@ $outer, $inner, AutoReverseDiff::compiled(), AutoForwardDiff::default(), $body);
    };
    (@ $outer:ident, $inner:ident, $first:expr, $second:expr, $body:block) => {{
        let ($outer, $inner) = ($first, $second);
        $body
    }};
}

/// The force at x = (3, 5), which is k (x - rest), and its work: the derivatives of Σ k (x - rest) w for w = (1, 10).
const FORCE: f64 = 2.0 * 2.0 + 10.0 * 2.0 * 1.0;

fn spring() -> Spring {
    Spring { stiffness: 2.0, rest: vec![1.0, 4.0], name: "spring".into() }
}
fn gradient_of_force() -> Spring {
    Spring { stiffness: 2.0 + 10.0, rest: vec![-2.0, -20.0], name: "spring".into() }
}

#[test]
fn a_struct_of_outer_numbers_is_lifted() {
    every_pair!(outer, inner => {
        let work = |spring: &Spring<_>| {
            let x = lift(&outer, &[3.0, 5.0]);
            let inside = lift(&inner, spring);
            assert_eq!(inside.name, "spring");
            let force = gradient(&|x: &[_]| energy(&inside, x), &inner, &x).unwrap();
            force[0] + 10.0 * force[1]
        };
        assert_eq!(value_and_gradient(&work, &outer, &spring()).unwrap(), (FORCE, gradient_of_force()));
    });
}

#[test]
fn slices_arrays_and_numbers_of_outer_numbers_are_lifted() {
    every_pair!(outer, inner => {
        let work = |p: &[_]| {
            let (stiffness, rest, weights) = (lift(&inner, &p[0]), lift(&inner, &p[1..]), lift(&inner, &[p[0], p[0] * 10.0]));
            let start = lift(&outer, &[3.0, 5.0]);
            let scaled = |x: &[_]| {
                let spring = Spring { stiffness, rest: rest.clone(), name: String::new() };
                energy(&spring, x) + weights[0] * x[0] + weights[1] * x[1]
            };
            let force = gradient(&scaled, &inner, &start).unwrap();
            force[0] + 10.0 * force[1]
        };
        // The weights add k and 10 k to the force, (1 + 100) k to the work.
        let (value, grad) = value_and_gradient(&work, &outer, &[2.0, 1.0, 4.0]).unwrap();
        assert_eq!((value, grad), (FORCE + 202.0, vec![12.0 + 101.0, -2.0, -20.0]));
    });
}

/// Σ none + x + k, for lifted numbers whose type the compiler takes from `x`.
fn total<T: Real>(x: T, none: &[T], k: T) -> T {
    none.iter().copied().sum::<T>() + x + k
}

#[test]
fn empty_containers_and_plain_numbers_are_lifted() {
    let inner = AutoForwardDiff::default();
    let f = |x: &[_]| total(x[0], &lift(&inner, &[0.0; 0][..]), lift(&inner, &2.5));
    assert_eq!(value_and_gradient(&f, &inner, &[1.0]).unwrap(), (3.5, vec![1.0]));
}

/// Second derivatives inside a derivative, by the ways to lift that the book names: ∂/∂a of ∂²/∂x² of a² x³ is 12 a x.
#[test]
fn outer_numbers_are_lifted_into_second_derivatives() {
    fn product<T: Real>(a: T, x: T) -> T {
        a * a * x * x * x
    }
    macro_rules! inside {
        ($name:ident, $outer:expr, $inner:expr, $lift:expr) => {
            fn $name<T: Real>(a: T) -> T {
                let (outer, inner) = ($outer, $inner);
                let f = |x: _| product($lift(outer, inner, a), x);
                second_derivative(&f, &SecondOrder(outer, inner), &T::constant(3.0)).unwrap()
            }
        };
    }
    inside!(forward_over_tape, AutoForwardDiff::default(), AutoReverseDiff::default(), |o, i, a: T| lift(
        &i,
        &lift(&o, &a)
    ));
    inside!(tape_twice, AutoReverseDiff::default(), AutoReverseDiff::default(), |o, i, a: T| lift(&i, &lift(&o, &a)));
    inside!(forward_twice, AutoForwardDiff::default(), AutoForwardDiff::default(), |o, i, a: T| lift(
        &SecondOrder(o, i),
        &a
    ));
    fn in_hessian<T: Real>(a: T) -> T {
        let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
        hessian(&|x: &[_]| product(lift(&pair, &a), x[0]), &pair, &[T::constant(3.0)]).unwrap()[(0, 0)]
    }
    let outer = AutoForwardDiff::default();
    assert_eq!(derivative(&forward_over_tape, &outer, 2.0), Ok(72.0));
    assert_eq!(derivative(&tape_twice, &outer, 2.0), Ok(72.0));
    assert_eq!(derivative(&forward_twice, &outer, 2.0), Ok(72.0));
    assert_eq!(derivative(&in_hessian, &outer, 2.0), Ok(72.0));
}

/// c y₀² y₁ + y₂⁴ + y₁³ with an outer c.
fn quartic<T: Real>(y: &[T], c: T) -> T {
    y[0] * y[0] * y[1] * c + y[2].powi(4) + y[1].powi(3)
}

/// Of the Hessian of `quartic`: h₀₁ h₁₁ + h₂₂ = 12 c y₀ y₁ + 12 y₂².
fn of_hessian<T: Real>(x: &[T]) -> T {
    let inner = AutoForwardDiff::default();
    let c = lift(&SecondOrder(inner, inner), &x[0]);
    let hess = hessian(&|y: &[_]| quartic(y, c), &inner, &x[1..]).expect("a polynomial has a Hessian");
    hess[(0, 1)] * hess[(1, 1)] + hess[(2, 2)]
}

/// A number of a Hessian inside another takes 5 KB.
#[test]
fn hessians_inside_hessians_fit_on_the_stack_of_a_thread() {
    let run = || hessian(&of_hessian, &AutoForwardDiff::default(), &[0.5, 0.25, -0.5, 0.75]);
    let hess = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap().unwrap();
    let expected = [[0.0, -6.0, 3.0, 0.0], [-6.0, 0.0, 6.0, 0.0], [3.0, 6.0, 0.0, 0.0], [0.0, 0.0, 0.0, 24.0]];
    assert_eq!(hess, expected);
}
