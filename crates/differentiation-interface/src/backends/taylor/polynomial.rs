//! The number of Taylor mode in several variables: a truncated polynomial, whose coefficients are in an arena.
//!
//! Made by the operators in `mod.rs`. Applies rules by `number`, with the recurrences for one part per degree.

use super::arena::{Arena, Parts, find};
use super::number::{self, Mark, Member, Slope};
use super::space::{Space, View, scaled};
use super::{kernels, planar, unary};
use crate::backends::over::answered_below;
use crate::backends::which::is_rule;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{Binary, Minus, Partial, Plus, Unary};
use differentiation_interface_core::scalar::{Core, Num, Scalar};
use std::cmp::Ordering;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

/// A truncated polynomial over the scalar `S`.
pub type Polynomial<S> = Num<PolynomialCore<S>>;

/// The engine's part of a [`Polynomial`]: the value, and the place of the other coefficients.
#[derive(Clone, Copy, Debug)]
pub struct PolynomialCore<S: Scalar> {
    value: S,
    /// Absent while the other coefficients are zero.
    tail: Option<Tail>,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    mark: Mark,
    place: u32,
}

impl<S: Scalar> PolynomialCore<S> {
    /// Converts a number of an outer differentiation into one that does not depend on the variables, as
    /// [`lift`](differentiation_interface_core::backend::lift) does for series.
    pub fn lift(value: S) -> Polynomial<S> {
        Num(PolynomialCore { value, tail: None })
    }

    /// The variable `i` of the differentiation `level`, whose arena is given.
    pub(super) fn variable(value: S, i: usize, level: NonZeroU32, arena: &Arena<S>) -> Polynomial<S> {
        let mark = Mark { level, order: arena.monomials.order() };
        Num(PolynomialCore { value, tail: arena.variable(i).map(|place| Tail { mark, place }) })
    }

    /// The differentiation that the polynomial belongs to.
    pub(super) fn identity(&self) -> Option<NonZeroU32> {
        self.tail.map(|tail| tail.mark.level)
    }

    /// Appends all coefficients to `coefficients`.
    pub(super) fn coefficients(&self, arena: &Arena<S>, coefficients: &mut Vec<S>) {
        coefficients.push(self.value);
        let end = coefficients.len() + arena.monomials.len() - 1;
        arena.read([self.tail.map(|tail| tail.place), None], |[block, _]| {
            coefficients.extend_from_slice(block.unwrap_or_default());
        });
        coefficients.resize(end, S::default());
    }

    /// A number whose coefficients are lost, after an error has been reported.
    fn stray(value: S, mark: Mark) -> Self {
        PolynomialCore { value, tail: Some(Tail { mark: Mark { level: identity::STRAY, ..mark }, place: 0 }) }
    }

