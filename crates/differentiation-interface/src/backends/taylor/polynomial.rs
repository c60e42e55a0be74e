//! The number of Taylor mode in several variables: a truncated polynomial, whose coefficients are in an arena.
//!
//! Made by `expand`. Its operations are in `operations`, which apply rules by `number`, with the recurrences for one part per degree that are here.

use super::absent::{Term, TermCore};
use super::arena::{Arena, Block, Found, Parts, find};
use super::number::{Mark, Member, Slope};
use super::space::{Space, View, scaled};
use super::{kernels, planar, unary};
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::rules::{Binary, Partial, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Num, Scalar};
use std::num::NonZeroU32;
use std::rc::Rc;

/// A truncated polynomial over the scalar `S`.
pub type Polynomial<S> = Num<PolynomialCore<S>>;

/// The engine's part of a [`Polynomial`]: the value, and the place of the other coefficients.
#[derive(Clone, Copy, Debug)]
pub struct PolynomialCore<S: Scalar> {
    pub(super) value: S,
    /// Absent while the other coefficients are zero.
    pub(super) tail: Option<Tail>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    mark: Mark,
    place: u32,
}

impl<S: Scalar> PolynomialCore<S> {
    /// Converts a number of an outer differentiation into one that does not depend on the variables, as
    /// [`lift`](differentiation_interface_core::backend::lift) does for series.
    pub fn lift(value: S) -> Polynomial<S> {
        Num(PolynomialCore { value, tail: None })
    }

    /// The variable `i` of the differentiation `level`, whose arena, of coefficients `T`, is given.
    pub(super) fn variable<T: Scalar>(value: S, i: usize, level: NonZeroU32, arena: &Arena<T>) -> Polynomial<S> {
        let mark = Mark { level, order: arena.monomials.order() };
        Num(PolynomialCore { value, tail: arena.variable(i).map(|place| Tail { mark, place }) })
    }

    /// The differentiation that the polynomial belongs to.
    pub(super) fn identity(&self) -> Option<NonZeroU32> {
        self.tail.map(|tail| tail.mark.level)
    }

    /// Appends all coefficients to `coefficients`, each as `number` gives it.
    pub(super) fn coefficients<T: Scalar>(
        &self,
        arena: &Arena<T>,
        number: impl Fn(&T) -> S,
        coefficients: &mut Vec<S>,
    ) {
        coefficients.push(self.value);
        let end = coefficients.len() + arena.monomials.len() - 1;
        arena.read([self.tail.map(|tail| tail.place), None], |[block, _]| {
            coefficients.extend(block.unwrap_or_default().iter().map(number));
        });
        coefficients.resize(end, S::default());
    }

    /// A number whose coefficients are lost, after an error has been reported.
    fn stray(value: S, mark: Mark) -> Self {
        PolynomialCore { value, tail: Some(Tail { mark: Mark { level: identity::STRAY, ..mark }, place: 0 }) }
    }

    /// Makes the polynomial whose block `recurrence` computes from the blocks of `x`; a stray if the arena is not on this thread.
    fn make(value: S, mark: Mark, x: [&Self; 2], recurrence: &dyn Step<S>) -> Option<Self> {
        if mark.level == identity::STRAY {
            // Two differentiations contribute: each would miss what the other has.
            x.iter().filter_map(|x| x.identity()).for_each(|own| identity::spoil(own, ErrorKind::ForeignNumber));
            fault::report(ErrorKind::ForeignNumber);
            return Some(Self::stray(value, mark));
        }
        let place = match find::<S>(mark.level) {
            Some(Found::Numbers(arena)) => {
                Self::place(&arena, mark, x, |number| number, |space, x| recurrence.numbers(space, x))
            }
            Some(Found::Terms(arena)) => {
                Self::place(&arena, mark, x, TermCore::present, |space, x| recurrence.terms(space, x))
            }
            None => {
                fault::report(ErrorKind::ForeignNumber);
                return Some(Self::stray(value, mark));
            }
        };
        match place? {
            Some(place) => Some(PolynomialCore { value, tail: Some(Tail { mark, place }) }),
            None => {
                identity::spoil(mark.level, ErrorKind::TapeOverflow);
                fault::report(ErrorKind::TapeOverflow);
                Some(Self::stray(value, mark))
            }
        }
    }

