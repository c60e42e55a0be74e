//! Functions of another crate's numbers as functions that operators accept.
//!
//! Called by users with functions that are bounded by the other crate's trait.

use super::number::Foreign;
use super::plain::{ForeignNum, Plain};
use super::unwrapped::unwrapped;
use crate::function::Function;
use crate::scalar::{Num, Scalar};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, TryLockError};

/// A function of another crate's numbers, made by [`raw`], [`raw_array`] or [`raw_number`]. It is differentiated by the backend of those numbers
/// only.
pub struct Raw<F, N, X: ?Sized> {
    function: F,
    /// The point in the numbers of the other crate, for engines whose numbers are no transparent wrappers of those. Reused by all calls.
    point: Mutex<Vec<N>>,
    shape: PhantomData<fn(&X)>,
}

impl<F: Clone, N, X: ?Sized> Clone for Raw<F, N, X> {
    fn clone(&self) -> Self {
        Raw::new(self.function.clone())
    }
}

impl<F, N, X: ?Sized> fmt::Debug for Raw<F, N, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raw")
    }
}

impl<F, N, X: ?Sized> Raw<F, N, X> {
    fn new(function: F) -> Self {
        Raw { function, point: Mutex::new(Vec::new()), shape: PhantomData }
    }
}

/// Passes a function of a slice of another crate's numbers to operators. The output is a number, a `Vec` or an array of them.
pub fn raw<N, O: RawOutput<N>, F: Fn(&[N]) -> O>(function: F) -> Raw<F, N, [N]> {
    Raw::new(function)
}

/// The same for a function of an array.
pub fn raw_array<N, O: RawOutput<N>, F: Fn(&[N; K]) -> O, const K: usize>(function: F) -> Raw<F, N, [N; K]> {
    Raw::new(function)
}

/// The same for a function of one number.
pub fn raw_number<N, O: RawOutput<N>, F: Fn(N) -> O>(function: F) -> Raw<F, N, N> {
    Raw::new(function)
}

/// What a function of another crate's numbers `N` may return: `N`, `Vec<N>`, `[N; M]`.
#[diagnostic::on_unimplemented(
    message = "a function of numbers `{N}` that returns `{Self}` cannot be differentiated",
    note = "return a number, a `Vec` or an array of the numbers the function gets"
)]
pub trait RawOutput<N> {
    /// The same shape with numbers `M`.
    type With<M>;
    /// Converts each number.
    fn convert<M>(self, convert: impl Fn(N) -> M) -> Self::With<M>;
    /// Converts into an old output, whose memory may be reused.
    fn convert_into<M>(self, convert: impl Fn(N) -> M, y: &mut Self::With<M>)
    where
        Self: Sized,
    {
        *y = self.convert(convert);
    }
}

impl<N> RawOutput<N> for N {
    type With<M> = M;
    #[inline]
    fn convert<M>(self, convert: impl Fn(N) -> M) -> M {
        convert(self)
    }
}

impl<N, const K: usize> RawOutput<N> for [N; K] {
    type With<M> = [M; K];
    #[inline]
    fn convert<M>(self, convert: impl Fn(N) -> M) -> [M; K] {
        self.map(convert)
    }
}

impl<N> RawOutput<N> for Vec<N> {
    type With<M> = Vec<M>;
    fn convert<M>(self, convert: impl Fn(N) -> M) -> Vec<M> {
        self.into_iter().map(convert).collect()
    }
    fn convert_into<M>(self, convert: impl Fn(N) -> M, y: &mut Vec<M>) {
        y.clear();
        y.extend(self.into_iter().map(convert));
    }
}

/// A number that the function returned.
#[cfg_attr(not(debug_assertions), inline(always))]
fn wrap<T: Foreign, S: Scalar>(native: T::Native) -> ForeignNum<T, S> {
    Num(Plain::new(T::from_native(native)))
}

impl<T: Foreign, S: Scalar, O: RawOutput<T::Native>, F: Fn(&[T::Native]) -> O> Function<[ForeignNum<T, S>]>
    for Raw<F, T::Native, [T::Native]>
{
    type Output = O::With<ForeignNum<T, S>>;

    #[inline]
    fn call(&self, x: &[ForeignNum<T, S>]) -> Self::Output {
        self.at(x, |y| y.convert(wrap))
    }
    #[inline]
    fn call_into(&self, x: &[ForeignNum<T, S>], y: &mut Self::Output) {
        self.at(x, |result| result.convert_into(wrap, y));
    }
}

impl<N: Copy, F> Raw<F, N, [N]> {
    /// Evaluates the function at a point that is read where it lies, or else copied to memory of this object, or to new memory while another thread
    /// uses that.
    #[inline]
    fn at<T: Foreign<Native = N>, S: Scalar, O, R>(&self, x: &[ForeignNum<T, S>], read: impl FnOnce(O) -> R) -> R
    where
        F: Fn(&[N]) -> O,
    {
        if let Some(numbers) = T::natives(unwrapped(x)) {
            return read((self.function)(numbers));
        }
        let numbers = x.iter().map(|x| x.0.0.native());
        let mut point = match self.point.try_lock() {
            Ok(point) => point,
            // The function has panicked in an earlier call, which does not matter to the memory.
            Err(TryLockError::Poisoned(point)) => point.into_inner(),
            Err(TryLockError::WouldBlock) => return read((self.function)(&numbers.collect::<Vec<_>>())),
        };
        point.clear();
        point.extend(numbers);
        read((self.function)(&point))
    }
}

impl<T: Foreign, S: Scalar, O: RawOutput<T::Native>, F: Fn(&[T::Native; K]) -> O, const K: usize>
    Function<[ForeignNum<T, S>; K]> for Raw<F, T::Native, [T::Native; K]>
{
    type Output = O::With<ForeignNum<T, S>>;

    #[inline]
    fn call(&self, x: &[ForeignNum<T, S>; K]) -> Self::Output {
        (self.function)(&x.map(|x| x.0.0.native())).convert(wrap)
    }
}

impl<T: Foreign, S: Scalar, O: RawOutput<T::Native>, F: Fn(T::Native) -> O> Function<ForeignNum<T, S>>
    for Raw<F, T::Native, T::Native>
{
    type Output = O::With<ForeignNum<T, S>>;

    #[inline]
    fn call(&self, x: &ForeignNum<T, S>) -> Self::Output {
        (self.function)(x.0.0.native()).convert(wrap)
    }
}
