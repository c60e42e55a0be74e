//! Derivative of a function of one number.
//!
//! Called by users. Reaches a backend through its `type Derivative` route, with one lane.

use super::call::MatrixCall;
use super::{BorrowedOf, NumOf, ValueOf};
use crate::backend::{Backend, Lane, Rows};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Evaluate, Output};
use crate::point::{NumberShape, Point, ScalarOf, Shape};
use std::ops::Deref;

/// The number type of `derivative`.
type One<B, X> = NumOf<B, X, Lane<1>>;

/// Returns the derivative of `f` at the number `x`, in the shape of the output.
///
/// # Errors
/// None of this operator's own; backends may refuse.
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
pub fn derivative<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<ValueOf<F, P::Shape, P::Contexts, One<B, P::Shape>>, Error>
where
    B: Backend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, One<B, P::Shape>>,
{
    PreparedDerivative::new(f, backend, &x)?.derivative(x)
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
pub fn derivative_into<F, B, P>(f: &F, der: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    B: Backend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, One<B, P::Shape>>,
{
    PreparedDerivative::new(f, backend, &x)?.derivative_into(der, x)
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
pub fn value_and_derivative<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<
    (ValueOf<F, P::Shape, P::Contexts, One<B, P::Shape>>, ValueOf<F, P::Shape, P::Contexts, One<B, P::Shape>>),
    Error,
>
where
    B: Backend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, One<B, P::Shape>>,
{
    PreparedDerivative::new(f, backend, &x)?.value_and_derivative(x)
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
pub fn value_and_derivative_into<F, B, P>(
    f: &F,
    der: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<ValueOf<F, P::Shape, P::Contexts, One<B, P::Shape>>, Error>
where
    B: Backend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, One<B, P::Shape>>,
{
    let mut call = PreparedDerivative::new(f, backend, &x)?;
    call.value_and_derivative_into(der, x)?;
    Ok(PreparedDerivative::<&F, B, P::Shape, P::Contexts>::build(&call.call.work.y))
}

/// Pays the one-time costs of a derivative; see [`prepare_gradient`](super::prepare_gradient) for what it is good for.
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
    B: Backend,
    P: Point<Shape: NumberShape>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, One<B, P::Shape>>,
{
    let mut prepared = PreparedDerivative::new(f, backend, &x)?;
    prepared.call.prepare(&x)?;
    prepared.der.clone_from(&prepared.call.work.y);
    Ok(prepared)
}

/// A prepared derivative, made by [`prepare_derivative`]. One thread at a time; clone it for another thread.
pub struct PreparedDerivative<H, B: Backend, X: Shape, C: Contexts = ()> {
    call: MatrixCall<H, B, B::Derivative, Lane<1>, X, C>,
    der: Vec<X::Scalar>,
}

impl<H: Clone, B: Backend, X: Shape, C: Contexts> Clone for PreparedDerivative<H, B, X, C> {
    fn clone(&self) -> Self {
        PreparedDerivative { call: self.call.clone(), der: self.der.clone() }
    }
}

impl<H, B: Backend, X: Shape, C: Contexts> PreparedDerivative<H, B, X, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedDerivative { call: MatrixCall::new("derivative", f, backend, x)?, der: Vec::new() })
    }
}

impl<H, B, X, C> PreparedDerivative<H, B, X, C>
where
    B: Backend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, One<B, X>>,
{
    /// Returns the derivative at `x`.
    ///
    /// # Errors
    /// Those of [`derivative`].
    pub fn derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<ValueOf<H::Target, X, C, One<B, X>>, Error> {
        self.call.run(&x, false, Rows::growing(&mut self.der, 1))?;
        Ok(Self::build(&self.der))
    }

    /// Writes the derivative at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    pub fn derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        self.call.run(&x, false, Rows::fixed(der, 1))
    }

    /// Returns the value and the derivative at `x`.
    ///
    /// # Errors
    /// Those of [`derivative`].
    pub fn value_and_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(ValueOf<H::Target, X, C, One<B, X>>, ValueOf<H::Target, X, C, One<B, X>>), Error> {
        self.call.run(&x, true, Rows::growing(&mut self.der, 1))?;
        Ok((Self::build(&self.call.work.y), Self::build(&self.der)))
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative at `x` into `der`.
    ///
    /// # Errors
    /// Those of [`derivative_into`].
    pub fn value_and_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        x: P,
    ) -> Result<BorrowedOf<'_, H::Target, X, C, One<B, X>>, Error> {
        self.call.run(&x, true, Rows::fixed(der, 1))?;
        Ok(<H::Target as Evaluate<X, C, One<B, X>>>::Output::borrow(&self.call.work.y))
    }

    fn build(flat: &[X::Scalar]) -> ValueOf<H::Target, X, C, One<B, X>> {
        <H::Target as Evaluate<X, C, One<B, X>>>::Output::build(flat)
    }
}
