//! Every rule of the table against differences of its value, nested up to third order, by both exact engines, in `f32` too.
//!
//! Rules come through `RuleVisitor`, so one that is added to the table is tested from then on.

use crate::support::same;
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Binary, ProductError, RuleVisitor, SumError, Unary, each_binary, each_unary};

/// Points off the kinks, which all lie at multiples of one half.
const SMOOTH: &[f64] = &[-7.3, -2.6, -1.3, -0.8, -0.2, 0.2, 0.7, 0.9, 1.4, 2.7, 5.3, 12.2];
/// Points where formulas break.
const EXTREME: &[f64] = &[
    1.3,
    -1.3,
    0.5,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.0,
    -0.0,
    1e200,
    -1e200,
    1e-200,
    -1e-200,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn unary<R: Unary, S: Scalar>(rule: R, x: S) -> S {
    x.apply(rule)
}
fn binary<R: Binary, S: Scalar>(rule: R, x: S, y: S) -> S {
    x.apply2(y, rule)
}

/// A rule as a function of slices. All rules have this type, so that the operators are compiled once and not for each rule.
struct OfSlice<'a, S>(&'a dyn Fn(S, S) -> S);
impl<S: Scalar> Function<[S]> for OfSlice<'_, S> {
    type Output = S;
    fn call(&self, x: &[S]) -> S {
        (self.0)(x[0], x[1])
    }
}
/// Its gradient.
struct Slopes<'a, S>(&'a dyn Fn(&[S]) -> Vec<S>);
impl<S: Scalar> Function<[S]> for Slopes<'_, S> {
    type Output = Vec<S>;
    fn call(&self, x: &[S]) -> Vec<S> {
        (self.0)(x)
    }
}
/// A rule of one argument.
struct OfNumber<'a, S>(&'a dyn Fn(S) -> S);
impl<S: Scalar> Function<S> for OfNumber<'_, S> {
    type Output = S;
    fn call(&self, x: &S) -> S {
        (self.0)(*x)
    }
}

/// Derivatives of a rule by one engine, nested: order 1, 2 and 3.
macro_rules! nested_derivatives {
    ($first:ident, $second:ident, $third:ident: $engine:expr) => {
        fn $first<R: Unary, S: Scalar>(rule: R, x: S) -> S {
            derivative(&OfNumber(&|x| unary(rule, x)), &$engine, &x).unwrap()
        }
        fn $second<R: Unary, S: Scalar>(rule: R, x: S) -> S {
            derivative(&OfNumber(&|x| $first(rule, x)), &$engine, &x).unwrap()
        }
        fn $third<R: Unary, S: Scalar>(rule: R, x: S) -> S {
            derivative(&OfNumber(&|x| $second(rule, x)), &$engine, &x).unwrap()
        }
    };
}
nested_derivatives!(forward1, forward2, forward3: AutoForwardDiff::default());
nested_derivatives!(reverse1, reverse2, reverse3: AutoReverseDiff::default());

/// The derivative of `f` at `x` by differences extrapolated to step 0 (Ridders), with an estimate of its error.
fn extrapolated(f: impl Fn(f64) -> f64, x: f64, step: f64) -> Option<(f64, f64)> {
    const LEVELS: usize = 8;
    let mut table = [[0.0; LEVELS]; LEVELS];
    let (mut best, mut error) = (f64::NAN, f64::INFINITY);
    let mut h = step;
    for i in 0..LEVELS {
        table[0][i] = (f(x + h) - f(x - h)) / (2.0 * h);
        if table[0][i].is_nan() {
            return None;
        }
        let mut factor = 4.0;
        for j in 1..=i {
            table[j][i] = (factor * table[j - 1][i] - table[j - 1][i - 1]) / (factor - 1.0);
            factor *= 4.0;
            let change = (table[j][i] - table[j - 1][i]).abs().max((table[j][i] - table[j - 1][i - 1]).abs());
            if change <= error {
                (best, error) = (table[j][i], change);
            }
        }
        h /= 2.0;
    }
    Some((best, error))
}

