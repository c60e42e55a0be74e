//! Auxiliary outputs: a function returns the value to differentiate and other data, or a `Result` of both.
//!
//! [`with_aux`] adapts such a function for every operator and keeps the other data; the two operators here are shortcuts for the
//! most frequent cases.

use super::jacobian::JacobianValue;
use super::{GradientBackend, JacobianBackend, value_and_gradient, value_and_jacobian};
use crate::error::{Error, ErrorKind};
use crate::function::{ContextTypes, Function, FunctionWith};
use crate::point::{ArrayShape, Point, ScalarOf, Shape};
use std::cell::RefCell;

/// Adapts a function that returns `(y, aux)`, or a `Result` of it, to one that returns `y`; made by [`with_aux`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn fit<T: Real>(x: &[T]) -> (T, usize) {
///     (x.iter().map(|v| v * v).sum(), x.len())
/// }
/// let f: WithAux<_, usize> = with_aux(fit);
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0])?, [2.0, 4.0]);
/// assert_eq!((f.take(), f.take()), (Some(2), None));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WithAux<F, A> {
    function: F,
    /// What the first evaluation of a call has returned, `Some(None)` for an error; `None` before it.
    first: RefCell<Option<Option<A>>>,
}

/// Adapts a function that returns `(y, aux)`, or a `Result` of it, for every operator, which then differentiates `y`.
///
/// The `aux` of the first evaluation of the last call of an operator is kept, until [`take`](WithAux::take) takes it. If the operator also returns the
/// value, that is the evaluation at the point itself. Numbers in `aux` have the backend's type; [`primal`](crate::Scalar::primal) gives their
/// values.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn fit<T: Real>(x: &[T]) -> (T, f64) {
///     let largest = x.iter().map(|v| v.primal()).fold(0.0, f64::max);
///     (x.iter().map(|v| v * v).sum(), largest)
/// }
/// let f = with_aux(fit);
/// let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default(), &[0.0, 0.0])?;
/// assert_eq!(prepared.gradient(&[1.0, 2.0])?, [2.0, 4.0]);
/// assert_eq!(f.take(), Some(2.0));
/// # Ok::<(), Error>(())
/// ```
pub fn with_aux<F, A>(f: F) -> WithAux<F, A> {
    WithAux { function: f, first: RefCell::new(None) }
}

impl<F, A> WithAux<F, A> {
    /// Takes the auxiliary output of the last call of an operator that began to evaluate: that of its first evaluation. `None` if it has been taken, if the engine
    /// has not run the function, or if that evaluation has returned an error.
    pub fn take(&self) -> Option<A> {
        self.first.take().flatten()
    }

    fn keep<R: WithAuxOutput<Aux = A>>(&self, result: R) -> R::Output {
        let mut found = None;
        let result = result.split(|aux| found = Some(aux));
        self.first.borrow_mut().get_or_insert(found);
        result
    }
}

/// What a function with an auxiliary output returns: `(y, aux)`, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "`with_aux` expects a function that returns `(y, aux)` or a `Result` of it, this one returns `{Self}`"
)]
pub trait WithAuxOutput {
    /// What is differentiated: `y`, or a `Result` of it.
    type Output;
    /// The auxiliary output.
    type Aux;
    /// Gives the auxiliary output to `keep`, if there is one, and returns the rest.
    fn split(self, keep: impl FnOnce(Self::Aux)) -> Self::Output;
}

impl<Y, A> WithAuxOutput for (Y, A) {
    type Output = Y;
    type Aux = A;
    fn split(self, keep: impl FnOnce(A)) -> Y {
        keep(self.1);
        self.0
    }
}

impl<Y, A, E> WithAuxOutput for Result<(Y, A), E> {
    type Output = Result<Y, E>;
    type Aux = A;
    fn split(self, keep: impl FnOnce(A)) -> Result<Y, E> {
        self.map(|both| both.split(keep))
    }
}

impl<X: ?Sized, A, F: Function<X, Output: WithAuxOutput<Aux = A>>> Function<X> for WithAux<F, A> {
    type Output = <F::Output as WithAuxOutput>::Output;
    fn call(&self, x: &X) -> Self::Output {
        self.keep(self.function.call(x))
    }
    fn is_pure(&self) -> bool {
        false
    }
    fn begin(&self) {
        self.first.take();
        self.function.begin();
    }
}

impl<X: ?Sized, C: ContextTypes, A, F: FunctionWith<X, C, Output: WithAuxOutput<Aux = A>>> FunctionWith<X, C>
    for WithAux<F, A>
{
    type Output = <F::Output as WithAuxOutput>::Output;
    fn call_with(&self, x: &X, contexts: C::Args<'_>) -> Self::Output {
        self.keep(self.function.call_with(x, contexts))
    }
    fn is_pure(&self) -> bool {
        false
    }
    fn begin(&self) {
        self.first.take();
        self.function.begin();
    }
}

/// Returns the value, the gradient and the auxiliary output of a function that returns `(number, aux)`, or a `Result` of it.
///
/// # Errors
/// Those of [`gradient`](super::gradient), and [`ErrorKind::NoAuxiliaryOutput`] from an engine that does not call the function.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn fit<T: Real>(x: &[T]) -> (T, &'static str) {
///     (x[0] * x[1], "product")
/// }
/// let f = with_aux(fit);
/// let (y, grad, aux) = value_gradient_and_aux(&f, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((y, grad, aux), (10.0, vec![5.0, 2.0], "product"));
/// # Ok::<(), Error>(())
/// ```
pub fn value_gradient_and_aux<F, A, B, P>(
    f: &WithAux<F, A>,
    backend: &B,
    x: P,
) -> Result<(ScalarOf<P>, <P::Shape as Shape>::Like, A), Error>
where
    P: Point,
    B: GradientBackend<WithAux<F, A>, P::Shape, P::Contexts>,
{
    // An engine that does not bind the function leaves what an earlier call has kept.
    f.take();
    let (y, grad) = value_and_gradient(f, backend, x)?;
    let aux = f.take().ok_or_else(|| Error::new(ErrorKind::NoAuxiliaryOutput).during("gradient", B::BACKEND))?;
    Ok((y, grad, aux))
}

/// Returns the value, the Jacobian and the auxiliary output of a function that returns `(array, aux)`, or a `Result` of it.
///
/// # Errors
/// Those of [`jacobian`](super::jacobian), and [`ErrorKind::NoAuxiliaryOutput`] from an engine that does not call the function.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn model<T: Real>(x: &[T]) -> ([T; 2], usize) {
///     ([x[0] * x[1], x[0] + x[1]], x.len())
/// }
/// let f = with_aux(model);
/// let (y, jac, aux) = value_jacobian_and_aux(&f, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((y, aux), ([10.0, 7.0], 2));
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_jacobian_and_aux<F, A, B, P>(
    f: &WithAux<F, A>,
    backend: &B,
    x: P,
) -> Result<(JacobianValue<B, WithAux<F, A>, P::Shape, P::Contexts>, B::Matrix, A), Error>
where
    P: Point<Shape: ArrayShape>,
    B: JacobianBackend<WithAux<F, A>, P::Shape, P::Contexts>,
{
    f.take();
    let (y, jac) = value_and_jacobian(f, backend, x)?;
    let aux = f.take().ok_or_else(|| Error::new(ErrorKind::NoAuxiliaryOutput).during("jacobian", B::BACKEND))?;
    Ok((y, jac, aux))
}
