//! The number of Taylor mode: a series truncated after the N-th power.
//!
//! Rules are those of the table, without a second one for series: y = φ(x) has y′ = φ′(x) x′, so that the coefficients of y follow
//! from those of φ′(x), which are needed to one order less (Griewank and Walther, *Evaluating Derivatives*, 2nd edition, section 13.2).
//! φ′ is a formula in elementary functions, whose series are found in the same way, each to a lower order, until only values are left.

use super::dependence::{binary_uses_value, unary_uses_value};
use crate::backends::over::answered_below;
use differentiation_interface_core::custom::{CustomRule, pushforward_by_rule};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Minus, Over, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A series over the scalar `S`, truncated after the power `N`.
pub type Series<S, const N: usize> = Num<SeriesCore<S, N>>;

/// The engine's part of a [`Series`].
#[derive(Clone, Copy, Debug)]
pub struct SeriesCore<S: Scalar, const N: usize> {
    value: S,
    /// The other coefficients, absent while they are zero.
    tail: Option<Tail<S, N>>,
}

/// The coefficients of powers 1 to `order`; the others are zero and mean nothing.
#[derive(Clone, Copy, Debug)]
struct Tail<S, const N: usize> {
    /// The differentiation that the series belongs to.
    level: NonZeroU32,
    order: usize,
    coefficients: [S; N],
}

impl<S: Scalar, const N: usize> SeriesCore<S, N> {
    /// A number that does not depend on the variable.
    fn inert(value: S) -> Self {
        SeriesCore { value, tail: None }
    }

    /// A number that does not depend on the variable.
    pub(super) fn constant_series(value: S) -> Series<S, N> {
        Num(Self::inert(value))
    }

    /// The variable of the differentiation `level` at `value`: value + t.
    pub(super) fn variable(value: S, level: NonZeroU32) -> Series<S, N> {
        let mut coefficients = [S::default(); N];
        if let Some(first) = coefficients.first_mut() {
            *first = S::constant(S::Base::ONE);
        }
        let tail = (N > 0).then_some(Tail { level, order: N, coefficients });
        Num(SeriesCore { value, tail })
    }

    /// The differentiation that the series belongs to.
    pub(super) fn identity(&self) -> Option<NonZeroU32> {
        self.tail.map(|tail| tail.level)
    }

    /// The coefficient of the power `k`, at most `N`.
    pub(super) fn coefficient(&self, k: usize) -> S {
        match (k, &self.tail) {
            (0, _) => self.value,
            (k, Some(tail)) => tail.coefficients[k - 1],
            (_, None) => S::default(),
        }
    }

    /// The series to a lower order.
    fn truncated(&self, order: usize) -> Series<S, N> {
        let tail = self.tail.filter(|_| order > 0).map(|tail| Tail { order, ..tail });
        Num(SeriesCore { value: self.value, tail })
    }

    /// The series with the coefficients `make(k, coefficients before k)` of powers 1 to the order of `like`.
    fn build(value: S, like: &Tail<S, N>, mut make: impl FnMut(usize, &Self) -> S) -> Self {
        let mut made = SeriesCore { value, tail: Some(Tail { coefficients: [S::default(); N], ..*like }) };
        for k in 1..=like.order {
            let c = make(k, &made);
            if let Some(tail) = &mut made.tail {
                tail.coefficients[k - 1] = c;
            }
        }
        made
    }

    /// Multiplies all coefficients but the value by a plain number.
    fn scaled(value: S, tail: &Tail<S, N>, factor: S::Base) -> Self {
        let coefficients = tail.coefficients.map(|c| c.scale(factor));
        SeriesCore { value, tail: Some(Tail { coefficients, ..*tail }) }
    }

    /// The coefficient `k` of the integral of `slope` times the derivative of the series: Σ j xⱼ sₖ₋ⱼ / k.
    fn integrated(&self, slope: &Partial<Series<S, N>>, k: usize) -> S {
        let x = |j: usize| self.coefficient(j);
        match slope {
            Partial::Zero => S::default(),
            Partial::One => x(k),
            Partial::Constant(c) => x(k).scale(*c),
            Partial::Value(slope) => {
                let mut sum = S::default();
                for j in 1..=k {
                    sum += (x(j) * slope.0.coefficient(k - j)).scale(S::Base::from_f64(j as f64));
                }
                sum.scale(S::Base::from_f64(1.0 / k as f64))
            }
        }
    }

