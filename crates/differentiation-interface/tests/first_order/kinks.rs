//! What derivatives are at kinks and singular points: the conventions of `rules`, by both exact engines.
//!
//! A line is a function, a point, its value, its derivative, and its second derivative where there is a limit.

use crate::support;
use crate::support::{each_exact_engine, same};
use differentiation_interface::prelude::*;
use num_traits::{Float, Signed};
use std::f64::consts::{LN_2, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Where a second derivative has no convention.
const ANY: f64 = f64::MAX;

/// The square of a number beside a branch that would catch a comparison of derivatives.
#[expect(clippy::eq_op, reason = "the comparison of the counterpart's table")]
fn branch_on_equality<T: Real>(x: T) -> T {
    if x == x - x { 3.0 * x } else { x }
}
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "the comparison is what is tested")]
fn branch_on_order<T: Real>(x: T) -> T {
    if x <= 0.0 && !(x < 0.0) { 3.0 * x } else { x }
}
fn to_power_of_number<T: Float>(x: T, exponent: f64) -> T {
    x.powf(T::from(exponent).unwrap())
}

/// Checks each line: value, first and second derivative by both engines, the first also through `gradient`. Functions are pointers of one type, so that
/// the operators are compiled once for each engine and not for each function.
macro_rules! kinks {
    ($($name:literal: $x:ident => $f:expr; at $([$($number:expr),+]),+;)*) => {
        let mut failures = Vec::new();
        each_exact_engine!(|backend| {
            let functions = [$({
                fn function<T: Real>($x: T) -> T { $f }
                let lines: Vec<[f64; 4]> = vec![$([$($number),+]),+];
                let (along, nested, of_array): (fn(_) -> _, fn(_) -> _, fn(_) -> _) = (function, function, function);
                ($name, lines, function as fn(f64) -> f64, along, nested, of_array)
            }),*];
            let points: usize = functions.iter().map(|(_, lines, ..)| lines.len()).sum();
            assert!(points > 10);
            for (name_of_function, lines, plain, along, nested, of_array) in functions {
                for [point, value, first, second] in lines {
                    let found = value_and_derivative(&along, &backend, point).unwrap();
                    let grad = gradient(&|x: &[_; 1]| of_array(x[0]), &backend, [point]).unwrap();
                    let once = |x| derivative(&nested, &backend, &x).unwrap();
                    let name = support::name_of(&backend);
                    for (what, found, expected) in [
                        ("value", found.0, value),
                        ("value by f64", plain(point), value),
                        ("derivative", found.1, first),
                        ("gradient", grad[0], first),
                        ("second derivative", derivative(&once, &backend, point).unwrap(), second),
                    ] {
                        if expected != ANY && !same(found, expected, 1e-14) {
                            failures.push(format!(
                                "{name}: {what} of {name_of_function} at {point:e} is {found:e}, expected {expected:e}"
                            ));
                        }
                    }
                }
            }
        });
        // Functions of no size take another way through forward mode.
        $({
            fn function<T: Real>($x: T) -> T { $f }
            for [point, _, first, _] in [$([$($number),+]),+] {
                let found = derivative(&|x| function(x), &AutoForwardDiff::default(), point).unwrap();
                if first != ANY && !same(found, first, 1e-14) {
                    failures.push(format!("derivative of {} at {point:e} is {found:e}, expected {first:e}", $name));
                }
            }
        })*
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    };
}