/// Asserts that `found` is the derivative of `f` at `x`; false if `f` is not defined around `x`.
fn check_derivative(what: &str, f: impl Fn(f64) -> f64, x: f64, found: f64) -> bool {
    let Some((expected, error)) = extrapolated(f, x, 0.08) else { return false };
    let allowed = 20.0 * error + 1e-10 * expected.abs().max(1e-3);
    assert!(
        allowed < 1e-4 * expected.abs().max(1.0),
        "{what} at {x}: the reference {expected:e} is uncertain by {error:e}"
    );
    assert!((found - expected).abs() <= allowed, "{what} at {x}: {found:e}, expected {expected:e} ± {allowed:e}");
    true
}

#[test]
fn derivatives_of_every_order_are_those_of_the_value() {
    struct Check(usize);
    impl RuleVisitor for Check {
        fn unary<R: Unary>(&mut self, rule: R) {
            let what = format!("{rule:?}");
            let mut points = 0;
            for &x in SMOOTH {
                let checked = check_derivative(&format!("{what}'"), |x| rule.value(x), x, forward1(rule, x))
                    && check_derivative(&format!("{what}''"), |x| forward1(rule, x), x, forward2(rule, x))
                    && check_derivative(&format!("{what}'''"), |x| forward2(rule, x), x, forward3(rule, x));
                points += usize::from(checked);
            }
            assert!(points >= 3, "{what}: only {points} points were in the domain");
            self.0 += 1;
        }
        fn binary<R: Binary>(&mut self, rule: R) {
            // What rounding loses has no derivative, and differences of it mean nothing.
            if [ProductError::NAME, SumError::NAME].contains(&R::NAME) {
                return;
            }
            let what = format!("{rule:?}");
            let by_rule = |x, y| binary(rule, x, y);
            let f = OfSlice(&by_rule);
            let backend = AutoForwardDiff::default();
            let gradient_at = |x: f64, y: f64| gradient(&f, &backend, &[x, y]).unwrap();
            let hessian_at = |x: f64, y: f64| {
                let grad = |x: &[_]| gradient(&OfSlice(&|x, y| binary(rule, x, y)), &backend, x).unwrap();
                jacobian(&Slopes(&grad), &backend, &[x, y]).unwrap()
            };
            let mut points = 0;
            for &x in SMOOTH {
                // Off the diagonal, and x / y off the integers.
                for y in SMOOTH.iter().map(|y| 1.0371 * y + 0.013) {
                    let quotient = x / y;
                    if what == "Modulo" && ((quotient - quotient.round()).abs() < 0.2 || (quotient / y).abs() > 2.0) {
                        continue;
                    }
                    let what = format!("{what} at y = {y}");
                    let grad = gradient_at(x, y);
                    if !check_derivative(&format!("∂x {what}"), |x| rule.value(x, y), x, grad[0]) {
                        continue;
                    }
                    // Where an exponent must be constant, the value is not differentiable in it.
                    if check_derivative(&format!("∂y {what}, x = {x},"), |y| rule.value(x, y), y, grad[1]) {
                        let hess = hessian_at(x, y);
                        for (i, name) in ["∂x", "∂y"].iter().enumerate() {
                            let at_x = |x| gradient_at(x, y)[i];
                            let at_y = |y| gradient_at(x, y)[i];
                            check_derivative(&format!("∂x{name} {what}"), at_x, x, hess[(i, 0)]);
                            check_derivative(&format!("∂y{name} {what}, x = {x},"), at_y, y, hess[(i, 1)]);
                        }
                        points += 1;
                    }
                }
            }
            assert!(points >= 20, "{what}: only {points} points were in the domain");
            self.0 += 1;
        }
    }
    let mut check = Check(0);
    each_unary(&mut check);
    each_binary(&mut check);
    assert!(check.0 > 60, "the table has {} rules", check.0);
}

