//! The derivative of any order of a function of one number.
//!
//! Called by users. Reaches a backend through [`NthDerivativeBackend`].

mod backend;

pub use backend::{Nest, NestWork, NthDerivativeBackend, Order};

use super::call::check_buffer;
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::Output;
use crate::fault;
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::scalar::Base;

/// What the function returns, with numbers of the point.
type Like<B, F, X, C, const N: usize> = <<B as NthDerivativeBackend<F, X, C, N>>::Output as Output<
    <B as NthDerivativeBackend<F, X, C, N>>::Num,
>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type Borrowed<'a, B, F, X, C, const N: usize> = <<B as NthDerivativeBackend<F, X, C, N>>::Output as Output<
    <B as NthDerivativeBackend<F, X, C, N>>::Num,
>>::Borrowed<'a, <X as Shape>::Scalar>;
/// The value and a derivative.
type Both<B, F, X, C, const N: usize> = (Like<B, F, X, C, N>, Like<B, F, X, C, N>);

/// Returns the derivative of order `N` of `f` at the number `x`, in the shape of the output: dᴺf/dxᴺ. Order 0 is the value.
///
/// A [`Backend`](crate::backend::Backend) is nested in itself `N` times, up to order 8. Forward mode then computes with 2ᴺ numbers, so that orders above 4 are better
/// left to `AutoTaylor`, which carries N + 1. `AutoFiniteDiff` keeps about 7 digits at the second order, 3 at the third and none at the fourth;
/// `AutoFiniteDifferences` has a formula for each order and loses a digit or two with each.
///
/// # Errors
/// Those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn power<T: Real>(x: T) -> T {
///     x.powi(5)
/// }
/// // 5 · 4 · 3 x²
/// assert_eq!(nth_derivative(&power, &AutoForwardDiff::default(), 2.0, Order::<3>)?, 240.0);
/// assert_eq!(nth_derivative(&power, &AutoTaylor, 2.0, Order::<3>)?, 240.0);
/// # Ok::<(), Error>(())
/// ```
pub fn nth_derivative<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<Like<B, F, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    if let Some((_, der)) = stateless(f, backend, at, false) {
        return Ok(fixed::<F, B, _, _, N>(der));
    }
    let (mut state, mut der) = (backend.unprepared(at)?, Vec::new());
    run(f, backend, &mut state, at, None, &mut der)?;
    Ok(B::Output::build(&der, B::kept(&state)))
}

/// Writes the derivative of order `N` of `f` at the number `x` into `der`, which is as long as the output.
///
/// # Errors
/// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength) if `der` has the wrong length, and those of [`nth_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn both<T: Real>(x: T) -> [T; 2] {
///     [x.powi(4), x * x]
/// }
/// let mut der = [0.0; 2];
/// nth_derivative_into(&both, &mut der, &AutoTaylor, 2.0, Order::<3>)?;
/// assert_eq!(der, [48.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn nth_derivative_into<F, B, P, const N: usize>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut state, mut found) = (backend.unprepared(at)?, Vec::new());
    run(f, backend, &mut state, at, None, &mut found)?;
    der.write(&mut Vec::new(), |der| copy::<B, F, P::Shape, P::Contexts, N>(der, &found))
}

/// Returns `f(x)` and the derivative of order `N` of `f` at the number `x`.
///
/// `AutoTaylor` has both from one evaluation. A backend that is nested in itself evaluates the function once more, on constants.
///
/// # Errors
/// Those of [`nth_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn power<T: Real>(x: T) -> T {
///     x.powi(5)
/// }
/// assert_eq!(value_and_nth_derivative(&power, &AutoTaylor, 2.0, Order::<3>)?, (32.0, 240.0));
/// assert_eq!(value_and_nth_derivative(&power, &AutoForwardDiff::default(), 2.0, Order::<3>)?, (32.0, 240.0));
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_nth_derivative<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<Both<B, F, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    if let Some((y, der)) = stateless(f, backend, at, true) {
        return Ok((fixed::<F, B, _, _, N>(y), fixed::<F, B, _, _, N>(der)));
    }
    let (mut state, mut y, mut der) = (backend.unprepared(at)?, Vec::new(), Vec::new());
    run(f, backend, &mut state, at, Some(&mut y), &mut der)?;
    let build = |numbers| B::Output::build(numbers, B::kept(&state));
    Ok((build(&y), build(&der)))
}

