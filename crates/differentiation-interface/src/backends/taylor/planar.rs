//! The rules of two arguments that have a recurrence: arithmetic, powers, angles and distances.
//!
//! Called by `number` with the value of the result. A rule that is not here has constant derivatives, or is a rule of the user.

use super::kernels::{
    combined, exponential, logarithm, multiple, natural_power, power, power_by_number, product, quotient,
};
use super::plane::{directions, hypotenuse, unit};
use super::space::{Space, View, rescale};
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{
    Angular, AngularBend, AngularCross, Atan2, Binary, Direction, Hypot, HypotBend, HypotCross, Ln, Minus, Modulo,
    Over, Partial, Plus, Powf, PowfByBase, PowfByBaseThrice, PowfByBaseTwice, PowfByExponent, PowfByExponentTwice,
    PowfMixed, Times, Together, Unary,
};
use differentiation_interface_core::scalar::{Base, Scalar};
use num_traits::Float;

/// The coefficients of `rule` at (x, y), one of which depends on the variables, where `r` is the value there.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn binary<S: Scalar, P: Space<S>, R: Binary>(
    space: &P,
    x: View<'_, S>,
    y: View<'_, S>,
    r: S,
    rule: &R,
) -> Option<P::Block> {
    Some(if is_rule!(R, Plus) || is_rule!(R, Together) {
        combined(space, (1.0, x), (1.0, y))
    } else if is_rule!(R, Minus) {
        combined(space, (1.0, x), (-1.0, y))
    } else if is_rule!(R, Times) {
        product(space, x, y)
    } else if is_rule!(R, Over) {
        quotient(space, x, y, r)
    } else {
        return special(space, x, y, r, rule);
    })
}

/// The rules that functions call less often.
fn special<S: Scalar, P: Space<S>, R: Binary>(
    space: &P,
    x: View<'_, S>,
    y: View<'_, S>,
    r: S,
    rule: &R,
) -> Option<P::Block> {
    if is_rule!(R, Modulo) {
        // x - q y with a plain q.
        let Partial::Value(slope) = rule.partial_y(x.value, y.value, r) else { return None };
        let taken = multiple(space, y, slope);
        return Some(combined(space, (1.0, x), (1.0, View::new(r, &taken))));
    }
    // The family of powers: q(y, ln x) x^(y - lowered).
    let power = |falling: usize, logarithms: usize, lowered: f64| {
        powers(space, x, y, r, Factor { falling, logarithms }, lowered)
    };
    let planar = |rule: InThePlane| Some(in_the_plane(space, x, y, r, rule));
    if is_rule!(R, Powf) {
        power(0, 0, 0.0)
    } else if is_rule!(R, PowfByBase) {
        power(1, 0, 1.0)
    } else if is_rule!(R, PowfByBaseTwice) {
        power(2, 0, 2.0)
    } else if is_rule!(R, PowfByBaseThrice) {
        power(3, 0, 3.0)
    } else if is_rule!(R, PowfByExponent) {
        power(0, 1, 0.0)
    } else if is_rule!(R, PowfByExponentTwice) {
        power(0, 2, 0.0)
    } else if is_rule!(R, PowfMixed) {
        power(1, 1, 1.0)
    } else if is_rule!(R, Atan2) {
        // It takes the ordinate first.
        Some(in_the_plane(space, y, x, r, InThePlane::Angle))
    } else if is_rule!(R, Hypot) {
        planar(InThePlane::Hypot)
    } else if is_rule!(R, Direction) {
        planar(InThePlane::Direction)
    } else if is_rule!(R, HypotBend) {
        planar(InThePlane::HypotBend)
    } else if is_rule!(R, HypotCross) {
        planar(InThePlane::HypotCross)
    } else if is_rule!(R, Angular) {
        planar(InThePlane::Angular)
    } else if is_rule!(R, AngularBend) {
        planar(InThePlane::AngularBend)
    } else if is_rule!(R, AngularCross) {
        planar(InThePlane::AngularCross)
    } else {
        None
    }
}

