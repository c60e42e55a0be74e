//! Hessian of a function from an array to one number.
//!
//! Called by users. Reaches two backends through the `type Hvp` route of the [`SecondOrderBackend`], with all basis vectors
//! as tangents.

use crate::backend::{HvpRoute, Lanes, Rows, SecondOrderBackend, Seeds, Want};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, NumberOutput};
use crate::fault;
use crate::matrix::Matrix;
use crate::point::{ArrayShape, Point, ScalarOf, Shape};
use std::ops::Deref;

type Route<B> = <B as SecondOrderBackend>::Hvp;
type RouteLanes<B> = <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Lanes;
/// The number type of `hessian`.
type Wide<B, X> = <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Num<
    <X as Shape>::Scalar,
    RouteLanes<B>,
>;

/// Returns the Hessian of `f` at `x`: entry `(i, j)` is ∂²f/∂xᵢ∂xⱼ.
///
/// The backend is plain, and then stands for itself twice, or a [`SecondOrder`](crate::backend::SecondOrder), of which
/// forward over reverse is the usual choice.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if a backend has a fixed chunk larger than `x`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
/// assert_eq!(hessian(&cubic, &backend, &[2.0, 5.0])?, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn hessian<F, B, P>(f: &F, backend: &B, x: P) -> Result<Matrix<ScalarOf<P>>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: NumberOutput<Wide<B, P::Shape>>,
{
    PreparedHessian::new(f, backend, &x)?.hessian(x)
}

/// Writes the Hessian of `f` at `x` into `hess`.
///
/// # Errors
/// Those of [`hessian`], and [`ErrorKind::BufferSize`] if `hess` is not inputs × inputs.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let mut hess = Matrix::filled(2, 2, 0.0);
/// hessian_into(&cubic, &mut hess, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(hess, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn hessian_into<F, B, P>(f: &F, hess: &mut Matrix<ScalarOf<P>>, backend: &B, x: P) -> Result<(), Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: NumberOutput<Wide<B, P::Shape>>,
{
    PreparedHessian::new(f, backend, &x)?.hessian_into(hess, x)
}

/// Returns `f(x)`, the gradient and the Hessian of `f` at `x`, all from the same evaluations.
///
/// # Errors
/// Those of [`hessian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (y, grad, hess) = value_gradient_and_hessian(&cubic, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((y, grad), (20.0, vec![20.0, 4.0]));
/// assert_eq!(hess, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_gradient_and_hessian<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<(ScalarOf<P>, <P::Shape as Shape>::Like, Matrix<ScalarOf<P>>), Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: NumberOutput<Wide<B, P::Shape>>,
{
    PreparedHessian::new(f, backend, &x)?.value_gradient_and_hessian(x)
}

/// Returns `f(x)`, and writes the gradient and the Hessian of `f` at `x` into `grad` and `hess`.
///
/// # Errors
/// Those of [`hessian_into`], and [`ErrorKind::BufferLength`] if `grad` is not as long as `x`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (mut grad, mut hess) = ([0.0; 2], Matrix::filled(2, 2, 0.0));
/// let backend = AutoForwardDiff::default();
/// let y = value_gradient_and_hessian_into(&cubic, &mut grad, &mut hess, &backend, &[2.0, 5.0])?;
/// assert_eq!((y, grad), (20.0, [20.0, 4.0]));
/// assert_eq!(hess, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_gradient_and_hessian_into<F, B, P>(
    f: &F,
    grad: &mut [ScalarOf<P>],
    hess: &mut Matrix<ScalarOf<P>>,
    backend: &B,
    x: P,
) -> Result<ScalarOf<P>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: ArrayShape>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
    F::Output: NumberOutput<Wide<B, P::Shape>>,
{
    PreparedHessian::new(f, backend, &x)?.value_gradient_and_hessian_into(grad, hess, x)
}

/// Pays the one-time costs of a Hessian, those of the inner differentiation too; see
/// [`prepare_gradient`](super::prepare_gradient) for what it is good for.
///
/// # Errors
/// Those of [`hessian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let mut prepared = prepare_hessian(&cubic, &AutoForwardDiff::default(), &[0.0, 0.0])?;
/// let mut hess = Matrix::filled(2, 2, 0.0);
/// prepared.hessian_into(&mut hess, &[2.0, 5.0])?;
/// assert_eq!(hess, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_hessian<H, B, P>(f: H, backend: &B, x: P) -> Result<PreparedHessian<H, B, P::Shape, P::Contexts>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: ArrayShape>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>, Output: NumberOutput<Wide<B, P::Shape>>>,
{
    let mut prepared = PreparedHessian::new(f, backend, &x)?;
    prepared.prepare_again(x)?;
    Ok(prepared)
}

