//! The wrapper that makes a foreign number one of this crate.
//!
//! Called by the user's function through [`Num`](crate::Num); calls the number's own functions or the chain rule.

use super::bridge;
use super::number::Foreign;
use crate::arithmetic::CustomRule;
use crate::error::ErrorKind;
use crate::rules::{Binary, Plus, Times, Unary};
use crate::scalar::{Base, Core, Num, Scalar};
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

/// A foreign number as a number of this crate, where `S` is the number of the user's point: a plain one.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Plain<T, S>(
    /// The foreign number.
    pub T,
    PhantomData<S>,
);

/// The number that the user's function gets.
pub type ForeignNum<T, S> = Num<Plain<T, S>>;

impl<T, S> Plain<T, S> {
    /// Wraps a foreign number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(number: T) -> Self {
        Plain(number, PhantomData)
    }
}

impl<T: Foreign, S: Scalar> Plain<T, S> {
    /// A constant of a number of the user's point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn inject(value: S) -> Self {
        Self::new(T::constant(plain(value)))
    }
    /// The value as a number of the user's point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn project(&self) -> S {
        up(self.0.value())
    }
}

/// A plain number in double precision.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn plain<S: Scalar>(value: S) -> f64 {
    (S::INTERNALS.peek)(&value).as_f64()
}

/// A double as a number of the user's point.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn up<S: Scalar>(value: f64) -> S {
    S::constant(S::Base::from_f64(value))
}

impl<T: Foreign, S: Scalar> Core for Plain<T, S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: S::Base) -> Self {
        Self::new(T::constant(value.as_f64()))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn primal(&self) -> S::Base {
        S::Base::from_f64(self.0.value())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.is_constant()
    }
    /// The foreign library, which may store operations, is not asked for the absolute value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn compare_magnitude(&self, other: S::Base) -> Option<Ordering> {
        self.primal().compare_magnitude(other)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        Self::new(self.0.unary(rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        Self::new(self.0.binary(other.0, rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        Self::new(self.0.binary_right(other.as_f64(), rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        Self::new(T::binary_left(first.as_f64(), second.0, rule))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fused(self, factor: Self, addend: Self) -> Self {
        let value = self.0.value().mul_add(factor.0.value(), addend.0.value());
        let sum = self.binary(factor, Times).binary(addend, Plus);
        if sum.0.value() == value {
            return sum;
        }
        Self::new(if sum.is_constant() { T::constant(value) } else { sum.0.chain(value, 1.0) })
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Num<Self>], y: &mut Vec<Num<Self>>) {
        let numbers: Vec<T> = x.iter().map(|x| x.0.0).collect();
        y.clear();
        y.extend(bridge::custom::<T, R, S::Base>(rule, &numbers).into_iter().map(|y| Num(Self::new(y))));
    }
    fn spoil(&self, kind: ErrorKind) {
        self.0.spoil(kind);
    }
}