/// The factor of a derivative of x^y: ∂ᵃ/∂xᵃ ∂ᵇ/∂yᵇ for `falling` a and `logarithms` b; if both are 1, 1 + y ln x, else
/// y (y - 1) … (y - a + 1) lnᵇ x.
#[derive(Clone, Copy)]
struct Factor {
    falling: usize,
    logarithms: usize,
}

fn powers<S: Scalar, P: Space<S>>(
    space: &P,
    x: View<'_, S>,
    y: View<'_, S>,
    r: S,
    factor: Factor,
    lowered: f64,
) -> Option<P::Block> {
    let at = x.value.peek();
    let one = S::constant(S::Base::ONE);
    let exponent = y.value - S::constant(Base::from_f64(lowered));
    if y.block.is_none() && factor.logarithms == 0 {
        // A constant times a power with a constant exponent.
        let c = exponent.peek().as_f64();
        if exponent.is_constant() && factor.falling == 0 && (0.0..=16.0).contains(&c) && c.fract() == 0.0 {
            return Some(natural_power(space, x, c as u32));
        }
        let lowest = c + lowered;
        if exponent.is_constant() && lowest >= 0.0 && lowest.fract() == 0.0 && lowest < factor.falling as f64 {
            // y (y - 1) … is zero.
            return Some(space.zeros());
        }
        if !r.peek().is_normal() || !at.is_normal() {
            return None;
        }
        let ratio = multiple(space, x, one / x.value);
        let ratio = View::new(one, &ratio);
        return Some(match exponent.is_constant() {
            true => power(space, ratio, r, c),
            false => power_by_number(space, ratio, r, exponent),
        });
    }
    if at == S::Base::ZERO && factor.falling == 0 && factor.logarithms == 0 && x.block.is_some() {
        return Some(power_at_zero(space, x, y));
    }
    if at.is_nan() || at <= S::Base::ZERO || at.is_infinite() {
        if at == S::Base::ZERO && x.block.is_some() {
            return None;
        }
        let is_limit = at == S::Base::ZERO && r.peek() == S::Base::ZERO;
        return Some(if is_limit { space.zeros() } else { not_a_number(space, x, y) });
    }
    let logarithm_value = Ln.value_of(x.value);
    let coefficients = match x.block {
        Some(_) => logarithm(space, x, x, 1.0),
        None => space.zeros(),
    };
    let logarithm = match x.block {
        Some(_) => View::new(logarithm_value, &coefficients),
        None => View::inert(logarithm_value),
    };
    let raised = match lowered {
        0.0 if factor.logarithms == 0 => r,
        _ => x.value.apply2(exponent, Powf),
    };
    let product_value = exponent * logarithm_value;
    let with_logarithm = product(space, y.with_value(exponent), logarithm);
    let base = exponential(space, View::new(product_value, &with_logarithm), raised, 1.0);
    if factor.falling == 0 && factor.logarithms == 0 {
        return Some(base);
    }
    let base = View::new(raised, &base);
    if factor.falling == 1 && factor.logarithms == 1 {
        let slope_value = one + y.value * logarithm_value;
        let slope = product(space, y, logarithm);
        return Some(product(space, View::new(slope_value, &slope), base));
    }
    let mut value = raised;
    let mut result = combined(space, (1.0, base), (0.0, View::inert(r)));
    for k in 0..factor.falling {
        let lower = y.value - S::constant(Base::from_f64(k as f64));
        result = product(space, View::new(value, &result), y.with_value(lower));
        value = value * lower;
    }
    for _ in 0..factor.logarithms {
        result = product(space, View::new(value, &result), logarithm);
        value = value * logarithm_value;
    }
    Some(result)
}

