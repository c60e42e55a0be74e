//! What serves `second_derivative`: [`SecondDerivativeBackend`], which two backends implement through the
//! [`SecondDerivativeRoute`] of their pair.
//!
//! Called by the operator beside it.

use crate::backend::{HvpRoute, Rows, SecondDerivativeRoute, SecondOrderBackend};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, KeptBy, Output, Storage, handed};
use crate::operators::call::{Evaluation, has_storage};
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The route of `second_derivative` with two backends.
type Route<B> = <<B as SecondOrderBackend>::Hvp as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::SecondDerivative;
/// The number type of that route.
type Twice<B, X> = <Route<B> as SecondDerivativeRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::Num<<X as Shape>::Scalar>;
/// The work memory of that route.
type RouteState<B, X> = <Route<B> as SecondDerivativeRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::State<<X as Shape>::Scalar>;

/// What `second_derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C`.
///
/// # For users
/// Every backend and every [`SecondOrder`](crate::backend::SecondOrder) of two implements this trait for every function that runs on its numbers.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `second_derivative` or `fill` any number of times.
/// 2. `fill` writes every entry of `der2`, or refuses a buffer that is not as long as the output. Calls do not allocate after `prepare`.
/// 3. `value` and `derivative` are those of the last call with `with_value`.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `second_derivative` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., and `SecondOrder(outer, inner)` of two, neither of them a `SecondOrder` itself"
)]
pub trait SecondDerivativeBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](SecondDerivativeBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Does the one-time work at `x`.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Computes the second derivative at `x` for [`last`](Self::last), and keeps value and derivative if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>;
    /// The second derivative that the last call of [`second_derivative`](Self::second_derivative) left, one entry per output.
    fn last(state: &Self::State) -> &[X::Scalar];
    /// Writes the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength), and those of [`second_derivative`](Self::second_derivative).
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error>;
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
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
    /// The derivative that the last call left.
    fn derivative(state: &Self::State) -> &[X::Scalar];
    /// Writes value, derivative and second derivative at `x` without a state. Returns `false` if the engine needs a state or the result
    /// would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, _f: &F, _x: At<'_, P>, _all: [&mut [X::Scalar]; 3]) -> bool {
        false
    }
}

/// State of a second derivative by two backends.
pub struct SecondDerivativeWork<B: SecondOrderBackend, X: Shape, C: Contexts, K> {
    pair: (B::Outer, B::Inner),
    route: RouteState<B, X>,
    storage: Storage<X, C, Twice<B, X>>,
    kept: K,
    evaluation: Evaluation<Twice<B, X>>,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    y: Vec<X::Scalar>,
    der: Vec<X::Scalar>,
    der2: Vec<X::Scalar>,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K: Clone> Clone for SecondDerivativeWork<B, X, C, K> {
    fn clone(&self) -> Self {
        SecondDerivativeWork {
            pair: self.pair.clone(),
            route: self.route.clone(),
            storage: self.storage.clone(),
            kept: self.kept.clone(),
            evaluation: self.evaluation.clone(),
            outputs: self.outputs,
            y: self.y.clone(),
            der: self.der.clone(),
            der2: self.der2.clone(),
        }
    }
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K> Reports for SecondDerivativeWork<B, X, C, K>
where
    RouteState<B, X>: Reports,
{
    type Report = <RouteState<B, X> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.route.report()
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("second_derivative", B::NAME)
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, K> SecondDerivativeWork<B, X, C, K> {
    /// Differentiates at `x` into `buffer`, or into `self.der2` if there is none.
    #[inline]
    fn run<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        buffer: Option<&mut [X::Scalar]>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, Twice<B, X>, Output: Output<Twice<B, X>, Kept = K>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let mut f = Bound::new(f, x, &mut self.storage, &mut self.kept);
        let lower = with_value.then_some([&mut self.y, &mut self.der]);
        let rows = match buffer {
            None => Rows::growing(&mut self.der2, 1),
            Some(buffer) => Rows::fixed(buffer, 1),
        };
        let rows = rows.expecting(self.outputs);
        let x = x.coordinates();
        Route::<B>::fill(&self.pair, &mut self.route, &mut handed(&mut f), x, self.outputs, lower, rows)
            .map_err(named::<B>)?;
        f.settle(x).map_err(named::<B>)
    }
}

impl<B, F, X, C> SecondDerivativeBackend<F, X, C> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Twice<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = Twice<B, X>;
    type Output = F::Output;
    type State = SecondDerivativeWork<B, X, C, KeptBy<F, X, C, Twice<B, X>>>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let pair = self.pair();
        Ok(SecondDerivativeWork {
            route: Route::<B>::state(&pair).map_err(named::<B>)?,
            pair,
            storage: Storage::new(x),
            kept: Default::default(),
            evaluation: Evaluation::new(),
            outputs: None,
            y: Vec::new(),
            der: Vec::new(),
            der2: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.outputs = None;
        Route::<B>::restart::<X::Scalar>(&mut state.route);
        state.run(f, x, true, None)?;
        Route::<B>::restart::<X::Scalar>(&mut state.route);
        state.outputs = Some(state.y.len());
        Ok(())
    }
    #[inline]
    fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error> {
        state.run(f, x, with_value, None)
    }
    #[inline]
    fn last(state: &Self::State) -> &[X::Scalar] {
        &state.der2
    }
    #[inline]
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Twice<B, X>> {
        &state.kept
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error> {
        state.run(f, x, false, Some(der2))
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
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    #[inline]
    fn derivative(state: &Self::State) -> &[X::Scalar] {
        &state.der
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, f: &F, x: At<'_, P>, all: [&mut [X::Scalar]; 3]) -> bool {
        if const { !Route::<B>::ON_STACK || F::FIXED.is_none() || has_storage::<X, C, Twice<B, X>>() } {
            return false;
        }
        let (mut storage, mut kept) = (Storage::new(x), Default::default());
        let mut f = Bound::new(f, x, &mut storage, &mut kept);
        Route::<B>::on_stack::<_, F::Output, _>(&self.pair(), &mut f, x.coordinates(), all)
    }
}
