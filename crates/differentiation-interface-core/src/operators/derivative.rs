//! Derivative of a function of one number.
//!
//! Called by users. Reaches a backend through its `type Derivative` route, with one lane.

use super::NumOf;
use super::call::{MatrixWork, on_stack};
use crate::backend::{Backend, Lane, MatrixRoute, Rows};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Evaluate, KeptBy, Output};
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};
use std::ops::Deref;

/// The number type of `derivative` with a single backend.
type One<B, X> = NumOf<B, X, Lane<1>>;

/// What `derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C`.
///
/// # For users
/// Every [`Backend`] implements this trait for every function that runs on its numbers.
///
/// # For engine authors
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
    /// Pays one-time costs at `x`.
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

/// The shape of a function's output in a call of `derivative`.
type Out<B, F, X, C> = <B as DerivativeBackend<F, X, C>>::Output;
/// The derivative, or the value, in the shape of the output.
type DerivativeValue<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as DerivativeBackend<F, X, C>>::Num>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type DerivativeBorrowed<'a, B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as DerivativeBackend<F, X, C>>::Num>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns the derivative of `f` at the number `x`, in the shape of the output.
///
/// # Errors
/// Those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: T) -> T {
///     x * x * x
/// }
/// assert_eq!(derivative(&cubic, &AutoForwardDiff::default(), 2.0)?, 12.0);
///
/// fn line<T: Real>(t: T) -> [T; 2] {
///     [3.0 * t, 1.0 - t]
/// }
/// assert_eq!(derivative(&line, &AutoReverseDiff::default(), 5.0)?, [3.0, -1.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn derivative<F, B, P>(f: &F, backend: &B, x: P) -> Result<DerivativeValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    match stateless(f, backend, at, false) {
        Some((_, der)) => Ok(fixed::<F, B, _, _>(der)),
        None => by_state(f, backend, &mut backend.unprepared(at)?, at),
    }
}

/// Writes the derivative of `f` at the number `x` into `der`, which is as long as the output.
///
/// # Errors
/// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength) if `der` has another length.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn line<T: Real>(t: T) -> [T; 2] { [3.0 * t, 1.0 - t] }
/// let mut der = [0.0; 2];
/// derivative_into(&line, &mut der, &AutoForwardDiff::default(), 5.0)?;
/// assert_eq!(der, [3.0, -1.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn derivative_into<F, B, P>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    der.write(&mut Vec::new(), |der| {
        match stateless(f, backend, at, false) {
            Some((_, found)) if found.as_ref().len() == der.len() => der.copy_from_slice(found.as_ref()),
            _ => backend.fill(&mut backend.unprepared(at)?, f, at, false, der)?,
        }
        Ok(())
    })
}

/// Returns `f(x)` and the derivative of `f` at the number `x`.
///
/// # Errors
/// Those of [`derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// assert_eq!(value_and_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?, (8.0, 12.0));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_derivative<F, B, P>(f: &F, backend: &B, x: P) -> Result<Both<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    match stateless(f, backend, at, true) {
        Some((y, der)) => Ok((fixed::<F, B, _, _>(y), fixed::<F, B, _, _>(der))),
        None => both_by_state(f, backend, &mut backend.unprepared(at)?, at),
    }
}

/// Returns `f(x)` and writes the derivative of `f` at the number `x` into `der`.
///
/// # Errors
/// Those of [`derivative_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn line<T: Real>(t: T) -> [T; 2] { [3.0 * t, 1.0 - t] }
/// let mut der = [0.0; 2];
/// assert_eq!(value_and_derivative_into(&line, &mut der, &AutoForwardDiff::default(), 5.0)?, [15.0, -4.0]);
/// assert_eq!(der, [3.0, -1.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_derivative_into<F, B, P>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<DerivativeValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    der.write(&mut Vec::new(), |der| {
        if let Some((y, found)) = stateless(f, backend, at, true)
            && found.as_ref().len() == der.len()
        {
            der.copy_from_slice(found.as_ref());
            return Ok(fixed::<F, B, _, _>(y));
        }
        let mut state = backend.unprepared(at)?;
        backend.fill(&mut state, f, at, true, der)?;
        Ok(B::Output::build(B::value(&state), B::kept(&state)))
    })
}

/// Value and derivative in the shape of the output.
type Both<B, F, X, C> = (DerivativeValue<B, F, X, C>, DerivativeValue<B, F, X, C>);

/// The derivative by a state.
fn by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
) -> Result<DerivativeValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    backend.derivative(state, f, x, false)?;
    Ok(B::Output::build(B::last(state), B::kept(state)))
}

/// Value and derivative by a state.
fn both_by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
) -> Result<Both<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    backend.derivative(state, f, x, true)?;
    let kept = B::kept(state);
    Ok((B::Output::build(B::value(state), kept), B::Output::build(B::last(state), kept)))
}

