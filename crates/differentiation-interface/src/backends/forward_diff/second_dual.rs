//! The second-order dual number: a value with its first and second derivative along one variable.

use super::dual::{Dual, DualCore, Level, MIXED};
use crate::backends::forwarding::answered_below;
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::backend::Lane;
use differentiation_interface_core::custom::{CustomRule, PushforwardRule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Over, Partial, Plus, Recip, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A number over the scalar `S` with its first and second derivative along one variable.
pub type SecondDual<S> = Num<SecondDualCore<S>>;

/// The engine's part of a [`SecondDual`]: `value + first·ε + second·ε²/2`, where ε³ is 0.
///
/// It carries what `Dual<Dual<S, Lane<1>>, Lane<1>>` carries, where both tangents are one number: y = φ(x) has the derivative φ′(x) x′ and the second
/// derivative φ″(x) x′² + φ′(x) x″. Each rule is applied to the dual number x + x′ε, and its derivative too, which gives φ″(x) x′.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SecondDualCore<S: Scalar> {
    value: S,
    tangent: Option<Tangents<S>>,
}

/// Both derivatives, marked with the differentiation that they belong to; absent while they are zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Tangents<S> {
    level: NonZeroU32,
    first: S,
    second: S,
}

/// The dual number with the first derivative as its tangent.
type Below<S> = Dual<S, Lane<1>>;

impl<S: Scalar> SecondDualCore<S> {
    /// A number that does not depend on the variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn inert(value: S) -> Self {
        SecondDualCore { value, tangent: None }
    }

    /// The variable of the differentiation `level`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn variable(value: S, level: &Level) -> Self {
        let (zero, one) = (S::constant(S::Base::ZERO), S::constant(S::Base::ONE));
        SecondDualCore { value, tangent: Some(Tangents { level: level.mark(), first: one, second: zero }) }
    }

    /// The value, one level of nesting down.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(&self) -> S {
        self.value
    }

    /// The first derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn first(&self) -> S {
        self.tangent.as_ref().map_or(S::constant(S::Base::ZERO), |t| t.first)
    }

    /// The second derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn second(&self) -> S {
        self.tangent.as_ref().map_or(S::constant(S::Base::ZERO), |t| t.second)
    }

    /// The differentiation that the derivatives belong to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn identity(&self) -> Option<NonZeroU32> {
        self.tangent.as_ref().map(|t| t.level)
    }

    /// The number as a dual number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn below(&self) -> Below<S> {
        Num(match &self.tangent {
            Some(t) => DualCore::along(self.value, t.first),
            None => DualCore::inert(self.value),
        })
    }

    /// The number whose value and first derivative are those of `y`, with this second derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn above(y: Below<S>, level: NonZeroU32, second: S) -> Self {
        let first = y.0.slope().unwrap_or(S::constant(S::Base::ZERO));
        SecondDualCore { value: y.0.value(), tangent: Some(Tangents { level, first, second }) }
    }

    /// The quotient q = x / y, with q′ = (x′ - q y′) / y and q″ = (x″ - 2 q′ y′ - q y″) / y. By its partial derivatives and their
    /// derivatives it takes five divisions.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn over(self, other: Self) -> Self {
        let value = self.value.apply2(other.value, Over);
        let tangent = match (self.tangent, other.tangent) {
            (None, None) => None,
            (Some(a), None) => {
                let inverse = other.value.apply(Recip);
                Some(Tangents { level: a.level, first: inverse * a.first, second: a.bend(inverse) })
            }
            (a, Some(b)) => {
                let zero = S::constant(S::Base::ZERO);
                let a = a.unwrap_or(Tangents { level: b.level, first: zero, second: zero });
                let level = if a.level == b.level { a.level } else { MIXED };
                // The reciprocal of a number below the smallest normal one may be infinite.
                let inverse = other.value.apply(Recip);
                let is_finite = num_traits::Float::is_finite(inverse.peek());
                let over = |x: S| if is_finite { x * inverse } else { x / other.value };
                let first = over(a.first - value * b.first);
                let twice = first * b.first;
                let second = over(a.second - (twice + twice) - b.bend(value));
                Some(Tangents { level, first, second })
            }
        };
        SecondDualCore { value, tangent }
    }

    /// The number with the value `y`, computed from `self` by a rule with this derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, y: Below<S>, partial: impl FnOnce() -> Partial<Below<S>>) -> Self {
        let Some(t) = self.tangent else { return Self::inert(y.0.value()) };
        match partial() {
            Partial::Zero => Self::inert(y.0.value()),
            partial => Self::above(y, t.level, t.times(partial)),
        }
    }
}