#[test]
fn forward_and_reverse_agree_on_every_rule_of_one_argument_everywhere() {
    struct Check(Vec<String>);
    impl RuleVisitor for Check {
        fn unary<R: Unary>(&mut self, rule: R) {
            for &x in EXTREME.iter().chain(SMOOTH) {
                let mut agree = |order: &str, forward: f64, reverse: f64| {
                    if !same(forward, reverse, 1e-13) {
                        self.0.push(format!("{rule:?}{order} at {x:e}: forward {forward:e}, reverse {reverse:e}"));
                    }
                };
                agree("'", forward1(rule, x), reverse1(rule, x));
                // Functions of no size, as this one is for rules without parameters, take another way through forward mode.
                let once = |x| derivative(&|x| unary(rule, x), &AutoForwardDiff::default(), &x).unwrap();
                agree(
                    "'' without captures",
                    forward2(rule, x),
                    derivative(&once, &AutoForwardDiff::default(), x).unwrap(),
                );
                agree("''", forward2(rule, x), reverse2(rule, x));
                agree("'''", forward3(rule, x), reverse3(rule, x));
                let over = derivative(&OfNumber(&|x| reverse1(rule, x)), &AutoForwardDiff::default(), x).unwrap();
                agree("'' by forward over reverse", forward2(rule, x), over);
                let over = derivative(&OfNumber(&|x| forward1(rule, x)), &AutoReverseDiff::default(), x).unwrap();
                agree("'' by reverse over forward", forward2(rule, x), over);
            }
        }
        fn binary<R: Binary>(&mut self, _: R) {}
    }
    let mut check = Check(Vec::new());
    each_unary(&mut check);
    assert!(check.0.is_empty(), "{}", check.0.join("\n"));
}

#[test]
fn forward_and_reverse_agree_on_every_rule_of_two_arguments_wherever_it_has_a_value() {
    struct Check(Vec<String>);
    impl RuleVisitor for Check {
        fn unary<R: Unary>(&mut self, _: R) {}
        fn binary<R: Binary>(&mut self, rule: R) {
            let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
            for &x in EXTREME {
                for &y in EXTREME {
                    if rule.value(x, y).is_nan() {
                        continue;
                    }
                    // Second derivatives overflow and meet 0 · ∞ at extreme points, in an order that depends on the
                    // engine: there one may be NaN where the other is not.
                    let moderate = [x, y].iter().all(|v| (0.1..10.0).contains(&v.abs()));
                    let mut agree = |what: &str, forward: &[f64], reverse: &[f64]| {
                        assert_eq!(forward.len(), reverse.len());
                        let first_order = !what.starts_with("hessian");
                        // What cancels in a sum is lost relative to the largest entry.
                        let scale = forward.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                        for (i, (a, b)) in forward.iter().zip(reverse).enumerate() {
                            let excused = !first_order && !moderate && (a.is_nan() || b.is_nan());
                            if !same(*a, *b, 1e-13) && ((a - b).abs() > 1e-14 * scale || (a - b).is_nan()) && !excused {
                                self.0.push(format!("{what} of {rule:?}[{i}] at ({x:e}, {y:e}): {a:e} and {b:e}"));
                            }
                        }
                    };
                    let at = [x, y];
                    let by_forward = gradient(&OfSlice(&|x, y| binary(rule, x, y)), &forward, &at).unwrap();
                    let by_reverse = gradient(&OfSlice(&|x, y| binary(rule, x, y)), &reverse, &at).unwrap();
                    agree("gradient", &by_forward, &by_reverse);
                    // A plain operand is the same as a constant one.
                    let right = [
                        derivative(&OfNumber(&|x| right(rule, x, y)), &forward, x).unwrap(),
                        derivative(&OfNumber(&|x| binary(rule, x, constant(y))), &forward, x).unwrap(),
                        derivative(&OfNumber(&|x| right(rule, x, y)), &reverse, x).unwrap(),
                        derivative(&OfNumber(&|x| binary(rule, x, constant(y))), &reverse, x).unwrap(),
                    ];
                    agree("plain right operand", &right, &[right[0]; 4]);
                    let left = [
                        derivative(&OfNumber(&|y| left(rule, x, y)), &forward, y).unwrap(),
                        derivative(&OfNumber(&|y| binary(rule, constant(x), y)), &forward, y).unwrap(),
                        derivative(&OfNumber(&|y| left(rule, x, y)), &reverse, y).unwrap(),
                        derivative(&OfNumber(&|y| binary(rule, constant(x), y)), &reverse, y).unwrap(),
                    ];
                    agree("plain left operand", &left, &[left[0]; 4]);
                    let hessian = |outer_forward: bool, inner_forward: bool| {
                        macro_rules! by {
                            ($outer:expr, $inner:expr) => {{
                                let grad =
                                    |x: &[_]| gradient(&OfSlice(&|x, y| binary(rule, x, y)), &$inner, x).unwrap();
                                jacobian(&Slopes(&grad), &$outer, &at).unwrap().into_vec()
                            }};
                        }
                        match (outer_forward, inner_forward) {
                            (true, true) => by!(forward, forward),
                            (true, false) => by!(forward, reverse),
                            (false, true) => by!(reverse, forward),
                            (false, false) => by!(reverse, reverse),
                        }
                    };
                    let expected = hessian(true, true);
                    agree("hessian (forward over reverse)", &expected, &hessian(true, false));
                    agree("hessian (reverse over forward)", &expected, &hessian(false, true));
                    agree("hessian (reverse over reverse)", &expected, &hessian(false, false));
                }
            }
        }
    }
    let mut check = Check(Vec::new());
    each_binary(&mut check);
    assert!(check.0.is_empty(), "{} disagreements\n{}", check.0.len(), check.0.join("\n"));
}

