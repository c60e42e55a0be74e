//! Gradient of a function that returns one number.
//!
//! Called by users. Reaches a backend through its `type Gradient` route.

use super::NumOf;
use super::call::MatrixCall;
use crate::backend::{Backend, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Evaluate, NumberOutput};
use crate::point::{Point, ScalarOf, Shape};
use std::ops::Deref;

/// Returns the gradient of `f` at `x`: entry `i` is ∂f/∂xᵢ, and the result has the shape of `x`.
///
/// To differentiate the same function again and again, call [`prepare_gradient`] once.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if the backend has a fixed chunk larger than `x`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn energy<T: Real>(x: &[T], k: f64) -> T {
///     x.iter().map(|&v| 0.5 * k * v * v).sum()
/// }
/// let f = |x: &[_]| energy(x, 3.0);
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[2.0, 5.0])?, [6.0, 15.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn gradient<F, B, P>(f: &F, backend: &B, x: P) -> Result<<P::Shape as Shape>::Like, Error>
where
    B: Backend,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, B::Lanes>>,
    F::Output: NumberOutput<NumOf<B, P::Shape, B::Lanes>>,
{
    PreparedGradient::new(f, backend, &x)?.gradient(x)
}

/// Writes the gradient of `f` at `x` into `grad`, which is as long as `x`.
///
/// # Errors
/// Those of [`gradient`], and [`ErrorKind::BufferLength`] if `grad` has another length.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut grad = [0.0; 2];
/// gradient_into(&energy, &mut grad, &AutoReverseDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(grad, [4.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn gradient_into<F, B, P>(f: &F, grad: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    B: Backend,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, B::Lanes>>,
    F::Output: NumberOutput<NumOf<B, P::Shape, B::Lanes>>,
{
    PreparedGradient::new(f, backend, &x)?.gradient_into(grad, x)
}

/// Returns `f(x)` and the gradient of `f` at `x`.
///
/// # Errors
/// Those of [`gradient`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let (y, grad) = value_and_gradient(&energy, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, 29.0);
/// assert_eq!(grad, [4.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_gradient<F, B, P>(f: &F, backend: &B, x: P) -> Result<(ScalarOf<P>, <P::Shape as Shape>::Like), Error>
where
    B: Backend,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, B::Lanes>>,
    F::Output: NumberOutput<NumOf<B, P::Shape, B::Lanes>>,
{
    PreparedGradient::new(f, backend, &x)?.value_and_gradient(x)
}

/// Returns `f(x)` and writes the gradient of `f` at `x` into `grad`.
///
/// # Errors
/// Those of [`gradient_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut grad = vec![0.0; 2];
/// let y = value_and_gradient_into(&energy, &mut grad, &AutoReverseDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((y, grad), (29.0, vec![4.0, 10.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_gradient_into<F, B, P>(
    f: &F,
    grad: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<ScalarOf<P>, Error>
where
    B: Backend,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, B::Lanes>>,
    F::Output: NumberOutput<NumOf<B, P::Shape, B::Lanes>>,
{
    PreparedGradient::new(f, backend, &x)?.value_and_gradient_into(grad, x)
}

/// Pays the one-time costs of a gradient: evaluates `f` once at `x` to size all work memory.
///
/// `f` is a reference or another pointer to the function (`&f`, `Arc`, `Box`), which the prepared object keeps, so it cannot
/// be used with another function. It serves any point of the same length and any values of constants.
///
/// # Errors
/// Those of [`gradient`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut prepared = prepare_gradient(&energy, &AutoReverseDiff::default(), &[0.0, 0.0])?;
/// let mut x = [2.0, 5.0];
/// let mut grad = [0.0; 2];
/// for _ in 0..10 {
///     let y = prepared.value_and_gradient_into(&mut grad, &x)?;
///     assert_eq!(y, x[0] * x[0] + x[1] * x[1]);
///     x = [x[0] - 0.25 * grad[0], x[1] - 0.25 * grad[1]];
/// }
/// assert_eq!(x, [2.0 / 1024.0, 5.0 / 1024.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_gradient<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedGradient<H, B, P::Shape, P::Contexts>, Error>
where
    B: Backend,
    P: Point,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, NumOf<B, P::Shape, B::Lanes>>,
{
    let mut prepared = PreparedGradient::new(f, backend, &x)?;
    prepared.call.prepare(&x)?;
    Ok(prepared)
}

/// A prepared gradient, made by [`prepare_gradient`].
///
/// Good for the same function and backend and points of the same length, one thread at a time; clone it for another thread.
/// Calls allocate nothing except what the function itself and the returned vectors need. After an error it is as usable as
/// before.
pub struct PreparedGradient<H, B: Backend, X: Shape, C: Contexts = ()> {
    call: MatrixCall<H, B, B::Gradient, B::Lanes, X, C>,
}

impl<H: Clone, B: Backend, X: Shape, C: Contexts> Clone for PreparedGradient<H, B, X, C> {
    fn clone(&self) -> Self {
        PreparedGradient { call: self.call.clone() }
    }
}

impl<H, B: Backend, X: Shape, C: Contexts> PreparedGradient<H, B, X, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedGradient { call: MatrixCall::new("gradient", f, backend, x)? })
    }
}

impl<H, B, X, C> PreparedGradient<H, B, X, C>
where
    B: Backend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, NumOf<B, X, B::Lanes>>,
{
    /// Returns the gradient at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation.
    pub fn gradient<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<X::Like, Error> {
        self.like(x, false)
    }

    /// Writes the gradient at `x` into `grad`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferLength`] if `grad` is not as long as `x`.
    #[inline]
    pub fn gradient_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        self.fill(grad, &x, false)
    }

    /// Returns the value and the gradient at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`].
    pub fn value_and_gradient<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(X::Scalar, X::Like), Error> {
        let grad = self.like(x, true)?;
        Ok((self.call.work.y[0], grad))
    }

    /// Returns the value and writes the gradient at `x` into `grad`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferLength`] if `grad` is not as long as `x`.
    #[inline]
    pub fn value_and_gradient_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut [X::Scalar],
        x: P,
    ) -> Result<X::Scalar, Error> {
        self.fill(grad, &x, true)?;
        Ok(self.call.work.y[0])
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. What the function captured
    /// may have changed.
    ///
    /// # Errors
    /// Those of [`gradient`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        self.call.prepare(&x)
    }

    fn like<P: Point<Shape = X, Contexts = C>>(&mut self, x: P, with_value: bool) -> Result<X::Like, Error> {
        X::filled(self.call.work.inputs, |grad| self.fill(grad, &x, with_value))
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut [X::Scalar],
        x: &P,
        with_value: bool,
    ) -> Result<(), Error> {
        let inputs = self.call.work.inputs;
        self.call.work.check_point(x.coordinates())?;
        if grad.len() != inputs {
            return Err(self.call.work.error(ErrorKind::BufferLength { expected: inputs, found: grad.len() }));
        }
        self.call.run(x, with_value, Rows::fixed(grad, inputs))
    }
}
