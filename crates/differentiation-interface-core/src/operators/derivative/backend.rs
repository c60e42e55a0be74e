//! What serves `derivative`: [`DerivativeBackend`], which a backend implements through its `type Derivative` route, with one lane.
//!
//! Called by the operator beside it.

use crate::backend::{Backend, Lane, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Evaluate, KeptBy, Output};
use crate::operators::NumOf;
use crate::operators::call::{MatrixWork, on_stack};
use crate::point::{At, Point, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The number type of `derivative` with a single backend.
type One<B, X> = NumOf<B, X, Lane<1>>;

/// What `derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C`.
///
/// # For users
/// Every [`Backend`] implements this trait for every function that runs on its numbers.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `fill` or `derivative` any number of times.
/// 2. `fill` writes every entry of `der`, or refuses a buffer that is not as long as the output. Neither it nor `derivative` allocates after `prepare`.
/// 3. `value` is `f(x)` of the last call with `with_value`; `last` is the derivative of the last call of `derivative`.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `derivative` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only, `AutoSparse` with `jacobian` and `hessian`"
)]
pub trait DerivativeBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](DerivativeBackend::Num).
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
    /// Computes the derivative at `x` for [`last`](Self::last), and keeps the value if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error>;
    /// The derivative that the last call of [`derivative`](Self::derivative) left, one entry per output.
    fn last(state: &Self::State) -> &[X::Scalar];
    /// Writes the derivative at `x`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength), and those of [`derivative`](Self::derivative).
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        der: &mut [X::Scalar],
    ) -> Result<(), Error>;
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
    /// Writes the derivative at `x`, and the value if `value` is given, without a state. Returns `false` if the engine needs a state or
    /// the result would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        _f: &F,
        _x: At<'_, P>,
        _value: Option<&mut [X::Scalar]>,
        _der: &mut [X::Scalar],
    ) -> bool {
        false
    }
}

/// State of a derivative by a single backend.
pub struct DerivativeWork<B: Backend, X: Shape, C: Contexts, K> {
    work: MatrixWork<B, B::Derivative, Lane<1>, X, C, K>,
    der: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts, K: Clone> Clone for DerivativeWork<B, X, C, K> {
    fn clone(&self) -> Self {
        DerivativeWork { work: self.work.clone(), der: self.der.clone() }
    }
}

impl<B: Backend, X: Shape, C: Contexts, K> Reports for DerivativeWork<B, X, C, K>
where
    MatrixWork<B, B::Derivative, Lane<1>, X, C, K>: Reports,
{
    type Report = <MatrixWork<B, B::Derivative, Lane<1>, X, C, K> as Reports>::Report;
    fn report(&self) -> Self::Report {
        self.work.report()
    }
}

impl<B: Backend, X: Shape, C: Contexts, K: Default> DerivativeWork<B, X, C, K> {
    /// The state of the route, for what an engine reports of the last call.
    pub fn route_state(&self) -> &<B::Derivative as MatrixRoute<B>>::State<X::Scalar, Lane<1>> {
        self.work.route_state()
    }
}

impl<B, F, X, C> DerivativeBackend<F, X, C> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, One<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = One<B, X>;
    type Output = F::Output;
    type State = DerivativeWork<B, X, C, KeptBy<F, X, C, One<B, X>>>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(DerivativeWork { work: MatrixWork::new("derivative", self, x)?, der: Vec::new() })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.work.prepare(self, f, x)?;
        state.der.clone_from(&state.work.y);
        Ok(())
    }
    #[inline]
    fn derivative<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<(), Error> {
        state.work.run(self, f, x, with_value, Rows::growing(&mut state.der, 1))
    }
    #[inline]
    fn last(state: &Self::State) -> &[X::Scalar] {
        &state.der
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        der: &mut [X::Scalar],
    ) -> Result<(), Error> {
        state.work.run(self, f, x, with_value, Rows::fixed(der, 1))
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
        state.work.evaluate(f, x, y)
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.work.y
    }
    #[inline]
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, One<B, X>> {
        &state.work.kept
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        value: Option<&mut [X::Scalar]>,
        der: &mut [X::Scalar],
    ) -> bool {
        on_stack::<B, B::Derivative, Lane<1>, _, _>(self, f, x, value, der)
    }
}