fn right<R: Binary, S: Scalar<Base = f64>>(rule: R, x: S, y: f64) -> S {
    x.apply2_right(y, rule)
}
fn left<R: Binary, S: Scalar<Base = f64>>(rule: R, x: f64, y: S) -> S {
    S::apply2_left(x, y, rule)
}
fn constant<S: Scalar<Base = f64>>(value: f64) -> S {
    S::constant(value)
}

#[test]
fn single_precision_derivatives_round_the_double_ones() {
    struct Check;
    fn close(what: String, single: f32, double: f64) {
        let single = single as f64;
        // A few roundings, amplified by the condition of the derivative at these points.
        assert!(same(single, double, 2e-5) || (single - double).abs() < 2e-5, "{what}: {single:e} and {double:e}");
    }
    impl RuleVisitor for Check {
        fn unary<R: Unary>(&mut self, rule: R) {
            for &x in SMOOTH {
                let (x, double) = (x as f32, forward1(rule, x as f32 as f64));
                close(format!("forward {rule:?} at {x}"), forward1(rule, x), double);
                close(format!("reverse {rule:?} at {x}"), reverse1(rule, x), double);
            }
        }
        fn binary<R: Binary>(&mut self, rule: R) {
            for &x in SMOOTH {
                for &y in SMOOTH {
                    let single = [x as f32, 1.03 * y as f32];
                    let double = single.map(f64::from);
                    let expected =
                        gradient(&OfSlice(&|x, y| binary(rule, x, y)), &AutoForwardDiff::default(), &double).unwrap();
                    let forward =
                        gradient(&OfSlice(&|x, y| binary(rule, x, y)), &AutoForwardDiff::default(), &single).unwrap();
                    let reverse =
                        gradient(&OfSlice(&|x, y| binary(rule, x, y)), &AutoReverseDiff::default(), &single).unwrap();
                    for i in 0..2 {
                        close(format!("forward {rule:?} at {single:?}"), forward[i], expected[i]);
                        close(format!("reverse {rule:?} at {single:?}"), reverse[i], expected[i]);
                    }
                }
            }
        }
    }
    each_unary(&mut Check);
    each_binary(&mut Check);
}
