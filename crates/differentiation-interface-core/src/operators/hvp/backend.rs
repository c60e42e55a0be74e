//! The backend traits of `hvp`, for varying points and for a fixed one, and their implementation by every [`SecondOrderBackend`].
//!
//! Called by the operator; calls the `type Hvp` route, with one lane per tangent.

use crate::backend::{Backend, HvpRoute, Lane, Request, Rows, SecondOrderBackend, Seeds};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, NumberOutput, Storage, handed};
use crate::fault;
use crate::operators::call::Evaluation;
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The number type of `hvp` with `T` tangents.
type TangentNum<B, X, const T: usize> = <<B as SecondOrderBackend>::Hvp as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::Num<<X as Shape>::Scalar, Lane<T>>;
/// The backend of products at a fixed point.
type SamePoint<B> = <<B as SecondOrderBackend>::Hvp as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::SamePoint;
/// What `hvp` with `T` tangents accepts as its backend for the function `F` at points of shape `X` with contexts `C`.
///
/// # For users
/// Every backend and every [`SecondOrder`](crate::backend::SecondOrder) of two implements this trait for every function that runs on its numbers.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `products` any number of times. It checks the lengths
///    of the point and of the tangents.
/// 2. `products` and `copy_product` do not allocate after `prepare`.
/// 3. `copy_product(k)` writes H·v of tangent `k` of the last call, as long as the point. `gradient` and `value` are those of the last
///    call that requested them.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `hvp` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., and `SecondOrder(outer, inner)` of two, neither of them a `SecondOrder` itself"
)]
pub trait HvpBackend<F, X: Shape, C: Contexts, const T: usize>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// What calls need beyond the arguments.
    type State: Clone + Send;

    /// Makes a state for points of the length of `x`, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses such points.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Does the one-time work at `x`, whose length may have changed.
    ///
    /// # Errors
    /// Those of [`products`](Self::products).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error>;
    /// Computes the products at `x`, and keeps what `request` names.
    ///
    /// # Errors
    /// Whatever keeps the backend from differentiating.
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        request: Request,
    ) -> Result<(), Error>;
    /// Writes the product of the only tangent, `T` = 1, to `out`, which has the length of the point.
    ///
    /// # Errors
    /// Those of [`products`](Self::products).
    #[inline]
    fn product<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        out: &mut [X::Scalar],
    ) -> Result<(), Error> {
        self.products(state, f, x, tangents, Request::Products)?;
        Self::copy_product(state, 0, out);
        Ok(())
    }
    /// Writes product `k` of the last call into `out`.
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]);
    /// The gradient that the last call left.
    fn gradient(state: &Self::State) -> &[X::Scalar];
    /// Called by the operator with `true` at the end of a preparation and with `false` at its beginning: in between, calls that repeat may be
    /// computed in a different way than the first ones.
    fn adapt(&self, _state: &mut Self::State, _adapts: bool) {}
    /// Writes `f(x)` to `y`, without derivatives.
    ///
    /// # Errors
    /// If the function cannot be evaluated.
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base;
    /// The value that the last call left.
    fn value(state: &Self::State) -> X::Scalar;
}

/// What `prepare_hvp_same_point` accepts as its backend: it keeps the part of the work that depends on the point alone.
///
/// # For users
/// Every [`HvpBackend`] of this crate implements this trait.
///
/// # For backend authors
/// 1. The operator calls `hold` once, which leaves value and gradient, and then `held` with tangents as long as the point.
/// 2. `held` differentiates at the point `x` of `hold`; after its first call it does not allocate.
/// 3. `copy_product`, `gradient` and `value` are as in [`HvpBackend`]. A clone of a state holds what the original holds, the point included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for `hvp` at a fixed point of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., and `SecondOrder(outer, inner)` of two, neither of them a `SecondOrder` itself"
)]
pub trait HvpSamePointBackend<F, X: Shape, C: Contexts, const T: usize>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// What calls need beyond the arguments.
    type State: Clone + Send;

    /// Does the part of the work that depends on `x` alone.
    ///
    /// # Errors
    /// Whatever keeps the backend from differentiating.
    fn hold<P: Point<Shape = X, Contexts = C>>(&self, f: &F, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Computes the products at the point `x` of [`hold`](Self::hold).
    ///
    /// # Errors
    /// Those of [`hold`](Self::hold).
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error>;
    /// Sizes the memory of [`held`](Self::held) by one call with tangents of this shape.
    ///
    /// # Errors
    /// Those of [`held`](Self::held).
    fn prepare_held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        self.held(state, f, x, tangents)
    }
    /// Writes product `k` of the last call into `out`.
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]);
    /// The gradient at the point.
    fn gradient(state: &Self::State) -> &[X::Scalar];
    /// The value at the point.
    fn value(state: &Self::State) -> X::Scalar;
}

