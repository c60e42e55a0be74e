//! Jacobian of a function from an array to an array.
//!
//! Called by users. Reaches a backend through its `type Jacobian` route.

use super::call::MatrixCall;
use super::{BorrowedOf, NumOf, ValueOf};
use crate::backend::{Backend, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{ArrayOutput, Evaluate, Output};
use crate::matrix::Matrix;
use crate::point::{ArrayShape, Point, ScalarOf, Shape};
use std::ops::Deref;

/// The number type of `jacobian`.
type Wide<B, X> = NumOf<B, X, <B as Backend>::Lanes>;

/// Returns the Jacobian of `f` at `x`: entry `(i, j)` is ∂fᵢ/∂xⱼ, with one row per output and one column per input.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if the backend has a fixed chunk larger than `x`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> {
///     vec![x[0] * x[1], x[0] + x[1]]
/// }
/// let jac = jacobian(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn jacobian<F, B, P>(f: &F, backend: &B, x: P) -> Result<Matrix<ScalarOf<P>>, Error>
where
    B: Backend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: ArrayOutput<Wide<B, P::Shape>>,
{
    PreparedJacobian::new(f, backend, &x)?.jacobian(x)
}

/// Writes the Jacobian of `f` at `x` into `jac`.
///
/// # Errors
/// Those of [`jacobian`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn differences<T: Real>(y: &mut [T], x: &[T]) {
///     for i in 0..y.len() {
///         y[i] = x[i + 1] - x[i];
///     }
/// }
/// let f = in_place(|y: &mut [_], x: &[_]| differences(y, x), 2);
/// let mut jac = Matrix::filled(2, 3, 0.0);
/// jacobian_into(&f, &mut jac, &AutoReverseDiff::default(), &[1.0, 4.0, 9.0])?;
/// assert_eq!(jac, [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn jacobian_into<F, B, P>(f: &F, jac: &mut Matrix<ScalarOf<P>>, backend: &B, x: P) -> Result<(), Error>
where
    B: Backend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: ArrayOutput<Wide<B, P::Shape>>,
{
    PreparedJacobian::new(f, backend, &x)?.jacobian_into(jac, x)
}

/// Returns `f(x)` and the Jacobian of `f` at `x`. The function is not evaluated once more for its value.
///
/// # Errors
/// Those of [`jacobian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let (y, jac) = value_and_jacobian(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_jacobian<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<(ValueOf<F, P::Shape, P::Contexts, Wide<B, P::Shape>>, Matrix<ScalarOf<P>>), Error>
where
    B: Backend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: ArrayOutput<Wide<B, P::Shape>>,
{
    PreparedJacobian::new(f, backend, &x)?.value_and_jacobian(x)
}

/// Returns `f(x)` and writes the Jacobian of `f` at `x` into `jac`.
///
/// # Errors
/// Those of [`jacobian_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let mut jac = Matrix::filled(2, 2, 0.0);
/// let y = value_and_jacobian_into(&product_and_sum, &mut jac, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_jacobian_into<F, B, P>(
    f: &F,
    jac: &mut Matrix<ScalarOf<P>>,
    backend: &B,
    x: P,
) -> Result<ValueOf<F, P::Shape, P::Contexts, Wide<B, P::Shape>>, Error>
where
    B: Backend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: ArrayOutput<Wide<B, P::Shape>>,
{
    let mut call = PreparedJacobian::new(f, backend, &x)?;
    call.fill(jac, &x, true)?;
    Ok(call.value())
}

/// Pays the one-time costs of a Jacobian; see [`prepare_gradient`](super::prepare_gradient) for what it is good for.
///
/// # Errors
/// Those of [`jacobian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let mut prepared = prepare_jacobian(&product_and_sum, &AutoForwardDiff::default(), &[0.0, 0.0])?;
/// let mut jac = Matrix::filled(2, 2, 0.0);
/// prepared.jacobian_into(&mut jac, &[2.0, 5.0])?;
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_jacobian<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedJacobian<H, B, P::Shape, P::Contexts>, Error>
where
    B: Backend,
    P: Point<Shape: ArrayShape>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    let mut prepared = PreparedJacobian::new(f, backend, &x)?;
    prepared.prepare_again(x)?;
    Ok(prepared)
}

