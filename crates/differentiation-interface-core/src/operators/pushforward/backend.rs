//! The backend trait of `pushforward`, and its implementation by every [`Backend`].
//!
//! Called by the operator; calls the backend's `type Pushforward` route, with one lane per tangent.

use crate::backend::{Backend, Lane, PushforwardRoute, Rows, Seeds};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage, handed};
use crate::fault;
use crate::operators::NumOf;
use crate::operators::call::Evaluation;
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The number type of `pushforward` with `T` tangents and a single backend.
type TangentNum<B, X, const T: usize> = NumOf<B, X, Lane<T>>;

/// What `pushforward` with `T` tangents accepts as its backend for the function `F` at points of shape `X` with contexts `C`.
///
/// # For users
/// Every [`Backend`] implements this trait for every function that runs on its numbers.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `products` any number of times; or `hold` once and
///    then `held`. It checks the lengths of the point and of the tangents.
/// 2. `products`, `held` and `product` do not allocate after `prepare`, or after `hold` and the first `held`.
/// 3. `value` is `f(x)` of the last call with `with_value`, or of `hold`. `product(k)` is J·dx of tangent `k` of the last call, one
///    entry per output.
/// 4. `held` differentiates at the point `x` of the last `hold`, and runs the function only if the engine cannot avoid it.
/// 5. After an error the state stays usable. A clone of a state holds what the original holds, a held point included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `pushforward` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only, `AutoSparse` with `jacobian` and `hessian`"
)]
pub trait PushforwardBackend<F, X: Shape, C: Contexts, const T: usize>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](PushforwardBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
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
    /// Computes the products at `x`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        with_value: bool,
    ) -> Result<(), Error>;
    /// Does the part of the work that depends on `x` alone, and keeps it for [`held`](Self::held).
    ///
    /// # Errors
    /// Those of [`products`](Self::products).
    fn hold<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Computes the products at the point `x` of the last [`hold`](Self::hold).
    ///
    /// # Errors
    /// Those of [`products`](Self::products).
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error>;
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
    fn value(state: &Self::State) -> &[X::Scalar];
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
    /// Product `k` of the last call, and what [`kept`](Self::kept) returns.
    fn product(state: &mut Self::State, k: usize) -> (&[X::Scalar], &<Self::Output as Output<Self::Num>>::Kept);
}

/// State of pushforwards by a single backend.
pub struct PushforwardWork<B: Backend, X: Shape, const T: usize, C: Contexts, K> {
    state: <B::Pushforward as PushforwardRoute<B>>::State<X::Scalar, Lane<T>>,
    storage: Storage<X, C, TangentNum<B, X, T>>,
    kept: K,
    evaluation: Evaluation<TangentNum<B, X, T>>,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    y: Vec<X::Scalar>,
    /// The products, one column per tangent.
    dy: Vec<X::Scalar>,
    /// One column.
    column: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, const T: usize, C: Contexts, K: Clone> Clone for PushforwardWork<B, X, T, C, K> {
    fn clone(&self) -> Self {
        PushforwardWork {
            state: self.state.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            evaluation: self.evaluation.clone(),
            outputs: self.outputs,
            y: self.y.clone(),
            dy: self.dy.clone(),
            column: self.column.clone(),
        }
    }
}

impl<B: Backend, X: Shape, const T: usize, C: Contexts, K> PushforwardWork<B, X, T, C, K> {
    /// The state of the route, for what an engine reports of the last call.
    pub fn route_state(&self) -> &State<B, X::Scalar, T> {
        &self.state
    }

