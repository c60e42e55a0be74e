//! Second derivative of a function of one number: the outer derivative of the inner derivative.
//!
//! Called by users. Reaches two backends through [`SecondDerivativeBackend`].

mod backend;

pub use backend::{SecondDerivativeBackend, SecondDerivativeWork};

use super::call::check_buffer;
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::Output;
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// The shape of a function's output in a call of `second_derivative`.
type Out<B, F, X, C> = <B as SecondDerivativeBackend<F, X, C>>::Output;
/// A derivative, or the value, in the shape of the output.
type Like<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type Borrowed<'a, B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns the second derivative of `f` at the number `x`, in the shape of the output.
///
/// Pass one backend, which is then used for both levels, or a [`SecondOrder`](crate::backend::SecondOrder) of two.
///
/// # Errors
/// [`FunctionFailed`](crate::error::ErrorKind::FunctionFailed) if the function returns an `Err`, and what else the backends refuse, such as
/// [`ForeignNumber`](crate::error::ErrorKind::ForeignNumber), [`OtherThread`](crate::error::ErrorKind::OtherThread) or
/// [`TapeOverflow`](crate::error::ErrorKind::TapeOverflow).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: T) -> T {
///     x * x * x
/// }
/// assert_eq!(second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn second_derivative<F, B, P>(f: &F, backend: &B, x: P) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    match stateless(f, backend, at) {
        Some([_, _, der2]) => Ok(fixed::<F, B, _, _>(der2)),
        None => by_state(f, backend, &mut backend.unprepared(at)?, at),
    }
}

/// Writes the second derivative of `f` at the number `x` into `der2`, which is as long as the output.
///
/// # Errors
/// [`BufferLength`](crate::error::ErrorKind::BufferLength) if `der2` has the wrong length, and those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let mut der2 = [0.0; 2];
/// second_derivative_into(&powers, &mut der2, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(der2, [2.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn second_derivative_into<F, B, P>(
    f: &F,
    der2: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    der2.write(&mut Vec::new(), |der2| {
        match stateless(f, backend, at) {
            Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
            _ => backend.fill(&mut backend.unprepared(at)?, f, at, der2)?,
        }
        Ok(())
    })
}

/// Returns `f(x)`, the derivative and the second derivative of `f` at the number `x`, all from the same evaluation.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let all = value_derivative_and_second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(all, (8.0, 12.0, 12.0));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_derivative_and_second_derivative<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<All<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    match stateless(f, backend, at) {
        Some(all) => Ok(all.map(fixed::<F, B, _, _>).into()),
        None => all_by_state(f, backend, &mut backend.unprepared(at)?, at),
    }
}

/// Returns `f(x)` and writes the derivative and the second derivative of `f` at the number `x` into `der` and `der2`.
///
/// # Errors
/// [`BufferLength`](crate::error::ErrorKind::BufferLength) if a buffer is not as long as the output.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let (mut der, mut der2) = ([0.0; 2], [0.0; 2]);
/// let backend = AutoForwardDiff::default();
/// let y = value_derivative_and_second_derivative_into(&powers, &mut der, &mut der2, &backend, 2.0)?;
/// assert_eq!((y, der, der2), ([4.0, 8.0], [4.0, 12.0], [2.0, 12.0]));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_derivative_and_second_derivative_into<F, B, P>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    der2: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    write_both(&mut [Vec::new(), Vec::new()], der, der2, |der, der2| {
        if let Some([y, first, second]) = stateless(f, backend, at)
            && [der.len(), der2.len()] == [second.as_ref().len(); 2]
        {
            der.copy_from_slice(first.as_ref());
            der2.copy_from_slice(second.as_ref());
            return Ok(fixed::<F, B, _, _>(y));
        }
        let mut state = backend.unprepared(at)?;
        all_by_state_into(f, backend, &mut state, der, der2, at)?;
        Ok(B::Output::build(B::value(&state), B::kept(&state)))
    })
}

/// Value, derivative and second derivative in the shape of the output.
type All<B, F, X, C> = (Like<B, F, X, C>, Like<B, F, X, C>, Like<B, F, X, C>);

/// A result whose type fixes its length.
#[inline]
fn fixed<F, B: SecondDerivativeBackend<F, X, C>, X: Shape, C: Contexts>(
    numbers: Fixed<B, F, X, C>,
) -> Like<B, F, X, C> {
    B::Output::build(numbers.as_ref(), &Default::default())
}

/// Passes two results as slices to `fill`.
#[inline]
fn write_both<S: Scalar, R>(
    [first, second]: &mut [Vec<S>; 2],
    der: &mut (impl Buffer<S> + ?Sized),
    der2: &mut (impl Buffer<S> + ?Sized),
    fill: impl FnOnce(&mut [S], &mut [S]) -> Result<R, Error>,
) -> Result<R, Error> {
    der.write(first, |der| der2.write(second, |der2| fill(der, der2)))
}

/// The second derivative by a state.
fn by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    backend.second_derivative(state, f, x, false)?;
    Ok(B::Output::build(B::last(state), B::kept(state)))
}

/// Value, derivative and second derivative by a state.
fn all_by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
) -> Result<All<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    backend.second_derivative(state, f, x, true)?;
    let build = |numbers| B::Output::build(numbers, B::kept(state));
    Ok((build(B::value(state)), build(B::derivative(state)), build(B::last(state))))
}