#[test]
fn powers_have_the_limit_where_there_is_one() {
    kinks! {
        "powi(0)": x => x.powi(0); at [0.0, 1.0, 0.0, 0.0], [-2.0, 1.0, 0.0, 0.0], [INF, 1.0, 0.0, 0.0];
        "powi(1)": x => x.powi(1); at [0.0, 0.0, 1.0, 0.0], [-2.0, -2.0, 1.0, 0.0];
        "powi(2)": x => x.powi(2); at [0.0, 0.0, 0.0, 2.0], [-1.5, 2.25, -3.0, 2.0];
        "powi(3)": x => x.powi(3); at [0.0, 0.0, 0.0, 0.0], [-1.5, -3.375, 6.75, -9.0];
        "powi(-1)": x => x.powi(-1); at [0.0, INF, -INF, ANY], [-2.0, -0.5, -0.25, -0.25];
        "powi(-2)": x => x.powi(-2); at [-2.0, 0.25, 0.25, 0.375];
        "powi(i32::MIN)": x => x.powi(i32::MIN); at [1.0, 1.0, -2147483648.0, ANY];
        "powc(2)": x => x.powc(2.0); at [-1.5, 2.25, -3.0, 2.0], [0.0, 0.0, 0.0, 2.0];
        "powc(1)": x => x.powc(1.0); at [0.0, 0.0, 1.0, 0.0], [-1.5, -1.5, 1.0, 0.0];
        "powc(0)": x => x.powc(0.0); at [0.0, 1.0, 0.0, 0.0], [-1.5, 1.0, 0.0, 0.0];
        "powc(0.5)": x => x.powc(0.5); at [0.0, 0.0, INF, ANY], [4.0, 2.0, 0.25, -0.03125];
        "powc(-1)": x => x.powc(-1.0); at [-2.0, -0.5, -0.25, -0.25];
        "powf of a constant number 2": x => x.powf(T::constant(2.0)); at [-1.5, 2.25, -3.0, 2.0], [0.0, 0.0, 0.0, 2.0];
        "powf of a constant number 3": x => x.powf(T::constant(3.0)); at [-1.5, -3.375, 6.75, -9.0], [0.0, 0.0, 0.0, 0.0];
        "powf of a constant number 1": x => x.powf(T::constant(1.0)); at [0.0, 0.0, 1.0, 0.0], [-1.5, -1.5, 1.0, 0.0];
        "powf of a constant number 0": x => x.powf(T::constant(0.0)); at [0.0, 1.0, 0.0, 0.0], [-1.5, 1.0, 0.0, 0.0];
        "powf through num_traits::Float": x => to_power_of_number(x, 2.0); at [-1.5, 2.25, -3.0, 2.0], [0.0, 0.0, 0.0, 2.0];
        "constant to the power x": x => T::constant(2.0).powf(x); at [0.0, 1.0, LN_2, LN_2 * LN_2];
        "0 to the power x": x => T::constant(0.0).powf(x); at [2.0, 0.0, 0.0, 0.0];
        "1 to the power x": x => T::constant(1.0).powf(x); at [5.0, 1.0, 0.0, 0.0];
        "x to the power x": x => x.powf(x); at [1.0, 1.0, 1.0, 2.0];
    }
}

#[test]
fn roots_and_reciprocals_have_the_one_sided_limit() {
    kinks! {
        "sqrt": x => x.sqrt(); at [0.0, 0.0, INF, ANY], [4.0, 2.0, 0.25, -0.03125], [-1.0, NAN, NAN, NAN];
        "cbrt": x => x.cbrt(); at [0.0, 0.0, INF, ANY], [-8.0, -2.0, 1.0 / 12.0, 1.0 / 144.0];
        "recip": x => x.recip(); at [0.0, INF, -INF, ANY], [-0.0, -INF, -INF, ANY], [-2.0, -0.5, -0.25, -0.25];
        "division": x => 1.0 / x; at [0.0, INF, -INF, ANY], [-2.0, -0.5, -0.25, -0.25];
        "ln": x => x.ln(); at [0.0, -INF, INF, -INF], [2.0, LN_2, 0.5, -0.25];
        "log2": x => x.log2(); at [0.0, -INF, INF, -INF];
        "log10": x => x.log10(); at [0.0, -INF, INF, -INF];
        "ln_1p": x => x.ln_1p(); at [0.0, 0.0, 1.0, -1.0], [1e-20, 1e-20, 1.0, -1.0], [-1.0, -INF, INF, -INF];
        "exp_m1": x => x.exp_m1(); at [0.0, 0.0, 1.0, 1.0], [1e-20, 1e-20, 1.0, 1.0], [-800.0, -1.0, 0.0, 0.0];
        "log with a base": x => x.log(T::constant(2.0)); at [1.0, 0.0, 1.0 / LN_2, -1.0 / LN_2];
    };
}