    /// The place of the block that `recurrence` computes, over the coefficients `T`, if it does; `None` within if the arena is full.
    fn place<T: Scalar<Base = S::Base>>(
        arena: &Rc<Arena<T>>,
        mark: Mark,
        x: [&Self; 2],
        number: impl Fn(S) -> T,
        recurrence: impl FnOnce(&Parts<T>, [View<'_, T>; 2]) -> Option<Block<T>>,
    ) -> Option<Option<u32>> {
        let space = Parts { arena: Rc::clone(arena), order: mark.order };
        let [first, second] = x;
        let place = |x: &Self| x.tail.map(|tail| tail.place);
        let block = arena.read([place(first), place(second)], |[a, b]| {
            let views = [View { value: number(first.value), block: a }, View { value: number(second.value), block: b }];
            recurrence(&space, views)
        })?;
        Some(arena.store(block.as_ref()))
    }
}

/// What computes a block from those of two polynomials, over the scalar `S` itself or over a coefficient that it is converted into.
trait Recurrence<S: Scalar> {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        x: [View<'_, T>; 2],
        number: impl Fn(S) -> T,
    ) -> Option<Block<T>>;
}

/// A recurrence behind a pointer, so that what finds and stores blocks is compiled once and not for every rule.
trait Step<S: Scalar> {
    fn numbers(&self, space: &Parts<S>, x: [View<'_, S>; 2]) -> Option<Block<S>>;
    fn terms(&self, space: &Parts<Term<S>>, x: [View<'_, Term<S>>; 2]) -> Option<Block<Term<S>>>;
}
impl<S: Scalar, R: Recurrence<S>> Step<S> for R {
    fn numbers(&self, space: &Parts<S>, x: [View<'_, S>; 2]) -> Option<Block<S>> {
        self.block(space, x, |number| number)
    }
    fn terms(&self, space: &Parts<Term<S>>, x: [View<'_, Term<S>>; 2]) -> Option<Block<Term<S>>> {
        self.block(space, x, TermCore::present)
    }
}

/// A rule of one argument, with the values of the rule and of its companion.
struct OfOne<'a, S, R>((S, S), &'a R);
impl<S: Scalar, R: Unary> Recurrence<S> for OfOne<'_, S, R> {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        [x, _]: [View<'_, T>; 2],
        number: impl Fn(S) -> T,
    ) -> Option<Block<T>> {
        let &OfOne((y, other), rule) = self;
        unary::unary(space, x, (number(y), number(other)), rule)
    }
}

/// A rule of two arguments, with its value.
struct OfTwo<'a, S, R>(S, &'a R);
impl<S: Scalar, R: Binary> Recurrence<S> for OfTwo<'_, S, R> {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        [x, y]: [View<'_, T>; 2],
        number: impl Fn(S) -> T,
    ) -> Option<Block<T>> {
        planar::binary(space, x, y, number(self.0), self.1)
    }
}

/// The polynomial y with D y = slope D x, from x and the slope.
struct Integral;
impl<S: Scalar> Recurrence<S> for Integral {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        [x, slope]: [View<'_, T>; 2],
        _: impl Fn(S) -> T,
    ) -> Option<Block<T>> {
        Some(kernels::integral(space, x, slope, 1.0))
    }
}

