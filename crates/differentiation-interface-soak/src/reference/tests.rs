//! The reference's derivatives against answers worked out by hand, and its error bounds against exact arithmetic.

use super::number::pair;
use super::*;
use differentiation_interface_soak::program::{
    Argument, Binary, Expression, Operand, Place, Relation, Special, Statement, Unary,
};

const X: Operand = Operand::Input(0);
const Y: Operand = Operand::Input(1);
const R: Operand = Operand::Register(0);

fn set(value: Expression) -> Statement {
    Statement::Set { place: Place::Register(0), value }
}

fn program(inputs: usize, body: Vec<Statement>) -> Program {
    Program { inputs, registers: 2, work: 2, body, outputs: vec![R] }
}

fn output(program: &Program, x: &[f64]) -> Number {
    evaluate(program, Context::double(), x).expect("every decision is clear").remove(0)
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "found {found:e}, expected {expected:e}");
}

/// Checks value, ∂x, ∂y, ∂xx, ∂xy, ∂yy.
fn assert_derivatives(number: &Number, expected: [f64; 6]) {
    let found = [
        number.value,
        number.grad[0],
        number.grad[1],
        number.hess[pair(0, 0)],
        number.hess[pair(0, 1)],
        number.hess[pair(1, 1)],
    ];
    found.iter().zip(expected).for_each(|(found, expected)| assert_close(*found, expected));
}

#[test]
fn product_of_a_square_has_the_derivatives_of_the_textbook() {
    // x² y at (2, 5): (2xy, x²), (2y, 2x, 0).
    let body = vec![set(Expression::Unary(Unary::Powi(2), X)), set(Expression::Binary(Binary::Mul, R, Y))];
    let number = output(&program(2, body), &[2.0, 5.0]);
    assert_derivatives(&number, [20.0, 20.0, 4.0, 10.0, 4.0, 0.0]);
    // ∂yy is zero everywhere, not only here.
    assert_eq!(number.curved, 1 << pair(0, 0) | 1 << pair(0, 1));
}

#[test]
fn operand_used_twice_counts_twice() {
    // x * x at 3: 9, 6, 2; x / x: 1, 0, 0; x.hypot(x) = √2 x; x.powf(x): x^x (ln x + 1), ...
    let twice = |function| output(&program(1, vec![set(Expression::Binary(function, X, X))]), &[3.0]);
    let second = |number: &Number| [number.value, number.grad[0], number.hess[0]];
    for (function, expected) in [
        (Binary::Mul, [9.0, 6.0, 2.0]),
        (Binary::Div, [1.0, 0.0, 0.0]),
        (Binary::Sub, [0.0, 0.0, 0.0]),
        (Binary::Hypot, [3.0 * 2f64.sqrt(), 2f64.sqrt(), 0.0]),
        (Binary::Atan2, [std::f64::consts::FRAC_PI_4, 0.0, 0.0]),
        (Binary::Powf, [27.0, 27.0 * (3f64.ln() + 1.0), 27.0 * (3f64.ln() + 1.0).powi(2) + 9.0]),
    ] {
        second(&twice(function)).iter().zip(expected).for_each(|(found, expected)| assert_close(*found, expected));
    }
}

#[test]
fn functions_of_two_numbers_have_the_derivatives_of_the_textbook() {
    let at = |function, x: f64, y: f64| output(&program(2, vec![set(Expression::Binary(function, X, Y))]), &[x, y]);
    assert_derivatives(&at(Binary::Div, 3.0, 2.0), [1.5, 0.5, -0.75, 0.0, -0.25, 0.75]);
    // hypot at (3, 4): x/r, y/r, y²/r³, -xy/r³, x²/r³.
    assert_derivatives(&at(Binary::Hypot, 3.0, 4.0), [5.0, 0.6, 0.8, 0.128, -0.096, 0.072]);
    // atan2(3, 4): x'/r², -y'/r², -2·3·4/r⁴, (9 - 16)/r⁴, 24/r⁴.
    assert_derivatives(&at(Binary::Atan2, 3.0, 4.0), [0.75f64.atan(), 0.16, -0.12, -0.0384, -0.0112, 0.0384]);
    // 2³: 3·2², 8 ln 2, 6·2, 2²(1 + 3 ln 2), 8 ln² 2.
    let ln = 2f64.ln();
    assert_derivatives(&at(Binary::Powf, 2.0, 3.0), [8.0, 12.0, 8.0 * ln, 12.0, 4.0 + 12.0 * ln, 8.0 * ln * ln]);
    // 7.5 % 2 = 1.5, 7.5 = 3·2 + 1.5.
    assert_derivatives(&at(Binary::Rem, 7.5, 2.0), [1.5, 1.0, -3.0, 0.0, 0.0, 0.0]);
}