/// State of Hessian-vector products by two backends.
pub struct HvpWork<B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> {
    pair: (B::Outer, B::Inner),
    state: <B::Hvp as HvpRoute<B::Outer, B::Inner>>::State<X::Scalar, Lane<T>>,
    storage: Storage<X, C, TangentNum<B, X, T>>,
    products: Vec<X::Scalar>,
    evaluation: Evaluation<TangentNum<B, X, T>>,
}

impl<B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> Clone for HvpWork<B, X, T, C> {
    fn clone(&self) -> Self {
        HvpWork {
            pair: self.pair.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            products: self.products.clone(),
            evaluation: self.evaluation.clone(),
        }
    }
}

impl<B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> Reports for HvpWork<B, X, T, C>
where
    State<B, X::Scalar, T>: Reports,
{
    type Report = <State<B, X::Scalar, T> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.state.report()
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("hvp", B::NAME)
}

/// The two backends of a pair.
type Pair<B> = (<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner);
/// The route of a pair.
type Route<B> = <B as SecondOrderBackend>::Hvp;
/// State of the route for `T` tangents.
type State<B, S, const T: usize> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::State<S, Lane<T>>;
/// Number of the route for `T` tangents.
type Number<B, S, const T: usize> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Num<S, Lane<T>>;

/// Computes the products by the route.
#[inline]
fn products<B: SecondOrderBackend, S: Scalar, F: Flat<Number<B, S, T>>, const T: usize>(
    pair: &Pair<B>,
    state: &mut State<B, S, T>,
    f: &mut F,
    x: &[S],
    tangents: &[&[S]; T],
    want: Request,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin()
        .end(B::Hvp::products(pair, state, f, x, Seeds::Vectors(tangents), want, rows))
        .map_err(named::<B>)
}

/// Does by the route the part of the work that depends on `x` alone.
fn hold<B: SecondOrderBackend, S: Scalar, F: Flat<Number<B, S, T>>, const T: usize>(
    pair: &Pair<B>,
    state: &mut State<B, S, T>,
    f: &mut F,
    x: &[S],
) -> Result<(), Error> {
    fault::Watch::begin().end(B::Hvp::hold(pair, state, f, x)).map_err(named::<B>)
}

/// Computes the products by the route at the point of the last [`hold`].
#[inline]
fn held<B: SecondOrderBackend, S: Scalar, F: Flat<Number<B, S, T>>, const T: usize>(
    pair: &Pair<B>,
    state: &mut State<B, S, T>,
    f: &mut F,
    x: &[S],
    tangents: &[&[S]; T],
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin().end(B::Hvp::held(pair, state, f, x, Seeds::Vectors(tangents), rows)).map_err(named::<B>)
}

/// A tangent without zeros, for routes whose memory depends on the tangents.
fn dense_tangent<B: SecondOrderBackend, S: Scalar>(pair: &(B::Outer, B::Inner), inputs: usize) -> Vec<S> {
    if B::Hvp::memory_follows_tangents(pair) { vec![S::constant(S::Base::ONE); inputs] } else { Vec::new() }
}

/// The tangents to size memory with: the given ones, or dense ones if their length matches.
fn sizing_tangents<'a, S, const T: usize>(given: &[&'a [S]; T], dense: &'a [S]) -> [&'a [S]; T] {
    given.map(|tangent| if tangent.len() == dense.len() { dense } else { tangent })
}

