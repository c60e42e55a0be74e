//! Second derivative of a function of one number: the outer derivative of the inner derivative.
//!
//! Called by users. Reaches two backends through [`SecondDerivativeBackend`].

mod backend;

pub use backend::{SecondDerivativeBackend, SecondDerivativeWork};

use super::call::check_buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::Output;
use crate::point::{NumberShape, Point, ScalarOf, Shape};
use std::ops::Deref;

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
/// The backend is a single one, which then is both the outer and the inner backend, or a [`SecondOrder`](crate::backend::SecondOrder).
///
/// # Errors
/// Those of the backends.
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
    match stateless(f, backend, &x) {
        Some([_, _, der2]) => Ok(B::Output::build(der2.as_ref())),
        None => Ok(B::Output::build(backend.second_derivative(&mut backend.unprepared(&x)?, f, &x, false)?)),
    }
}

/// Writes the second derivative of `f` at the number `x` into `der2`, which is as long as the output.
///
/// # Errors
/// [`BufferLength`](crate::error::ErrorKind::BufferLength) if `der2` has another length.
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
pub fn second_derivative_into<F, B, P>(f: &F, der2: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    match stateless(f, backend, &x) {
        Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
        _ => backend.fill(&mut backend.unprepared(&x)?, f, &x, der2)?,
    }
    Ok(())
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
    match stateless(f, backend, &x) {
        Some([y, der, der2]) => Ok(build::<F, B, _, _>([y.as_ref(), der.as_ref(), der2.as_ref()])),
        None => all_by_state(f, backend, &mut backend.unprepared(&x)?, &x),
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
    der: &mut [ScalarOf<P>],
    der2: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    if let Some([y, first, second]) = stateless(f, backend, &x)
        && [der.len(), der2.len()] == [second.as_ref().len(); 2]
    {
        der.copy_from_slice(first.as_ref());
        der2.copy_from_slice(second.as_ref());
        return Ok(B::Output::build(y.as_ref()));
    }
    let mut state = backend.unprepared(&x)?;
    all_by_state_into(f, backend, &mut state, der, der2, &x)?;
    Ok(B::Output::build(B::value(&state)))
}

/// Value, derivative and second derivative in the shape of the output.
type All<B, F, X, C> = (Like<B, F, X, C>, Like<B, F, X, C>, Like<B, F, X, C>);

/// Makes results of flat numbers.
fn build<F, B: SecondDerivativeBackend<F, X, C>, X: Shape, C: Contexts>(all: [&[X::Scalar]; 3]) -> All<B, F, X, C> {
    let [y, der, der2] = all.map(B::Output::build);
    (y, der, der2)
}

/// Value, derivative and second derivative by a state.
fn all_by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: &P,
) -> Result<All<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let der2 = B::Output::build(backend.second_derivative(state, f, x, true)?);
    Ok((B::Output::build(B::value(state)), B::Output::build(B::derivative(state)), der2))
}

/// Writes derivative and second derivative by a state, in which the value stays.
fn all_by_state_into<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    der: &mut [ScalarOf<P>],
    der2: &mut [ScalarOf<P>],
    x: &P,
) -> Result<(), Error>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    let result = backend.second_derivative(state, f, x, true)?;
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
fn stateless<F, B, P>(f: &F, backend: &B, x: &P) -> Option<[Fixed<B, F, P::Shape, P::Contexts>; 3]>
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

/// Pays the one-time costs of a second derivative; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
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
    H: Deref<Target: Sized>,
    B: SecondDerivativeBackend<H::Target, P::Shape, P::Contexts>,
{
    let mut prepared = PreparedSecondDerivative::new(f, backend, &x)?;
    prepared.backend.prepare(&mut prepared.state, &prepared.function, &x)?;
    Ok(prepared)
}

/// A prepared second derivative, made by [`prepare_second_derivative`]. One thread at a time; clone it for another thread.
pub struct PreparedSecondDerivative<H, B, X, C = ()>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
}

impl<H, B, X, C> Clone for PreparedSecondDerivative<H, B, X, C>
where
    H: Deref<Target: Sized> + Clone,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    fn clone(&self) -> Self {
        PreparedSecondDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
        }
    }
}

impl<H, B, X, C> PreparedSecondDerivative<H, B, X, C>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    #[inline]
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedSecondDerivative { function: f, backend: backend.clone(), state: backend.unprepared(x)? })
    }

    /// Returns the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Like<B, H::Target, X, C>, Error> {
        if let Some([_, _, der2]) = stateless(&*self.function, &self.backend, &x) {
            return Ok(B::Output::build(der2.as_ref()));
        }
        Ok(B::Output::build(self.backend.second_derivative(&mut self.state, &self.function, &x, false)?))
    }

    /// Writes the second derivative at `x` into `der2`.
    ///
    /// # Errors
    /// Those of [`second_derivative_into`].
    #[inline]
    pub fn second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        match stateless(&*self.function, &self.backend, &x) {
            Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
            _ => self.backend.fill(&mut self.state, &self.function, &x, der2)?,
        }
        Ok(())
    }

    /// Returns the value, the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn value_derivative_and_second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<All<B, H::Target, X, C>, Error> {
        match stateless(&*self.function, &self.backend, &x) {
            Some([y, der, der2]) => Ok(build::<H::Target, B, _, _>([y.as_ref(), der.as_ref(), der2.as_ref()])),
            None => all_by_state(&*self.function, &self.backend, &mut self.state, &x),
        }
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength) if a buffer is not as long as the output.
    #[inline]
    pub fn value_derivative_and_second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<Borrowed<'_, B, H::Target, X, C>, Error> {
        if let Some([y, first, second]) = stateless(&*self.function, &self.backend, &x)
            && let Some(y) = B::Output::owned(y)
            && [der.len(), der2.len()] == [second.as_ref().len(); 2]
        {
            der.copy_from_slice(first.as_ref());
            der2.copy_from_slice(second.as_ref());
            return Ok(y);
        }
        all_by_state_into(&*self.function, &self.backend, &mut self.state, der, der2, &x)?;
        Ok(B::Output::borrow(B::value(&self.state)))
    }
}
