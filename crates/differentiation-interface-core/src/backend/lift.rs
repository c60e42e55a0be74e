//! Numbers of an outer differentiation as constants of an inner one.
//!
//! Called by functions that call an operator; every backend implements [`Lift`], and pairs with a number type of their own
//! implement [`LiftPair`].

use super::contract::Backend;
use crate::scalar::Scalar;
use crate::second_order::SecondOrder;

/// Converts a number of an outer differentiation to a constant of an inner one by `backend`.
///
/// Nested differentiations have different number types, so that their derivatives cannot be confused; an outer number
/// enters the inner function through this function, and the inner point is a number of the outer type. The inner function of
/// a [`SecondOrder`] takes it as `lift(&SecondOrder(outer, inner), value)`.
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
///     x * derivative(&|y| product(lift(&backend, x), y), &backend, &T::constant(2.0)).unwrap()
/// }
/// assert_eq!(derivative(&outer, &AutoForwardDiff::default(), 3.0)?, 6.0);
/// assert_eq!(derivative(&outer, &AutoReverseDiff::default(), 3.0)?, 6.0);
/// # Ok::<(), Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn lift<B: Lift<S, N>, S: Scalar, N>(_backend: &B, value: S) -> N {
    B::lift(value)
}

/// A backend whose number type over the scalar `S` is `N`, with the conversion of `S` to a constant; see [`lift`].
///
/// A trait beside [`Backend`], so that the compiler infers `N` from the backend although `N` does not name the lanes. Every backend
/// implements it once, for all `S` and lanes; a backend whose numbers hold plain constants only, for `f64` and `f32`.
#[diagnostic::on_unimplemented(
    message = "a number `{S}` cannot be lifted to `{N}` with `{Self}`",
    note = "`lift(&backend, value)` converts a number of the outer differentiation to the number type of `backend` over it"
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
    note = "if the numbers of the two backends nest, write `lift(&inner, lift(&outer, value))`"
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