/// A prepared Jacobian, made by [`prepare_jacobian`]. One thread at a time; clone it for another thread.
pub struct PreparedJacobian<H, B: Backend, X: Shape, C: Contexts = ()> {
    call: MatrixCall<H, B, B::Jacobian, B::Lanes, X, C>,
    /// Number of outputs, once known.
    outputs: Option<usize>,
}

impl<H: Clone, B: Backend, X: Shape, C: Contexts> Clone for PreparedJacobian<H, B, X, C> {
    fn clone(&self) -> Self {
        PreparedJacobian { call: self.call.clone(), outputs: self.outputs }
    }
}

impl<H, B: Backend, X: Shape, C: Contexts> PreparedJacobian<H, B, X, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedJacobian { call: MatrixCall::new("jacobian", f, backend, x)?, outputs: None })
    }
}

impl<H, B, X, C> PreparedJacobian<H, B, X, C>
where
    B: Backend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Wide<B, X>>,
{
    /// Returns the Jacobian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation.
    pub fn jacobian<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<Matrix<X::Scalar>, Error> {
        // A Jacobian without columns does not tell the number of its rows; the value does.
        let with_value = self.call.inputs() == 0;
        self.matrix(&x, with_value)
    }

    /// Writes the Jacobian at `x` into `jac`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
    #[inline]
    pub fn jacobian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut Matrix<X::Scalar>,
        x: P,
    ) -> Result<(), Error> {
        self.fill(jac, &x, false)
    }

    /// Returns the value and the Jacobian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`].
    pub fn value_and_jacobian<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(ValueOf<H::Target, X, C, Wide<B, X>>, Matrix<X::Scalar>), Error> {
        let jac = self.matrix(&x, true)?;
        Ok((self.value(), jac))
    }

    /// Returns the value, borrowed from the preparation, and writes the Jacobian at `x` into `jac`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
    #[inline]
    pub fn value_and_jacobian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut Matrix<X::Scalar>,
        x: P,
    ) -> Result<BorrowedOf<'_, H::Target, X, C, Wide<B, X>>, Error> {
        self.fill(jac, &x, true)?;
        Ok(<H::Target as Evaluate<X, C, Wide<B, X>>>::Output::borrow(&self.call.y))
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory.
    ///
    /// # Errors
    /// Those of [`jacobian`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        self.call.prepare(&x)?;
        self.outputs = Some(self.call.y.len());
        Ok(())
    }

    /// The value left by the last call.
    fn value(&self) -> ValueOf<H::Target, X, C, Wide<B, X>> {
        <H::Target as Evaluate<X, C, Wide<B, X>>>::Output::build(&self.call.y)
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: &P,
        with_value: bool,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let columns = self.call.inputs();
        let mut data = Vec::with_capacity(self.outputs.unwrap_or(0) * columns);
        self.call.run(x, with_value, Rows::growing(&mut data, columns))?;
        let rows = data.len().checked_div(columns).unwrap_or(self.call.y.len());
        Ok(Matrix::from_rows(rows, columns, data))
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut Matrix<X::Scalar>,
        x: &P,
        with_value: bool,
    ) -> Result<(), Error> {
        self.call.check_point(x.coordinates())?;
        let columns = self.call.inputs();
        let found = jac.size();
        let expected = (self.outputs.unwrap_or(found.0), columns);
        if found != expected {
            return Err(self.call.error(ErrorKind::BufferSize { expected, found }));
        }
        self.call.run(x, with_value, Rows::fixed(jac.as_mut_slice(), columns)).map_err(|error| match error.kind() {
            // The function returned another number of outputs than the matrix has rows.
            ErrorKind::BufferLength { expected, .. } => {
                let outputs = expected / columns.max(1);
                self.call.error(match self.outputs {
                    Some(prepared) => ErrorKind::OutputLength { expected: prepared, found: outputs },
                    None => ErrorKind::BufferSize { expected: (outputs, columns), found },
                })
            }
            _ => error,
        })
    }
}
