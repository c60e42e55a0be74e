//! `SecondOrder` of any two backends of the list, each over each and over itself, against derivatives by hand.

use crate::pairs::{EXACT, ONE_DIFFERENCE, TWO_DIFFERENCES, assert_near};
use differentiation_interface::each_backend;
use differentiation_interface::prelude::*;

/// x₀² x₁³ + exp(x₀ - x₁)
fn surface<T: Real>(x: &[T]) -> T {
    x[0].powi(2) * x[1].powi(3) + (x[0] - x[1]).exp()
}
fn gradient_by_hand([a, b]: [f64; 2]) -> [f64; 2] {
    let e = (a - b).exp();
    [2.0 * a * b.powi(3) + e, 3.0 * (a * b).powi(2) - e]
}
fn hessian_by_hand([a, b]: [f64; 2]) -> [f64; 4] {
    let (e, mixed) = ((a - b).exp(), 6.0 * a * b * b);
    [2.0 * b.powi(3) + e, mixed - e, mixed - e, 6.0 * a * a * b + e]
}
/// t³ + sin t
fn curve<T: Real>(t: T) -> T {
    t.powi(3) + t.sin()
}

/// Runs the body for each pair of backends.
macro_rules! each_of_any_two {
    ([|$pair:ident, $tolerance:ident| $body:block]
     $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
        $($(#[$attribute])* {
            let outer = ($make, stringify!($accuracy) == "exact");
            each_backend! { each_inner![outer |$pair, $tolerance| $body] }
        })*
    };
}
macro_rules! each_inner {
    ([$outer:ident |$pair:ident, $tolerance:ident| $body:block]
     $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
        $($(#[$attribute])* {
            let inner = $make;
            let $tolerance = match ($outer.1, stringify!($accuracy) == "exact") {
                (true, true) => EXACT,
                (false, false) => TWO_DIFFERENCES,
                _ => ONE_DIFFERENCE,
            };
            let $pair = SecondOrder($outer.0, inner);
            $body
        })*
    };
}

#[test]
fn any_two_backends_make_a_pair() {
    let mut pairs = 0;
    let (x, v, elsewhere) = ([1.25, 0.75], [2.0, -1.0], [-0.5, 1.5]);
    let (grad, hess) = (gradient_by_hand(x), hessian_by_hand(x));
    let product = [hess[0] * v[0] + hess[1] * v[1], hess[2] * v[0] + hess[3] * v[1]];
    let (t, slopes) = (0.75_f64, |t: f64| [t.powi(3) + t.sin(), 3.0 * t * t + t.cos(), 6.0 * t - t.sin()]);
    each_backend! { each_of_any_two![|pair, tolerance| {
        pairs += 1;
        let name = &format!("{pair:?}");
        let found = hessian(&surface, &pair, &x).unwrap();
        assert_near(name, found.as_slice(), &hess, tolerance);
        let (value, first, [found]) = value_gradient_and_hvp(&surface, &pair, &x, [&v]).unwrap();
        assert_near(name, &[value], &[surface(&x)], EXACT);
        assert_near(name, &first, &grad, ONE_DIFFERENCE);
        assert_near(name, &found, &product, tolerance);
        let (y, first, second) = value_derivative_and_second_derivative(&curve, &pair, t).unwrap();
        assert_near(name, &[y, first], &slopes(t)[..2], ONE_DIFFERENCE);
        assert_near(name, &[second], &slopes(t)[2..], tolerance);
        // Prepared at another point, and used several times.
        let mut prepared = prepare_hessian(&surface, &pair, &elsewhere).unwrap();
        for _ in 0..3 {
            assert_near(name, prepared.hessian(&x).unwrap().as_slice(), &hess, tolerance);
            assert_near(name, prepared.hessian(&elsewhere).unwrap().as_slice(), &hessian_by_hand(elsewhere), tolerance);
        }
    }] }
    assert_eq!(pairs, 25);
}

/// Reverse mode that stays on the tape, over extrapolated differences and below them.
#[test]
fn extrapolated_differences_make_pairs_with_the_tape() {
    let (x, differences, tape) = ([1.25, 0.75], AutoFiniteDifferences::central(), AutoReverseDiff::tape());
    let mut above = prepare_hessian(&surface, &SecondOrder(tape, differences), &x).unwrap();
    let mut below = prepare_hessian(&surface, &SecondOrder(differences, tape), &x).unwrap();
    for x in [x, [-0.5, 1.5], [0.3, -0.4]] {
        assert_near("above", above.hessian(&x).unwrap().as_slice(), &hessian_by_hand(x), 1e-10);
        assert_near("below", below.hessian(&x).unwrap().as_slice(), &hessian_by_hand(x), 1e-11);
    }
}