#[test]
fn piecewise_constant_and_linear_functions_follow_the_table() {
    kinks! {
        "abs": x => Float::abs(x); at [0.0, 0.0, 0.0, 0.0], [-0.0, 0.0, 0.0, 0.0], [-2.0, 2.0, -1.0, 0.0], [2.0, 2.0, 1.0, 0.0], [NAN, NAN, NAN, ANY];
        "Signed::abs": x => Signed::abs(&x); at [0.0, 0.0, 0.0, 0.0], [-2.0, 2.0, -1.0, 0.0];
        "signum": x => Float::signum(x); at [0.0, 1.0, 0.0, 0.0], [-2.0, -1.0, 0.0, 0.0];
        "floor": x => x.floor(); at [1.5, 1.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0], [-1.5, -2.0, 0.0, 0.0];
        "ceil": x => x.ceil(); at [1.5, 2.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0];
        "round": x => x.round(); at [1.5, 2.0, 0.0, 0.0], [1.4, 1.0, 0.0, 0.0];
        "trunc": x => x.trunc(); at [-1.5, -1.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0];
        "fract": x => x.fract(); at [1.5, 0.5, 1.0, 0.0], [2.0, 0.0, 1.0, 0.0], [-1.5, -0.5, 1.0, 0.0];
        "x % 2": x => x % 2.0; at [3.0, 1.0, 1.0, 0.0], [4.0, 0.0, 1.0, 0.0], [-3.0, -1.0, 1.0, 0.0];
        "7 % x": x => 7.0 % x; at [2.5, 2.0, -2.0, 0.0], [-2.5, 2.0, 2.0, 0.0];
        "to_degrees": x => x.to_degrees(); at [0.0, 0.0, 180.0 / PI, 0.0], [PI, 180.0, 180.0 / PI, 0.0];
        "to_radians": x => x.to_radians(); at [180.0, PI, PI / 180.0, 0.0];
        "copysign of x": x => x.copysign(T::constant(-1.0)); at [2.0, -2.0, -1.0, 0.0], [-2.0, -2.0, 1.0, 0.0], [0.0, -0.0, -1.0, 0.0];
        "copysign to x": x => T::constant(3.0).copysign(x); at [2.0, 3.0, 0.0, 0.0], [-2.0, -3.0, 0.0, 0.0];
        "branch if x == x - x": x => branch_on_equality(x); at [0.0, 0.0, 3.0, 0.0], [1.0, 1.0, 1.0, 0.0];
        "branch on order": x => branch_on_order(x); at [0.0, 0.0, 3.0, 0.0], [-1.0, -1.0, 1.0, 0.0];
        "mul_add": x => Float::mul_add(x, x, x); at [0.0, 0.0, 1.0, 2.0], [3.0, 12.0, 7.0, 2.0];
        "sin_cos": x => { let (s, c) = x.sin_cos(); 2.0 * s + c }; at [0.0, 1.0, 2.0, -1.0];
    };
}

