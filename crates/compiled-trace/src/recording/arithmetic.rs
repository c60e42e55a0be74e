//! The arithmetic of the recording number: computes the value at the recording's point, and calls the recorder to record
//! the operation.
//!
//! Called by the user's function. Numbers of another thread or another recording are reported here.

use crate::recording::custom::RuleOfRecording;
use crate::recording::graph::Call;
use crate::recording::number::RecordedCore;
use crate::recording::operation::{Op, Outcome, RELATIONS};
use crate::recording::recorder::{Running, innermost_parameter, note_in_innermost, with_running};
use crate::recording::rules::{PLUS, POWF, Rules};
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::identity::{self, STRAY};
use differentiation_interface_core::recordings::Internals;
use differentiation_interface_core::rules::{
    Binary, Copysign, OddSum, Plus, Powc, ProductError, SumError, Times, Together, Unary,
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

/// Operand and recording of a number.
type Recorded = (u32, u32);

// The functions below are not generic and out of line: they are compiled here once, and an operation of a user's function is its value, a
// test whether there is something to record, and a call.

/// Records an operation on two numbers, at least one of which is not a constant.
#[inline(never)]
fn record_two(op: Op, a: RecordedCore<f64>, b: RecordedCore<f64>) -> Recorded {
    let recording = if a.recording != 0 { a.recording } else { b.recording };
    let operand = with_running(recording, |running| {
        let (a, b) = (running.operand(a), running.operand(b));
        running.push(op, a, b)
    });
    operand.map_or_else(|| stray([a, b]), |operand| (operand, recording))
}

/// Records an operation on a number that is not a constant.
#[inline(never)]
fn record_one(op: Op, a: RecordedCore<f64>) -> Recorded {
    let operand = with_running(a.recording, |running| running.push(op, a.operand, 0));
    operand.map_or_else(|| stray([a]), |operand| (operand, a.recording))
}

/// Records a rule of the table on a number that is not a constant, and a plain number.
#[inline(never)]
fn record_right(rule: u16, a: RecordedCore<f64>, b: f64) -> Recorded {
    let operand = with_running(a.recording, |running| match rule {
        // The general power with a constant exponent must not go through a logarithm.
        POWF => running.push_unary(Powc(b), a.operand),
        _ => {
            let b = running.constant(b);
            running.push(Op::Binary(rule), a.operand, b)
        }
    });
    operand.map_or_else(|| stray([a]), |operand| (operand, a.recording))
}

/// Records that the comparison of two numbers has this outcome.
#[cold]
#[inline(never)]
fn guard(a: RecordedCore<f64>, b: RecordedCore<f64>, outcome: Outcome, place: &'static Location<'static>) {
    let recording = if a.recording != 0 { a.recording } else { b.recording };
    let guarded = with_running(recording, |running| {
        let (a, b) = (running.operand(a), running.operand(b));
        let op = Op::Guard(running.graph.guard(place, outcome));
        running.push(op, a, b);
    });
    if guarded.is_none() {
        stray([a, b]);
        note_in_innermost(ErrorKind::ForeignNumber);
    }
}

/// Records that a NaN has its sign, if it is a number of the point or a parameter. That of a computed NaN depends on the order of operands.
#[cold]
#[inline(never)]
fn guard_sign(nan: RecordedCore<f64>, place: &'static Location<'static>) {
    let is_given = |running: &mut Running| (nan.operand as usize) < running.graph.inputs + running.graph.parameters;
    if with_running(nan.recording, is_given) == Some(true) {
        let sign = RecordedCore::inert(1.0).binary(nan, Copysign);
        guard(sign, RecordedCore::inert(sign.value), Outcome::Same, place);
    }
}

/// The result of an operation on numbers whose recording is not on this thread.
#[cold]
#[inline(never)]
fn stray<const N: usize>(arguments: [RecordedCore<f64>; N]) -> Recorded {
    note_strays(arguments);
    (0, STRAY.get())
}

/// Records a rule of one argument that is not in the table.
#[inline(never)]
fn record_other_unary<R: Unary>(rule: R, a: RecordedCore<f64>) -> Recorded {
    let operand = with_running(a.recording, |running| running.push_unary(rule, a.operand));
    operand.map_or_else(|| stray([a]), |operand| (operand, a.recording))
}

/// Records a rule of two arguments that is not in the table.
#[inline(never)]
fn record_other_binary<R: Binary>(rule: R, a: RecordedCore<f64>, b: RecordedCore<f64>) -> Recorded {
    let recording = if a.recording != 0 { a.recording } else { b.recording };
    let operand = with_running(recording, |running| {
        let (a, b) = (running.operand(a), running.operand(b));
        // The recording has ended if there is no number.
        running.number_binary(rule).map_or(0, |id| running.push(Op::Binary(id), a, b))
    });
    operand.map_or_else(|| stray([a, b]), |operand| (operand, recording))
}

/// The number of a rule that is in the table; any number for another rule, for which it is not used.
const fn number(in_table: Option<u16>) -> u16 {
    match in_table {
        Some(number) => number,
        None => u16::MAX,
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

    /// A number with this value.
    #[inline(always)]
    fn active(value: B, (operand, recording): Recorded) -> Self {
        RecordedCore { value, operand, recording }
    }

    /// The same number over `f64`, which is what a recording holds.
    #[inline(always)]
    pub(super) fn double(self) -> RecordedCore<f64> {
        RecordedCore { value: self.value.as_f64(), operand: self.operand, recording: self.recording }
    }

    /// Records an operation on two numbers, at least one of which is not a constant.
    #[inline(always)]
    fn record(self, other: Self, value: B, op: Op) -> Self {
        Self::active(value, record_two(op, self.double(), other.double()))
    }
}

/// Whether an operation with the constant `other` is x⁰: it is 1 for every x and has no derivative, also where that of x is infinite.
#[inline(always)]
fn is_power_of_zero<B: Base, R: Binary>(other: B) -> bool {
    let is_power = const { matches!(Rules::binary_in_table::<R>(), Some(POWF)) };
    is_power && other == B::ZERO
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
        let recorded = if const { Rules::unary_in_table::<R>().is_some() } {
            record_one(Op::Unary(const { number(Rules::unary_in_table::<R>()) }), self.double())
        } else {
            record_other_unary(rule, self.double())
        };
        Self::active(value, recorded)
    }
    #[inline(always)]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let value = rule.value(self.value, other.value);
        if other.recording == 0 && (self.recording == 0 || is_power_of_zero::<B, R>(other.value)) {
            return Self::inert(value);
        }
        if const { Rules::binary_in_table::<R>().is_some() } {
            self.record(other, value, Op::Binary(const { number(Rules::binary_in_table::<R>()) }))
        } else {
            Self::active(value, record_other_binary(rule, self.double(), other.double()))
        }
    }
    #[inline(always)]
    fn binary_right<R: Binary>(self, other: B, rule: R) -> Self {
        let value = rule.value(self.value, other);
        if self.recording == 0 {
            return Self::inert(value);
        }
        let recorded = if const { Rules::binary_in_table::<R>().is_some() } {
            record_right(const { number(Rules::binary_in_table::<R>()) }, self.double(), other.as_f64())
        } else {
            record_other_binary(rule, self.double(), Self::inert(other).double())
        };
        Self::active(value, recorded)
    }
    #[inline(always)]
    fn binary_left<R: Binary>(first: B, second: Self, rule: R) -> Self {
        Self::inert(first).binary(second, rule)
    }

    /// Product, sum, and a correction by their rounding errors, which has no derivative. The value is theirs too, so that comparisons come out
    /// as in the program where the errors are too small for a number.
    fn fused(self, factor: Self, addend: Self) -> Self {
        if self.recording | factor.recording | addend.recording == 0 {
            return Self::inert(self.value.mul_add(factor.value, addend.value));
        }
        let product = self.binary(factor, Times);
        let is_exact = |v: Self| v.recording == 0 && v.value.abs() == B::ONE;
        let adds_nothing = addend.recording == 0 && addend.value == B::ZERO;
        if is_exact(self) || is_exact(factor) || adds_nothing {
            return product.binary(addend, Plus);
        }
        let correction = self.binary(factor, ProductError).binary(product.binary(addend, SumError), OddSum);
        product.binary(addend, Together).binary(correction, Together)
    }

    fn custom<R: CustomRule<B>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        call_rule(rule, x, y);
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
            guard(self.double(), Self::inert(self.value).double(), Outcome::Same, Location::caller());
            if self.value.is_nan() {
                guard_sign(self.double(), Location::caller());
            }
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
            guard(self.double(), other.double(), outcome, Location::caller());
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
        let mask = left.record(right, mask, Op::Compare(number));
        let neutral = -B::ZERO;
        let kept = mask.record(then, if holds { then.value } else { neutral }, Op::Keep);
        let dropped = mask.record(otherwise, if holds { neutral } else { otherwise.value }, Op::Drop);
        kept.record(dropped, chosen.value, Op::Binary(PLUS))
    }
}

