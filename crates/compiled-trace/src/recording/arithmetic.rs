//! The arithmetic of the recording number: computes the value at the recording's point, and calls the recorder to record
//! the operation.
//!
//! Called by the user's function. Numbers of another thread or another recording are reported here.

use crate::recording::custom::{self, CallObject};
use crate::recording::graph::Call;
use crate::recording::number::RecordedCore;
use crate::recording::operation::{Op, Outcome, RELATIONS};
use crate::recording::recorder::{Running, innermost_parameter, note_in_innermost, with_running};
use crate::recording::rules::{PLUS, POWF};
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::identity::{self, STRAY};
use differentiation_interface_core::recordings::Internals;
use differentiation_interface_core::rules::{
    Binary, OddSum, Plus, Powc, ProductError, SumError, Times, Together, Unary,
};
use differentiation_interface_core::scalar::{Base, Core, Num, Relation};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::panic::Location;
use std::sync::Arc;

/// Marks the recordings of the operands, at least one of which is not on this thread: if it is running, it is on
/// another one. An operand whose recording is on this thread has met a foreign number.
#[cold]
#[inline(never)]
fn note_strays<B>(numbers: impl IntoIterator<Item = RecordedCore<B>>) {
    for number in numbers {
        let here = with_running(number.recording, |running| running.fault = Some(ErrorKind::ForeignNumber)).is_some();
        if let Some(recording) = NonZeroU32::new(number.recording)
            && !here
        {
            identity::spoil(recording, ErrorKind::OtherThread);
        }
    }
}

impl<B: Base> RecordedCore<B> {
    /// A parameter of the innermost recording of this thread, if it has that many.
    fn parameter(index: usize, value: B) -> Self {
        match innermost_parameter(index) {
            Some((operand, recording)) => RecordedCore { value, operand, recording },
            None => Self::inert(value),
        }
    }

    /// The result of an operation on `arguments`; `None` as operand means that their recording is not on this thread.
    #[inline(always)]
    fn active(value: B, operand: Option<u32>, arguments: [Self; 2]) -> Self {
        let [a, b] = arguments;
        match operand {
            Some(operand) => {
                RecordedCore { value, operand, recording: if a.recording != 0 { a.recording } else { b.recording } }
            }
            None => Self::stray(value, arguments),
        }
    }

    #[cold]
    #[inline(never)]
    fn stray(value: B, arguments: impl IntoIterator<Item = Self>) -> Self {
        note_strays(arguments);
        RecordedCore { value, operand: 0, recording: STRAY.get() }
    }

    /// Records an operation on two numbers, at least one of which is not a constant.
    #[inline(always)]
    fn record(self, other: Self, value: B, op: impl FnOnce(&mut Running) -> Option<Op>) -> Self {
        let recording = if self.recording != 0 { self.recording } else { other.recording };
        let operand = with_running(recording, |running| {
            let (a, b) = (running.operand(self), running.operand(other));
            match op(running) {
                Some(op) => running.push(op, a, b),
                // The recording has ended.
                None => 0,
            }
        });
        Self::active(value, operand, [self, other])
    }

    #[cold]
    #[inline(never)]
    fn guard(self, other: Self, outcome: Outcome, place: &'static Location<'static>) {
        let guard = self.record(other, B::ZERO, |running| Some(Op::Guard(running.graph.guard(place, outcome))));
        if guard.recording == STRAY.get() {
            note_in_innermost(ErrorKind::ForeignNumber);
        }
    }
}

impl<B: Base> Core for RecordedCore<B> {
    type Base = B;
    const DEPTH: u32 = 1;
    const INTERNALS: &'static Internals<Num<Self>, B> =
        &Internals { parameter: |index, value| Num(Self::parameter(index, value)), ..Internals::DEFAULT };

