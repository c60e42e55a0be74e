//! The backend: routes, and the primitive of forward mode.
//!
//! Passed to operators by users.

use crate::number::Lanewise;
use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Lift, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::foreign::{ForeignNum, ForwardState, Plain};
use differentiation_interface_core::scalar::{Num, Scalar};

/// Forward mode by the numbers `adfn<N>` of `ad_trait`, with the elementary functions of that crate.
///
/// A pass of the function propagates `N` tangents; a longer point takes several passes. Second order is by
/// `SecondOrder(AutoAdTrait::default(), inner)`; as the inner backend, or paired with itself, it does not compile.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_ad_trait::AutoAdTrait;
///
/// let f = |x: &[_]| [x[0] * x[1], x[0] + x[1]];
/// assert_eq!(jacobian(&f, &AutoAdTrait::default(), &[2.0, 5.0])?, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoAdTrait<const N: usize = 8>(());

impl<const N: usize> AutoAdTrait<N> {
    /// The backend with `N` tangents in a pass, at least one.
    pub const fn new() -> Self {
        const { assert!(N > 0, "a pass propagates at least one tangent") };
        AutoAdTrait(())
    }
}

impl Default for AutoAdTrait {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Backend for AutoAdTrait<N> {
    const NAME: &'static str = "ad_trait";
    const NESTS: bool = false;
    type Lanes = Lane<N>;
    type Num<S: Scalar, L: Lanes> = ForeignNum<Lanewise<N>, S>;
    type Mode = Forward;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> ForeignNum<Lanewise<N>, S> {
        Num(Plain::inject(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &ForeignNum<Lanewise<N>, S>) -> S {
        number.0.project()
    }
}

impl<const N: usize, S: Scalar> Lift<S, ForeignNum<Lanewise<N>, S>> for AutoAdTrait<N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> ForeignNum<Lanewise<N>, S> {
        Num(Plain::inject(value))
    }
}

impl<const N: usize> PushforwardPrimitive for AutoAdTrait<N> {
    type PushforwardState<S: Scalar, L: Lanes> = ForwardState<Lanewise<N>, S>;

    fn pushforward_state<S: Scalar, L: Lanes>(
        &self,
        _: usize,
        _: usize,
    ) -> Result<ForwardState<Lanewise<N>, S>, Error> {
        Ok(ForwardState::default())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<ForeignNum<Lanewise<N>, S>>>(
        &self,
        state: &mut ForwardState<Lanewise<N>, S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.hold(f, x, y)
    }
    #[inline]
    fn pushforward<S: Scalar, L: Lanes, F: Flat<ForeignNum<Lanewise<N>, S>>>(
        &self,
        state: &mut ForwardState<Lanewise<N>, S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward(f, x, seeds, y, rows)
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<ForeignNum<Lanewise<N>, S>>>(
        &self,
        state: &mut ForwardState<Lanewise<N>, S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward_held(f, seeds, rows)
    }
}
