//! What engines do with the numbers of other engines beyond arithmetic.
//!
//! A table that each number type has once, as `INTERNALS` of [`Scalar`](crate::Scalar) and of [`Core`](crate::Core); read through
//! [`EngineScalar`](super::EngineScalar).

use std::num::NonZeroU32;

/// Access to the internals of a number type `N` over the plain number `B`, for engines. Differentiated functions do not use it.
///
/// An engine overrides entries of [`DEFAULT`](Self::DEFAULT):
/// ```
/// # use differentiation_interface_core::recordings::Internals;
/// # use differentiation_interface_core::{Core, Num};
/// fn numbered<C: Core>() -> Internals<Num<C>, C::Base> {
///     Internals { parameter: |_index, value| Num(C::constant(value)), ..Internals::DEFAULT }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Internals<N: 'static, B: 'static> {
    /// The plain value, for engines that choose by it how to compute but not what. Reading it is neither recorded nor refused.
    pub peek: fn(&N) -> B,
    /// A number with this value and without a derivative. Its value may change in the next call, so a recording must not treat it as a
    /// constant. The index distinguishes the parameters of a function.
    pub parameter: fn(usize, B) -> N,
    /// Whether such a number may be one of a recording, so that its parameters are told from those of operators that the function calls.
    pub may_be_recorded: bool,
    /// How to split the number, if it consists of a plain value and tangents. For engines that propagate several tangents through a
    /// function at once.
    pub tangents: Option<Tangents<N, B>>,
    /// How to view slices of the number as slices of plain numbers, if it is a plain number.
    pub plain: Option<PlainSlices<N, B>>,
}

/// The tangents of a number, by lane.
#[derive(Clone, Copy, Debug)]
pub struct Tangents<N, B> {
    /// The number of lanes.
    pub lanes: usize,
    /// The differentiation that the tangents of a number belong to; none if it has no tangents.
    pub mark: fn(&N) -> Option<NonZeroU32>,
    /// The tangent in a lane.
    pub lane: fn(&N, usize) -> B,
    /// Makes a number from a value and tangents; the tangent of lane `k` is at `k * stride` of the slice.
    pub join: fn(B, NonZeroU32, &[B], usize) -> N,
}

/// Views slices of slices, so that no table of slices has to be copied.
#[derive(Clone, Copy, Debug)]
pub struct PlainSlices<N: 'static, B: 'static> {
    /// For reading.
    pub read: for<'s, 'a> fn(&'s [&'a [N]]) -> &'s [&'a [B]],
    /// For writing.
    pub write: for<'s, 'a> fn(&'s mut [&'a mut [N]]) -> &'s mut [&'a mut [B]],
}