#[test]
fn selections_pass_the_argument_they_take() {
    kinks! {
        "max(x, 1)": x => x.max(T::constant(1.0)); at [1.0, 1.0, 1.0, 0.0], [2.0, 2.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0];
        "max(1, x)": x => T::constant(1.0).max(x); at [1.0, 1.0, 0.0, 0.0], [2.0, 2.0, 1.0, 0.0];
        "max(x, x)": x => x.max(x); at [1.0, 1.0, 1.0, 0.0];
        "max(x, NaN)": x => x.max(T::nan()); at [2.0, 2.0, 1.0, 0.0];
        "max(NaN, x)": x => T::nan().max(x); at [2.0, 2.0, 1.0, 0.0];
        "min(x, 1)": x => x.min(T::constant(1.0)); at [1.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0];
        "min(1, x)": x => T::constant(1.0).min(x); at [1.0, 1.0, 0.0, 0.0];
        "min(x, NaN)": x => x.min(T::nan()); at [2.0, 2.0, 1.0, 0.0];
        "min(NaN, x)": x => T::nan().min(x); at [2.0, 2.0, 1.0, 0.0];
        "clamp": x => x.clamp(T::constant(0.0), T::constant(1.0)); at [0.5, 0.5, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [NAN, NAN, 1.0, 0.0];
        "clamp of a bound": x => T::constant(3.0).clamp(T::constant(0.0), x); at [2.0, 2.0, 1.0, 0.0], [4.0, 3.0, 0.0, 0.0];
        "num_traits::clamp": x => num_traits::clamp(x, T::constant(0.0), T::constant(1.0)); at [0.5, 0.5, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 0.0];
        "abs_sub(x, 1)": x => Signed::abs_sub(&x, &T::constant(1.0)); at [1.0, 0.0, 0.0, 0.0], [3.0, 2.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0];
        "abs_sub(1, x)": x => Signed::abs_sub(&T::constant(1.0), &x); at [0.0, 1.0, -1.0, 0.0], [3.0, 0.0, 0.0, 0.0];
    };
}

#[test]
fn angles_and_lengths_have_derivative_zero_at_the_origin() {
    kinks! {
        "hypot(x, 0)": x => x.hypot(T::constant(0.0)); at [0.0, 0.0, 0.0, 0.0], [-2.0, 2.0, -1.0, 0.0], [INF, INF, 1.0, ANY];
        "hypot(3, x)": x => T::constant(3.0).hypot(x); at [4.0, 5.0, 0.8, 0.072], [0.0, 3.0, 0.0, 1.0 / 3.0];
        "hypot(x, x)": x => x.hypot(x); at [0.0, 0.0, 0.0, 0.0];
        "hypot of huge": x => x.hypot(T::constant(1e200)); at [1e200, 2f64.sqrt() * 1e200, 0.5f64.sqrt(), ANY];
        "hypot of tiny": x => x.hypot(T::constant(1e-200)); at [1e-200, 2f64.sqrt() * 1e-200, 0.5f64.sqrt(), ANY];
        "atan2(x, 0)": x => x.atan2(T::constant(0.0)); at [0.0, 0.0, 0.0, 0.0], [2.0, PI / 2.0, 0.0, 0.0];
        "atan2(0, x)": x => T::constant(0.0).atan2(x); at [0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [-2.0, PI, 0.0, 0.0];
        "atan2(x, 1)": x => x.atan2(T::constant(1.0)); at [0.0, 0.0, 1.0, 0.0], [1.0, PI / 4.0, 0.5, -0.5];
        "atan2(1, x)": x => T::constant(1.0).atan2(x); at [0.0, PI / 2.0, -1.0, 0.0], [1.0, PI / 4.0, -0.5, 0.5];
        "atan2(x, -1)": x => x.atan2(T::constant(-1.0)); at [0.0, PI, -1.0, 0.0], [-0.0, -PI, -1.0, 0.0];
        "atan2 of huge": x => x.atan2(T::constant(1e200)); at [1e200, PI / 4.0, 0.5e-200, ANY];
    };
}

#[test]
fn inverse_functions_have_the_one_sided_limit_at_the_end_of_their_domain() {
    kinks! {
        "asin": x => x.asin(); at [1.0, PI / 2.0, INF, ANY], [-1.0, -PI / 2.0, INF, ANY], [0.0, 0.0, 1.0, 0.0], [2.0, NAN, NAN, NAN];
        "acos": x => x.acos(); at [1.0, 0.0, -INF, ANY], [-1.0, PI, -INF, ANY], [0.0, PI / 2.0, -1.0, 0.0];
        "atanh": x => x.atanh(); at [1.0, INF, INF, ANY], [-1.0, -INF, INF, ANY], [0.0, 0.0, 1.0, 0.0];
        "acosh": x => x.acosh(); at [1.0, 0.0, INF, ANY], [0.5, NAN, NAN, NAN];
        "asinh": x => x.asinh(); at [0.0, 0.0, 1.0, 0.0], [-1e200, ANY, 1e-200, 0.0];
        "atan": x => x.atan(); at [0.0, 0.0, 1.0, 0.0], [INF, PI / 2.0, 0.0, ANY], [1e200, PI / 2.0, 0.0, ANY];
    };
}

#[test]
fn tails_neither_overflow_nor_lose_their_accuracy() {
    let e50 = (-50f64).exp();
    let e700 = (-700f64).exp();
    let gauss = 2.0 / PI.sqrt() * (-100f64).exp();
    kinks! {
        "tanh": x => x.tanh(); at [400.0, 1.0, 0.0, 0.0], [-400.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [25.0, 1.0, 4.0 * e50, -8.0 * e50], [INF, 1.0, 0.0, 0.0];
        "logistic": x => x.logistic(); at [800.0, 1.0, 0.0, 0.0], [-800.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.25, 0.0], [-50.0, e50, e50, e50], [50.0, 1.0, e50, -e50], [-700.0, e700, e700, e700], [INF, 1.0, 0.0, 0.0], [-INF, 0.0, 0.0, 0.0];
        "softplus": x => x.softplus(); at [800.0, 800.0, 1.0, 0.0], [-800.0, 0.0, 0.0, 0.0], [0.0, LN_2, 0.5, 0.25], [-50.0, e50, e50, e50], [INF, INF, 1.0, 0.0], [-INF, 0.0, 0.0, 0.0];
        "erf": x => x.erf(); at [0.0, 0.0, 2.0 / PI.sqrt(), 0.0], [10.0, 1.0, gauss, -20.0 * gauss], [40.0, 1.0, 0.0, 0.0];
        "erfc": x => x.erfc(); at [0.0, 1.0, -2.0 / PI.sqrt(), 0.0], [10.0, ANY, -gauss, 20.0 * gauss], [40.0, 0.0, 0.0, 0.0];
        "exp": x => x.exp(); at [-800.0, 0.0, 0.0, 0.0], [800.0, INF, INF, INF], [-INF, 0.0, 0.0, 0.0];
        "exp2": x => x.exp2(); at [0.0, 1.0, LN_2, LN_2 * LN_2], [-2000.0, 0.0, 0.0, 0.0];
        "sinh": x => x.sinh(); at [0.0, 0.0, 1.0, 0.0];
        "cosh": x => x.cosh(); at [0.0, 1.0, 0.0, 1.0];
        "digamma": x => x.digamma(); at [1.0, ANY, PI * PI / 6.0, ANY];
        "ln_gamma": x => x.ln_gamma(); at [1.0, 0.0, -0.577_215_664_901_532_9, PI * PI / 6.0];
    };
}

#[test]
fn a_singular_entry_leaves_the_others_alone() {
    fn roots<T: Real>(x: &[T]) -> T {
        x[0].sqrt() + 2.0 * x[1] + x[2] * x[3]
    }
    fn shared<T: Real>(x: &[T]) -> Vec<T> {
        vec![x[0].sqrt() * x[1], x[1] * x[2], x[0].sqrt() * x[1] + x[2]]
    }
    let x = [0.0, 1.0, 3.0, 5.0];
    assert_eq!(gradient(&|x: &[_]| roots(x), &AutoForwardDiff::default(), &x).unwrap(), [INF, 2.0, 5.0, 3.0]);
    assert_eq!(gradient(&|x: &[_]| roots(x), &AutoForwardDiff::with_chunk::<1>(), &x).unwrap(), [INF, 2.0, 5.0, 3.0]);
    assert_eq!(gradient(&|x: &[_]| roots(x), &AutoForwardDiff::with_chunk::<3>(), &x).unwrap(), [INF, 2.0, 5.0, 3.0]);
    assert_eq!(gradient(&|x: &[_]| roots(x), &AutoReverseDiff::default(), &x).unwrap(), [INF, 2.0, 5.0, 3.0]);
    let expected = [[INF, 0.0, 0.0], [0.0, 3.0, 1.0], [INF, 0.0, 1.0]];
    assert_eq!(jacobian(&|x: &[_]| shared(x), &AutoForwardDiff::default(), &x[..3]).unwrap(), expected);
    assert_eq!(jacobian(&|x: &[_]| shared(x), &AutoReverseDiff::default(), &x[..3]).unwrap(), expected);
    each_exact_engine!(|backend| {
        let rows = pullback(&|x: &[_]| shared(x), &backend, &x[..3], [&[0.0, 1.0, 0.0], &[1.0, 0.0, 0.0]]).unwrap();
        assert_eq!(rows, [[0.0, 3.0, 1.0], [INF, 0.0, 0.0]]);
        let columns =
            pushforward(&|x: &[_]| shared(x), &backend, &x[..3], [&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0]]).unwrap();
        assert_eq!(columns, [[INF, 0.0, INF], [0.0, 1.0, 1.0]]);
    });
}