/// Returns `f(x)` and writes the derivative of order `N` of `f` at the number `x` into `der`.
///
/// # Errors
/// Those of [`nth_derivative_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn both<T: Real>(x: T) -> [T; 2] {
///     [x.powi(4), x * x]
/// }
/// let mut der = [0.0; 2];
/// assert_eq!(value_and_nth_derivative_into(&both, &mut der, &AutoTaylor, 2.0, Order::<3>)?, [16.0, 4.0]);
/// assert_eq!(der, [48.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_nth_derivative_into<F, B, P, const N: usize>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<Like<B, F, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut state, mut y, mut found) = (backend.unprepared(at)?, Vec::new(), Vec::new());
    run(f, backend, &mut state, at, Some(&mut y), &mut found)?;
    der.write(&mut Vec::new(), |der| copy::<B, F, P::Shape, P::Contexts, N>(der, &found))?;
    Ok(B::Output::build(&y, B::kept(&state)))
}

/// Fills `der`, and `y` with the value if it is given, by a state.
#[inline]
fn run<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
    y: Option<&mut Vec<ScalarOf<P>>>,
    der: &mut Vec<ScalarOf<P>>,
) -> Result<(), Error>
where
    P: Point,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let result = fault::Watch::begin().end(backend.fill(state, f, x, y, der));
    result.map_err(|error| error.during("nth_derivative", B::BACKEND))
}

/// Copies the result into a buffer of the same length.
fn copy<B: NthDerivativeBackend<F, X, C, N>, F, X: Shape, C: Contexts, const N: usize>(
    der: &mut [X::Scalar],
    found: &[X::Scalar],
) -> Result<(), Error> {
    check_buffer(found.len(), der.len()).map_err(|kind| Error::new(kind).during("nth_derivative", B::BACKEND))?;
    der.copy_from_slice(found);
    Ok(())
}

/// A result whose type fixes its length.
#[inline]
fn fixed<F, B: NthDerivativeBackend<F, X, C, N>, X: Shape, C: Contexts, const N: usize>(
    numbers: Fixed<B, F, X, C, N>,
) -> Like<B, F, X, C, N> {
    B::Output::build(numbers.as_ref(), &Default::default())
}

/// Outputs of fixed number.
type Fixed<B, F, X, C, const N: usize> = <<B as NthDerivativeBackend<F, X, C, N>>::Output as Output<
    <B as NthDerivativeBackend<F, X, C, N>>::Num,
>>::Fixed<<X as Shape>::Scalar>;

/// The value, which is undefined unless requested, and the derivative, if the backend computes them without a state.
#[inline]
fn stateless<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    x: At<'_, P>,
    with_value: bool,
) -> Option<(Fixed<B, F, P::Shape, P::Contexts, N>, Fixed<B, F, P::Shape, P::Contexts, N>)>
where
    P: Point,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    if !B::Output::FIXED {
        return None;
    }
    let (mut y, mut der) = (B::Output::fixed(), B::Output::fixed());
    backend.stateless(f, x, with_value.then_some(y.as_mut()), der.as_mut()).then_some((y, der))
}

/// Returns a prepared derivative of order `N` of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// With `AutoTaylor` a prepared call allocates nothing. Backends nested in themselves allocate in each call.
///
/// # Errors
/// Those of [`nth_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn power<T: Real>(x: T) -> T {
///     x.powi(5)
/// }
/// let mut prepared = prepare_nth_derivative(&power, &AutoTaylor, 0.0, Order::<4>)?;
/// assert_eq!(prepared.nth_derivative(2.0)?, 240.0);
/// assert_eq!(prepared.nth_derivative(-1.0)?, -120.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_nth_derivative<H, B, P, const N: usize>(
    f: H,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<PreparedNthDerivative<H, B, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Pointer,
    B: NthDerivativeBackend<H::Function, P::Shape, P::Contexts, N> + Clone,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut state, mut y, mut der) = (backend.unprepared(at)?, Vec::new(), Vec::new());
    run(f.function(), backend, &mut state, at, Some(&mut y), &mut der)?;
    let memory = vec![Default::default(); if B::Output::FIXED { 0 } else { der.len() }];
    Ok(PreparedNthDerivative { function: f, backend: backend.clone(), state, y, der, memory })
}