impl<B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> HvpWork<B, X, T, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(backend: &B, x: At<'_, P>) -> Result<Self, Error> {
        let pair = backend.pair();
        Ok(HvpWork {
            state: B::Hvp::state(&pair, x.coordinates().len(), T).map_err(named::<B>)?,
            pair,
            storage: Storage::new(x),
            products: Vec::new(),
            evaluation: Evaluation::new(),
        })
    }

    /// Checks that the backends accept points of this length, and makes a new state if the old one has recordings.
    fn accept(&mut self, inputs: usize) -> Result<(), Error> {
        let state = B::Hvp::state(&self.pair, inputs, T).map_err(named::<B>)?;
        if self.pair.0.recordings().is_some() || self.pair.1.recordings().is_some() {
            self.state = state;
        }
        Ok(())
    }

    fn products<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        request: Request,
        out: Option<&mut [X::Scalar]>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, TangentNum<B, X, T>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let flat = x.coordinates();
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        let columns = if B::Hvp::seeds_are_rows(&self.pair) { flat.len() } else { T };
        let rows = match out {
            None => Rows::growing(&mut self.products, columns),
            Some(out) => Rows::fixed(out, columns),
        };
        products::<B, _, _, T>(&self.pair, &mut self.state, &mut handed(&mut f), flat, tangents, request, rows)
    }

    fn hold<F, P>(&mut self, f: &F, x: At<'_, P>) -> Result<(), Error>
    where
        F: Evaluate<X, C, TangentNum<B, X, T>>,
        P: Point<Shape = X, Contexts = C>,
    {
        self.accept(x.coordinates().len())?;
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        hold::<B, _, _, T>(&self.pair, &mut self.state, &mut handed(&mut f), x.coordinates())
    }

    fn held<F, P>(&mut self, f: &F, x: At<'_, P>, tangents: &[&[X::Scalar]; T]) -> Result<(), Error>
    where
        F: Evaluate<X, C, TangentNum<B, X, T>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let flat = x.coordinates();
        let mut kept = Default::default();
        let mut f = Bound::again(f, x, &mut self.storage, &mut kept);
        let columns = if B::Hvp::seeds_are_rows(&self.pair) { flat.len() } else { T };
        let rows = Rows::growing(&mut self.products, columns);
        held::<B, _, _, T>(&self.pair, &mut self.state, &mut handed(&mut f), flat, tangents, rows)
    }

    /// Writes product `k`, a row or a column of the route's matrix.
    fn copy_product(&self, k: usize, out: &mut [X::Scalar]) {
        let (start, step) = if B::Hvp::seeds_are_rows(&self.pair) { (k * out.len(), 1) } else { (k, T) };
        for (entry, value) in out.iter_mut().zip(self.products.iter().skip(start).step_by(step)) {
            *entry = *value;
        }
    }
}

impl<B, F, X, C, const T: usize> HvpBackend<F, X, C, T> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, TangentNum<B, X, T>>,
    F::Output: NumberOutput<TangentNum<B, X, T>>,
{
    const BACKEND: &'static str = B::NAME;
    type State = HvpWork<B, X, T, C>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        HvpWork::new(self, x)
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        let inputs = x.coordinates().len();
        state.accept(inputs)?;
        let dense = dense_tangent::<B, _>(&state.pair, inputs);
        state.products(f, x, &sizing_tangents(tangents, &dense), Request::Value, None)
    }
    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        B::Hvp::adapt(&state.pair, &mut state.state, adapts);
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        request: Request,
    ) -> Result<(), Error> {
        state.products(f, x, tangents, request, None)
    }
    #[inline]
    fn product<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        out: &mut [X::Scalar],
    ) -> Result<(), Error> {
        // One row and one column have the same memory.
        state.products(f, x, tangents, Request::Products, Some(out))
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut state.storage, &mut kept);
        state.evaluation.run(&mut f, x.coordinates(), y).map_err(named::<B>)
    }
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]) {
        state.copy_product(k, out);
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        B::Hvp::gradient(&state.state)
    }
    fn value(state: &Self::State) -> X::Scalar {
        B::Hvp::value(&state.state)
    }
}

impl<B, F, X, C, const T: usize> HvpSamePointBackend<F, X, C, T> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, TangentNum<SamePoint<B>, X, T>>,
    F::Output: NumberOutput<TangentNum<SamePoint<B>, X, T>>,
{
    const BACKEND: &'static str = B::NAME;
    type State = HvpWork<SamePoint<B>, X, T, C>;

    fn hold<P: Point<Shape = X, Contexts = C>>(&self, f: &F, x: At<'_, P>) -> Result<Self::State, Error> {
        // Errors name `SamePoint<B>`, and the caller chose `B`.
        let mut state = HvpWork::new(&B::Hvp::same_point(&self.pair()), x).map_err(named::<B>)?;
        state.hold(f, x).map_err(named::<B>)?;
        Ok(state)
    }
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        state.held(f, x, tangents).map_err(named::<B>)
    }
    fn prepare_held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        let dense = dense_tangent::<SamePoint<B>, _>(&state.pair, x.coordinates().len());
        state.held(f, x, &sizing_tangents(tangents, &dense)).map_err(named::<B>)
    }
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]) {
        state.copy_product(k, out);
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        <SamePoint<B> as SecondOrderBackend>::Hvp::gradient(&state.state)
    }
    fn value(state: &Self::State) -> X::Scalar {
        <SamePoint<B> as SecondOrderBackend>::Hvp::value(&state.state)
    }
}
