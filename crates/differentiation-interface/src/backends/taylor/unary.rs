//! The rules of one argument that have a recurrence.
//!
//! Called by `number` with the value of the result. A rule that is not here has a derivative that is constant, or is a rule of the user.

use super::kernels::{
    bell, combined, exponential, integral, logarithm, multiple, natural_power, power, product, quotient, reciprocal,
    square_root, tangent, waves,
};
use super::plane::{hypotenuse, hypotenuse_power};
use super::polygamma::polygamma;
use super::space::{Space, View, rescale};
use crate::backends::table_rules::{as_rule, is_rule};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{
    Acos, Acosh, AcoshSlope, Asin, AsinSlope, Asinh, Atan, AtanSlope, Atanh, Cbrt, CbrtSlope, Cos, Cosh, Erf, Erfc,
    Exp, Exp2, ExpM1, Gauss, HypotOne, Ln, Ln1p, LnGamma, Log2, Log10, Logistic, LogisticSlope, Negate, OneMinusSquare,
    Polygamma, Powc, Powi, Recip, SechSquared, Sin, Sinh, Softplus, Sqrt, Tan, Tanh, Unary,
};
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

/// The value of the other function of a pair that one recurrence computes; nothing for other rules.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn companion<S: Scalar, R: Unary>(x: S) -> S {
    if is_rule!(R, Sin) {
        x.apply(Cos)
    } else if is_rule!(R, Cos) {
        x.apply(Sin)
    } else if is_rule!(R, Sinh) {
        x.apply(Cosh)
    } else if is_rule!(R, Cosh) {
        x.apply(Sinh)
    } else {
        S::default()
    }
}

/// The coefficients of `rule` at `x`, where `y` is the value there and `other` that of its [`companion`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn unary<S: Scalar, P: Space<S>, R: Unary>(
    space: &P,
    x: View<'_, S>,
    (y, other): (S, S),
    rule: &R,
) -> Option<P::Block> {
    let one = S::constant(S::Base::ONE);
    let nothing = (0.0, View::inert(y));
    Some(if is_rule!(R, Negate) {
        combined(space, (-1.0, x), nothing)
    } else if is_rule!(R, Exp) {
        exponential(space, x, y, 1.0)
    } else if is_rule!(R, Exp2) {
        exponential(space, x, y, LN_2)
    } else if is_rule!(R, ExpM1) {
        exponential(space, x, x.value.apply(Exp), 1.0)
    } else if is_rule!(R, Recip) {
        reciprocal(space, x, y)
    } else if is_rule!(R, Sin) {
        waves(space, x, (y, other), -1.0).0
    } else if is_rule!(R, Cos) {
        waves(space, x, (other, y), -1.0).1
    } else if is_rule!(R, Sinh) {
        waves(space, x, (y, other), 1.0).0
    } else if is_rule!(R, Cosh) {
        waves(space, x, (other, y), 1.0).1
    } else if is_rule!(R, Ln) {
        logarithm(space, x, x, 1.0)
    } else if is_rule!(R, Log2) {
        logarithm(space, x, x, LOG2_E)
    } else if is_rule!(R, Log10) {
        logarithm(space, x, x, LOG10_E)
    } else if is_rule!(R, Ln1p) {
        logarithm(space, x, x.with_value(one + x.value), 1.0)
    } else if is_rule!(R, Sqrt) {
        square_root(space, x, y)
    } else if is_rule!(R, Powi) {
        let Powi(n) = as_rule(rule)?;
        return constant_power(space, x, y, n as f64);
    } else if is_rule!(R, Powc) {
        let Powc(c) = as_rule(rule)?;
        return constant_power(space, x, y, c);
    } else if is_rule!(R, Tan) {
        tangent(space, x, y, 1.0)
    } else if is_rule!(R, Tanh) {
        bell(space, x, (y, x.value.apply(SechSquared)), (1.0, -2.0)).0
    } else if is_rule!(R, SechSquared) {
        bell(space, x, (x.value.apply(Tanh), y), (1.0, -2.0)).1
    } else if is_rule!(R, Logistic) {
        logistic(space, x, x.value.apply(LogisticSlope)).0
    } else if is_rule!(R, LogisticSlope) {
        logistic(space, x, y).1
    } else if is_rule!(R, Softplus) {
        let slope = logistic(space, x, x.value.apply(LogisticSlope)).0;
        integral(space, x, View::new(x.value.apply(Logistic), &slope), 1.0)
    } else {
        return special(space, x, y, rule);
    })
}