    #[inline(always)]
    fn constant(value: B) -> Self {
        Self::inert(value)
    }
    #[inline(always)]
    fn primal(&self) -> B {
        self.value
    }
    #[inline(always)]
    fn is_constant(&self) -> bool {
        self.recording == 0
    }
    #[inline(always)]
    fn unary<R: Unary>(self, rule: R) -> Self {
        let value = rule.value(self.value);
        if self.recording == 0 {
            return Self::inert(value);
        }
        let operand = with_running(self.recording, |running| running.push_unary(rule, self.operand));
        Self::active(value, operand, [self; 2])
    }
    #[inline(always)]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let value = rule.value(self.value, other.value);
        if self.recording == 0 && other.recording == 0 {
            return Self::inert(value);
        }
        self.record(other, value, |running| running.number_binary(rule).map(Op::Binary))
    }
    #[inline(always)]
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        let value = rule.value(self.value, other);
        if self.recording == 0 {
            return Self::inert(value);
        }
        let operand = with_running(self.recording, |running| match running.number_binary(rule) {
            // The general power with a constant exponent must not go through a logarithm.
            Some(POWF) => running.push_unary(Powc(other.as_f64()), self.operand),
            Some(id) => {
                let b = running.constant(other.as_f64());
                running.push(Op::Binary(id), self.operand, b)
            }
            // The recording has ended.
            None => 0,
        });
        Self::active(value, operand, [self; 2])
    }
    #[inline(always)]
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Self::inert(first).binary(second, rule)
    }

    /// Product, sum, and a correction by their rounding errors, which has no derivative.
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.value.mul_add(factor.value, addend.value);
        let (product, plain_sum) = (self.binary(factor, Times), |product: Self| product.binary(addend, Plus));
        let is_exact = |v: Self| v.recording == 0 && v.value.abs() == B::ONE;
        let adds_nothing = addend.recording == 0 && addend.value == B::ZERO;
        if is_exact(self) || is_exact(factor) || adds_nothing {
            return RecordedCore { value, ..plain_sum(product) };
        }
        let correction = self.binary(factor, ProductError).binary(product.binary(addend, SumError), OddSum);
        RecordedCore { value, ..product.binary(addend, Together).binary(correction, Together) }
    }

    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let plain: Vec<B> = x.iter().map(|x| x.0.value).collect();
        let mut value = Vec::new();
        rule.value(&plain, &mut value);
        y.clear();
        let recording = x.iter().map(|x| x.0.recording).find(|recording| *recording != 0).unwrap_or(0);
        if recording == 0 || value.is_empty() {
            y.extend(value.into_iter().map(|value| Num(Self::inert(value))));
            return;
        }
        let object: Arc<dyn CallObject> = custom::object(rule);
        let first = with_running(recording, |running| {
            let arguments = x.iter().map(|x| running.operand(x.0)).collect();
            let call = running.graph.calls.len() as u32;
            // The call, its arguments, and the object behind its pointer.
            running.calls += 2 * size_of::<Call>() + x.len() * size_of::<u32>() + 64;
            running.check_limits();
            running.graph.calls.push(Call { rule: object, arguments, outputs: value.len() });
            let first = running.push(Op::Call, call, 0);
            for _ in 1..value.len() {
                running.push(Op::CallOutput, 0, 0);
            }
            first
        });
        let Some(first) = first else {
            let stray = Self::stray(B::ZERO, x.iter().map(|x| x.0));
            return y.extend(value.into_iter().map(|value| Num(RecordedCore { value, ..stray })));
        };
        let number = |(operand, value)| Num(RecordedCore { value, operand, recording });
        y.extend((first..).zip(value).map(number));
    }

    fn spoil(&self, kind: ErrorKind) {
        if let Some(recording) = NonZeroU32::new(self.recording) {
            identity::spoil(recording, kind);
        }
    }
    #[inline(always)]
    #[track_caller]
    fn observe(&self) -> B {
        if self.recording != 0 {
            self.guard(Self::inert(self.value), Outcome::Same, Location::caller());
        }
        self.value
    }
    #[inline(always)]
    #[track_caller]
    fn compare(&self, other: &Self) -> Option<Ordering> {
        let order = self.value.partial_cmp(&other.value);
        if self.recording != 0 || other.recording != 0 {
            let outcome = match order {
                Some(Ordering::Less) => Outcome::Less,
                Some(Ordering::Equal) => Outcome::Equal,
                Some(Ordering::Greater) => Outcome::Greater,
                None => Outcome::Unordered,
            };
            self.guard(*other, outcome, Location::caller());
        }
        order
    }
    #[inline(always)]
    #[track_caller]
    fn compare_plain(&self, other: B) -> Option<Ordering> {
        self.compare(&Self::inert(other))
    }
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        let holds = relation.holds(left.value.partial_cmp(&right.value));
        let chosen = if holds { then } else { otherwise };
        if left.recording == 0 && right.recording == 0 {
            return chosen;
        }
        let number = RELATIONS.iter().position(|known| *known == relation).unwrap_or(0) as u8;
        let mask = if holds { B::ONE } else { B::ZERO };
        let mask = left.record(right, mask, |_| Some(Op::Compare(number)));
        let neutral = -B::ZERO;
        let kept = mask.record(then, if holds { then.value } else { neutral }, |_| Some(Op::Keep));
        let dropped = mask.record(otherwise, if holds { neutral } else { otherwise.value }, |_| Some(Op::Drop));
        kept.record(dropped, chosen.value, |_| Some(Op::Binary(PLUS)))
    }
}