    /// Makes the polynomial whose block `make` returns from the blocks of `x`; a stray if the arena is not on this thread.
    fn make(
        value: S,
        mark: Mark,
        x: [&Self; 2],
        make: impl FnOnce(&Parts<S>, [View<'_, S>; 2]) -> Option<<Parts<S> as Space<S>>::Block>,
    ) -> Option<Self> {
        if mark.level == identity::STRAY {
            // Two differentiations contribute: each would miss what the other has.
            x.iter().filter_map(|x| x.identity()).for_each(|own| identity::spoil(own, ErrorKind::ForeignNumber));
            fault::report(ErrorKind::ForeignNumber);
            return Some(Self::stray(value, mark));
        }
        let Some(arena) = find::<S>(mark.level) else {
            fault::report(ErrorKind::ForeignNumber);
            return Some(Self::stray(value, mark));
        };
        let space = Parts { arena: Rc::clone(&arena), order: mark.order };
        let block = arena.read(x.map(|x| x.tail.map(|tail| tail.place)), |blocks| {
            let mut blocks = blocks.into_iter();
            make(&space, x.map(|x| View { value: x.value, block: blocks.next().flatten() }))
        })?;
        match arena.store(block.as_ref()) {
            Some(place) => Some(PolynomialCore { value, tail: Some(Tail { mark, place }) }),
            None => {
                identity::spoil(mark.level, ErrorKind::TapeOverflow);
                fault::report(ErrorKind::TapeOverflow);
                Some(Self::stray(value, mark))
            }
        }
    }
}

/// The place of a monomial times a variable, if the set contains it.
fn raised(monomials: &Monomials, place: usize, variable: usize) -> Option<usize> {
    let mut exponents = monomials.exponents(place).to_vec();
    exponents[variable] += 1;
    monomials.position(&exponents)
}

impl<S: Scalar> Member<S> for PolynomialCore<S> {
    fn value(&self) -> S {
        self.value
    }
    fn inert(value: S) -> Self {
        PolynomialCore { value, tail: None }
    }
    fn mark(&self) -> Option<Mark> {
        self.tail.map(|tail| tail.mark)
    }
    fn truncated(&self, order: usize) -> Self {
        let lower = |tail: Tail| Tail { mark: Mark { order, ..tail.mark }, ..tail };
        PolynomialCore { value: self.value, tail: self.tail.filter(|_| order > 0).map(lower) }
    }
    fn with_level(self, level: NonZeroU32) -> Self {
        let other = |tail: Tail| Tail { mark: Mark { level, ..tail.mark }, ..tail };
        PolynomialCore { tail: self.tail.map(other), ..self }
    }
    fn integral(value: S, mark: Mark, pairs: &[(Self, Slope<Self>)]) -> Self {
        let mut sum: Option<Self> = None;
        for (x, slope) in pairs {
            let other = match slope {
                Partial::Value(slope) => slope.0,
                Partial::Product(first, second) => (*first * *second).0,
                _ => Self::inert(value),
            };
            let term = match slope {
                Partial::Zero => None,
                Partial::One => Self::make(value, mark, [x, x], |space, [x, _]| {
                    Some(kernels::combined(space, (1.0, x), (0.0, View::inert(value))))
                }),
                Partial::Constant(c) => {
                    Self::make(value, mark, [x, x], |space, [x, _]| Some(kernels::multiple(space, x, S::constant(*c))))
                }
                Partial::Value(_) | Partial::Product(..) => {
                    Self::make(value, mark, [x, &other], |space, [x, slope]| {
                        Some(kernels::integral(space, x, slope, 1.0))
                    })
                }
            };
            sum = match (sum, term) {
                (Some(sum), Some(term)) => Self::make(value, mark, [&sum, &term], |space, [a, b]| {
                    Some(kernels::combined(space, (1.0, a), (1.0, b)))
                }),
                (sum, term) => sum.or(term),
            };
        }
        sum.unwrap_or(Self::inert(value))
    }
    fn variables(mark: Mark) -> usize {
        find::<S>(mark.level).map_or(0, |arena| arena.monomials.variables())
    }
    fn slope(&self, variable: usize, mark: Mark) -> Self {
        let (Some(tail), Some(arena)) = (self.tail, find::<S>(mark.level)) else { return Self::inert(S::default()) };
        let monomials = Arc::clone(&arena.monomials);
        // The coefficient of the slope at a monomial, the first of which is 1.
        let coefficient = |block: &[S], place: usize| {
            let above = raised(&monomials, place, variable)?;
            Some(scaled(*block.get(above - 1)?, monomials.exponents(above)[variable] as f64))
        };
        let value = arena.read([Some(tail.place), None], |[block, _]| block.and_then(|block| coefficient(block, 0)));
        let value = value.unwrap_or_default();
        if mark.order == 0 {
            return Self::inert(value);
        }
        let made = Self::make(value, mark, [self, self], |space, [x, _]| {
            let (mut block, x) = (space.zeros(), x.block?);
            for place in 1..monomials.part(mark.order).end {
                block.as_mut()[place - 1] = coefficient(x, place).unwrap_or_default();
            }
            Some(block)
        });
        made.unwrap_or(Self::inert(value))
    }
    fn with_slope(&self, slope: &Self, variable: usize, degree: usize, mark: Mark) -> Self {
        let made = Self::make(self.value, mark, [self, slope], |space, [lower, part]| {
            let mut block = space.zeros();
            if let Some(lower) = lower.block {
                block.as_mut().copy_from_slice(lower);
            }
            let monomials = &space.arena.monomials;
            for place in monomials.part(degree - 1) {
                let coefficient = match place {
                    0 => part.value,
                    place => part.block.map_or(S::default(), |block| block[place - 1]),
                };
                if let Some(above) = raised(monomials, place, variable) {
                    block.as_mut()[above - 1] += scaled(coefficient, 1.0 / degree as f64);
                }
            }
            Some(block)
        });
        made.unwrap_or(*self)
    }
    fn recurrence<R: Unary>(&self, values: (S, S), rule: &R) -> Option<Self> {
        let mark = self.mark()?;
        Self::make(values.0, mark, [self, self], |space, [x, _]| unary::unary(space, x, values, rule))
    }
    fn recurrence2<R: Binary>(&self, other: &Self, r: S, rule: &R) -> Option<Self> {
        let mark = Mark::of(self.mark(), other.mark())?;
        Self::make(r, mark, [self, other], |space, [x, y]| planar::binary(space, x, y, r, rule))
    }
}

impl<S: Scalar> Core for PolynomialCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: tail);

    fn unary<R: Unary>(self, rule: R) -> Self {
        number::unary(self, rule)
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        number::binary(self, other, rule)
    }
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        if is_rule!(R, Plus, &rule) || is_rule!(R, Minus, &rule) {
            return PolynomialCore { value: r, ..self };
        }
        number::with_value(self, Self::inert(S::constant(other)), r, rule)
    }
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        if is_rule!(R, Plus, &rule) {
            return PolynomialCore { value: r, ..second };
        }
        number::with_value(Self::inert(S::constant(first)), second, r, rule)
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Polynomial<S>], y: &mut Vec<Polynomial<S>>) {
        number::custom(rule, x, y);
    }
}
