//! The backend: routes, and the primitive of forward mode.
//!
//! Passed to operators by users.

use crate::number::Dual;
use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Lift, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::foreign::{ForeignNum, ForwardState, Plain};
use differentiation_interface_core::scalar::{Num, Scalar};

/// Forward mode by the dual numbers of `num-dual`, `DualSVec64<N>`, with the elementary functions of that crate.
///
/// A pass of the function propagates `N` tangents; a longer point takes several passes. Tangents that are absent cost nothing. Second order is
/// by `SecondOrder(AutoNumDual::default(), inner)`; as the inner backend, or paired with itself, it does not compile.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_num_dual::AutoNumDual;
///
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] + 3.0 * x[1]
/// }
/// assert_eq!(gradient(&energy, &AutoNumDual::default(), &[2.0, 5.0])?, [4.0, 3.0]);
/// // Four tangents at once instead of eight.
/// assert_eq!(gradient(&energy, &AutoNumDual::<4>::new(), &[2.0, 5.0])?, [4.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
/// The engine does not nest in itself:
/// ```compile_fail,E0080
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_num_dual::AutoNumDual;
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] + 3.0 * x[1]
/// }
/// hessian(&|x: &[_]| energy(x), &AutoNumDual::default(), &[2.0, 5.0])?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoNumDual<const N: usize = 8>(());

impl<const N: usize> AutoNumDual<N> {
    /// The backend with `N` tangents in a pass, at least one.
    pub const fn new() -> Self {
        const { assert!(N > 0, "a pass propagates at least one tangent") };
        AutoNumDual(())
    }
}

impl Default for AutoNumDual {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Backend for AutoNumDual<N> {
    const NAME: &'static str = "num_dual";
    const NESTS: bool = false;
    type Lanes = Lane<N>;
    type Num<S: Scalar, L: Lanes> = ForeignNum<Dual<N>, S>;
    type Mode = Forward;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> ForeignNum<Dual<N>, S> {
        Num(Plain::inject(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &ForeignNum<Dual<N>, S>) -> S {
        number.0.project()
    }
}

impl<const N: usize, S: Scalar> Lift<S, ForeignNum<Dual<N>, S>> for AutoNumDual<N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> ForeignNum<Dual<N>, S> {
        Num(Plain::inject(value))
    }
}

impl<const N: usize> PushforwardPrimitive for AutoNumDual<N> {
    type PushforwardState<S: Scalar, L: Lanes> = ForwardState<Dual<N>, S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<ForwardState<Dual<N>, S>, Error> {
        Ok(ForwardState::default())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<ForeignNum<Dual<N>, S>>>(
        &self,
        state: &mut ForwardState<Dual<N>, S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.hold(f, x, y)
    }
    #[inline]
    fn pushforward<S: Scalar, L: Lanes, F: Flat<ForeignNum<Dual<N>, S>>>(
        &self,
        state: &mut ForwardState<Dual<N>, S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward(f, x, seeds, y, rows)
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<ForeignNum<Dual<N>, S>>>(
        &self,
        state: &mut ForwardState<Dual<N>, S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.pushforward_held(f, seeds, rows)
    }
}
