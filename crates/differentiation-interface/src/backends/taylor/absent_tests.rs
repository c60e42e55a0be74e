//! Inputs without a tangent in jets, and what a number does not depend on in expansions: absent, beside derivatives that are infinite or NaN.

use super::tests::RootByRule;
use super::{Polynomial, PolynomialCore, Series};
use crate::prelude::*;
use differentiation_interface_core::rules::Polygamma;
use num_traits::Float;

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{what}: is {found:e}, expected {expected:e}");
}

#[test]
fn an_input_without_a_tangent_is_absent_from_a_jet() {
    fn root<T: Real>(x: &[T]) -> T {
        x[0].sqrt() + x[1] * x[1]
    }
    fn length<T: Real>(x: &[T]) -> T {
        (x[0] * x[0] + x[1] * x[1]).sqrt() + x[2] * x[2]
    }
    fn logarithm<T: Real>(x: &[T]) -> T {
        x[0].ln() + x[1] * x[1]
    }
    assert_eq!(jet(&root, &AutoTaylor, &[0.0, 1.0], [0.0, 1.0], Order::<2>).unwrap(), [1.0, 2.0, 1.0]);
    assert_eq!(jet(&root, &AutoTaylor, &[f64::NAN, 1.0], [0.0, 1.0], Order::<2>).unwrap()[1..], [2.0, 1.0]);
    assert_eq!(jet(&length, &AutoTaylor, &[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], Order::<3>).unwrap(), [1.0, 2.0, 1.0, 0.0]);
    let found = jet(&logarithm, &AutoTaylor, &[0.0, 1.0], [0.0, 1.0], Order::<2>).unwrap();
    assert_eq!(found, [f64::NEG_INFINITY, 2.0, 1.0]);
    // A zero with a derivative by an outer variable is no absent tangent: d/dk of the coefficient 2 k of (1 + k t)².
    fn slope<T: Real>(k: T) -> T {
        jet(&|x: &[Series<T, 1>]| x[0] * x[0], &AutoTaylor, &[T::constant(1.0)], &[k], Order::<1>).unwrap()[1]
    }
    assert_eq!(derivative(&slope, &AutoForwardDiff::default(), 0.0).unwrap(), 2.0);
}

/// Compares all coefficients with those of a table, and those that it does not name with zero; NaN stands for any number that is not finite.
fn check_expansion<F, const N: usize>(what: &str, f: &F, x: &[f64; N], order: usize, expected: &[([usize; N], f64)])
where
    F: Fn(&[Polynomial<f64>]) -> Polynomial<f64>,
{
    let g = |x: &[Polynomial<f64>]| f(x);
    let expansion = taylor_expansion(&g, &AutoTaylor, x, order).unwrap();
    let mut prepared = prepare_taylor_expansion(&g, &AutoTaylor, &[0.5; N], order).unwrap();
    let mut later = prepared.taylor_expansion(&[0.5; N]).unwrap();
    prepared.taylor_expansion_into(&mut later, x).unwrap();
    for place in 1..expansion.monomials().len() {
        let exponents = expansion.monomials().exponents(place);
        let expected = expected.iter().find(|(index, _)| index == exponents).map_or(0.0, |(_, expected)| *expected);
        let single = mixed_partial(&g, &AutoTaylor, x, exponents).unwrap();
        for found in [expansion.coefficients(0)[place], later.coefficients(0)[place], single] {
            let right = if expected.is_nan() { !found.is_finite() } else { found.is_finite() };
            assert!(right, "{what}: {exponents:?} is {found}, expected {expected}");
        }
        if !expected.is_nan() {
            close(expansion.coefficients(0)[place], expected, &format!("{what}: {exponents:?}"));
            close(later.coefficients(0)[place], expected, &format!("{what}, prepared: {exponents:?}"));
            close(single, expansion.partial(exponents).unwrap(), &format!("{what}: {exponents:?}"));
        }
    }
}

