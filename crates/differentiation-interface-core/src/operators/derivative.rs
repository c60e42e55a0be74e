//! Derivative of a function of one number.
//!
//! Called by users. Reaches a backend through its `type Derivative` route, with one lane.

use super::NumOf;
use super::call::{MatrixWork, on_stack};
use crate::backend::{Backend, Lane, Rows};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Evaluate, Output};
use crate::point::{NumberShape, Point, ScalarOf, Shape};
use crate::scalar::Scalar;
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
/// 3. `value` is `f(x)` of the last call with `with_value`; what `derivative` returns is the derivative of that call.
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
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: &P) -> Result<Self::State, Error>;
    /// Pays one-time costs at `x`.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, f: &F, x: &P) -> Result<(), Error>;
    /// Returns the derivative at `x`, one entry per output, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn derivative<'s, P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &'s mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
    ) -> Result<&'s [X::Scalar], Error>;
    /// Writes the derivative at `x`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength), and those of [`derivative`](Self::derivative).
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
        der: &mut [X::Scalar],
    ) -> Result<(), Error>;
    /// The value that the last call left.
    fn value(state: &Self::State) -> &[X::Scalar];
    /// Writes the derivative at `x`, and the value if `value` is given, without a state. Returns `false` if the engine needs a state or
    /// the result would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        _f: &F,
        _x: &P,
        _value: Option<&mut [X::Scalar]>,
        _der: &mut [X::Scalar],
    ) -> bool {
        false
    }
}

/// State of a derivative by a single backend.
pub struct DerivativeWork<B: Backend, X: Shape, C: Contexts> {
    work: MatrixWork<B, B::Derivative, Lane<1>, X, C>,
    der: Vec<X::Scalar>,
}

impl<B: Backend, X: Shape, C: Contexts> Clone for DerivativeWork<B, X, C> {
    fn clone(&self) -> Self {
        DerivativeWork { work: self.work.clone(), der: self.der.clone() }
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
    type State = DerivativeWork<B, X, C>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: &P) -> Result<Self::State, Error> {
        Ok(DerivativeWork { work: MatrixWork::new("derivative", self, x)?, der: Vec::new() })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, f: &F, x: &P) -> Result<(), Error> {
        state.work.prepare(self, f, x)?;
        state.der.clone_from(&state.work.y);
        Ok(())
    }
    #[inline]
    fn derivative<'s, P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &'s mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
    ) -> Result<&'s [X::Scalar], Error> {
        state.work.run(self, f, x, with_value, Rows::growing(&mut state.der, 1))?;
        Ok(&state.der)
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
        der: &mut [X::Scalar],
    ) -> Result<(), Error> {
        state.work.run(self, f, x, with_value, Rows::fixed(der, 1))
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.work.y
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: &P,
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
    match stateless(f, backend, &x, false) {
        Some((_, der)) => Ok(B::Output::build(der.as_ref())),
        None => Ok(B::Output::build(backend.derivative(&mut backend.unprepared(&x)?, f, &x, false)?)),
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
pub fn derivative_into<F, B, P>(f: &F, der: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    match stateless(f, backend, &x, false) {
        Some((_, found)) if found.as_ref().len() == der.len() => der.copy_from_slice(found.as_ref()),
        _ => backend.fill(&mut backend.unprepared(&x)?, f, &x, false, der)?,
    }
    Ok(())
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
    match stateless(f, backend, &x, true) {
        Some((y, der)) => Ok((B::Output::build(y.as_ref()), B::Output::build(der.as_ref()))),
        None => both_by_state(f, backend, &mut backend.unprepared(&x)?, &x),
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
    der: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<DerivativeValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    if let Some((y, found)) = stateless(f, backend, &x, true)
        && found.as_ref().len() == der.len()
    {
        der.copy_from_slice(found.as_ref());
        return Ok(B::Output::build(y.as_ref()));
    }
    let mut state = backend.unprepared(&x)?;
    backend.fill(&mut state, f, &x, true, der)?;
    Ok(B::Output::build(B::value(&state)))
}

/// Value and derivative in the shape of the output.
type Both<B, F, X, C> = (DerivativeValue<B, F, X, C>, DerivativeValue<B, F, X, C>);

/// Value and derivative by a state.
fn both_by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: &P,
) -> Result<Both<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: DerivativeBackend<F, P::Shape, P::Contexts>,
{
    let der = B::Output::build(backend.derivative(state, f, x, true)?);
    Ok((B::Output::build(B::value(state)), der))
}

/// Outputs of fixed number, in a call of `derivative`.
type Fixed<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as DerivativeBackend<F, X, C>>::Num>>::Fixed<<X as Shape>::Scalar>;

/// The derivative if the backend computes it without a state, and the value, which is undefined unless requested.
#[inline]
fn stateless<F, B, P>(
    f: &F,
    backend: &B,
    x: &P,
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
    let mut prepared = PreparedDerivative::new(f, backend, &x)?;
    prepared.backend.prepare(&mut prepared.state, &prepared.function, &x)?;
    Ok(prepared)
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
}

impl<H, B, X, C> Clone for PreparedDerivative<H, B, X, C>
where
    H: Deref<Target: Sized> + Clone,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Target, X, C>,
{
    fn clone(&self) -> Self {
        PreparedDerivative { function: self.function.clone(), backend: self.backend.clone(), state: self.state.clone() }
    }
}

impl<H, B, X, C> PreparedDerivative<H, B, X, C>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Target, X, C>,
{
    #[inline]
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedDerivative { function: f, backend: backend.clone(), state: backend.unprepared(x)? })
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
        if let Some((_, der)) = stateless(&*self.function, &self.backend, &x, false) {
            return Ok(B::Output::build(der.as_ref()));
        }
        Ok(B::Output::build(self.backend.derivative(&mut self.state, &self.function, &x, false)?))
    }

    /// Writes the derivative at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    #[inline]
    pub fn derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        match stateless(&*self.function, &self.backend, &x, false) {
            Some((_, found)) if found.as_ref().len() == der.len() => der.copy_from_slice(found.as_ref()),
            _ => self.backend.fill(&mut self.state, &self.function, &x, false, der)?,
        }
        Ok(())
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
        if let Some((y, der)) = stateless(&*self.function, &self.backend, &x, true) {
            return Ok((B::Output::build(y.as_ref()), B::Output::build(der.as_ref())));
        }
        both_by_state(&*self.function, &self.backend, &mut self.state, &x)
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    #[inline]
    pub fn value_and_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        x: P,
    ) -> Result<DerivativeBorrowed<'_, B, H::Target, X, C>, Error> {
        if let Some((y, found)) = stateless(&*self.function, &self.backend, &x, true)
            && let Some(y) = B::Output::owned(y)
            && found.as_ref().len() == der.len()
        {
            der.copy_from_slice(found.as_ref());
            return Ok(y);
        }
        self.backend.fill(&mut self.state, &self.function, &x, true, der)?;
        Ok(B::Output::borrow(B::value(&self.state)))
    }
}