/// A prepared derivative of order `N`, made by [`prepare_nth_derivative`]: dᴺy/dxᴺ of a function of one number, in the shape of the output.
///
/// [`nth_derivative`](Self::nth_derivative) returns it, [`nth_derivative_into`](Self::nth_derivative_into) writes it into a buffer. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the contexts and the order.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Number;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn power(x: f64) -> f64 {
///     x.powi(5)
/// }
/// struct Third {
///     derivative: PreparedNthDerivative<Arc<Power>, AutoTaylor, Number<f64>, (), 3>,
/// }
///
/// let derivative = prepare_nth_derivative(Arc::new(Power), &AutoTaylor, 0.0, Order::<3>)?;
/// let mut third = Third { derivative };
/// assert_eq!(third.derivative.nth_derivative(2.0)?, 240.0); // 5 · 4 · 3 x²
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedNthDerivative<H, B, X, C, const N: usize>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N>,
{
    function: H,
    backend: B,
    state: B::State,
    /// The value of the last call that computed it.
    y: Vec<X::Scalar>,
    /// The derivative of the last call.
    der: Vec<X::Scalar>,
    /// The numbers of a result that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C, const N: usize> Clone for PreparedNthDerivative<H, B, X, C, N>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N> + Clone,
{
    fn clone(&self) -> Self {
        PreparedNthDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            y: self.y.clone(),
            der: self.der.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C, const N: usize> PreparedNthDerivative<H, B, X, C, N>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N>,
{
    /// Returns the derivative of order `N` at `x`.
    ///
    /// # Errors
    /// Those of [`nth_derivative`].
    #[inline]
    pub fn nth_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Like<B, H::Function, X, C, N>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        if let Some((_, der)) = stateless(self.function.function(), &self.backend, at, false) {
            return Ok(fixed::<H::Function, B, _, _, N>(der));
        }
        run(self.function.function(), &self.backend, &mut self.state, at, None, &mut self.der)?;
        Ok(B::Output::build(&self.der, B::kept(&self.state)))
    }

    /// Writes the derivative of order `N` at `x` into `der`, a slice or an object of the type of the output.
    ///
    /// # Errors
    /// Those of [`nth_derivative_into`].
    #[inline]
    pub fn nth_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        run(self.function.function(), &self.backend, &mut self.state, at, None, &mut self.der)?;
        der.write(&mut self.memory, |der| copy::<B, H::Function, X, C, N>(der, &self.der))
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// Those of the backend.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn power<T: Real>(x: T) -> T { x.powi(5) }
    /// let mut prepared = prepare_nth_derivative(&power, &AutoTaylor, 0.0, Order::<4>)?;
    /// assert_eq!(prepared.value(2.0)?, 32.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<Like<B, H::Function, X, C, N>, Error>
    where
        X::Scalar: Base,
    {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        let result = self.backend.evaluate(&mut self.state, self.function.function(), at, &mut self.y);
        result.map_err(|error| error.during("nth_derivative", B::BACKEND))?;
        Ok(B::Output::build(&self.y, B::kept(&self.state)))
    }

    /// Returns the value and the derivative of order `N` at `x`.
    ///
    /// # Errors
    /// Those of [`nth_derivative`].
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn power<T: Real>(x: T) -> T { x.powi(5) }
    /// let mut prepared = prepare_nth_derivative(&power, &AutoTaylor, 0.0, Order::<4>)?;
    /// assert_eq!(prepared.value_and_nth_derivative(-1.0)?, (-1.0, -120.0));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn value_and_nth_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Both<B, H::Function, X, C, N>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        if let Some((y, der)) = stateless(self.function.function(), &self.backend, at, true) {
            return Ok((fixed::<H::Function, B, _, _, N>(y), fixed::<H::Function, B, _, _, N>(der)));
        }
        let PreparedNthDerivative { function, backend, state, y, der, .. } = self;
        run(H::function(function), backend, state, at, Some(y), der)?;
        let build = |numbers| B::Output::build(numbers, B::kept(state));
        Ok((build(y), build(der)))
    }

    /// Returns the value, borrowed from the preparation where it is a vector, and writes the derivative of order `N` at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`nth_derivative_into`].
    #[inline]
    pub fn value_and_nth_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<Borrowed<'_, B, H::Function, X, C, N>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        let PreparedNthDerivative { function, backend, state, y, der: found, memory } = self;
        run(H::function(function), backend, state, at, Some(y), found)?;
        der.write(memory, |der| copy::<B, H::Function, X, C, N>(der, found))?;
        Ok(B::Output::borrow(y, B::kept(state)))
    }
}
