//! What engines do with numbers of other engines beyond arithmetic.
//!
//! A table that each number type has once, as `INTERNALS` of [`Scalar`](crate::Scalar) and of [`Core`](crate::Core); read through
//! [`EngineScalar`](super::EngineScalar).

use std::num::NonZeroU32;

/// The inside of a number type `N` over the plain number `B`, for engines. Functions to be differentiated use none of it.
///
/// An engine overrides what it knows better than [`DEFAULT`](Self::DEFAULT):
/// ```
/// # use differentiation_interface_core::recordings::Internals;
/// # use differentiation_interface_core::{Core, Num};
/// fn numbered<C: Core>() -> Internals<Num<C>, C::Base> {
///     Internals { parameter: |_index, value| Num(C::constant(value)), ..Internals::DEFAULT }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Internals<N: 'static, B: 'static> {
    /// The plain value, for engines that decide by it how to compute, not what: nothing is recorded and nothing refused.
    pub peek: fn(&N) -> B,
    /// The number with this value and no derivative attached, which may have another value in the next call: a recording does not
    /// take it for a constant. The index tells the parameters of a function apart.
    pub parameter: fn(usize, B) -> N,
    /// How to take the number apart, if it is a plain value with tangents and nothing else. An engine that sends several tangents
    /// through a function at once does so.
    pub tangents: Option<Tangents<N, B>>,
    /// How to see slices of the number as slices of plain numbers, if that is what it is.
    pub plain: Option<PlainSlices<N, B>>,
}

/// The tangents of a number, by lane.
#[derive(Clone, Copy, Debug)]
pub struct Tangents<N, B> {
    /// How many a number has.
    pub lanes: usize,
    /// The differentiation that the tangents of a number belong to; none if it has no tangents.
    pub mark: fn(&N) -> Option<NonZeroU32>,
    /// The tangent in a lane.
    pub lane: fn(&N, usize) -> B,
    /// The number with a value and tangents, that of lane `k` at `k * stride` of the slice.
    pub join: fn(B, NonZeroU32, &[B], usize) -> N,
}

/// Slices of slices, so that no table of the same slices has to be made in another type.
#[derive(Clone, Copy, Debug)]
pub struct PlainSlices<N: 'static, B: 'static> {
    /// To read.
    pub read: for<'s, 'a> fn(&'s [&'a [N]]) -> &'s [&'a [B]],
    /// To write.
    pub write: for<'s, 'a> fn(&'s mut [&'a mut [N]]) -> &'s mut [&'a mut [B]],
}
