//! The backend trait of `hessian`, and its implementation by every pair of backends.
//!
//! Called by the operator; calls the routes of second order.

use crate::backend::{Backend, EntryRequest, HvpRoute, Lanes, Request, Rows, SecondOrderBackend, Seeds};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat, NumberOutput, Storage, handed};
use crate::fault;
use crate::matrix::{DerivativeMatrix, Matrix};
use crate::operators::call::Evaluation;
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

type Route<B> = <B as SecondOrderBackend>::Hvp;
type RouteLanes<B> = <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Lanes;
/// The number type of `hessian`.
type HessianNum<B, X> = RouteNum<B, X, RouteLanes<B>>;
/// The same with other lanes.
type RouteNum<B, X, L> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Num<
        <X as Shape>::Scalar,
        L,
    >;

/// What `hessian` accepts as its backend: a [`SecondOrderBackend`], which returns a dense [`Matrix`], or a wrapper such as
/// `AutoSparse`, which returns a matrix of its own type.
///
/// # For users
/// Every backend implements this trait.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `matrix` or `fill` any number of times.
/// 2. `fill` must not allocate after `prepare`. The operator checks that the point has the length of the last `prepare` or `unprepared`;
///    the implementation checks the size of the matrix.
/// 3. `evaluate` writes `f(x)`, without derivatives. `value` and `gradient` are those of the last call that requested them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `hessian` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., `SecondOrder(outer, inner)` of two, and `AutoSparse` of these",
    note = "`AutoSparse` runs the function on several number types, a closure has one: put `#[differentiable]` on the `fn` and pass the object it makes, or implement `Function` for a type of your own"
)]
pub trait HessianBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The result.
    type Matrix: DerivativeMatrix<X::Scalar>;
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
    /// Those of [`matrix`](Self::matrix).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Returns the Hessian at `x`, and keeps what `request` names.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<Self::Matrix, Error>;
    /// Writes the Hessian at `x` into `hess`, and keeps what `request` names.
    ///
    /// # Errors
    /// Those of [`matrix`](Self::matrix), and [`ErrorKind::BufferSize`] if `hess` has another size.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut Self::Matrix,
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
    fn value(state: &Self::State) -> X::Scalar;
    /// The gradient that the last call left.
    fn gradient(state: &Self::State) -> &[X::Scalar];
}