/// The rules that functions call less often.
fn special<S: Scalar, P: Space<S>, R: Unary>(space: &P, x: View<'_, S>, y: S, rule: &R) -> Option<P::Block> {
    let one = S::constant(S::Base::ONE);
    let slope = |block: &P::Block, value: S, factor: f64| integral(space, x, View::new(value, block), factor);
    Some(if is_rule!(R, Cbrt) {
        let value = x.value.apply(CbrtSlope);
        slope(&cube_root_slope(space, x, value), value, 1.0)
    } else if is_rule!(R, CbrtSlope) {
        cube_root_slope(space, x, y)
    } else if is_rule!(R, Asin) || is_rule!(R, Acos) {
        let value = x.value.apply(AsinSlope);
        let factor = if is_rule!(R, Asin) { 1.0 } else { -1.0 };
        slope(&root_slope(space, x, value, -1.0), value, factor)
    } else if is_rule!(R, AsinSlope) {
        root_slope(space, x, y, -1.0)
    } else if is_rule!(R, Acosh) {
        let value = x.value.apply(AcoshSlope);
        slope(&root_slope(space, x, value, 1.0), value, 1.0)
    } else if is_rule!(R, AcoshSlope) {
        root_slope(space, x, y, 1.0)
    } else if is_rule!(R, OneMinusSquare) {
        let mut square = product(space, x, x);
        rescale(square.as_mut(), -1.0);
        square
    } else if is_rule!(R, Atanh) {
        let mut square = product(space, x, x);
        rescale(square.as_mut(), -1.0);
        let value = x.value.apply(OneMinusSquare).apply(Recip);
        slope(&reciprocal(space, View::new(y, &square), value), value, 1.0)
    } else if is_rule!(R, Atan) {
        let value = x.value.apply(AtanSlope);
        slope(&arc_slope(space, x, value), value, 1.0)
    } else if is_rule!(R, AtanSlope) {
        arc_slope(space, x, y)
    } else if is_rule!(R, HypotOne) {
        hypotenuse(space, x, View::inert(one), y)
    } else if is_rule!(R, Asinh) {
        let length = x.value.apply(HypotOne);
        let inverse = length.apply(Recip);
        let slopes = hypotenuse_power(space, x, View::inert(one), length, -0.5);
        slope(&multiple(space, View::new(one, &slopes), inverse), inverse, 1.0)
    } else if is_rule!(R, Gauss) {
        gauss(space, x, y)
    } else if is_rule!(R, Erf) || is_rule!(R, Erfc) {
        let value = x.value.apply(Gauss);
        let factor = if is_rule!(R, Erf) { FRAC_2_SQRT_PI } else { -FRAC_2_SQRT_PI };
        slope(&gauss(space, x, value), value, factor)
    } else if is_rule!(R, LnGamma) {
        slope(&polygamma(space, x, 0), x.value.apply(Polygamma(0)), 1.0)
    } else if is_rule!(R, Polygamma) {
        let Polygamma(order) = as_rule(rule)?;
        polygamma(space, x, order)
    } else {
        return None;
    })
}

/// x^c, unless x is zero or the power is out of range: then each derivative is a power of its own.
fn constant_power<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S, c: f64) -> Option<P::Block> {
    if (0.0..=16.0).contains(&c) && c.fract() == 0.0 {
        return Some(natural_power(space, x, c as u32));
    }
    if !y.peek().is_normal() || !x.value.peek().is_normal() {
        return None;
    }
    let ratio = multiple(space, x, S::constant(S::Base::ONE) / x.value);
    Some(power(space, View::new(y, &ratio), y, c))
}

fn cube_root_slope<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, value: S) -> P::Block {
    let one = View::inert(x.value);
    let ratio = quotient(space, x, one, x.value);
    power(space, View::new(value, &ratio), value, -2.0 / 3.0)
}

/// (`sign` (x² - 1))^(-1/2), whose value is given.
fn root_slope<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, value: S, sign: f64) -> P::Block {
    // x² over the value of x² - 1, whose root is 1 over that of the slope.
    let scaled = multiple(space, x, value);
    let scaled = View::new(x.value * value, &scaled);
    let mut ratio = product(space, scaled, scaled);
    rescale(ratio.as_mut(), sign);
    power(space, View::new(value, &ratio), value, -0.5)
}

/// 1/(1 + x²), whose value is given.
fn arc_slope<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, value: S) -> P::Block {
    let (at, one) = (x.value.peek(), S::constant(S::Base::ONE));
    if (at * at).is_finite() {
        return reciprocal(space, View::new(value, &product(space, x, x)), value);
    }
    // The derivative 2x of x² may be out of range; relative to the length it is not.
    let ratio = hypotenuse_power(space, x, View::inert(one), x.value.apply(HypotOne), -1.0);
    multiple(space, View::new(one, &ratio), value)
}

/// exp(-x²), whose value is y.
fn gauss<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S) -> P::Block {
    let at = x.value.peek();
    if at.is_finite() && !(at * at).is_finite() {
        // The derivative 2x of x² may be out of range, but what it is multiplied by is zero.
        return multiple(space, x, y);
    }
    exponential(space, View::new(y, &product(space, x, x)), y, -1.0)
}

/// The logistic function and its slope, whose value is given.
fn logistic<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, slope: S) -> (P::Block, P::Block) {
    let rise = x.value.scale(S::Base::from_f64(0.5)).apply(Tanh);
    let (mut rise, slope) = bell(space, x, (rise, slope), (2.0, -1.0));
    // tanh(x/2) = 2 y - 1
    rescale(rise.as_mut(), 0.5);
    (rise, slope)
}