#[test]
fn what_a_number_does_not_depend_on_is_absent_from_its_expansion() {
    const NONE: f64 = f64::NAN;
    let plus_square = [([0, 1], 2.0), ([0, 2], 1.0)];
    macro_rules! beside_a_square {
        ($($name:literal $at:expr, |$x:ident| $f:expr;)*) => {$(
            let f = |v: &[Polynomial<f64>]| {
                let $x = v[0];
                $f + v[1] * v[1]
            };
            let singular = [([1, 0], NONE), ([2, 0], NONE), ([3, 0], NONE)];
            check_expansion($name, &f, &[$at, 1.0], 3, &[&singular[..], &plus_square].concat());
        )*};
    }
    beside_a_square! {
        "sqrt" 0.0, |x| x.sqrt();
        "cbrt" 0.0, |x| x.cbrt();
        "ln" 0.0, |x| x.ln();
        "asin" 1.0, |x| x.asin();
        "acos" -1.0, |x| x.acos();
        "acosh" 1.0, |x| x.acosh();
        "atanh" 1.0, |x| x.atanh();
        "recip" 0.0, |x| x.recip();
        "powi" 0.0, |x| x.powi(-2);
        "ln_gamma" 0.0, |x| x.ln_gamma();
        "digamma" -1.0, |x| x.apply(Polygamma(0));
        "powf of a negative number" 0.5, |x| PolynomialCore::lift(-2.0).powf(x);
        "x to the x" 0.0, |x| x.powf(x);
        "quotient" 0.0, |x| 1.0 / x;
        "custom" 0.0, |x| Custom::new(RootByRule).number(&[x]);
    }
    // Those with finite derivatives of low orders.
    let with_powc = |v: &[Polynomial<f64>]| v[0].powc(2.5) + v[1] * v[1];
    check_expansion("powc", &with_powc, &[0.0, 1.0], 3, &[([3, 0], NONE), ([0, 1], 2.0), ([0, 2], 1.0)]);
    // √x y: the term of x y² is absent, since y² is not in y.
    let product = |v: &[Polynomial<f64>]| v[0].sqrt() * v[1];
    let singular = [([1, 0], NONE), ([2, 0], NONE), ([3, 0], NONE), ([1, 1], NONE), ([2, 1], NONE)];
    check_expansion("product", &product, &[0.0, 1.0], 3, &singular);
    // y / x: of what is infinite, the derivative by y has x only.
    let over = |v: &[Polynomial<f64>]| v[1] * v[0].recip();
    let infinite = [([1, 0], NONE), ([2, 0], NONE), ([0, 1], NONE), ([1, 1], NONE)];
    check_expansion("over", &over, &[0.0, 1.0], 2, &infinite);
    // A NaN input affects its own entries: x y has the derivative y by x, and 1 by both.
    let nan = |v: &[Polynomial<f64>]| v[0] * v[1];
    check_expansion("NaN", &nan, &[f64::NAN, 3.0], 2, &[([1, 0], 3.0), ([0, 1], NONE), ([1, 1], 1.0)]);
    let cube = |v: &[Polynomial<f64>]| v[0] * v[0] * v[0] + v[1] * v[1];
    let singular = [([1, 0], NONE), ([2, 0], NONE), ([3, 0], 1.0)];
    check_expansion("cube of NaN", &cube, &[f64::NAN, 1.0], 3, &[&singular[..], &plus_square].concat());
    // √(x² + y²) + z², by arithmetic: 0 · ∞ in x and y.
    let length = |v: &[Polynomial<f64>]| (v[0] * v[0] + v[1] * v[1]).sqrt() + v[2] * v[2];
    let first = [([1, 0, 0], NONE), ([0, 1, 0], NONE), ([2, 0, 0], NONE), ([1, 1, 0], NONE), ([0, 2, 0], NONE)];
    check_expansion(
        "length",
        &length,
        &[0.0, 0.0, 1.0],
        2,
        &[&first[..], &[([0, 0, 1], 2.0), ([0, 0, 2], 1.0)]].concat(),
    );
    // A zero that is computed is not absent: √(0 x).
    let computed = |v: &[Polynomial<f64>]| (v[0] * 0.0).sqrt() + v[1];
    check_expansion("computed", &computed, &[1.0, 1.0], 1, &[([1, 0], NONE), ([0, 1], 1.0)]);
}
