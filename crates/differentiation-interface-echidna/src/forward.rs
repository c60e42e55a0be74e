//! The backend: routes, and the primitive of forward mode.
//!
//! Passed to operators by users.

use crate::vector::Vector;
use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Lift, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::foreign::{ForeignNum, ForwardState, Plain};
use differentiation_interface_core::scalar::{Num, Scalar};

/// Forward mode by the dual numbers of `echidna`, `DualVec<f64, N>`, with the elementary functions of that crate; made by
/// [`AutoEchidna::forward`](crate::AutoEchidna::forward).
///
/// A pass of the function propagates `N` tangents; a longer point takes several passes. Second order is by `SecondOrder(AutoEchidna::forward::<8>(), inner)`;
/// as the inner backend, or paired with itself, it does not compile.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_echidna::AutoEchidna;
///
/// let f = |x: &[_]| [x[0] * x[1], x[0] + x[1]];
/// assert_eq!(jacobian(&f, &AutoEchidna::forward::<2>(), &[2.0, 5.0])?, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoEchidnaForward<const N: usize = 8>(());

impl<const N: usize> AutoEchidnaForward<N> {
    /// The backend with `N` tangents in a pass, at least one.
    pub const fn new() -> Self {
        const { assert!(N > 0, "a pass propagates at least one tangent") };
        AutoEchidnaForward(())
    }
}

impl Default for AutoEchidnaForward {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Backend for AutoEchidnaForward<N> {
    const NAME: &'static str = "echidna_forward";
    const NESTS: bool = false;
    type Lanes = Lane<N>;
    type Num<S: Scalar, L: Lanes> = ForeignNum<Vector<N>, S>;
    type Mode = Forward;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> ForeignNum<Vector<N>, S> {
        Num(Plain::inject(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &ForeignNum<Vector<N>, S>) -> S {
        number.0.project()
    }
}

impl<const N: usize, S: Scalar> Lift<S, ForeignNum<Vector<N>, S>> for AutoEchidnaForward<N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> ForeignNum<Vector<N>, S> {
        Num(Plain::inject(value))
    }
}

impl<const N: usize> PushforwardPrimitive for AutoEchidnaForward<N> {
    type PushforwardState<S: Scalar, L: Lanes> = ForwardState<Vector<N>, S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<ForwardState<Vector<N>, S>, Error> {
        Ok(ForwardState::default())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<ForeignNum<Vector<N>, S>>>(
        &self,
        state: &mut ForwardState<Vector<N>, S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.hold(f, x, y)
    }
    #[inline]
    fn pushforward<S: Scalar, L: Lanes, F: Flat<ForeignNum<Vector<N>, S>>>(
        &self,
        state: &mut ForwardState<Vector<N>, S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward(f, x, seeds, y, rows)
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<ForeignNum<Vector<N>, S>>>(
        &self,
        state: &mut ForwardState<Vector<N>, S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward_held(f, seeds, rows)
    }
}