    /// The series of a result with this value whose slopes along `self` are `slope(order, result to that order)`.
    fn chain(
        &self,
        value: S,
        uses_value: bool,
        mut slope: impl FnMut(usize, Series<S, N>) -> Partial<Series<S, N>>,
    ) -> Self {
        let Some(tail) = &self.tail else { return Self::inert(value) };
        if uses_value {
            return Self::build(value, tail, |k, y| self.integrated(&slope(k - 1, y.truncated(k - 1)), k));
        }
        match slope(tail.order - 1, Num(Self::inert(value))) {
            Partial::Zero => Self::inert(value),
            slope => Self::build(value, tail, |k, _| self.integrated(&slope, k)),
        }
    }

    /// The differentiation that a result of two series belongs to, and its order.
    fn joined(a: &Tail<S, N>, b: &Tail<S, N>) -> Tail<S, N> {
        let level = if a.level == b.level { a.level } else { identity::STRAY };
        Tail { level, order: a.order.min(b.order), coefficients: [S::default(); N] }
    }

    /// The four operations of arithmetic, whose coefficients have closed forms.
    fn arithmetic<R: Binary>(&self, other: &Self, value: S) -> Option<Self> {
        let (x, y) = (self, other);
        let like = match (&x.tail, &y.tail) {
            (Some(a), Some(b)) => Self::joined(a, b),
            (Some(tail), None) | (None, Some(tail)) => *tail,
            (None, None) => return Some(Self::inert(value)),
        };
        Some(match R::NAME {
            Plus::NAME => Self::build(value, &like, |k, _| x.coefficient(k) + y.coefficient(k)),
            Minus::NAME => Self::build(value, &like, |k, _| x.coefficient(k) - y.coefficient(k)),
            Times::NAME => Self::build(value, &like, |k, _| match (&x.tail, &y.tail) {
                (Some(_), None) => x.coefficient(k) * y.value,
                (None, _) => x.value * y.coefficient(k),
                _ => (0..=k).fold(S::default(), |sum, j| sum + x.coefficient(j) * y.coefficient(k - j)),
            }),
            Over::NAME => Self::build(value, &like, |k, z| {
                let known =
                    |z: &Self| (1..=k).fold(S::default(), |sum, j| sum + y.coefficient(j) * z.coefficient(k - j));
                match &y.tail {
                    Some(_) => (x.coefficient(k) - known(z)) / y.value,
                    None => x.coefficient(k) / y.value,
                }
            }),
            _ => return None,
        })
    }
}

