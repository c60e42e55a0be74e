//! The number of Taylor mode in one variable: a series truncated after the N-th power.
//!
//! Made by the operators in `mod.rs`. Applies rules by `number`, with the recurrences for one coefficient per degree.

use super::number::{self, Mark, Member, Slope};
use super::space::{Line, View, scaled};
use super::{kernels, planar, unary};
use crate::backends::forwarding::answered_below;
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Minus, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Core, Num, Scalar};
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

/// The coefficients of powers 1 to N. Those above the order of the mark mean nothing: recurrences compute them too, since loops of known length and a
/// result of one place stay in registers, and no lower coefficient depends on them.
#[derive(Clone, Copy, Debug)]
struct Tail<S, const N: usize> {
    mark: Mark,
    coefficients: [S; N],
}

impl<S: Scalar, const N: usize> SeriesCore<S, N> {
    /// A number that does not depend on the variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn constant_series(value: S) -> Series<S, N> {
        Num(SeriesCore { value, tail: None })
    }

    /// The series value + slope t of the differentiation `level`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn line(value: S, slope: S, level: NonZeroU32) -> Series<S, N> {
        let mut coefficients = [S::default(); N];
        if let Some(first) = coefficients.first_mut() {
            *first = slope;
        }
        let mark = Mark { level, order: N };
        Num(SeriesCore { value, tail: (N > 0).then_some(Tail { mark, coefficients }) })
    }

    /// The differentiation that the series belongs to.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn identity(&self) -> Option<NonZeroU32> {
        self.tail.as_ref().map(|tail| tail.mark.level)
    }

    /// The coefficient of the power `k`, at most `N`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn coefficient(&self, k: usize) -> S {
        match (k, &self.tail) {
            (0, _) => self.value,
            (k, Some(tail)) => tail.coefficients[k - 1],
            (_, None) => S::default(),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn view(&self) -> View<'_, S> {
        View { value: self.value, block: self.tail.as_ref().map(|tail| tail.coefficients.as_slice()) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_tail(value: S, mark: Mark, coefficients: [S; N]) -> Self {
        SeriesCore { value, tail: Some(Tail { mark, coefficients }) }
    }
}

impl<S: Scalar, const N: usize> Member<S> for SeriesCore<S, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> S {
        self.value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inert(value: S) -> Self {
        SeriesCore { value, tail: None }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn mark(&self) -> Option<Mark> {
        self.tail.as_ref().map(|tail| tail.mark)
    }
    fn truncated(&self, order: usize) -> Self {
        let lower = |tail: Tail<S, N>| Tail { mark: Mark { order, ..tail.mark }, ..tail };
        SeriesCore { value: self.value, tail: self.tail.filter(|_| order > 0).map(lower) }
    }
    fn with_level(self, level: NonZeroU32) -> Self {
        let other = |tail: Tail<S, N>| Tail { mark: Mark { level, ..tail.mark }, ..tail };
        SeriesCore { tail: self.tail.map(other), ..self }
    }
    fn integral(value: S, mark: Mark, pairs: &[(Self, Slope<Self>)]) -> Self {
        let space = &Line::<N>;
        let mut sum = [S::default(); N];
        for (x, slope) in pairs {
            let term = match slope {
                Partial::Zero => continue,
                Partial::One => x.tail.map_or(sum, |tail| tail.coefficients),
                Partial::Constant(c) => kernels::multiple(space, x.view(), S::constant(*c)),
                Partial::Value(slope) => kernels::integral(space, x.view(), slope.0.view(), 1.0),
                Partial::Product(first, second) => kernels::integral(space, x.view(), (*first * *second).0.view(), 1.0),
            };
            sum = kernels::combined(space, (1.0, View::new(value, &sum)), (1.0, View::new(value, &term)));
        }
        Self::with_tail(value, mark, sum)
    }
    fn variables(_: Mark) -> usize {
        1
    }
    fn slope(&self, _: usize, mark: Mark) -> Self {
        let coefficient = |k: usize| scaled(self.coefficient(k), k as f64);
        let mut coefficients = [S::default(); N];
        for (k, out) in coefficients.iter_mut().enumerate().take(mark.order) {
            *out = coefficient(k + 2);
        }
        match self.tail.filter(|_| mark.order > 0) {
            Some(_) => Self::with_tail(coefficient(1), mark, coefficients),
            None => Self::inert(coefficient(1)),
        }
    }
    fn with_slope(&self, slope: &Self, _: usize, degree: usize, mark: Mark) -> Self {
        let mut coefficients = self.tail.map_or([S::default(); N], |tail| tail.coefficients);
        coefficients[degree - 1] = scaled(slope.coefficient(degree - 1), 1.0 / degree as f64);
        Self::with_tail(self.value, mark, coefficients)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recurrence<R: Unary>(&self, values: (S, S), rule: &R) -> Option<Self> {
        let mark = self.mark()?;
        let block = unary::unary(&Line::<N>, self.view(), values, rule)?;
        Some(Self::with_tail(values.0, mark, block))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recurrence2<R: Binary>(&self, other: &Self, r: S, rule: &R) -> Option<Self> {
        let mark = Mark::of(self.mark(), other.mark())?;
        let block = planar::binary(&Line::<N>, self.view(), other.view(), r, rule)?;
        Some(Self::with_tail(r, mark, block))
    }
}

impl<S: Scalar, const N: usize> Core for SeriesCore<S, N> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: tail);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        number::unary(self, rule)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        number::binary(self, other, rule)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        let Some(tail) = self.tail else { return Self::inert(r) };
        if is_rule!(R, Plus) || is_rule!(R, Minus) {
            return SeriesCore { value: r, ..self };
        }
        if is_rule!(R, Times) {
            return Self::with_tail(r, tail.mark, tail.coefficients.map(|c| c.scale(other)));
        }
        number::with_value(self, Self::inert(S::constant(other)), r, rule)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        let Some(tail) = second.tail else { return Self::inert(r) };
        if is_rule!(R, Plus) {
            return SeriesCore { value: r, ..second };
        }
        if is_rule!(R, Times) {
            return Self::with_tail(r, tail.mark, tail.coefficients.map(|c| c.scale(first)));
        }
        number::with_value(Self::inert(S::constant(first)), second, r, rule)
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Series<S, N>], y: &mut Vec<Series<S, N>>) {
        number::custom(rule, x, y);
    }
}