/// State and work memory of products with the Hessian, several at a time, on numbers with the lanes `L`.
pub struct HessianWork<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes = RouteLanes<B>> {
    pair: (B::Outer, B::Inner),
    state: <B::Hvp as HvpRoute<B::Outer, B::Inner>>::State<X::Scalar, L>,
    storage: Storage<X, C, RouteNum<B, X, L>>,
    evaluation: Evaluation<RouteNum<B, X, L>>,
    inputs: usize,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> Clone for HessianWork<B, X, C, L> {
    fn clone(&self) -> Self {
        HessianWork {
            pair: self.pair.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            evaluation: self.evaluation.clone(),
            inputs: self.inputs,
        }
    }
}

/// The two backends of a pair.
type Pair<B> = (<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner);
/// State of the route.
type State<B, S, L> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::State<S, L>;
/// Number of the route.
type Number<B, S, L> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Num<S, L>;

/// Fills products by the route.
#[inline]
fn products<B: SecondOrderBackend, L: Lanes, S: Scalar, F: Flat<Number<B, S, L>>>(
    pair: &Pair<B>,
    state: &mut State<B, S, L>,
    f: &mut F,
    x: &[S],
    seeds: Seeds<'_, S>,
    want: Request,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::Watch::begin().end(B::Hvp::products(pair, state, f, x, seeds, want, rows)).map_err(named::<B>)
}

/// Fills entries by the route, if the route computes entries directly.
#[inline]
fn entry_values<B: SecondOrderBackend, L: Lanes, S: Scalar, F: Flat<Number<B, S, L>>>(
    pair: &Pair<B>,
    state: &mut State<B, S, L>,
    f: &mut F,
    x: &[S],
    entries: EntryRequest<'_, S>,
    want: Request,
) -> Result<bool, Error> {
    fault::Watch::begin().end(B::Hvp::entries(pair, state, f, x, entries, want)).map_err(named::<B>)
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> Reports for HessianWork<B, X, C, L>
where
    State<B, X::Scalar, L>: Reports,
{
    type Report = <State<B, X::Scalar, L> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.state.report()
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("hessian", B::NAME)
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> HessianWork<B, X, C, L> {
    /// Unprepared work for `seeds` products at a time.
    ///
    /// # Errors
    /// Those of the backends, which may refuse the sizes.
    pub fn new<P: Point<Shape = X, Contexts = C>>(backend: &B, x: At<'_, P>, seeds: usize) -> Result<Self, Error> {
        let pair = backend.pair();
        let inputs = x.coordinates().len();
        Ok(HessianWork {
            state: B::Hvp::state(&pair, inputs, seeds).map_err(named::<B>)?,
            pair,
            storage: Storage::new(x),
            evaluation: Evaluation::new(),
            inputs,
        })
    }

    /// Makes it an error to leave the branch of the first point, see
    /// [`Recordings::held_to_one_branch`](crate::recordings::Recordings::held_to_one_branch). Returns whether this changes the backends.
    pub fn hold_to_one_branch(&mut self) -> bool {
        let (outer, inner) = (self.pair.0.recordings(), self.pair.1.recordings());
        let held = (outer.and_then(|kept| kept.held_to_one_branch), inner.and_then(|kept| kept.held_to_one_branch));
        let changes = held.0.is_some() || held.1.is_some();
        if let Some(outer) = held.0 {
            self.pair.0 = outer;
        }
        if let Some(inner) = held.1 {
            self.pair.1 = inner;
        }
        changes
    }

    /// What is kept for the arguments, for what is valid for some arguments only.
    pub fn storage(&mut self) -> &mut Storage<X, C, RouteNum<B, X, L>> {
        &mut self.storage
    }
    /// Called around a preparation; see [`HvpRoute::adapt`].
    pub fn adapt(&mut self, adapts: bool) {
        B::Hvp::adapt(&self.pair, &mut self.state, adapts);
    }
    /// The state of the route, for what an engine reports of the last call.
    pub fn route_state(&self) -> &State<B, X::Scalar, L> {
        &self.state
    }
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }
    /// The value of the last call that requested it.
    pub fn value(&self) -> X::Scalar {
        B::Hvp::value(&self.state)
    }
    /// The gradient of the last call that requested it.
    pub fn gradient(&self) -> &[X::Scalar] {
        B::Hvp::gradient(&self.state)
    }
    /// Whether the products of a seed are a row of the result, or a column.
    pub fn seeds_are_rows(&self) -> bool {
        B::Hvp::seeds_are_rows(&self.pair)
    }

    /// Fills the products of the Hessian at `x`, a point of the length of [`inputs`](Self::inputs), with the seeds.
    ///
    /// # Errors
    /// Those of the backends.
    pub fn products<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        seeds: Seeds<'_, X::Scalar>,
        request: Request,
        rows: Rows<'_, X::Scalar>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        let mut f = handed(&mut f);
        products::<B, L, _, _>(&self.pair, &mut self.state, &mut f, x.coordinates(), seeds, request, rows)
    }

    /// The number of seeds that are propagated together in a call with `seeds` seeds; see
    /// [`HvpRoute::seeds_per_pass`].
    pub fn seeds_per_pass(&self, seeds: usize) -> usize {
        B::Hvp::seeds_per_pass::<L>(&self.pair, seeds)
    }

    /// Fits the work to a point, for [`fitted_products`](Self::fitted_products).
    pub fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, x: At<'_, P>) {
        self.storage.fit(x);
        self.inputs = x.coordinates().len();
    }

