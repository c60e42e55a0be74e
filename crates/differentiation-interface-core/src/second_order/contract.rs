//! The traits of second-order backends and their routes, which refer to each other.
//!
//! Called by `second_derivative`, `hvp` and `hessian`; implemented by the routes beside this file.

use super::derivative::SecondDerivativeRoute;
use crate::backend::{Backend, EntryRequest, Lanes, Rows, Seeds};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;
use std::marker::PhantomData;

/// Two backends for second order: `SecondOrder(outer, inner)` differentiates derivatives by `inner` with `outer`.
///
/// It works with `second_derivative`, `hvp` and `hessian` only; first-order operators refuse it at compile time. A single backend
/// is both its own outer and inner backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
/// assert_eq!(hessian(&cubic, &backend, &[2.0, 5.0])?, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondOrder<O, I>(
    /// The outer backend, which differentiates the derivative.
    pub O,
    /// The inner backend, which differentiates the function.
    pub I,
);

/// What `second_derivative`, `hvp` and `hessian` accept: a [`SecondOrder`], or a single backend as both outer and inner backend.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used for second order",
    note = "pass a backend, or `SecondOrder(outer, inner)` of two backends, neither of them a `SecondOrder` itself",
    note = "the `Mode` of each backend must be `Forward`, `Reverse` or `Both`, of `Nested`, `HyperDuals`, `Adjoint`, `Replayed` or `Differences`"
)]
pub trait SecondOrderBackend: Clone + Send + Sync + 'static {
    /// The outer backend.
    type Outer: Backend;
    /// The inner backend.
    type Inner: Backend;
    /// Route of `hvp` and `hessian`.
    type Hvp: HvpRoute<Self::Outer, Self::Inner>;

    /// Name in errors and tables: that of a single backend, or of the inner one.
    const NAME: &'static str;

    /// The outer and the inner backend as they are used together.
    fn pair(&self) -> (Self::Outer, Self::Inner);
}

/// Two backends with a fixed route, independent of the table of modes: for products at a fixed point.
#[derive(Debug)]
pub struct ForcedRoute<O, I, R> {
    outer: O,
    inner: I,
    route: PhantomData<fn() -> R>,
}

impl<O: Clone, I: Clone, R> ForcedRoute<O, I, R> {
    /// The backends `pair`, taking the route `R`.
    pub fn new(pair: &(O, I)) -> Self {
        ForcedRoute { outer: pair.0.clone(), inner: pair.1.clone(), route: PhantomData }
    }
}

impl<O: Clone, I: Clone, R> Clone for ForcedRoute<O, I, R> {
    fn clone(&self) -> Self {
        ForcedRoute { outer: self.outer.clone(), inner: self.inner.clone(), route: PhantomData }
    }
}

impl<O: Backend, I: Backend, R: HvpRoute<O, I> + 'static> SecondOrderBackend for ForcedRoute<O, I, R> {
    type Outer = O;
    type Inner = I;
    type Hvp = R;
    const NAME: &'static str = "second_order";

    fn pair(&self) -> (O, I) {
        (self.outer.clone(), self.inner.clone())
    }
}

/// What a second-order call computes besides the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// Nothing.
    Products,
    /// The gradient.
    Gradient,
    /// The value and the gradient.
    Value,
}

/// State of a second-order call: the states of both backends and the buffers that they share.
#[derive(Clone, Debug)]
pub struct HvpState<OuterState, InnerState, S, N> {
    pub(super) outer: OuterState,
    pub(super) inner: InnerState,
    /// Gradient at the point, if requested.
    pub gradient: Vec<S>,
    /// Value at the point, if requested; one entry.
    pub value: Vec<S>,
    /// Outputs of the inner function, for the outer backend.
    pub(super) outputs: Vec<S>,
    pub(super) inner_value: Vec<N>,
    pub(super) lifted: Vec<N>,
    pub(super) scratch: Vec<N>,
}

