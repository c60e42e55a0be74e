//! Terms and factors are collected, and nothing is cancelled in forms that run.

use super::{Aim, Form, Leaf, build};
use crate::expression::{Expressions, Rounding};
use compiled_trace::rules::Rules;

fn x(i: u32) -> Form {
    Form::Leaf(Leaf::Input(i))
}
fn n(value: f64) -> Form {
    Form::number(value)
}
fn product<const N: usize>(factors: [Form; N], aim: Aim) -> Form {
    Form::product(factors.into(), aim)
}
fn sum<const N: usize>(terms: [Form; N], aim: Aim) -> Form {
    Form::sum(terms.into(), aim)
}

#[test]
fn empty_sums_and_products_are_numbers() {
    for aim in [Aim::Reading, Aim::Running] {
        assert_eq!((sum([], aim), product([], aim)), (n(0.0), n(1.0)));
        assert_eq!((sum([x(0)], aim), product([x(0)], aim)), (x(0), x(0)));
    }
}

#[test]
fn equal_terms_and_factors_are_collected() {
    for aim in [Aim::Reading, Aim::Running] {
        let twice = sum([x(0), x(1), x(0)], aim);
        assert_eq!(twice, sum([product([x(0), n(2.0)], aim), x(1)], aim));
        let cube = product([x(0), Form::power(x(0), n(2.0), aim)], aim);
        assert_eq!(cube, Form::power(x(0), n(3.0), aim));
        // Only numbers whose product is exact are combined.
        assert_eq!(product([n(0.5), n(3.0), x(0)], aim), product([n(1.5), x(0)], aim));
        assert_ne!(product([n(0.1), n(3.0), x(0)], aim), product([n(0.1 * 3.0), x(0)], aim));
    }
}

#[test]
fn only_forms_to_be_read_cancel() {
    let over = |aim| product([x(0), Form::power(x(0), n(-1.0), aim)], aim);
    let difference = |aim| sum([x(0), product([n(-1.0), x(0)], aim)], aim);
    let zero = |aim| product([n(0.0), x(0)], aim);
    assert_eq!([over(Aim::Reading), difference(Aim::Reading), zero(Aim::Reading)], [n(1.0), n(0.0), n(0.0)]);
    for form in [over(Aim::Running), difference(Aim::Running), zero(Aim::Running)] {
        let mut expressions = Expressions::new(Rules::default(), 100);
        let root = build(&form, &mut expressions).unwrap();
        let at = |x: f64| expressions.evaluate(&[root], &[x], &[], Rounding::Nearest)[0];
        assert!(at(f64::INFINITY).is_nan(), "{form:?}");
        assert_eq!(at(3.0), if form == over(Aim::Running) { 1.0 } else { 0.0 });
    }
}