    /// The same as [`products`](Self::products) on a thread without the point, to which this work has been [fitted](Self::fit). The
    /// error does not name the operator.
    ///
    /// # Errors
    /// Those of the backends.
    pub fn fitted_products<F>(
        &mut self,
        f: &F,
        contexts: C::Values<'_>,
        x: &[X::Scalar],
        seeds: Seeds<'_, X::Scalar>,
        request: Request,
        rows: Rows<'_, X::Scalar>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
    {
        let mut kept = Default::default();
        let mut f = Bound::fitted(f, contexts, &mut self.storage, &mut kept);
        let mut f = handed(&mut f);
        fault::Watch::begin().end(B::Hvp::products(&self.pair, &mut self.state, &mut f, x, seeds, request, rows))
    }

    /// Fills entries of the Hessian at `x` without products, if the backends can; else returns `false`, and the caller computes
    /// [`products`](Self::products).
    ///
    /// # Errors
    /// Those of the backends.
    pub fn entries<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        entries: EntryRequest<'_, X::Scalar>,
        request: Request,
    ) -> Result<bool, Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        let mut f = handed(&mut f);
        entry_values::<B, L, _, _>(&self.pair, &mut self.state, &mut f, x.coordinates(), entries, request)
    }

    /// Writes `f(x)` to `y`, without derivatives.
    ///
    /// # Errors
    /// If the function cannot be evaluated.
    pub fn evaluate<F, P>(&mut self, f: &F, x: At<'_, P>, y: &mut Vec<X::Scalar>) -> Result<(), Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
        P: Point<Shape = X, Contexts = C>,
        X::Scalar: Base,
    {
        let mut kept = Default::default();
        let mut f = Bound::new(f, x, &mut self.storage, &mut kept);
        self.evaluation.run(&mut f, x.coordinates(), y).map_err(named::<B>)
    }

    /// Sets the length of the points, with a new state if the old one has recordings.
    ///
    /// # Errors
    /// Those of the backends, which may refuse the length.
    pub fn accept(&mut self, inputs: usize) -> Result<(), Error> {
        let state = B::Hvp::state(&self.pair, inputs, inputs).map_err(named::<B>)?;
        if self.pair.0.recordings().is_some() || self.pair.1.recordings().is_some() {
            self.state = state;
        }
        self.inputs = inputs;
        Ok(())
    }

    /// Sizes all memory for products with `seeds` at `x`.
    ///
    /// # Errors
    /// Those of [`products`](Self::products).
    pub fn prepare<F, P>(&mut self, f: &F, x: At<'_, P>, seeds: Seeds<'_, X::Scalar>) -> Result<(), Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let (inputs, total) = (x.coordinates().len(), seeds.count());
        // One chunk of products sizes all work memory, unless other tangents may need more. The last tangents may be fewer than the others, for
        // which an engine may have a program of its own.
        let chunk = total.min(L::N.max(16));
        let follows = B::Hvp::memory_follows_tangents(&self.pair);
        let last = if follows { total } else { total % self.seeds_per_pass(total).max(1) };
        let mut scratch = Vec::new();
        let mut products = |first: usize, request| {
            let count = chunk.min(total - first);
            let columns = if self.seeds_are_rows() { inputs } else { count };
            self.products(f, x, seeds.part(first, count), request, Rows::growing(&mut scratch, columns))
        };
        products(0, Request::Value)?;
        let rest = chunk.max(total - last)..total;
        rest.step_by(chunk.max(1)).try_for_each(|first| products(first, Request::Products))
    }
}

impl<B, F, X, C> HessianBackend<F, X, C> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, HessianNum<B, X>>,
    F::Output: NumberOutput<HessianNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Matrix = Matrix<X::Scalar>;
    type State = HessianWork<B, X, C>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        HessianWork::new(self, x, x.coordinates().len())
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let (n, mut scratch) = (x.coordinates().len(), Vec::new());
        state.accept(n)?;
        let entries = EntryRequest { pattern: None, values: Rows::growing(&mut scratch, n), products: n };
        if state.entries(f, x, entries, Request::Value)? { Ok(()) } else { state.prepare(f, x, Seeds::all(n)) }
    }
    fn adapt(&self, state: &mut Self::State, adapts: bool) {
        state.adapt(adapts);
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let n = x.coordinates().len();
        let mut hess = Matrix::filled(n, n, X::Scalar::default());
        self.fill(state, f, x, request, &mut hess)?;
        Ok(hess)
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        request: Request,
        hess: &mut Matrix<X::Scalar>,
    ) -> Result<(), Error> {
        // The length of the point, which the operator has checked: a preparation that failed may have left another one in the state.
        let n = x.coordinates().len();
        if hess.size() != (n, n) {
            return Err(named::<B>(ErrorKind::BufferSize { expected: (n, n), found: hess.size() }));
        }
        let entries = EntryRequest { pattern: None, values: hess.rows_to_fill(), products: n };
        if state.entries(f, x, entries, request)? {
            return Ok(());
        }
        state.products(f, x, Seeds::all(n), request, Rows::fixed(hess.as_mut_slice(), n))
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
        state.evaluate(f, x, y)
    }
    fn value(state: &Self::State) -> X::Scalar {
        state.value()
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        state.gradient()
    }
}