impl<S: Scalar> Tangents<S> {
    /// The second derivative times `factor`. One that is zero, as that of the variable, stays zero where the factor is infinite.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn bend(&self, factor: S) -> S {
        if self.second.is_inert_zero() { S::constant(S::Base::ZERO) } else { factor * self.second }
    }

    /// The second derivative that a number with these derivatives contributes to the result of a rule with this partial derivative.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn times(&self, partial: Partial<Below<S>>) -> S {
        match partial {
            Partial::Zero => S::constant(S::Base::ZERO),
            Partial::One => self.second,
            Partial::Constant(c) => self.second.scale(c),
            Partial::Value(d) => self.times_value(d),
            Partial::Product(first, second) => {
                let inner = Tangents { first: first.0.value() * self.first, second: self.times_value(first), ..*self };
                inner.times_value(second)
            }
        }
    }

    /// The same for a number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn times_value(&self, d: Below<S>) -> S {
        let along = self.bend(d.0.value());
        d.0.slope().map_or(along, |slope| slope * self.first + along)
    }
}

/// A rule at a number that does not depend on the variable. Apart, since the compiler would compute the value before it tests for the tangent, and so not
/// together with the derivative: sine and cosine of one angle are one call of the mathematical library.
#[cold]
#[inline(never)]
fn inert<S: Scalar, R: Unary>(x: S, rule: R) -> S {
    x.apply(rule)
}

impl<S: Scalar> Core for SecondDualCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 2 + S::DEPTH;

    answered_below!(S, carries: tangent);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let Some(t) = self.tangent else { return Self::inert(inert(self.value, rule)) };
        let x: Below<S> = Num(DualCore::along(self.value, t.first));
        let y = x.apply(rule);
        self.chain(y, || rule.derivative(x, y))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        if is_rule!(R, Over) {
            return self.over(other);
        }
        let (x, y) = (self.below(), other.below());
        let r = Below::apply2(x, y, rule);
        match (self.tangent, other.tangent) {
            (Some(a), Some(b)) => {
                let level = if a.level == b.level { a.level } else { MIXED };
                match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
                    (Partial::Zero, py) => other.chain(r, || py),
                    (px, Partial::Zero) => self.chain(r, || px),
                    (px, py) => Self::above(r, level, a.times(px) + b.times(py)),
                }
            }
            (Some(_), None) => self.chain(r, || rule.partial_x(x, y, r)),
            (None, _) => other.chain(r, || rule.partial_y(x, y, r)),
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let x = self.below();
        let r = x.apply2_right(other, rule);
        self.chain(r, || rule.partial_x(x, Below::constant(other), r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        if is_rule!(R, Over) {
            return Self::constant(first).over(second);
        }
        let y = second.below();
        let r = Below::apply2_left(first, y, rule);
        second.chain(r, || rule.partial_y(Below::constant(first), y, r))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.fused(factor.value, addend.value);
        SecondDualCore { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[SecondDual<S>], y: &mut Vec<SecondDual<S>>) {
        Self::by_rule(rule, x, y);
    }
}

impl<S: Scalar> SecondDualCore<S> {
    /// Applies a custom rule.
    fn by_rule(rule: &dyn PushforwardRule<Below<S>>, x: &[SecondDual<S>], y: &mut Vec<SecondDual<S>>) {
        let below: Vec<Below<S>> = x.iter().map(|x| x.0.below()).collect();
        let mut outputs = Vec::new();
        let level = x.iter().find_map(|x| x.0.identity());
        let mut failed = fault::charge(level, || rule.value(&below, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|y| Num(Self::inert(y.0.value()))));

        let Some(level) = level else { return };
        let one_level = x.iter().filter_map(|x| x.0.identity()).all(|own| own == level);
        let tangent = |x: &SecondDual<S>| match &x.0.tangent {
            Some(t) if t.second.is_inert_zero() => Num(DualCore::inert(t.first)),
            Some(t) => Num(DualCore::along(t.first, t.second)),
            None => Below::default(),
        };
        let dx: Vec<Below<S>> = x.iter().map(tangent).collect();
        let mut dy = vec![Below::default(); outputs.len()];
        failed |= fault::charge(Some(level), || rule.pushforward(&below, &outputs, &dx, &mut dy));
        // A differentiation without an identity detects a fault by the mark.
        let level = if one_level && !failed { level } else { MIXED };
        for (y, dy) in y.iter_mut().zip(&dy) {
            let (first, second) = (dy.0.value(), dy.0.slope().unwrap_or_default());
            // As in first order, an output that does not move is absent.
            if level == MIXED || !first.is_inert_zero() || !second.is_inert_zero() {
                y.0.tangent = Some(Tangents { level, first, second });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Numbers begin at multiples of four bytes on some machines of 32 bits.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn mark_and_absence_of_the_derivatives_share_one_word() {
        assert_eq!(size_of::<SecondDual<f64>>(), 8 * (1 + 1 + 2));
    }
}