/// The derivative along a variable, to an order.
struct Along {
    variable: usize,
    order: usize,
}
impl Along {
    /// The coefficient of the derivative at a monomial, the first of which is 1.
    fn coefficient<T: Scalar>(&self, monomials: &Monomials, block: &[T], place: usize) -> Option<T> {
        let above = raised(monomials, place, self.variable)?;
        Some(scaled(*block.get(above - 1)?, monomials.exponents(above)[self.variable] as f64))
    }
    /// The coefficient at 1.
    fn value<T: Scalar>(&self, arena: &Arena<T>, place: u32) -> T {
        let first = |block: Option<&[T]>| self.coefficient(&arena.monomials, block?, 0);
        arena.read([Some(place), None], |[block, _]| first(block)).unwrap_or_default()
    }
}
impl<S: Scalar> Recurrence<S> for Along {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        [x, _]: [View<'_, T>; 2],
        _: impl Fn(S) -> T,
    ) -> Option<Block<T>> {
        let (mut block, x, monomials) = (space.zeros(), x.block?, &space.arena.monomials);
        for place in 1..monomials.part(self.order).end {
            block.as_mut()[place - 1] = self.coefficient(monomials, x, place).unwrap_or_default();
        }
        // Without coefficients, so that a tangent that is zero is seen.
        block.as_ref().iter().any(|c| !c.is_inert_zero()).then_some(block)
    }
}

/// A polynomial with a share of its part of a degree, see [`Member::with_slope`].
struct Share {
    variable: usize,
    degree: usize,
}
impl<S: Scalar> Recurrence<S> for Share {
    fn block<T: Scalar<Base = S::Base>>(
        &self,
        space: &Parts<T>,
        [lower, slope]: [View<'_, T>; 2],
        _: impl Fn(S) -> T,
    ) -> Option<Block<T>> {
        let mut block = space.zeros();
        if let Some(lower) = lower.block {
            block.as_mut().copy_from_slice(lower);
        }
        let monomials = &space.arena.monomials;
        for place in monomials.part(self.degree - 1) {
            let coefficient = match place {
                0 => slope.value,
                place => slope.block.map_or(T::default(), |block| block[place - 1]),
            };
            if let Some(above) = raised(monomials, place, self.variable) {
                block.as_mut()[above - 1] += scaled(coefficient, 1.0 / self.degree as f64);
            }
        }
        Some(block)
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
            let term = match slope {
                Partial::Zero => None,
                Partial::One => Self::make(value, mark, [x, &Self::inert(value)], &OfTwo(value, &Plus)),
                Partial::Constant(c) => {
                    Self::make(value, mark, [x, &Self::inert(S::constant(*c))], &OfTwo(value, &Times))
                }
                Partial::Value(slope) => Self::make(value, mark, [x, &slope.0], &Integral),
                Partial::Product(first, second) => Self::make(value, mark, [x, &(*first * *second).0], &Integral),
            };
            sum = match (sum, term) {
                (Some(sum), Some(term)) => Self::make(value, mark, [&sum, &term], &OfTwo(value, &Plus)),
                (sum, term) => sum.or(term),
            };
        }
        sum.unwrap_or(Self::inert(value))
    }
    fn variables(mark: Mark) -> usize {
        find::<S>(mark.level).map_or(0, |arena| arena.monomials().variables())
    }
    fn slope(&self, variable: usize, mark: Mark) -> Self {
        let (Some(tail), Some(arena)) = (self.tail, find::<S>(mark.level)) else { return Self::inert(S::default()) };
        let along = Along { variable, order: mark.order };
        let value = match arena {
            Found::Numbers(arena) => along.value(&arena, tail.place),
            Found::Terms(arena) => along.value(&arena, tail.place).0.number(),
        };
        if mark.order == 0 {
            return Self::inert(value);
        }
        Self::make(value, mark, [self, self], &along).unwrap_or(Self::inert(value))
    }
    fn with_slope(&self, slope: &Self, variable: usize, degree: usize, mark: Mark) -> Self {
        Self::make(self.value, mark, [self, slope], &Share { variable, degree }).unwrap_or(*self)
    }
    fn recurrence<R: Unary>(&self, values: (S, S), rule: &R) -> Option<Self> {
        Self::make(values.0, self.mark()?, [self, self], &OfOne(values, rule))
    }
    fn recurrence2<R: Binary>(&self, other: &Self, r: S, rule: &R) -> Option<Self> {
        Self::make(r, Mark::of(self.mark(), other.mark())?, [self, other], &OfTwo(r, rule))
    }
}
