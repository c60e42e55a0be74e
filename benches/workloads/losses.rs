//! Functions that return one number; many have their gradient by hand.
//!
//! An [`Objective`] carries its data; [`AsFunction`] makes it a function for the operators. [`OfLength`] makes one of each
//! [`Sum`].

use super::sums::Sum;
use differentiation_interface::{Function, Real};

/// A function of many numbers that returns one.
pub(crate) trait Objective {
    fn name(&self) -> String;
    fn point(&self) -> Vec<f64>;
    fn value<T: Real>(&self, x: &[T]) -> T;
}

/// An [`Objective`] with its gradient by hand.
pub(crate) trait Loss: Objective {
    /// Memory that the gradient by hand keeps from call to call.
    type Memory;
    fn memory(&self) -> Self::Memory;
    /// Writes the gradient and returns the value.
    fn by_hand(&self, memory: &mut Self::Memory, grad: &mut [f64], x: &[f64]) -> f64;
}

/// A [`Sum`] of this many numbers.
pub(crate) struct OfLength<W>(pub(crate) W, pub(crate) usize);

impl<W: Sum> Objective for OfLength<W> {
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
}

impl<W: Sum> Loss for OfLength<W> {
    type Memory = ();
    fn memory(&self) {}
    fn by_hand(&self, _: &mut (), grad: &mut [f64], x: &[f64]) -> f64 {
        W::by_hand(grad, x)
    }
}

/// An [`Objective`] as a function for operators.
pub(crate) struct AsFunction<'a, L>(pub(crate) &'a L);

impl<T: Real, L: Objective> Function<[T]> for AsFunction<'_, L> {
    type Output = T;
    #[inline]
    fn call(&self, x: &[T]) -> T {
        self.0.value(x)
    }
}