/// Records a call of a custom rule, or the operations that it is made of.
fn call_rule<B: Base>(rule: &dyn RuleOfRecording<B>, x: &[Num<RecordedCore<B>>], y: &mut Vec<Num<RecordedCore<B>>>) {
    let recording = x.iter().map(|x| x.0.recording).find(|recording| *recording != 0).unwrap_or(0);
    y.clear();
    if recording != 0 && rule.operations(x, y) {
        return;
    }
    y.clear();
    let plain: Vec<B> = x.iter().map(|x| x.0.value).collect();
    let mut value = Vec::new();
    rule.value(&plain, &mut value);
    if recording == 0 {
        y.extend(value.into_iter().map(|value| Num(RecordedCore::inert(value))));
        return;
    }
    if value.is_empty() {
        // There may be outputs at another point, and no call to find out.
        for x in x.iter().filter(|x| x.0.recording != 0) {
            guard(x.0.double(), RecordedCore::inert(x.0.value).double(), Outcome::Same, super::graph::no_outputs());
        }
        return;
    }
    let object = rule.object();
    let first = with_running(recording, |running| {
        let arguments = x.iter().map(|x| running.operand(x.0)).collect();
        let call = running.graph.calls.len() as u32;
        // The call, its arguments, and the object behind its pointer.
        running.calls += 2 * size_of::<Call>() + x.len() * size_of::<u32>() + 64;
        running.check_limits();
        running.graph.calls.push(Call { rule: object, arguments, outputs: value.len(), is_derived: true });
        let first = running.push(Op::Call, call, 0);
        for _ in 1..value.len() {
            running.push(Op::CallOutput, 0, 0);
        }
        first
    });
    let Some(first) = first else {
        note_strays(x.iter().map(|x| x.0));
        let stray = RecordedCore::active(B::ZERO, (0, STRAY.get()));
        return y.extend(value.into_iter().map(|value| Num(RecordedCore { value, ..stray })));
    };
    let number = |(operand, value)| Num(RecordedCore { value, operand, recording });
    y.extend((first..).zip(value).map(number));
}
