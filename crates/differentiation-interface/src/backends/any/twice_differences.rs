//! Second order by differences of either kind: extrapolated ones have formulas for second derivatives, others are nested.
//!
//! Selected by the mode of [`AnyDifferences`], through [`DifferencesRoute`]; calls the route that the pair would take as static backends.

use super::differences::{AnyDifferences, DifferencesRoute};
use crate::backends::AutoFiniteDifferences;
use differentiation_interface_core::backend::{
    ForcedRoute, ForwardOverGradient, HvpRoute, Lanes, NestedDerivatives, Reevaluate, Request, Rows,
    SecondDifferenceRoute, Seeds,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Scalar;

type Nested = ForwardOverGradient<Reevaluate>;
type NestedState<S, L> = <Nested as HvpRoute<AnyDifferences, AnyDifferences>>::State<S, L>;
type Formulas = SecondDifferenceRoute;
type FormulasState<S, L> = <Formulas as HvpRoute<AutoFiniteDifferences, AutoFiniteDifferences>>::State<S, L>;

/// Work memory of second order by differences.
#[derive(Clone, Debug)]
pub enum TwiceState<S: Scalar, L: Lanes> {
    /// Of differences of gradients by differences.
    Nested(Box<NestedState<S, L>>),
    /// Of second differences, which the inner backend takes.
    Formulas(AutoFiniteDifferences, FormulasState<S, L>),
}

/// Calls a method of the route of a state, which takes the pair first and then the state.
macro_rules! of_route {
    ($pair:expr, $state:expr, $method:ident($($argument:expr),*)) => {
        match $state {
            TwiceState::Nested(state) => Nested::$method::<S, L, F>($pair, state, $($argument),*),
            TwiceState::Formulas(backend, state) => {
                Formulas::$method::<S, L, F>(&(*backend, *backend), state, $($argument),*)
            }
        }
    };
}

impl HvpRoute<AnyDifferences, AnyDifferences> for DifferencesRoute {
    const NAME: &'static str = "as chosen";
    type Lanes = <Nested as HvpRoute<AnyDifferences, AnyDifferences>>::Lanes;
    type Num<S: Scalar, L: Lanes> = S;
    type State<S: Scalar, L: Lanes> = TwiceState<S, L>;
    type SamePoint = ForcedRoute<AnyDifferences, AnyDifferences, Self>;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(AnyDifferences, AnyDifferences)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(
        pair: &(AnyDifferences, AnyDifferences),
        inputs: usize,
        seeds: usize,
    ) -> Result<TwiceState<S, L>, Error> {
        Ok(match *pair {
            (AnyDifferences::Extrapolated(_), AnyDifferences::Extrapolated(inner)) => {
                TwiceState::Formulas(inner, Formulas::state::<S, L>(&(inner, inner), inputs, seeds)?)
            }
            _ => TwiceState::Nested(Box::new(Nested::state::<S, L>(pair, inputs, seeds)?)),
        })
    }
    /// As a Hessian is symmetric, both orientations are the same for it; products have the orientation of their state.
    fn seeds_are_rows(pair: &(AnyDifferences, AnyDifferences)) -> bool {
        match *pair {
            (AnyDifferences::Extrapolated(_), AnyDifferences::Extrapolated(inner)) => {
                <Formulas as HvpRoute<_, _>>::seeds_are_rows(&(inner, inner))
            }
            _ => <Nested as HvpRoute<_, _>>::seeds_are_rows(pair),
        }
    }
    fn gradient<S: Scalar, L: Lanes>(state: &TwiceState<S, L>) -> &[S] {
        match state {
            TwiceState::Nested(state) => <Nested as HvpRoute<AnyDifferences, AnyDifferences>>::gradient::<S, L>(state),
            TwiceState::Formulas(_, state) => {
                <Formulas as HvpRoute<AutoFiniteDifferences, AutoFiniteDifferences>>::gradient::<S, L>(state)
            }
        }
    }
    fn value<S: Scalar, L: Lanes>(state: &TwiceState<S, L>) -> S {
        match state {
            TwiceState::Nested(state) => <Nested as HvpRoute<AnyDifferences, AnyDifferences>>::value::<S, L>(state),
            TwiceState::Formulas(_, state) => {
                <Formulas as HvpRoute<AutoFiniteDifferences, AutoFiniteDifferences>>::value::<S, L>(state)
            }
        }
    }
    fn products<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(AnyDifferences, AnyDifferences),
        state: &mut TwiceState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        of_route!(pair, state, products(f, x, seeds, request, rows))
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(AnyDifferences, AnyDifferences),
        state: &mut TwiceState<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        of_route!(pair, state, hold(f, x))
    }
    fn held<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(AnyDifferences, AnyDifferences),
        state: &mut TwiceState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        of_route!(pair, state, held(f, x, seeds, rows))
    }
}
