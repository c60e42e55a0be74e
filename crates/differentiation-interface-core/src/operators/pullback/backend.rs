//! The backend trait of `pullback`, and its implementation by every [`Backend`].
//!
//! Called by the operator; calls the backend's `type Pullback` route.

use crate::backend::{Backend, PullbackRoute, Rows, Seeds};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage, handed};
use crate::fault;
use crate::operators::NumOf;
use crate::operators::call::Evaluation;
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The number type of `pullback` with a single backend.
type CotangentNum<B, X> = NumOf<B, X, <B as Backend>::Lanes>;

/// What `pullback` accepts as its backend for the function `F` at points of shape `X` with contexts `C`.
///
/// # For users
/// Every [`Backend`] implements this trait for every function that runs on its numbers.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `record` and `products` at the same point, in this
///    order, any number of times each. It checks the length of the point first, and after `record` that the cotangents are as long as
///    `value`.
/// 2. `record` and `products` do not allocate after `prepare`.
/// 3. `value` is `f(x)` of the last `record`. Entries `k·n` to `(k + 1)·n` of `rows` are Jᵀ·dy of cotangent `k` of the last call of `products`,
///    where `n` is the number of inputs.
/// 4. Where `at_once` returns `true`, it has done what `record` and `products` do; the operator has not compared the length of the cotangents with
///    that of `value`.
/// 5. `products` runs the function only if the engine cannot avoid it, so that one `record` is enough for many cotangents.
/// 6. After an error the state stays usable. A clone of a state holds what the original holds, a recording included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `pullback` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only, `AutoSparse` with `jacobian` and `hessian`"
)]
pub trait PullbackBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](PullbackBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state for points of the length of `x`, without evaluating the function.
    ///
    /// # Errors
    /// Where the backend refuses such points.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Prepares the state for points of the length of `x`, which may have changed. The operator then calls `record` and `products`,
    /// which size the remaining memory.
    ///
    /// # Errors
    /// Where the backend refuses such points.
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, x: At<'_, P>) -> Result<(), Error>;
    /// Evaluates the function at `x` and keeps what [`products`](Self::products) needs.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn record<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Computes the products at the point `x` of the last [`record`](Self::record).
    ///
    /// # Errors
    /// Those of [`record`](Self::record).
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        cotangents: &[&[X::Scalar]],
    ) -> Result<(), Error>;
    /// Does both in one run, if the backend can; see [`PullbackPrimitive::at_once`](crate::backend::PullbackPrimitive::at_once).
    fn at_once<P: Point<Shape = X, Contexts = C>>(
        &self,
        _state: &mut Self::State,
        _f: &F,
        _x: At<'_, P>,
        _cotangents: &[&[X::Scalar]],
    ) -> bool {
        false
    }
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
    /// The value that the last [`record`](Self::record) left.
    fn value(state: &Self::State) -> &[X::Scalar];
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
    /// The products that the last call left, one row per cotangent.
    fn rows(state: &Self::State) -> &[X::Scalar];
}

/// State of pullbacks by a single backend.
pub struct PullbackWork<B: Backend, X: Shape, C: Contexts, K> {
    state: <B::Pullback as PullbackRoute<B>>::State<X::Scalar, B::Lanes>,
    storage: Storage<X, C, CotangentNum<B, X>>,
    kept: K,
    evaluation: Evaluation<CotangentNum<B, X>>,
    y: Vec<X::Scalar>,
    /// The products, one row per cotangent.
    dx: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts, K: Clone> Clone for PullbackWork<B, X, C, K> {
    fn clone(&self) -> Self {
        PullbackWork {
            state: self.state.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            evaluation: self.evaluation.clone(),
            y: self.y.clone(),
            dx: self.dx.clone(),
        }
    }
}

impl<B: Backend, X: Shape, C: Contexts, K> Reports for PullbackWork<B, X, C, K>
where
    State<B, X::Scalar>: Reports,
{
    type Report = <State<B, X::Scalar> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.state.report()
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: impl Into<Error>) -> Error {
    error.into().during("pullback", B::NAME)
}

/// State of the route.
type State<B, S> = <<B as Backend>::Pullback as PullbackRoute<B>>::State<S, <B as Backend>::Lanes>;

/// Records by the route for [`sweep`], and leaves the value.
#[inline]
fn record<B: Backend, S: Scalar, F: Flat<B::Num<S, B::Lanes>>>(
    backend: &B,
    state: &mut State<B, S>,
    f: &mut F,
    x: &[S],
    y: &mut Vec<S>,
) -> Result<(), Error> {
    fault::Watch::begin().end(B::Pullback::record(backend, state, f, x, y)).map_err(named::<B>)
}

/// Computes the products by the route at the point of the last [`record`].
#[inline]
fn sweep<B: Backend, S: Scalar, F: Flat<B::Num<S, B::Lanes>>>(
    backend: &B,
    state: &mut State<B, S>,
    f: &mut F,
    cotangents: &[&[S]],
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin()
        .end(B::Pullback::sweep(backend, state, f, Seeds::Vectors(cotangents), rows))
        .map_err(named::<B>)
}

impl<B, F, X, C> PullbackBackend<F, X, C> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, CotangentNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = CotangentNum<B, X>;
    type Output = F::Output;
    type State = PullbackWork<B, X, C, KeptBy<F, X, C, CotangentNum<B, X>>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(PullbackWork {
            state: B::Pullback::state(self, x.coordinates().len()).map_err(named::<B>)?,
            storage: Storage::new(x),
            kept: Default::default(),
            evaluation: Evaluation::new(),
            y: Vec::new(),
            dx: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, x: At<'_, P>) -> Result<(), Error> {
        let fresh = B::Pullback::state(self, x.coordinates().len()).map_err(named::<B>)?;
        if self.recordings().is_some() {
            state.state = fresh;
        }
        Ok(())
    }
    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        B::Pullback::adapt(self, &mut state.state, adapts);
    }
    fn record<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
        record(self, &mut state.state, &mut handed(&mut f), x.coordinates(), &mut state.y)?;
        f.settle(x.coordinates()).map_err(named::<B>)
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        cotangents: &[&[X::Scalar]],
    ) -> Result<(), Error> {
        let mut f = Bound::again(f, x, &mut state.storage, &mut state.kept);
        let rows = Rows::growing(&mut state.dx, x.coordinates().len());
        sweep(self, &mut state.state, &mut handed(&mut f), cotangents, rows)
    }
    #[inline]
    fn at_once<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        cotangents: &[&[X::Scalar]],
    ) -> bool {
        let mut f = Bound::new(f, x, &mut state.storage, &mut state.kept);
        let (seeds, rows) = (Seeds::Vectors(cotangents), Rows::growing(&mut state.dx, x.coordinates().len()));
        let x = x.coordinates();
        // An error is found again by the call that records.
        B::Pullback::at_once(self, &mut state.state, &mut handed(&mut f), x, seeds, &mut state.y, rows)
            && f.settle(x).is_ok()
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
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, CotangentNum<B, X>> {
        &state.kept
    }
    fn rows(state: &Self::State) -> &[X::Scalar] {
        &state.dx
    }
}
