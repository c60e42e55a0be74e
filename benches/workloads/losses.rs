//! Functions that return one number, with the derivative by hand, in the form of the benchmark of compiled recordings.
//!
//! A [`Loss`] carries its data; [`AsFunction`] makes it a function for the operators. [`OfLength`] makes one of each
//! [`Sum`].

use super::sums::Sum;
use differentiation_interface::{Function, Real};

/// A function of many numbers that returns one, with its gradient by hand.
pub(crate) trait Loss {
    /// Memory that the gradient by hand keeps from call to call.
    type Memory;
    fn name(&self) -> String;
    fn point(&self) -> Vec<f64>;
    fn value<T: Real>(&self, x: &[T]) -> T;
    fn memory(&self) -> Self::Memory;
    /// Writes the gradient and returns the value.
    fn by_hand(&self, memory: &mut Self::Memory, grad: &mut [f64], x: &[f64]) -> f64;
}

/// A [`Sum`] of this many numbers.
pub(crate) struct OfLength<W>(pub(crate) W, pub(crate) usize);

impl<W: Sum> Loss for OfLength<W> {
    type Memory = ();
    fn name(&self) -> String {
        W::NAME.into()
    }
    fn point(&self) -> Vec<f64> {
        W::point(self.1)
    }
    #[inline]
    fn value<T: Real>(&self, x: &[T]) -> T {
        W::value(x)
    }
    fn memory(&self) {}
    fn by_hand(&self, _: &mut (), grad: &mut [f64], x: &[f64]) -> f64 {
        W::by_hand(grad, x)
    }
}

/// A [`Loss`] as a function for operators.
pub(crate) struct AsFunction<'a, L>(pub(crate) &'a L);

impl<T: Real, L: Loss> Function<[T]> for AsFunction<'_, L> {
    type Output = T;
    #[inline]
    fn call(&self, x: &[T]) -> T {
        self.0.value(x)
    }
}

/// A function of many numbers that returns one, without a gradient by hand.
pub(crate) trait Stateful {
    fn name(&self) -> String;
    fn point(&self) -> Vec<f64>;
    fn value<T: Real>(&self, x: &[T]) -> T;
}

/// A [`Stateful`] function as a function for operators.
pub(crate) struct Loop<'a, L>(pub(crate) &'a L);

impl<T: Real, L: Stateful> Function<[T]> for Loop<'_, L> {
    type Output = T;
    #[inline]
    fn call(&self, x: &[T]) -> T {
        self.0.value(x)
    }
}