impl<S: Scalar, const N: usize> Core for SeriesCore<S, N> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: tail);

    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        if self.tail.is_none() {
            return Self::inert(y);
        }
        let uses_value = unary_uses_value(rule, self.value.peek(), y.peek());
        self.chain(y, uses_value, |order, y| rule.derivative(self.truncated(order), y))
    }

    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let r = self.value.apply2(other.value, rule);
        if let Some(result) = self.arithmetic::<R>(&other, r) {
            return result;
        }
        let (x, y) = (self.value.peek(), other.value.peek());
        let uses_value = binary_uses_value(rule, (x, self.tail.is_some()), (y, other.tail.is_some()), r.peek());
        let along_x = |order, r| rule.partial_x(self.truncated(order), other.truncated(order), r);
        let along_y = |order, r| rule.partial_y(self.truncated(order), other.truncated(order), r);
        let (Some(a), Some(b)) = (&self.tail, &other.tail) else {
            return match self.tail {
                Some(_) => self.chain(r, uses_value, along_x),
                None => other.chain(r, uses_value, along_y),
            };
        };
        let like = Self::joined(a, b);
        if uses_value {
            return Self::build(r, &like, |k, z| {
                let z = z.truncated(k - 1);
                self.integrated(&along_x(k - 1, z), k) + other.integrated(&along_y(k - 1, z), k)
            });
        }
        let value = Num(Self::inert(r));
        match (along_x(like.order - 1, value), along_y(like.order - 1, value)) {
            // What is not taken contributes nothing, its differentiation included.
            (Partial::Zero, along_y) => other.chain(r, false, |_, _| along_y),
            (along_x, Partial::Zero) => self.chain(r, false, |_, _| along_x),
            (along_x, along_y) => {
                Self::build(r, &like, |k, _| self.integrated(&along_x, k) + other.integrated(&along_y, k))
            }
        }
    }

    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        let Some(tail) = &self.tail else { return Self::inert(r) };
        match R::NAME {
            Plus::NAME | Minus::NAME => SeriesCore { value: r, ..self },
            Times::NAME => Self::scaled(r, tail, other),
            _ => self.binary_with_constant(Num(Self::inert(S::constant(other))), r, rule),
        }
    }

    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        if second.tail.is_none() {
            return Self::inert(r);
        }
        let first = Self::inert(S::constant(first));
        if let Some(result) = first.arithmetic::<R>(&second, r) {
            return result;
        }
        let (x, y) = (first.value.peek(), second.value.peek());
        let uses_value = binary_uses_value(rule, (x, false), (y, true), r.peek());
        second.chain(r, uses_value, |order, r| rule.partial_y(Num(first), second.truncated(order), r))
    }

    /// y′ = J(x) x′, order by order.
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Series<S, N>], y: &mut Vec<Series<S, N>>) {
        let values: Vec<S> = x.iter().map(|v| v.0.value).collect();
        let mut outputs = Vec::new();
        let level = x.iter().find_map(|v| v.0.identity());
        let mut failed = fault::charge(level, || S::custom(rule, &values, &mut outputs));
        y.clear();
        y.extend(outputs.iter().map(|&v| Num(Self::inert(v))));
        let Some(level) = level else { return };
        let order = x.iter().filter_map(|v| v.0.tail.map(|tail| tail.order)).min().unwrap_or(0);
        let one_level = x.iter().filter_map(|v| v.0.identity()).all(|own| own == level);
        for y in y.iter_mut() {
            y.0.tail = Some(Tail { level, order, coefficients: [S::default(); N] });
        }
        let mut slopes = vec![Num(Self::inert(S::default())); y.len()];
        for k in 1..=order {
            let to_order = |v: &Series<S, N>| v.0.truncated(k - 1);
            let point: Vec<_> = x.iter().map(to_order).collect();
            let value: Vec<_> = y.iter().map(to_order).collect();
            let tangents: Vec<_> = x.iter().map(|v| v.0.differentiated(k - 1)).collect();
            let run = || pushforward_by_rule(&**rule, &point, &value, &tangents, &mut slopes);
            failed |= fault::charge(Some(level), run);
            for (y, slope) in y.iter_mut().zip(&slopes) {
                if let Some(tail) = &mut y.0.tail {
                    tail.coefficients[k - 1] = slope.0.coefficient(k - 1).scale(S::Base::from_f64(1.0 / k as f64));
                }
            }
        }
        if failed || !one_level {
            y.iter_mut().filter_map(|y| y.0.tail.as_mut()).for_each(|tail| tail.level = identity::STRAY);
        }
    }
}

impl<S: Scalar, const N: usize> SeriesCore<S, N> {
    /// A rule whose second argument is a constant.
    fn binary_with_constant<R: Binary>(&self, other: Series<S, N>, r: S, rule: R) -> Self {
        if let Some(result) = self.arithmetic::<R>(&other.0, r) {
            return result;
        }
        let (x, y) = (self.value.peek(), other.0.value.peek());
        let uses_value = binary_uses_value(rule, (x, true), (y, false), r.peek());
        self.chain(r, uses_value, |order, r| rule.partial_x(self.truncated(order), other, r))
    }

    /// The derivative of the series to a lower order.
    fn differentiated(&self, order: usize) -> Series<S, N> {
        let Some(tail) = &self.tail else { return Num(Self::inert(S::default())) };
        let like = Tail { order, ..*tail };
        let value = self.coefficient(1);
        if order == 0 {
            return Num(Self::inert(value));
        }
        Num(Self::build(value, &like, |k, _| self.coefficient(k + 1).scale(S::Base::from_f64((k + 1) as f64))))
    }
}
