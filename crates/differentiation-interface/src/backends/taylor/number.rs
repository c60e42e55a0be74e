//! How both numbers of Taylor mode apply a rule: by its recurrence, or, for a rule of the user, from the series of its derivative.
//!
//! Called by `series` and `polynomial`. A rule of the user has y = φ(x) with D y = φ′(x) D x, so that y follows from the series of φ′(x) to one
//! order less. φ′ is a formula in other rules, whose series are found in the same way (Griewank and Walther, *Evaluating Derivatives*,
//! 2nd edition, section 13.2).

use super::dependence::{binary_uses_value, unary_uses_value};
use super::unary::companion;
use differentiation_interface_core::custom::{CustomRule, ValueRule, pushforward_by_rule};
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{Binary, Partial, Unary};
use differentiation_interface_core::scalar::{Core, Num, Scalar};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The differentiation that a number belongs to, and the order of its coefficients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) level: NonZeroU32,
    pub(super) order: usize,
}

impl Mark {
    /// That of a result of two numbers.
    #[inline]
    pub(super) fn joined(a: Mark, b: Mark) -> Mark {
        let level = if a.level == b.level { a.level } else { identity::STRAY };
        Mark { level, order: a.order.min(b.order) }
    }
    /// That of a result of two numbers, of which one may be without coefficients.
    #[inline]
    pub(super) fn of(a: Option<Mark>, b: Option<Mark>) -> Option<Mark> {
        match (a, b) {
            (Some(a), Some(b)) => Some(Mark::joined(a, b)),
            (a, b) => a.or(b),
        }
    }
}

/// A derivative along a number.
pub(super) type Slope<C> = Partial<Num<C>>;

/// A number of Taylor mode over the scalar `S`.
pub(super) trait Member<S: Scalar>: Core<Base = S::Base> {
    fn value(&self) -> S;
    fn inert(value: S) -> Self;
    fn mark(&self) -> Option<Mark>;
    /// The number to a lower order.
    fn truncated(&self, order: usize) -> Self;
    /// The same number with another mark. The order is that of the number.
    fn with_level(self, level: NonZeroU32) -> Self;
    /// The number with D y = Σ slope D x over the pairs (x, slope).
    fn integral(value: S, mark: Mark, pairs: &[(Self, Slope<Self>)]) -> Self;
    /// The number of variables of the differentiation `mark`.
    fn variables(mark: Mark) -> usize;
    /// The derivative along a variable, to the order of `mark`, which is lower than that of the number.
    fn slope(&self, variable: usize, mark: Mark) -> Self;
    /// The number with a share of its part of a degree k ≥ 1: the variable times the part of degree k - 1 of the slope along it, over k. The shares of all
    /// variables are the part, by the identity of Euler.
    fn with_slope(&self, slope: &Self, variable: usize, degree: usize, mark: Mark) -> Self;
    /// The recurrence of the rule, if it has one, with the values of the rule and of its [`companion`].
    fn recurrence<R: Unary>(&self, values: (S, S), rule: &R) -> Option<Self>;
    /// The recurrence of the rule of two arguments, if it has one.
    fn recurrence2<R: Binary>(&self, other: &Self, r: S, rule: &R) -> Option<Self>;
}

/// The number with D y = Σ slope D x, where `slopes(order, y to that order)` gives the slopes.
fn integrated<S: Scalar, M: Member<S>, const K: usize>(
    value: S,
    x: [M; K],
    mark: Mark,
    uses_value: bool,
    slopes: &dyn Fn(usize, Num<M>) -> [Slope<M>; K],
) -> M {
    let step = |order: usize, y: M| {
        let slopes = slopes(order, Num(y));
        let mut slopes = slopes.into_iter();
        let pairs = x.map(|x| (x, slopes.next().unwrap_or(Partial::Zero)));
        // What is not taken contributes nothing, its differentiation included.
        let taken = pairs.iter().filter(|(_, slope)| !matches!(slope, Partial::Zero)).filter_map(|(x, _)| x.mark());
        let marks = taken.map(|own| Mark { level: own.level, order: mark.order });
        match marks.reduce(Mark::joined) {
            Some(mark) => M::integral(value, Mark { order: order + 1, ..mark }, &pairs),
            None => M::inert(value),
        }
    };
    if !uses_value {
        return step(mark.order - 1, M::inert(value));
    }
    (0..mark.order).fold(M::inert(value), |y, order| step(order, y))
}

/// A rule at a number that does not depend on the variables. Apart, since the compiler would compute the value before it tests for the mark, and
/// so not together with that of the companion.
#[cold]
#[inline(never)]
fn inert<S: Scalar, R: Unary>(x: S, rule: R) -> S {
    x.apply(rule)
}

