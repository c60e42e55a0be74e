//! Second order by formulas for second derivatives, from values of the function.
//!
//! Route of `hvp` and `hessian`; it calls the [`SecondDifferencePrimitive`] of the inner backend, which stands for both backends.

use super::contract::{ForcedRoute, HvpRoute, Request};
use super::derivative::NestedDerivatives;
use super::hyper_dual::ValueAndGradient;
use crate::backend::{Backend, Lanes, Rows, Seeds};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;

/// Products with the Hessian from values of the function: differences of second order instead of differences of differences.
///
/// # For backend authors
/// 1. Operators call this primitive if the `Mode` names [`Differences`](crate::backend::Differences).
/// 2. `second_products` gets a function with one output, which runs on the numbers of the call. The seeds may be empty, `Seeds::all(0)`.
/// 3. It writes value and gradient to `point` if that is given.
/// 4. `rows` has one column per input; state the number of seeds with [`Rows::set_rows`] before writing, and write every entry.
/// 5. The state has no fixed size, and must be usable after an error or a panic in `f`. A first call may have fewer seeds than
///    the state was made for, and reserves memory for all.
pub trait SecondDifferencePrimitive: Backend {
    /// Work memory.
    type SecondState<S: Scalar>: Clone + Send + 'static;

    /// Makes an empty state, or returns an error for points of length `inputs` with `seeds` tangents.
    fn second_state<S: Scalar>(&self, inputs: usize, seeds: usize) -> Result<Self::SecondState<S>, Error>;

    /// Fills the products with the Hessian at `x`, one row per seed.
    fn second_products<S: Scalar, L: Lanes, F: Flat<S>>(
        &self,
        state: &mut Self::SecondState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        point: Option<&mut ValueAndGradient<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
}

/// Second differences of the inner backend, which stands for both backends.
#[derive(Clone, Copy, Debug)]
pub struct SecondDifferenceRoute;

impl<O: SecondDifferencePrimitive, I: SecondDifferencePrimitive> HvpRoute<O, I> for SecondDifferenceRoute {
    const NAME: &'static str = "second differences";
    type Lanes = I::Lanes;
    type Num<S: Scalar, L: Lanes> = S;
    type State<S: Scalar, L: Lanes> = (I::SecondState<S>, ValueAndGradient<S>);
    type SamePoint = ForcedRoute<O, I, Self>;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(O, I)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok((pair.1.second_state(inputs, seeds)?, ValueAndGradient::default()))
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        true
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.1.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.1.value
    }
    fn products<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(O, I),
        (state, point): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let point = (request >= Request::Gradient).then_some(point);
        pair.1.second_products::<S, L, F>(state, f, x, seeds, point, rows)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(O, I),
        (state, point): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let none = Rows::fixed(&mut [], x.len());
        pair.1.second_products::<S, L, F>(state, f, x, Seeds::all(0), Some(point), none)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<S>>(
        pair: &(O, I),
        (state, _): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        pair.1.second_products::<S, L, F>(state, f, x, seeds, None, rows)
    }
}