/// A prepared Hessian, made by [`prepare_hessian`]. One thread at a time; clone it for another thread.
pub struct PreparedHessian<H, B: SecondOrderBackend, X: Shape, C: Contexts = ()> {
    function: H,
    pair: (B::Outer, B::Inner),
    state: <B::Hvp as HvpRoute<B::Outer, B::Inner>>::State<X::Scalar, RouteLanes<B>>,
    storage: C::Storage<Wide<B, X>>,
    inputs: usize,
}

impl<H: Clone, B: SecondOrderBackend, X: Shape, C: Contexts> Clone for PreparedHessian<H, B, X, C> {
    fn clone(&self) -> Self {
        PreparedHessian {
            function: self.function.clone(),
            pair: self.pair.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            inputs: self.inputs,
        }
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("hessian", B::NAME)
}

impl<H, B: SecondOrderBackend, X: Shape, C: Contexts> PreparedHessian<H, B, X, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let pair = backend.pair();
        let inputs = x.coordinates().len();
        Ok(PreparedHessian {
            function: f,
            state: B::Hvp::state(&pair, inputs, inputs).map_err(named::<B>)?,
            pair,
            storage: C::allocate(x.contexts()),
            inputs,
        })
    }
}

impl<H, B, X, C> PreparedHessian<H, B, X, C>
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Wide<B, X>>,
{
    /// Returns the Hessian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation.
    pub fn hessian<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<Matrix<X::Scalar>, Error> {
        self.matrix(&x, Want::Products)
    }

    /// Writes the Hessian at `x` into `hess`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferSize`] if `hess` is not inputs × inputs.
    pub fn hessian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        hess: &mut Matrix<X::Scalar>,
        x: P,
    ) -> Result<(), Error> {
        self.fill(hess, &x, Want::Products)
    }

    /// Returns the value, the gradient and the Hessian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`].
    pub fn value_gradient_and_hessian<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(X::Scalar, X::Like, Matrix<X::Scalar>), Error> {
        let hess = self.matrix(&x, Want::Value)?;
        Ok((B::Hvp::value(&self.state), X::like(B::Hvp::gradient(&self.state)), hess))
    }

    /// Returns the value, and writes the gradient and the Hessian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferSize`] for wrong buffers.
    pub fn value_gradient_and_hessian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut [X::Scalar],
        hess: &mut Matrix<X::Scalar>,
        x: P,
    ) -> Result<X::Scalar, Error> {
        if grad.len() != self.inputs {
            return Err(named::<B>(ErrorKind::BufferLength { expected: self.inputs, found: grad.len() }));
        }
        self.fill(hess, &x, Want::Value)?;
        grad.copy_from_slice(B::Hvp::gradient(&self.state));
        Ok(B::Hvp::value(&self.state))
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory.
    ///
    /// # Errors
    /// Those of [`hessian`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        let inputs = x.coordinates().len();
        B::Hvp::state::<X::Scalar, RouteLanes<B>>(&self.pair, inputs, inputs).map_err(named::<B>)?;
        self.inputs = inputs;
        // As many products as go together size all work memory, unless others may need more.
        let stretch = inputs.min(RouteLanes::<B>::N.max(16));
        let mut scratch = Vec::new();
        let mut first = 0;
        loop {
            let count = stretch.min(inputs - first);
            let columns = if B::Hvp::SEEDS_ARE_ROWS { inputs } else { count };
            let want = if first == 0 { Want::Value } else { Want::Products };
            self.products(&x, Seeds::Basis { first, count }, want, Rows::growing(&mut scratch, columns))?;
            first += count;
            if first >= inputs || !B::Hvp::MEMORY_FOLLOWS_TANGENTS {
                return Ok(());
            }
        }
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P, want: Want) -> Result<Matrix<X::Scalar>, Error> {
        let mut hess = Matrix::filled(self.inputs, self.inputs, X::Scalar::default());
        self.fill(&mut hess, x, want)?;
        Ok(hess)
    }

    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        hess: &mut Matrix<X::Scalar>,
        x: &P,
        want: Want,
    ) -> Result<(), Error> {
        let (n, found) = (self.inputs, x.coordinates().len());
        if found != n {
            return Err(named::<B>(ErrorKind::PreparedLength { prepared: n, found }));
        }
        if hess.size() != (n, n) {
            return Err(named::<B>(ErrorKind::BufferSize { expected: (n, n), found: hess.size() }));
        }
        self.products(x, Seeds::all(n), want, Rows::fixed(hess.as_mut_slice(), n))
    }

    fn products<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: &P,
        seeds: Seeds<'_, X::Scalar>,
        want: Want,
        rows: Rows<'_, X::Scalar>,
    ) -> Result<(), Error> {
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        fault::watch(|| B::Hvp::products(&self.pair, &mut self.state, &mut f, x.coordinates(), seeds, want, rows))
            .map_err(named::<B>)
    }
}
