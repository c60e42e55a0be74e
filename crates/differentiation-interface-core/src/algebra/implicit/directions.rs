//! Dual numbers over any scalar, with a few tangents, for the partial derivatives of conditions.
//!
//! Used by the rule of implicit functions. They never leave it, so they need no identity.

use crate::custom::{CustomRule, pushforward_by_rule};
use crate::error::ErrorKind;
use crate::recordings::EngineScalar;
use crate::rules::{Binary, Partial, Plus, Times, Unary};
use crate::scalar::{Core, Num, Scalar};
use std::cmp::Ordering;
use std::sync::Arc;

/// The number of tangents.
pub(super) const LANES: usize = 4;

/// A value and its tangents; `None` where all are zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directions<S> {
    value: S,
    tangents: Option<[S; LANES]>,
}

/// The number type of conditions.
pub(super) type Number<S> = Num<Directions<S>>;

/// Numbers without tangents.
pub(super) fn fixed<S: Scalar>(values: &[S]) -> Vec<Number<S>> {
    values.iter().map(|&value| Num(Directions { value, tangents: None })).collect()
}

/// Numbers with one direction, in the first lane.
pub(super) fn along<S: Scalar>(values: &[S], direction: &[S]) -> Vec<Number<S>> {
    let tangents = |tangent: S| std::array::from_fn(|lane| if lane == 0 { tangent } else { S::default() });
    values.iter().zip(direction).map(|(&value, &d)| Num(Directions { value, tangents: Some(tangents(d)) })).collect()
}

/// Calls `visit` with a part of the numbers active at a time: number `first + k` has the unit tangent of lane `k`.
pub(super) fn each_part<S: Scalar>(values: &[S], mut visit: impl FnMut(usize, &[Number<S>])) {
    let one = S::constant(num_traits::One::one());
    let mut numbers = fixed(values);
    for first in (0..values.len()).step_by(LANES) {
        let last = values.len().min(first + LANES);
        for (lane, number) in numbers[first..last].iter_mut().enumerate() {
            number.0.tangents = Some(std::array::from_fn(|k| if k == lane { one } else { S::default() }));
        }
        visit(first, &numbers);
        numbers[first..last].iter_mut().for_each(|number| number.0.tangents = None);
    }
}

/// The tangents of a number.
pub(super) fn tangents<S: Scalar>(number: &Number<S>) -> [S; LANES] {
    number.0.tangents.unwrap_or([S::default(); LANES])
}

impl<S: Scalar> Directions<S> {
    /// The number `value` with the tangents of `self` times `partial`.
    fn chain(self, value: S, partial: impl FnOnce() -> Partial<S>) -> Self {
        let tangents = self.tangents.and_then(|tangents| match partial() {
            Partial::Zero => None,
            partial => Some(tangents.map(|tangent| partial.times(tangent))),
        });
        Directions { value, tangents }
    }
}

impl<S: Scalar> Core for Directions<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    fn constant(value: S::Base) -> Self {
        Directions { value: S::constant(value), tangents: None }
    }
    fn primal(&self) -> S::Base {
        self.value.peek()
    }
    fn is_constant(&self) -> bool {
        self.tangents.is_none() && self.value.is_constant()
    }
    #[track_caller]
    fn observe(&self) -> S::Base {
        self.value.primal()
    }
    fn spoil(&self, kind: ErrorKind) {
        self.value.spoil(kind);
    }
    #[track_caller]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
    #[track_caller]
    fn compare_plain(&self, other: S::Base) -> Option<Ordering> {
        self.value.partial_cmp(&S::constant(other))
    }

    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = self.value.apply(rule);
        self.chain(value, || rule.derivative(self.value, value))
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let value = x.apply2(y, rule);
        let by_x = self.chain(value, || rule.partial_x(x, y, value));
        let by_y = other.chain(value, || rule.partial_y(x, y, value));
        let tangents = match (by_x.tangents, by_y.tangents) {
            (Some(a), Some(b)) => Some(std::array::from_fn(|lane| a[lane] + b[lane])),
            (a, b) => a.or(b),
        };
        Directions { value, tangents }
    }
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let value = self.value.apply2_right(other, rule);
        self.chain(value, || rule.partial_x(self.value, S::constant(other), value))
    }
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let value = S::apply2_left(first, second.value, rule);
        second.chain(value, || rule.partial_y(S::constant(first), second.value, value))
    }
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.fused(factor.value, addend.value);
        Directions { value, ..self.binary(factor, Times).binary(addend, Plus) }
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        S::custom(rule, &values, &mut outputs);
        *y = fixed(&outputs);
        if x.iter().all(|v| v.0.tangents.is_none()) {
            return;
        }
        let mut dy = vec![S::default(); y.len()];
        for lane in 0..LANES {
            let dx: Vec<S> = x.iter().map(|v| v.0.tangents.map_or(S::default(), |t| t[lane])).collect();
            if dx.iter().all(S::is_inert_zero) {
                continue;
            }
            pushforward_by_rule(&**rule, &values, &outputs, &dx, &mut dy);
            for (y, dy) in y.iter_mut().zip(&dy) {
                y.0.tangents.get_or_insert([S::default(); LANES])[lane] = *dy;
            }
        }
    }
}