impl<OuterState, InnerState, S, N> HvpState<OuterState, InnerState, S, N> {
    pub(super) fn new(outer: OuterState, inner: InnerState) -> Self {
        HvpState {
            outer,
            inner,
            gradient: Vec::new(),
            value: Vec::new(),
            outputs: Vec::new(),
            inner_value: Vec::new(),
            lifted: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

/// How `hvp` and `hessian` reach two backends, and which route `second_derivative` takes.
///
/// The products are a matrix with one entry per input and seed; [`seeds_are_rows`](HvpRoute::seeds_are_rows) returns its
/// orientation. For a Hessian, which is symmetric, both orientations are the same.
///
/// # For backend authors
/// The [mode](crate::backend::Mode) of both backends selects one of the routes of this crate. For a route of your own:
/// 1. The function has one output. The operator has checked the lengths of the point and of the seeds, and watches for errors of arithmetic during each call
///    that gets the function.
/// 2. `state` does not run the function. Each preparation calls it, so that lengths can be refused; the new state replaces the old one only if one of the backends has
///    [`recordings`](Backend::recordings). A state without recordings meets points of other lengths.
/// 3. `seeds_are_rows` depends on the pair alone. Where it returns `true`, `rows` has one column per input and `products` states the number of seeds by
///    [`Rows::set_rows`]; else it has one column per seed and `products` states the number of inputs. Every entry is written.
/// 4. After `products` or `entries`, [`gradient`](HvpRoute::gradient) is that of this call if `request` is at least [`Request::Gradient`], and
///    [`value`](HvpRoute::value) if it is [`Request::Value`]; `hold` leaves both. They are not asked for otherwise.
/// 5. `hold` and `held` are called for the route of [`SamePoint`](HvpRoute::SamePoint), with one state: `held` follows a successful `hold` of it or of the state that it
///    is a clone of, with the same function, contexts and point, any number of times.
/// 6. A preparation runs `products` or `held` to size the memory; with tangents without zeros, or all of a Hessian, where
///    [`memory_follows_tangents`](HvpRoute::memory_follows_tangents) returns `true`. Calls after it allocate nothing.
/// 7. After an error or a panic of the function the state is used again.
pub trait HvpRoute<O: Backend, I: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// The lanes of a Hessian.
    type Lanes: Lanes;
    /// The number type that the function runs on.
    type Num<S: Scalar, L: Lanes>: Scalar<Base = S::Base>;
    /// Work memory of calls.
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    /// The route of `second_derivative`.
    type SecondDerivative: SecondDerivativeRoute<O, I>;
    /// The backend used for products at a fixed point: the same pair, unless it cannot keep the linearisation and another one can.
    type SamePoint: SecondOrderBackend;

    /// Makes that backend.
    fn same_point(pair: &(O, I)) -> Self::SamePoint;
    /// Makes an empty state, or returns an error for points of length `inputs` with `seeds` tangents.
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error>;

    /// Whether the products of a seed are a row of the matrix, or a column.
    fn seeds_are_rows(pair: &(O, I)) -> bool;
    /// Whether the memory of a call depends on the tangents: a tangent with zeros leaves fewer entries on a tape. Preparations then
    /// run all tangents of a Hessian, or dense ones.
    fn memory_follows_tangents(_pair: &(O, I)) -> bool {
        false
    }
    /// The gradient that the last call left.
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S];
    /// The value that the last call left.
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S;

    /// Fills the products at `x`, and leaves what `request` names in the state.
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Does the part of the work that depends on the point alone, and leaves value and gradient in the state.
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error>;

    /// Fills the products at the point `x` of the last [`hold`](HvpRoute::hold).
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// The number of seeds that are propagated together in a call with `seeds` seeds; see
    /// [`PushforwardPrimitive::seeds_per_pass`](crate::backend::PushforwardPrimitive::seeds_per_pass). By default all: to divide them saves
    /// no work.
    fn seeds_per_pass<L: Lanes>(_pair: &(O, I), seeds: usize) -> usize {
        seeds.max(1)
    }

    /// Called with `true` at the end of a preparation by an operator that lets the same calls be computed in another way where they repeat, and
    /// with `false` before another one. A state without this call computes all calls in one way.
    fn adapt<S: Scalar, L: Lanes>(_pair: &(O, I), _state: &mut Self::State<S, L>, _adapts: bool) {}

    /// Fills entries of the Hessian at `x`, and leaves what `request` names in the state. Returns `false` if products are cheaper. All
    /// calls with one state request the same entries.
    fn entries<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        _pair: &(O, I),
        _state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        _entries: EntryRequest<'_, S>,
        _request: Request,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}