#[test]
fn functions_of_one_number_agree_with_quotients_of_differences() {
    use Unary as U;
    let functions = [
        (U::Recip, 0.7),
        (U::Sqrt, 0.7),
        (U::Cbrt, -0.7),
        (U::Exp, 0.3),
        (U::Exp2, 0.3),
        (U::ExpM1, 0.3),
        (U::Ln, 0.7),
        (U::Log2, 0.7),
        (U::Log10, 0.7),
        (U::Ln1p, 0.7),
        (U::Sin, 0.7),
        (U::Cos, 0.7),
        (U::Tan, 0.7),
        (U::Asin, 0.4),
        (U::Acos, 0.4),
        (U::Atan, 0.7),
        (U::Sinh, 0.7),
        (U::Cosh, 0.7),
        (U::Tanh, 0.7),
        (U::Asinh, 0.7),
        (U::Acosh, 1.7),
        (U::Atanh, 0.4),
        (U::Erf, 0.4),
        (U::Erfc, 2.1),
        (U::Erfc, 0.3),
        (U::LnGamma, 2.7),
        (U::LnGamma, 0.3),
        (U::Digamma, 2.7),
        (U::Digamma, 20.5),
        (U::Logistic, 0.7),
        (U::Logistic, -3.0),
        (U::Softplus, 0.7),
        (U::Bell, 0.7),
        (U::Powi(5), 0.7),
        (U::Powi(-3), 0.7),
        (U::Powc(2.5), 0.7),
        (U::ToDegrees, 0.7),
        (U::ToRadians, 0.7),
        (U::Neg, 0.7),
        (U::Abs, -0.7),
        (U::Fract, 1.7),
        (U::Floor, 1.7),
    ];
    for (function, x) in functions {
        let at = |x: f64| output(&program(1, vec![set(Expression::Unary(function, X))]), &[x]);
        let step = 1e-5;
        let (left, here, right) = (at(x - step), at(x), at(x + step));
        let first = (right.value - left.value) / (2.0 * step);
        let second = (right.grad[0] - left.grad[0]) / (2.0 * step);
        assert!((here.grad[0] - first).abs() < 1e-7 * (1.0 + first.abs()), "{function:?}: {} {first}", here.grad[0]);
        assert!((here.hess[0] - second).abs() < 1e-7 * (1.0 + second.abs()), "{function:?}: {} {second}", here.hess[0]);
    }
}

#[test]
fn special_functions_have_their_known_values() {
    use super::special::{erf, erfc, ln_gamma, polygamma};
    const EULER: f64 = 0.577_215_664_901_532_9;
    let pi = std::f64::consts::PI;
    for (found, expected) in [
        (erf(0.5), 0.520_499_877_813_046_5),
        (erf(3.0), 0.999_977_909_503_001_4),
        (erfc(2.0), 0.004_677_734_981_047_266),
        (ln_gamma(5.0)[0], 24f64.ln()),
        (ln_gamma(0.5)[0], 0.5 * pi.ln()),
        (polygamma(0, 1.0)[0], -EULER),
        (polygamma(1, 1.0)[0], pi * pi / 6.0),
        (polygamma(2, 1.0)[0], -2.0 * 1.202_056_903_159_594_2),
        (polygamma(3, 1.0)[0], pi.powi(4) / 15.0),
    ] {
        assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "found {found:e}, expected {expected:e}");
    }
    assert!((erfc(10.0) / 2.088_487_583_762_545e-45 - 1.0).abs() < 1e-13);
}

