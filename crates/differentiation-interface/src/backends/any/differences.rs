//! Both kinds of finite differences as one engine: they run on the same numbers, and one engine less is compiled for every pair.
//!
//! Used by `choice.rs`, which makes it of a choice, and by the routes; calls the static backends.

use crate::backends::finite_diff::FiniteState;
use crate::backends::finite_differences::DifferencesState;
use crate::backends::{AutoFiniteDiff, AutoFiniteDifferences};
use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Native, PushforwardPrimitive, ReverseOverGradient, Rows, Seeds, Twice,
    ViaPushforward,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Scalar;

/// Finite differences of either kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyDifferences {
    /// With one step.
    Plain(AutoFiniteDiff),
    /// With extrapolation.
    Extrapolated(AutoFiniteDifferences),
}

/// Work memory of either kind.
#[derive(Clone, Debug)]
pub enum AnyDifferencesState<S: Scalar> {
    /// With one step.
    Plain(FiniteState<S>),
    /// With extrapolation.
    Extrapolated(DifferencesState<S>),
}

impl Backend for AnyDifferences {
    const NAME: &'static str = "any differences";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = S;
    type Mode = Forward<EitherDifferences>;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> S {
        value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &S) -> S {
        *number
    }

    const EXACT: bool = false;
}

/// Calls a method of the primitive of the kind that is chosen. A state is of the kind of the backend that made it.
macro_rules! of_kind {
    ($backend:expr, $state:expr, $method:ident($($argument:expr),*)) => {
        match ($backend, &mut *$state) {
            (AnyDifferences::Plain(backend), AnyDifferencesState::Plain(state)) => {
                backend.$method::<S, L, F>(state, $($argument),*)
            }
            (AnyDifferences::Extrapolated(backend), AnyDifferencesState::Extrapolated(state)) => {
                backend.$method::<S, L, F>(state, $($argument),*)
            }
            (backend, state) => {
                *state = backend.pushforward_state::<S, L>(0, 0)?;
                backend.$method::<S, L, F>(state, $($argument),*)
            }
        }
    };
}

impl PushforwardPrimitive for AnyDifferences {
    type PushforwardState<S: Scalar, L: Lanes> = AnyDifferencesState<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(
        &self,
        inputs: usize,
        seeds: usize,
    ) -> Result<AnyDifferencesState<S>, Error> {
        Ok(match self {
            AnyDifferences::Plain(backend) => {
                AnyDifferencesState::Plain(backend.pushforward_state::<S, L>(inputs, seeds)?)
            }
            AnyDifferences::Extrapolated(backend) => {
                AnyDifferencesState::Extrapolated(backend.pushforward_state::<S, L>(inputs, seeds)?)
            }
        })
    }

    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut AnyDifferencesState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        of_kind!(self, state, hold(f, x, y))
    }

    fn pushforward<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut AnyDifferencesState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        of_kind!(self, state, pushforward(f, x, seeds, y, rows))
    }

    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut AnyDifferencesState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        of_kind!(self, state, pushforward_held(f, seeds, rows))
    }
}

/// The way in which [`AnyDifferences`] are differentiated twice: by differences of either kind along [`DifferencesRoute`].
#[derive(Clone, Copy, Debug)]
pub struct EitherDifferences;

impl Twice for EitherDifferences {
    type Under<O: Twice, Given> = O::OverDifferences<Given>;
    type OverHyperDual<Given> = Given;
    type OverAdjoint<Given> = Given;
    type OverReplayed<Given> = Given;
    type OverDifferences<Given> = DifferencesRoute;
    type SamePointRoute = ReverseOverGradient;
}

/// The route of differences of one kind over those of another.
#[derive(Clone, Copy, Debug)]
pub struct DifferencesRoute;