    /// Checks that the backend accepts points of this length, and makes a new state if the old one has recordings.
    fn accept(&mut self, backend: &B, inputs: usize) -> Result<(), Error> {
        let state = B::Pushforward::state(backend, inputs, T).map_err(named::<B>)?;
        if backend.recordings().is_some() {
            self.state = state;
        }
        self.outputs = None;
        Ok(())
    }
}

impl<B: Backend, X: Shape, const T: usize, C: Contexts, K> Reports for PushforwardWork<B, X, T, C, K>
where
    State<B, X::Scalar, T>: Reports,
{
    type Report = <State<B, X::Scalar, T> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.state.report()
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: impl Into<Error>) -> Error {
    error.into().during("pushforward", B::NAME)
}

/// State of the route for `T` tangents.
type State<B, S, const T: usize> = <<B as Backend>::Pushforward as PushforwardRoute<B>>::State<S, Lane<T>>;

/// Computes the products by the route, and the value if a buffer is given.
#[inline]
fn products<B: Backend, S: Scalar, F: Flat<B::Num<S, Lane<T>>>, const T: usize>(
    backend: &B,
    state: &mut State<B, S, T>,
    f: &mut F,
    x: &[S],
    tangents: &[&[S]; T],
    y: Option<&mut Vec<S>>,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin()
        .end(B::Pushforward::pushforward(backend, state, f, x, Seeds::Vectors(tangents), y, rows))
        .map_err(named::<B>)
}

/// Does by the route the part of the work that depends on `x` alone, and leaves the value.
fn hold<B: Backend, S: Scalar, F: Flat<B::Num<S, Lane<T>>>, const T: usize>(
    backend: &B,
    state: &mut State<B, S, T>,
    f: &mut F,
    x: &[S],
    y: &mut Vec<S>,
) -> Result<(), Error> {
    fault::Watch::begin().end(B::Pushforward::hold(backend, state, f, x, y)).map_err(named::<B>)
}

/// Computes the products by the route at the point of the last [`hold`].
#[inline]
fn held<B: Backend, S: Scalar, F: Flat<B::Num<S, Lane<T>>>, const T: usize>(
    backend: &B,
    state: &mut State<B, S, T>,
    f: &mut F,
    tangents: &[&[S]; T],
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin()
        .end(B::Pushforward::held(backend, state, f, Seeds::Vectors(tangents), rows))
        .map_err(named::<B>)
}

impl<B, F, X, C, const T: usize> PushforwardBackend<F, X, C, T> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, TangentNum<B, X, T>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = TangentNum<B, X, T>;
    type Output = F::Output;
    type State = PushforwardWork<B, X, T, C, KeptBy<F, X, C, TangentNum<B, X, T>>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(PushforwardWork {
            state: B::Pushforward::state(self, x.coordinates().len(), T).map_err(named::<B>)?,
            storage: Storage::new(x),
            kept: Default::default(),
            evaluation: Evaluation::new(),
            outputs: None,
            y: Vec::new(),
            dy: Vec::new(),
            column: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        state.accept(self, x.coordinates().len())?;
        <Self as PushforwardBackend<F, X, C, T>>::products(self, state, f, x, tangents, true)?;
        state.outputs = Some(state.y.len());
        state.column.clone_from(&state.y);
        Ok(())
    }
    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        B::Pushforward::adapt(self, &mut state.state, adapts);
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        with_value: bool,
    ) -> Result<(), Error> {
        let PushforwardWork { state, storage, kept, outputs, y, dy, .. } = state;
        let mut f = Bound::new(f, x, storage, kept);
        let y = if with_value { Some(y) } else { None };
        let rows = Rows::growing(dy, T).expecting(*outputs);
        products(self, state, &mut handed(&mut f), x.coordinates(), tangents, y, rows)?;
        f.settle(x.coordinates()).map_err(named::<B>)
    }
    fn hold<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.accept(self, x.coordinates().len())?;
        let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
        hold(self, &mut state.state, &mut handed(&mut f), x.coordinates(), &mut state.y)?;
        f.settle(x.coordinates()).map_err(named::<B>)?;
        state.column.clone_from(&state.y);
        Ok(())
    }
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        let mut f = Bound::again(f, x, &mut state.storage, &mut state.kept);
        held(self, &mut state.state, &mut handed(&mut f), tangents, Rows::growing(&mut state.dy, T))
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
        let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
        state.evaluation.run(&mut f, x.coordinates(), y).map_err(named::<B>)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, TangentNum<B, X, T>> {
        &state.kept
    }
    fn product(state: &mut Self::State, k: usize) -> (&[X::Scalar], &KeptBy<F, X, C, TangentNum<B, X, T>>) {
        if T == 1 {
            return (&state.dy, &state.kept);
        }
        state.column.clear();
        state.column.extend(state.dy.iter().skip(k).step_by(T));
        (&state.column, &state.kept)
    }
}