#[test]
fn inner_derivatives_and_custom_rules_are_known_in_closed_form() {
    // a cos(ab) + 2ab at (a, b) = (1, 2): ∂a = cos 2 - 2 sin 2 + 4, ∂b = -sin 2 + 2.
    let at = |function| output(&program(2, vec![set(Expression::Special(function, X, Y))]), &[1.0, 2.0]);
    let (sin, cos) = 2f64.sin_cos();
    let number = at(Special::NestedForward);
    assert_close(number.value, cos + 4.0);
    assert_close(number.grad[0], cos - 2.0 * sin + 4.0);
    assert_close(number.grad[1], 2.0 - sin);
    // a²b + sin b: 2ab, a² + cos b, 2b, 2a, -sin b.
    assert_derivatives(&at(Special::ByPushforward), [2.0 + sin, 4.0, 1.0 + cos, 4.0, 2.0, -sin]);
    // ab - b² + a + 2b: b + 1, a - 2b + 2, 0, 1, -2.
    assert_derivatives(&at(Special::ByPullback), [3.0, 3.0, -1.0, 0.0, 1.0, -2.0]);
    // 2ab - b exp(-ab): ∂a = 2b + b² e, ∂b = 2a - e + ab e.
    let e = (-2f64).exp();
    let number = at(Special::NestedReverse);
    assert_close(number.value, 4.0 - 2.0 * e);
    assert_close(number.grad[0], 4.0 + 4.0 * e);
    assert_close(number.grad[1], 2.0 - e + 2.0 * e);
}

#[test]
fn the_side_that_is_not_taken_contributes_nothing() {
    // x > 0 ? sqrt x * y : y², at x = -1.
    let body = vec![
        set(Expression::Unary(Unary::Sqrt, X)),
        Statement::Set { place: Place::Register(1), value: Expression::Binary(Binary::Mul, Y, Y) },
        set(Expression::Select {
            relation: Relation::Greater,
            a: X,
            b: Operand::Constant(0.0),
            then: R,
            otherwise: Operand::Register(1),
        }),
    ];
    let number = output(&program(2, body), &[-1.0, 3.0]);
    assert_derivatives(&number, [9.0, 0.0, 6.0, 0.0, 0.0, 2.0]);
    assert_eq!(number.marks, [kinds::UNTAKEN; 3]);
    assert_eq!(number.depends, 0b10);
}

#[test]
fn kinks_and_infinite_derivatives_are_marked() {
    let at = |function, x: f64| output(&program(1, vec![set(Expression::Unary(function, X))]), &[x]).marks;
    assert_eq!(at(Unary::Abs, 0.0), [0, kinds::KINK, kinds::KINK]);
    assert_eq!(at(Unary::Abs, 1.0), [0; 3]);
    assert_eq!(at(Unary::Sqrt, 0.0)[1] & kinds::SINGULAR, kinds::SINGULAR);
    assert_eq!(at(Unary::Ln, -1.0)[0] & kinds::NAN, kinds::NAN);
    assert_eq!(at(Unary::Powc(1.5), 0.0), [0, 0, kinds::SINGULAR]);
}

#[test]
fn decision_within_the_error_bound_is_undecided() {
    // 0.1 + 0.2 < 0.3 is decided by rounding, 1 < 1 is not.
    let compare = |a: Operand, b: Operand| Statement::If {
        relation: Relation::Less,
        a,
        b,
        then: vec![set(Expression::Copy(Operand::Constant(1.0)))],
        otherwise: vec![],
    };
    let body = vec![set(Expression::Binary(Binary::Add, X, Y)), compare(R, Operand::Constant(0.3))];
    assert!(evaluate(&program(2, body), Context::double(), &[0.1, 0.2]).is_none());
    assert!(evaluate(&program(1, vec![compare(X, Operand::Constant(1.0))]), Context::double(), &[1.0]).is_some());
}

#[test]
fn error_bounds_hold_and_are_not_far_too_large() {
    // (x + 1e8) - 1e8 at 0.1: the value has lost eight digits; its derivative is 1.
    let body = vec![
        set(Expression::Binary(Binary::Add, X, Operand::Constant(1e8))),
        set(Expression::Binary(Binary::Sub, R, Operand::Constant(1e8))),
    ];
    let number = output(&program(1, body), &[0.1]);
    let error = (number.value - 0.1).abs();
    assert!(error > 1e-10 && error <= number.value_error && number.value_error < 1e-7, "{error:e} {number:?}");
    assert!(number.grad_error[0] < 1e-14);
    // In single precision the same value has no correct digit.
    let mut reference = Reference::new(Context::single());
    let x = Number::input(f64::from(0.1f32), 0, 1);
    let sum = reference.binary(Binary::Add, Argument::Number(x), Argument::Plain(1e8));
    assert!(sum.value_error > 1.0);
}
