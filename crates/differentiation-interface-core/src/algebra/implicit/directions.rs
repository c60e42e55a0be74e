//! Dual numbers over any scalar, with a few tangents, for the partial derivatives of conditions.
//!
//! Used by the rule of implicit functions. They never leave it, so they need no identity.

use crate::custom::{CustomRule, PushforwardRule};
use crate::error::ErrorKind;
use crate::recordings::EngineScalar;
use crate::rules::{Binary, Partial, Plus, Times, Unary};
use crate::scalar::{Core, Num, Scalar};
use num_traits::Float;
use std::cmp::Ordering;
use std::sync::Arc;

/// The number of tangents.
pub(super) const LANES: usize = 4;

/// A value and its tangents. One that is absent is zero and no factor of a product, since that may be infinite; a zero that was computed is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directions<S> {
    value: S,
    tangents: [S; LANES],
    present: Lanes,
}

/// A bit for each lane.
#[derive(Clone, Copy, Debug)]
struct Lanes(u8);

impl Lanes {
    const NONE: Lanes = Lanes(0);
    fn one(lane: usize) -> Lanes {
        Lanes(1 << lane)
    }
    fn are_none(self) -> bool {
        self.0 == 0
    }
    fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }
}

/// The number type of conditions.
pub(super) type Number<S> = Num<Directions<S>>;

/// Numbers without tangents.
pub(super) fn fixed<S: Scalar>(values: &[S]) -> Vec<Number<S>> {
    values.iter().map(|&value| Num(Directions::fixed(value))).collect()
}

/// Numbers with one direction, in the first lane.
pub(super) fn along<S: Scalar>(values: &[S], direction: &[S]) -> Vec<Number<S>> {
    let mut numbers = fixed(values);
    for (number, &tangent) in numbers.iter_mut().zip(direction).filter(|(_, tangent)| !tangent.is_inert_zero()) {
        number.0.set(0, tangent);
    }
    numbers
}

/// Calls `visit` with a part of the numbers active at a time: number `first + k` has the unit tangent of lane `k`.
pub(super) fn each_part<S: Scalar>(values: &[S], mut visit: impl FnMut(usize, &[Number<S>])) {
    let mut numbers = fixed(values);
    for first in (0..values.len()).step_by(LANES) {
        let last = values.len().min(first + LANES);
        for (lane, number) in numbers[first..last].iter_mut().enumerate() {
            number.0.set(lane, S::constant(num_traits::One::one()));
        }
        visit(first, &numbers);
        numbers[first..last].iter_mut().for_each(|number| *number = Num(Directions::fixed(number.0.value)));
    }
}

/// The tangents of a number, `None` where they are absent.
pub(super) fn tangents<S: Scalar>(number: &Number<S>) -> [Option<S>; LANES] {
    let Directions { tangents, present, .. } = number.0;
    std::array::from_fn(|lane| present.has(lane).then_some(tangents[lane]))
}

impl<S: Scalar> Directions<S> {
    fn fixed(value: S) -> Self {
        Directions { value, tangents: [S::default(); LANES], present: Lanes::NONE }
    }

    fn set(&mut self, lane: usize, tangent: S) {
        self.tangents[lane] = tangent;
        self.present.0 |= Lanes::one(lane).0;
    }

    /// The number `value` with the tangents of `self` times `partial`.
    fn chain(&self, value: S, partial: impl FnOnce() -> Partial<S>) -> Self {
        if self.present.are_none() {
            return Self::fixed(value);
        }
        let partial = match partial() {
            Partial::Zero => return Self::fixed(value),
            partial => partial,
        };
        let Directions { tangents, present, .. } = *self;
        // Absent tangents stay zero in a product with a finite number, unless that carries derivatives itself.
        if S::DEPTH == 0 && partial.value().peek().is_finite() {
            return Directions { value, tangents: tangents.map(|tangent| partial.times(tangent)), present };
        }
        let tangents = std::array::from_fn(|lane| match present.has(lane) {
            true => partial.times(tangents[lane]),
            false => S::default(),
        });
        Directions { value, tangents, present }
    }

    /// Adds the tangents of another number.
    fn add_tangents(&mut self, other: &Self) {
        if S::DEPTH == 0 {
            self.tangents = std::array::from_fn(|lane| self.tangents[lane] + other.tangents[lane]);
            self.present.0 |= other.present.0;
            return;
        }
        for lane in (0..LANES).filter(|&lane| other.present.has(lane)) {
            let term = other.tangents[lane];
            self.set(lane, if self.present.has(lane) { self.tangents[lane] + term } else { term });
        }
    }
}

impl<S: Scalar> Core for Directions<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    fn constant(value: S::Base) -> Self {
        Self::fixed(S::constant(value))
    }
    fn primal(&self) -> S::Base {
        self.value.peek()
    }
    fn is_constant(&self) -> bool {
        self.present.are_none() && self.value.is_constant()
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
    #[track_caller]
    fn compare_magnitude(&self, other: S::Base) -> Option<Ordering> {
        self.value.compare_magnitude(other)
    }

    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = self.value.apply(rule);
        self.chain(value, || rule.derivative(self.value, value))
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let value = x.apply2(y, rule);
        let mut result = self.chain(value, || rule.partial_x(x, y, value));
        result.add_tangents(&other.chain(value, || rule.partial_y(x, y, value)));
        result
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
        Self::by_rule(rule, x, y);
    }
}

impl<S: Scalar> Directions<S> {
    /// Applies a custom rule.
    fn by_rule(rule: &dyn PushforwardRule<S>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        rule.value(&values, &mut outputs);
        *y = fixed(&outputs);
        let mut dy = vec![S::default(); y.len()];
        for lane in (0..LANES).filter(|&lane| x.iter().any(|v| v.0.present.has(lane))) {
            let dx: Vec<S> = x.iter().map(|v| v.0.tangents[lane]).collect();
            if dx.iter().all(S::is_inert_zero) {
                continue;
            }
            rule.pushforward(&values, &outputs, &dx, &mut dy);
            // A rule has no other mark for the outputs that do not move.
            for (y, dy) in y.iter_mut().zip(&dy).filter(|(_, dy)| !dy.is_inert_zero()) {
                y.0.set(lane, *dy);
            }
        }
    }
}