/// x^y at x = 0, where y depends on the variables: terms with ln x begin above the degree y.
fn power_at_zero<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>) -> P::Block {
    let exponent = y.value.peek().as_f64();
    let natural = exponent >= 0.0 && exponent.fract() == 0.0 && exponent <= space.order() as f64;
    let mut block = if natural { natural_power(space, x, exponent as u32) } else { space.zeros() };
    let none = not_a_number(space, x, y);
    for k in 1..=space.order() {
        if !(k as f64 <= exponent && exponent > 0.0) {
            block.as_mut()[space.part(k)].copy_from_slice(&none.as_ref()[space.part(k)]);
        }
    }
    block
}

/// NaN in all coefficients of what x and y depend on.
fn not_a_number<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>) -> P::Block {
    let (both, nan) = (combined(space, (1.0, x), (1.0, y)), S::constant(S::Base::nan()));
    exponential(space, View::new(nan, &both), nan, 1.0)
}

/// Values of rules on any scalar.
trait ValueOf: Unary {
    fn value_of<S: Scalar>(self, x: S) -> S {
        x.apply(self)
    }
}
impl<R: Unary> ValueOf for R {}

/// The rules of angles and distances.
#[derive(Clone, Copy, PartialEq)]
enum InThePlane {
    /// `atan2`, of the abscissa and the ordinate.
    Angle,
    Hypot,
    Direction,
    HypotBend,
    HypotCross,
    Angular,
    AngularBend,
    AngularCross,
}

fn in_the_plane<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>, r: S, rule: InThePlane) -> P::Block {
    let length = if rule == InThePlane::Hypot { r } else { x.value.apply2(y.value, Hypot) };
    let size = length.peek();
    if size == S::Base::ZERO || size.is_infinite() {
        // By the conventions at the origin and at infinity second derivatives are zero there, and the angle has no derivative.
        if rule != InThePlane::Hypot {
            return space.zeros();
        }
        let along = |of: S, other: S| of.apply2(other, Direction);
        let from_x = multiple(space, x, along(x.value, y.value));
        let from_y = multiple(space, y, along(y.value, x.value));
        return combined(space, (1.0, View::new(r, &from_x)), (1.0, View::new(r, &from_y)));
    }
    if rule == InThePlane::Hypot {
        return hypotenuse(space, x, y, r);
    }
    let one = S::constant(S::Base::ONE);
    let unit = unit(space, x, y, length);
    let (u, v) = (unit.u(), unit.v());
    let times = |a: View<'_, S>, b: View<'_, S>| (a.value * b.value, product(space, a, b));
    let sum = |sign: f64| {
        let value = v.value + u.value.scale(Base::from_f64(sign));
        (value, combined(space, (1.0, v), (sign, u)))
    };
    let scaled = |(value, mut block): (S, P::Block), factor: f64| {
        rescale(block.as_mut(), factor);
        (value.scale(Base::from_f64(factor)), block)
    };
    let (factor, exponent, divisions) = match rule {
        InThePlane::Hypot | InThePlane::Direction => return directions(space, &unit).0,
        InThePlane::Angle => {
            let inverse = unit.to(space, -1.0);
            let turn = unit.turn(space);
            let mut angle = product(space, View::new(S::default(), &turn), View::new(one, &inverse));
            for k in 1..=space.order() {
                rescale(&mut angle.as_mut()[space.part(k)], 1.0 / k as f64);
            }
            return angle;
        }
        InThePlane::Angular => ((u.value, combined(space, (1.0, u), (0.0, View::inert(r)))), -1.0, 1),
        InThePlane::AngularBend => {
            let (less, more) = (sum(-1.0), sum(1.0));
            (times(View::new(less.0, &less.1), View::new(more.0, &more.1)), -2.0, 2)
        }
        InThePlane::AngularCross => (scaled(times(u, v), -2.0), -2.0, 2),
        InThePlane::HypotBend => (times(v, v), -1.5, 1),
        InThePlane::HypotCross => (scaled(times(u, v), -1.0), -1.5, 1),
    };
    let raised = unit.to(space, exponent);
    let mut result = product(space, View::new(factor.0, &factor.1), View::new(one, &raised));
    for _ in 0..divisions {
        result = quotient(space, View::new(r, &result), View::inert(unit.length), r);
    }
    result
}