/// A result whose type fixes its length.
#[inline]
fn fixed<F, B: DerivativeBackend<F, X, C>, X: Shape, C: Contexts>(
    numbers: Fixed<B, F, X, C>,
) -> DerivativeValue<B, F, X, C> {
    B::Output::build(numbers.as_ref(), &Default::default())
}

/// Outputs of fixed number, in a call of `derivative`.
type Fixed<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as DerivativeBackend<F, X, C>>::Num>>::Fixed<<X as Shape>::Scalar>;

/// The derivative if the backend computes it without a state, and the value, which is undefined unless requested.
#[inline]
fn stateless<F, B, P>(
    f: &F,
    backend: &B,
    x: At<'_, P>,
    with_value: bool,
) -> Option<(Fixed<B, F, P::Shape, P::Contexts>, Fixed<B, F, P::Shape, P::Contexts>)>
where
    P: Point,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    if !B::Output::FIXED {
        return None;
    }
    let (mut y, mut der) = (B::Output::fixed(), B::Output::fixed());
    backend.stateless(f, x, with_value.then_some(y.as_mut()), der.as_mut()).then_some((y, der))
}

/// Pays the one-time costs of a derivative; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let mut prepared = prepare_derivative(&cubic, &AutoForwardDiff::default(), 0.0)?;
/// assert_eq!(prepared.derivative(2.0)?, 12.0);
/// assert_eq!(prepared.value_and_derivative(3.0)?, (27.0, 27.0));
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_derivative<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedDerivative<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Deref<Target: Sized>,
    B: DerivativeBackend<H::Target, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let mut state = backend.unprepared(at)?;
    backend.prepare(&mut state, &f, at)?;
    let memory = vec![Default::default(); if B::Output::FIXED { 0 } else { B::value(&state).len() }];
    Ok(PreparedDerivative { function: f, backend: backend.clone(), state, memory })
}

/// A prepared derivative, made by [`prepare_derivative`]. One thread at a time; clone it for another thread.
pub struct PreparedDerivative<H, B, X, C = ()>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Target, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    /// The numbers of a result that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedDerivative<H, B, X, C>
where
    H: Deref<Target: Sized> + Clone,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Target, X, C>,
{
    fn clone(&self) -> Self {
        PreparedDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedDerivative<H, B, X, C>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Target, X, C>,
{
    /// What the engine has done for this preparation so far, for backends that decide by themselves how to compute: `AutoReverseDiff`.
    pub fn report(&self) -> <B::State as Reports>::Report
    where
        B::State: Reports,
    {
        self.state.report()
    }

    /// The backend's state, which may report on the last call: estimated errors of differences, for example.
    pub fn state(&self) -> &B::State {
        &self.state
    }

    /// Returns the derivative at `x`.
    ///
    /// # Errors
    /// Those of [`derivative`].
    #[inline]
    pub fn derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<DerivativeValue<B, H::Target, X, C>, Error> {
        // A number lies in one piece, so nothing is copied.
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(&*self.function, &self.backend, at, false) {
            Some((_, der)) => Ok(fixed::<H::Target, B, _, _>(der)),
            None => by_state(&*self.function, &self.backend, &mut self.state, at),
        }
    }

    /// Writes the derivative at `x` into `der`, a slice or an object of the type of the output.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    #[inline]
    pub fn derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        let PreparedDerivative { function, backend, state, memory } = self;
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        der.write(memory, |der| {
            match stateless(&**function, backend, at, false) {
                Some((_, found)) if found.as_ref().len() == der.len() => der.copy_from_slice(found.as_ref()),
                _ => backend.fill(state, function, at, false, der)?,
            }
            Ok(())
        })
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<DerivativeValue<B, H::Target, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        self.backend.evaluate(&mut self.state, &self.function, at, &mut self.memory)?;
        Ok(B::Output::build(&self.memory, B::kept(&self.state)))
    }

    /// Returns the value and the derivative at `x`.
    ///
    /// # Errors
    /// Those of [`derivative`].
    #[inline]
    pub fn value_and_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Both<B, H::Target, X, C>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(&*self.function, &self.backend, at, true) {
            Some((y, der)) => Ok((fixed::<H::Target, B, _, _>(y), fixed::<H::Target, B, _, _>(der))),
            None => both_by_state(&*self.function, &self.backend, &mut self.state, at),
        }
    }

    /// Returns the value, borrowed from the preparation where it is a vector, and writes the derivative at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    #[inline]
    pub fn value_and_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<DerivativeBorrowed<'_, B, H::Target, X, C>, Error> {
        let PreparedDerivative { function, backend, state, memory } = self;
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        let y = der.write(memory, |der| {
            if let Some((y, found)) = stateless(&**function, backend, at, true)
                && let Some(y) = B::Output::owned(y)
                && found.as_ref().len() == der.len()
            {
                der.copy_from_slice(found.as_ref());
                return Ok::<_, Error>(Some(y));
            }
            backend.fill(state, function, at, true, der)?;
            Ok(None)
        })?;
        Ok(y.unwrap_or_else(|| B::Output::borrow(B::value(state), B::kept(state))))
    }
}
