//! Derivative of a function of one number.
//!
//! Called by users. Reaches a backend through [`DerivativeBackend`].

mod backend;

pub use backend::{DerivativeBackend, DerivativeWork};

use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::Output;
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;

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
/// [`FunctionFailed`](crate::error::ErrorKind::FunctionFailed) if the function returns an `Err`, and what else the backend refuses, such as
/// [`ForeignNumber`](crate::error::ErrorKind::ForeignNumber), [`OtherThread`](crate::error::ErrorKind::OtherThread) or
/// [`TapeOverflow`](crate::error::ErrorKind::TapeOverflow).
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
/// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength) if `der` has the wrong length, and those of [`derivative`].
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

/// Returns a prepared derivative of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
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
    H: Pointer,
    B: DerivativeBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let mut state = backend.unprepared(at)?;
    backend.prepare(&mut state, f.function(), at)?;
    let memory = vec![Default::default(); if B::Output::FIXED { 0 } else { B::value(&state).len() }];
    Ok(PreparedDerivative { function: f, backend: backend.clone(), state, memory })
}

/// A prepared derivative, made by [`prepare_derivative`]: dy/dx of a function of one number, in the shape of the output.
///
/// [`derivative`](Self::derivative) and [`value_and_derivative`](Self::value_and_derivative) return it, the variants with `_into` write it into a buffer; [`value`](Self::value) returns the
/// output alone. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point and the contexts, if any.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Number;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn cube(x: f64) -> f64 {
///     x * x * x
/// }
/// struct Slope {
///     derivative: PreparedDerivative<Arc<Cube>, AutoForwardDiff, Number<f64>>,
/// }
///
/// let derivative = prepare_derivative(Arc::new(Cube), &AutoForwardDiff::default(), 0.0)?;
/// let mut slope = Slope { derivative };
/// assert_eq!(slope.derivative.value_and_derivative(2.0)?, (8.0, 12.0));
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedDerivative<H, B, X, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    /// The numbers of a result that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedDerivative<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Function, X, C>,
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
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: DerivativeBackend<H::Function, X, C>,
{
    /// What the engine has done for this preparation so far, for backends that choose their method at run time: `AutoReverseDiff` and its `compiled()`.
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
    ) -> Result<DerivativeValue<B, H::Function, X, C>, Error> {
        // A number lies in one piece, so nothing is copied.
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(self.function.function(), &self.backend, at, false) {
            Some((_, der)) => Ok(fixed::<H::Function, B, _, _>(der)),
            None => by_state(self.function.function(), &self.backend, &mut self.state, at),
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
            match stateless(H::function(function), backend, at, false) {
                Some((_, found)) if found.as_ref().len() == der.len() => der.copy_from_slice(found.as_ref()),
                _ => backend.fill(state, H::function(function), at, false, der)?,
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
    ) -> Result<DerivativeValue<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        self.backend.evaluate(&mut self.state, self.function.function(), at, &mut self.memory)?;
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
    ) -> Result<Both<B, H::Function, X, C>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(self.function.function(), &self.backend, at, true) {
            Some((y, der)) => Ok((fixed::<H::Function, B, _, _>(y), fixed::<H::Function, B, _, _>(der))),
            None => both_by_state(self.function.function(), &self.backend, &mut self.state, at),
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
    ) -> Result<DerivativeBorrowed<'_, B, H::Function, X, C>, Error> {
        let PreparedDerivative { function, backend, state, memory } = self;
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        let y = der.write(memory, |der| {
            if let Some((y, found)) = stateless(H::function(function), backend, at, true)
                && let Some(y) = B::Output::owned(y)
                && found.as_ref().len() == der.len()
            {
                der.copy_from_slice(found.as_ref());
                return Ok::<_, Error>(Some(y));
            }
            backend.fill(state, H::function(function), at, true, der)?;
            Ok(None)
        })?;
        Ok(y.unwrap_or_else(|| B::Output::borrow(B::value(state), B::kept(state))))
    }
}