#[inline]
pub(super) fn unary<S: Scalar, M: Member<S>, R: Unary>(x: M, rule: R) -> M {
    let Some(mark) = x.mark() else { return M::inert(inert(x.value(), rule)) };
    // Next to each other, so that the compiler computes sine and cosine at once.
    let (y, other) = (x.value().apply(rule), companion::<_, R>(x.value()));
    if let Some(known) = x.recurrence((y, other), &rule) {
        return known;
    }
    let uses_value = unary_uses_value(rule, x.value().peek(), y.peek());
    integrated(y, [x], mark, uses_value, &|order, y| [rule.derivative(Num(x.truncated(order)), y)])
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn binary<S: Scalar, M: Member<S>, R: Binary>(x: M, y: M, rule: R) -> M {
    let r = x.value().apply2(y.value(), rule);
    with_value(x, y, r, rule)
}

/// A rule of two arguments, whose value is known.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn with_value<S: Scalar, M: Member<S>, R: Binary>(x: M, y: M, r: S, rule: R) -> M {
    let Some(mark) = Mark::of(x.mark(), y.mark()) else { return M::inert(r) };
    if let Some(known) = x.recurrence2(&y, r, &rule) {
        return known;
    }
    let active = (x.mark().is_some(), y.mark().is_some());
    let (px, py) = (x.value().peek(), y.value().peek());
    let uses_value = binary_uses_value(rule, (px, active.0), (py, active.1), r.peek());
    integrated(r, [x, y], mark, uses_value, &|order, r| {
        let (x, y) = (Num(x.truncated(order)), Num(y.truncated(order)));
        [
            if active.0 { rule.partial_x(x, y, r) } else { Partial::Zero },
            if active.1 { rule.partial_y(x, y, r) } else { Partial::Zero },
        ]
    })
}

/// A custom rule with its values at numbers `S` and its pushforward at series `M`.
pub(super) trait RuleOfSeries<S: Scalar, M: Member<S>>: ValueRule<S> {
    /// Fills `dy` with J `dx`.
    fn pushforward(&self, x: &[Num<M>], y: &[Num<M>], dx: &[Num<M>], dy: &mut [Num<M>]);
}

impl<S: Scalar, M: Member<S>, R: CustomRule<S::Base>> RuleOfSeries<S, M> for Arc<R> {
    fn pushforward(&self, x: &[Num<M>], y: &[Num<M>], dx: &[Num<M>], dy: &mut [Num<M>]) {
        pushforward_by_rule(&**self, x, y, dx, dy);
    }
}

/// ∂y = J(x) ∂x along each variable, degree by degree: the part of degree k follows from x, y and ∂x to order k - 1, so that a rule that the derivative
/// calls again, itself even, has a lower order each time.
pub(super) fn custom<S: Scalar, M: Member<S>>(rule: &dyn RuleOfSeries<S, M>, x: &[Num<M>], y: &mut Vec<Num<M>>) {
    let values: Vec<S> = x.iter().map(|v| v.0.value()).collect();
    let mut outputs = Vec::new();
    let mark = x.iter().filter_map(|v| v.0.mark()).reduce(Mark::joined);
    let first = x.iter().find_map(|v| v.0.mark()).map(|mark| mark.level);
    let mut failed = fault::charge(first, || rule.value(&values, &mut outputs));
    y.clear();
    y.extend(outputs.iter().map(|&v| Num(M::inert(v))));
    let (Some(mark), Some(level)) = (mark, first) else { return };
    // All numbers that are computed with belong to one differentiation; a stray result is marked at the end.
    let own = Mark { level, order: mark.order };
    let x: Vec<_> = x.iter().map(|v| if v.0.mark().is_some() { Num(v.0.with_level(level)) } else { *v }).collect();
    let mut slopes = vec![Num(M::inert(S::default())); y.len()];
    for k in 1..=mark.order {
        let lower = |v: &Num<M>| Num(v.0.truncated(k - 1));
        let (lower_x, lower_y): (Vec<_>, Vec<_>) = (x.iter().map(lower).collect(), y.iter().map(lower).collect());
        for variable in 0..M::variables(own) {
            let below = Mark { level, order: k - 1 };
            let tangents: Vec<_> = x.iter().map(|v| Num(v.0.slope(variable, below))).collect();
            // As in forward mode: an input that none depends on is absent.
            if tangents.iter().all(Scalar::is_inert_zero) {
                continue;
            }
            let run = || rule.pushforward(&lower_x, &lower_y, &tangents, &mut slopes);
            failed |= fault::charge(Some(level), run);
            for (y, slope) in y.iter_mut().zip(&slopes) {
                *y = Num(y.0.with_slope(&slope.0, variable, k, own));
            }
        }
    }
    if failed || mark.level != level {
        y.iter_mut().for_each(|y| *y = Num(y.0.with_level(identity::STRAY)));
    }
}
