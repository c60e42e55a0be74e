//! Second order by hyper-dual numbers, which carry both differentiations of forward over forward.
//!
//! Route of `hvp`, `hessian` and `second_derivative`; it calls the [`HyperDualPrimitive`] of the inner backend, which stands for both backends.

use super::contract::{ForcedRoute, HvpRoute, Request};
use super::derivative::SecondDerivativeRoute;
use crate::backend::{Lanes, PushforwardPrimitive, Rows, Seeds};
use crate::error::Error;
use crate::evaluate::{Flat, Output};
use crate::fault;
use crate::scalar::Scalar;

/// Products with the Hessian by one number type for both differentiations, which is smaller than a dual number of dual
/// numbers: value, tangents along the seeds, tangents along some inputs, and the mixed second derivatives of these.
///
/// # For backend authors
/// 1. Operators call this primitive if the `Mode` names [`HyperDuals`](crate::backend::HyperDuals).
/// 2. `hyper_products` calls `f`, which has one output, as few times as the lanes allow, and at least once. The seeds may be
///    empty, `Seeds::all(0)`.
/// 3. It writes value and gradient to `point` if that is given.
/// 4. `rows` has one column per input; state the number of seeds with [`Rows::set_rows`] before writing, and write every entry.
/// 5. The state has no fixed size, and must be usable after an error or a panic in `f`.
/// 6. `second_derivative` gets a function of one number with any number of outputs, and calls it once. It writes value and derivative to `lower` if that is
///    given, in this order, and to `rows`, which has one column, the second derivative. `outputs` is work memory.
pub trait HyperDualPrimitive: PushforwardPrimitive {
    /// The lanes for seeds in a Hessian by this backend alone.
    type HyperLanes: Lanes;
    /// The number type that the function runs on, with lanes `L` for the seeds.
    type HyperDual<S: Scalar, L: Lanes>: Scalar<Base = S::Base>;
    /// Active inputs and outputs.
    type HyperState<S: Scalar, L: Lanes>: Clone + Send + 'static;

    /// Returns an error if the backend, as the outer one, cannot take as few seeds in passes with the lanes `L`, at points of length `inputs`.
    fn check_seeds<L: Lanes>(&self, inputs: usize, seeds: usize) -> Result<(), Error>;

    /// The number of the lanes `L` that a pass uses for seeds.
    fn seeds_at_once<L: Lanes>(&self) -> usize;

    /// Makes an empty state for passes of up to `seeds_at_once` seeds, or returns an error for points of length `inputs`.
    fn hyper_state<S: Scalar, L: Lanes>(
        &self,
        inputs: usize,
        seeds_at_once: usize,
    ) -> Result<Self::HyperState<S, L>, Error>;

    /// Fills the products with the Hessian at `x`, one row per seed.
    fn hyper_products<S: Scalar, L: Lanes, F: Flat<Self::HyperDual<S, L>>>(
        &self,
        state: &mut Self::HyperState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        point: Option<&mut ValueAndGradient<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// The number type of second derivatives along one variable: value, first and second derivative.
    type SecondDual<S: Scalar>: Scalar<Base = S::Base>;
    /// Fills the second derivative at the number `x`.
    fn second_derivative<S: Scalar, F: Flat<Self::SecondDual<S>>>(
        &self,
        outputs: &mut Vec<Self::SecondDual<S>>,
        f: &mut F,
        x: S,
        lower: Option<[&mut Vec<S>; 2]>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// Writes value, derivative and second derivative of a function with [`Flat::fixed`] inputs, on the stack. Returns `false` if the result would be
    /// an error; the operator then calls [`second_derivative`](Self::second_derivative).
    fn second_derivative_on_stack<S: Scalar, F: Flat<Self::SecondDual<S>>>(
        &self,
        f: &mut F,
        x: S,
        all: [&mut [S]; 3],
    ) -> bool;
}

/// The results of a call besides the products.
#[derive(Clone, Debug, Default)]
pub struct ValueAndGradient<S> {
    /// The value of the function.
    pub value: S,
    /// Its gradient.
    pub gradient: Vec<S>,
}

/// Hyper-dual numbers of the inner backend, which stands for both backends.
#[derive(Clone, Copy, Debug)]
pub struct HyperDualRoute;

impl<O: HyperDualPrimitive, I: HyperDualPrimitive> HvpRoute<O, I> for HyperDualRoute {
    const NAME: &'static str = "hyper-dual numbers";
    type Lanes = O::HyperLanes;
    type Num<S: Scalar, L: Lanes> = I::HyperDual<S, L>;
    type State<S: Scalar, L: Lanes> = (I::HyperState<S, L>, ValueAndGradient<S>);
    type SamePoint = ForcedRoute<O, I, Self>;
    type SecondDerivative = Self;

    fn same_point(pair: &(O, I)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        pair.0.check_seeds::<L>(inputs, seeds)?;
        let state = pair.1.hyper_state(inputs, pair.0.seeds_at_once::<L>())?;
        Ok((state, ValueAndGradient::default()))
    }
    fn seeds_per_pass<L: Lanes>(pair: &(O, I), seeds: usize) -> usize {
        pair.0.seeds_at_once::<L>().min(seeds)
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
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        (state, point): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let point = (request >= Request::Gradient).then_some(point);
        pair.1.hyper_products(state, f, x, seeds, point, rows)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        (state, point): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let none = Rows::fixed(&mut [], x.len());
        pair.1.hyper_products(state, f, x, Seeds::all(0), Some(point), none)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        (state, _): &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        pair.1.hyper_products(state, f, x, seeds, None, rows)
    }
}

impl<O: HyperDualPrimitive, I: HyperDualPrimitive> SecondDerivativeRoute<O, I> for HyperDualRoute {
    const NAME: &'static str = "second-order dual numbers";
    type Num<S: Scalar> = I::SecondDual<S>;
    type State<S: Scalar> = Vec<I::SecondDual<S>>;

    #[inline]
    fn state<S: Scalar>(_pair: &(O, I)) -> Result<Self::State<S>, Error> {
        Ok(Vec::new())
    }
    #[inline]
    fn fill<S: Scalar, F: Flat<Self::Num<S>>>(
        pair: &(O, I),
        state: &mut Self::State<S>,
        f: &mut F,
        x: &[S],
        _outputs: Option<usize>,
        lower: Option<[&mut Vec<S>; 2]>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        fault::Watch::begin().end(pair.1.second_derivative(state, f, x[0], lower, rows))
    }

    const ON_STACK: bool = true;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_stack<S: Scalar, Y: Output<Self::Num<S>>, F: Flat<Self::Num<S>>>(
        pair: &(O, I),
        f: &mut F,
        x: &[S],
        all: [&mut [S]; 3],
    ) -> bool {
        pair.1.second_derivative_on_stack(f, x[0], all)
    }
}
