//! Second order by differentiating the gradient: its pushforward, or its pullback.
//!
//! Routes of `hvp` and `hessian`; they call the inner backend's `Gradient` route inside a primitive of the outer backend.

use super::contract::{ForcedRoute, HvpRoute, HvpState, Request, SecondOrderBackend};
use super::derivative::NestedDerivatives;
use super::inner::{InnerDerivative, InnerState, first_error};
use crate::backend::{
    Backend, Lanes, MatrixRoute, PullbackPrimitive, PushforwardPrimitive, Rows, Seeds, check_nesting,
};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;
use std::marker::PhantomData;

/// State of the gradient by the inner backend.
type GradientState<I, N> = InnerState<I, <I as Backend>::Gradient, N, <I as Backend>::Lanes>;

/// Pushforward of the gradient. `A` is the strategy for a fixed point, since a pushforward cannot keep the linearisation.
#[derive(Clone, Copy, Debug)]
pub struct ForwardOverGradient<A>(PhantomData<A>);

/// At a fixed point the inner backend, a reverse one, is used as outer and inner backend by the route `R`: it keeps the
/// linearisation.
#[derive(Clone, Copy, Debug)]
pub struct InnerTwice<R>(PhantomData<R>);

/// At a fixed point the function is run again for other tangents.
#[derive(Clone, Copy, Debug)]
pub struct Reevaluate;

/// The backend used for products at a fixed point in place of the pushforward of a gradient.
pub trait SamePointStrategy<O: Backend, I: Backend>: Copy + 'static {
    /// The type of this backend.
    type Backend: SecondOrderBackend;
    /// Makes this backend from the pair.
    fn of(pair: &(O, I)) -> Self::Backend;
}

impl<O: Backend, I: PullbackPrimitive, R: HvpRoute<I, I> + Copy + 'static> SamePointStrategy<O, I> for InnerTwice<R> {
    type Backend = ForcedRoute<I, I, R>;
    fn of((_, inner): &(O, I)) -> Self::Backend {
        ForcedRoute::new(&(inner.clone(), inner.clone()))
    }
}

impl<O: PushforwardPrimitive, I: Backend> SamePointStrategy<O, I> for Reevaluate {
    type Backend = ForcedRoute<O, I, ForwardOverGradient<Reevaluate>>;
    fn of(pair: &(O, I)) -> Self::Backend {
        ForcedRoute::new(pair)
    }
}

/// Binds the gradient function to a state, and runs an outer primitive on it.
macro_rules! with_gradient {
    ($pair:ident, $state:ident, $f:ident, $x:expr, $request:expr, |$outer:ident, $gradient:ident| $call:expr) => {{
        let HvpState { outer: $outer, inner, inner_value, value, lifted, scratch, .. } = $state;
        if $request == Request::Value {
            // Capacity for the evaluation below, which later calls may need though the first one does not.
            lifted.reserve($x.len());
            scratch.reserve($x.len());
        }
        let value = ($request == Request::Value).then_some((value, O::project::<S, L> as fn(&O::Num<S, L>) -> S));
        let mut $gradient = InnerDerivative::<_, I, I::Gradient, I::Lanes, _, _> {
            f: $f,
            inner: &$pair.1,
            state: inner,
            inner_value,
            value,
            error: None,
        };
        let result = $call;
        if result.is_ok() && $gradient.lacks_value() {
            lifted.clear();
            lifted.extend($x.iter().map(|&v| O::inject::<S, L>(v)));
            $gradient.call(lifted, scratch);
        }
        first_error($gradient.error, result)
    }};
}

impl<O: PushforwardPrimitive, I: Backend, A: SamePointStrategy<O, I>> HvpRoute<O, I> for ForwardOverGradient<A> {
    const NAME: &'static str = "pushforward of gradient";
    type Lanes = O::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, I::Lanes>;
    type State<S: Scalar, L: Lanes> =
        HvpState<O::PushforwardState<S, L>, GradientState<I, O::Num<S, L>>, S, O::Num<S, L>>;
    type SamePoint = A::Backend;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(O, I)) -> A::Backend {
        A::of(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<O, S>() };
        Ok(HvpState::new(pair.0.pushforward_state(inputs, seeds)?, I::Gradient::state(&pair.1, inputs)?))
    }
    fn seeds_per_pass<L: Lanes>(pair: &(O, I), seeds: usize) -> usize {
        PushforwardPrimitive::seeds_per_pass::<L>(&pair.0, seeds)
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        false
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value[0]
    }
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let mut gradient = std::mem::take(&mut state.gradient);
        let result = with_gradient!(pair, state, f, x, request, |outer, function| {
            let y = (request >= Request::Gradient).then_some(&mut gradient);
            pair.0.pushforward(outer, &mut function, x, seeds, y, rows)
        });
        state.gradient = gradient;
        result
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let mut gradient = std::mem::take(&mut state.gradient);
        let result = with_gradient!(pair, state, f, x, Request::Value, |outer, function| pair.0.hold(
            outer,
            &mut function,
            x,
            &mut gradient
        ));
        state.gradient = gradient;
        result
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        with_gradient!(pair, state, f, x, Request::Products, |outer, function| pair.0.pushforward_held(
            outer,
            &mut function,
            seeds,
            rows
        ))
    }
}

/// Pullback of the gradient. Products at the same point do not run the function again.
#[derive(Clone, Copy, Debug)]
pub struct ReverseOverGradient;

impl<O: PullbackPrimitive, I: Backend> HvpRoute<O, I> for ReverseOverGradient {
    const NAME: &'static str = "pullback of gradient";
    type Lanes = O::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, I::Lanes>;
    type State<S: Scalar, L: Lanes> = HvpState<O::PullbackState<S, L>, GradientState<I, O::Num<S, L>>, S, O::Num<S, L>>;
    type SamePoint = ForcedRoute<O, I, Self>;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(O, I)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, _seeds: usize) -> Result<Self::State<S, L>, Error> {
        const { check_nesting::<O, S>() };
        Ok(HvpState::new(pair.0.pullback_state(inputs)?, I::Gradient::state(&pair.1, inputs)?))
    }
    fn seeds_per_pass<L: Lanes>(pair: &(O, I), seeds: usize) -> usize {
        PullbackPrimitive::seeds_per_pass::<L>(&pair.0, seeds)
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        true
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value[0]
    }
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        record_gradient(pair, state, f, x, request)?;
        Self::held(pair, state, f, x, seeds, rows)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        record_gradient(pair, state, f, x, Request::Value)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        with_gradient!(pair, state, f, x, Request::Products, |outer, gradient| pair.0.sweep(
            outer,
            &mut gradient,
            seeds,
            rows
        ))
    }
}

/// Records the gradient on the outer backend's tape.
fn record_gradient<O: PullbackPrimitive, I: Backend, S: Scalar, L: Lanes, F: Flat<I::Num<O::Num<S, L>, I::Lanes>>>(
    pair: &(O, I),
    state: &mut HvpState<O::PullbackState<S, L>, GradientState<I, O::Num<S, L>>, S, O::Num<S, L>>,
    f: &mut F,
    x: &[S],
    request: Request,
) -> Result<(), Error> {
    let mut gradient = std::mem::take(&mut state.gradient);
    let result = with_gradient!(pair, state, f, x, request, |outer, function| pair.0.record(
        outer,
        &mut function,
        x,
        &mut gradient
    ));
    state.gradient = gradient;
    result
}
