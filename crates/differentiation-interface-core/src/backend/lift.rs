//! Numbers of an outer differentiation as constants of an inner one.
//!
//! Called by functions that call an operator; every backend implements [`Lift`], and pairs with a number type of their own
//! implement [`LiftPair`].

use super::contract::Backend;
use crate::container::{Container, Object, flat};
use crate::scalar::Scalar;
use crate::second_order::SecondOrder;

/// Converts numbers of an outer differentiation to constants of an inner one by `backend`: a number, a slice (a `Vec` comes out), or any
/// [`Container`].
///
/// Nested differentiations have different number types, so that their derivatives cannot be confused. An outer number enters the inner function through
/// `lift`, and the inner point consists of outer numbers. The inner function of a [`SecondOrder`] takes
/// `lift(&SecondOrder(outer, inner), &value)`; in `second_derivative`, unless both are forward mode, `lift(&inner, &lift(&outer, &value))`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product<T: Real>(x: T, y: T) -> T {
///     x * y
/// }
/// // x · d/dy (x·y) at y = 2, which is x².
/// fn outer<T: Real>(x: T) -> T {
///     let backend = AutoForwardDiff::default();
///     x * derivative(&|y| product(lift(&backend, &x), y), &backend, &T::constant(2.0)).unwrap()
/// }
/// assert_eq!(derivative(&outer, &AutoForwardDiff::default(), 3.0)?, 6.0);
/// assert_eq!(derivative(&outer, &AutoReverseDiff::default(), 3.0)?, 6.0);
/// # Ok::<(), Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn lift<B: Lift<W::Scalar, N>, W: Container + ?Sized, N: Scalar>(_backend: &B, value: &W) -> W::With<N> {
    let mut memory = Vec::new();
    let mut numbers = flat(value, &mut memory);
    let mut lifted = value.with::<N>();
    lifted.pieces_mut(&mut |piece| {
        let (now, later) = numbers.split_at(piece.len());
        for (lifted, &number) in piece.iter_mut().zip(now) {
            *lifted = B::lift(number);
        }
        numbers = later;
    });
    lifted
}

/// A backend whose number type over the scalar `S` is `N`, with the conversion of `S` to a constant; see [`lift`].
///
/// A trait beside [`Backend`], so that the compiler infers `N` from the backend although `N` does not name the lanes. Every backend
/// implements it once, for all `S` and lanes; a backend whose numbers hold plain constants only, for `f64` and `f32`.
///
/// # For backend authors
/// 1. `lift` returns what [`Backend::inject`] returns: the derivative by this backend is zero, those of `value` by outer differentiations are kept.
/// 2. There is one implementation for each `S`, or one for all: with a second one, the compiler would not infer `N` in `lift(&backend, &x)`.
/// 3. It is called in functions that run, for each number of a container, and does not allocate. A pair of backends implements [`LiftPair`] instead.
#[diagnostic::on_unimplemented(
    message = "a number `{S}` cannot be lifted to `{N}` with `{Self}`",
    note = "`lift(&backend, &value)` converts numbers of the outer differentiation to the number type of `backend` over it"
)]
pub trait Lift<S, N> {
    /// The number `value` as a constant of the backend's number type.
    fn lift(value: S) -> N;
}

/// An inner backend whose number type over the scalar `S` is `N` where the outer backend is `O`; see [`lift`].
///
/// If the engines of the pair nest, a number can also be lifted through one backend after the other.
#[diagnostic::on_unimplemented(
    message = "a number `{S}` cannot be lifted to `{N}` with `SecondOrder` of `{O}` and `{Self}`",
    note = "if the numbers of the two backends nest, write `lift(&inner, &lift(&outer, &value))`"
)]
pub trait LiftPair<O, S, N>: Backend {
    /// The number `value` as a constant of the pair's number type.
    fn lift_pair(value: S) -> N;
}

impl<O: Backend, I: LiftPair<O, S, N>, S: Scalar, N> Lift<S, N> for SecondOrder<O, I> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> N {
        I::lift_pair(value)
    }
}