/// Writes derivative and second derivative by a state, in which the value stays.
fn all_by_state_into<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    der: &mut [ScalarOf<P>],
    der2: &mut [ScalarOf<P>],
    x: At<'_, P>,
) -> Result<(), Error>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    backend.second_derivative(state, f, x, true)?;
    let result = B::last(state);
    // Both lengths are checked before either buffer is written.
    for found in [der.len(), der2.len()] {
        check_buffer(result.len(), found).map_err(|kind| Error::new(kind).during("second_derivative", B::BACKEND))?;
    }
    der2.copy_from_slice(result);
    der.copy_from_slice(B::derivative(state));
    Ok(())
}

/// Outputs of fixed number, in a call of `second_derivative`.
type Fixed<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::Fixed<<X as Shape>::Scalar>;

/// Value, derivative and second derivative, if the backends compute them without a state.
#[inline]
fn stateless<F, B, P>(f: &F, backend: &B, x: At<'_, P>) -> Option<[Fixed<B, F, P::Shape, P::Contexts>; 3]>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    if !B::Output::FIXED {
        return None;
    }
    let mut all = [B::Output::fixed(), B::Output::fixed(), B::Output::fixed()];
    backend.stateless(f, x, all.each_mut().map(AsMut::as_mut)).then_some(all)
}

/// Returns a prepared second derivative of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let mut prepared = prepare_second_derivative(&cubic, &AutoForwardDiff::default(), 0.0)?;
/// assert_eq!(prepared.second_derivative(2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_second_derivative<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedSecondDerivative<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Pointer,
    B: SecondDerivativeBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let mut state = backend.unprepared(at)?;
    backend.prepare(&mut state, f.function(), at)?;
    let results = vec![Default::default(); if B::Output::FIXED { 0 } else { B::value(&state).len() }];
    let memory = [results.clone(), results];
    Ok(PreparedSecondDerivative { function: f, backend: backend.clone(), state, memory })
}

/// A prepared second derivative, made by [`prepare_second_derivative`]: d²y/dx² of a function of one number, in the shape of the output.
///
/// [`second_derivative`](Self::second_derivative) and [`value_derivative_and_second_derivative`](Self::value_derivative_and_second_derivative) return it, the variants with `_into` write into
/// buffers; [`value`](Self::value) returns the output alone. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend or the `SecondOrder` of two, the shape of the point and the contexts, if any.
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
/// struct Curvature {
///     second: PreparedSecondDerivative<Arc<Cube>, AutoForwardDiff, Number<f64>>,
/// }
///
/// let second = prepare_second_derivative(Arc::new(Cube), &AutoForwardDiff::default(), 0.0)?;
/// let mut curvature = Curvature { second };
/// assert_eq!(curvature.second.second_derivative(2.0)?, 12.0);
/// assert_eq!(curvature.second.value_derivative_and_second_derivative(1.0)?, (1.0, 3.0, 6.0));
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedSecondDerivative<H, B, X, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    /// The numbers of two results that do not lie in one piece.
    memory: [Vec<X::Scalar>; 2],
}

impl<H, B, X, C> Clone for PreparedSecondDerivative<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedSecondDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedSecondDerivative<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Function, X, C>,
{
    /// Returns the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Like<B, H::Function, X, C>, Error> {
        // A number lies in one piece, so nothing is copied.
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(self.function.function(), &self.backend, at) {
            Some([_, _, der2]) => Ok(fixed::<H::Function, B, _, _>(der2)),
            None => by_state(self.function.function(), &self.backend, &mut self.state, at),
        }
    }

    /// Writes the second derivative at `x` into `der2`.
    ///
    /// # Errors
    /// Those of [`second_derivative_into`].
    #[inline]
    pub fn second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der2: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        let PreparedSecondDerivative { function, backend, state, memory } = self;
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        der2.write(&mut memory[0], |der2| {
            match stateless(H::function(function), backend, at) {
                Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
                _ => backend.fill(state, H::function(function), at, der2)?,
            }
            Ok(())
        })
    }

    /// What the engine has done for this preparation so far, for backends that choose their method at run time: `AutoReverseDiff` and its `compiled()`.
    pub fn report(&self) -> <B::State as Reports>::Report
    where
        B::State: Reports,
    {
        self.state.report()
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<Like<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        let y = &mut self.memory[0];
        self.backend.evaluate(&mut self.state, self.function.function(), at, y)?;
        Ok(B::Output::build(y, B::kept(&self.state)))
    }

    /// Returns the value, the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn value_derivative_and_second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<All<B, H::Function, X, C>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        match stateless(self.function.function(), &self.backend, at) {
            Some(all) => Ok(all.map(fixed::<H::Function, B, _, _>).into()),
            None => all_by_state(self.function.function(), &self.backend, &mut self.state, at),
        }
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength) if a buffer is not as long as the output.
    #[inline]
    pub fn value_derivative_and_second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        der2: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<Borrowed<'_, B, H::Function, X, C>, Error> {
        let PreparedSecondDerivative { function, backend, state, memory } = self;
        let mut point = Vec::new();
        let at = At::new(&x, &mut point);
        let y = write_both(memory, der, der2, |der, der2| {
            if let Some([y, first, second]) = stateless(H::function(function), backend, at)
                && let Some(y) = B::Output::owned(y)
                && [der.len(), der2.len()] == [second.as_ref().len(); 2]
            {
                der.copy_from_slice(first.as_ref());
                der2.copy_from_slice(second.as_ref());
                return Ok::<_, Error>(Some(y));
            }
            all_by_state_into(H::function(function), backend, state, der, der2, at)?;
            Ok(None)
        })?;
        Ok(y.unwrap_or_else(|| B::Output::borrow(B::value(state), B::kept(state))))
    }
}
