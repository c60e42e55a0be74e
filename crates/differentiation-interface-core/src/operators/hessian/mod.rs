//! Hessian of a function from an array to one number.
//!
//! Called by users. Reaches two backends through the `type Hvp` route of the [`SecondOrderBackend`], with all basis vectors
//! as tangents.

mod backend;

pub use backend::{HessianBackend, HessianWork};

use super::call::{Memory, check_point, check_shaped, like, of_point, preparing, write};
use crate::backend::Request;
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::matrix::MatrixBuffer;
use crate::point::{ArrayShape, At, LikeOf, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;

/// Returns the Hessian of `f` at `x`: entry `(i, j)` is ∂²f/∂xᵢ∂xⱼ.
///
/// Pass one backend, which is then used for both levels, or a [`SecondOrder`](crate::backend::SecondOrder) of two, for which forward over reverse is the usual choice.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if a backend has a fixed chunk larger than `x`, [`ErrorKind::FunctionFailed`] if the function returns an `Err`, and
/// what else the backend refuses, such as [`ErrorKind::ForeignNumber`], [`ErrorKind::OtherThread`] or [`ErrorKind::TapeOverflow`].
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
pub fn hessian<F, B, P>(f: &F, backend: &B, x: P) -> Result<B::Matrix, Error>
where
    P: Point<Shape: ArrayShape>,
    B: HessianBackend<F, P::Shape, P::Contexts>,
{
    PreparedHessian::<_, B, _, _>::new(f, backend, &x)?.hessian(x)
}

/// Writes the Hessian of `f` at `x` into `hess`: a matrix of the type that [`hessian`] returns, or one of `nalgebra`, `ndarray` or `faer`, see
/// [`MatrixBuffer`].
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
pub fn hessian_into<F, B, P>(
    f: &F,
    hess: &mut impl MatrixBuffer<ScalarOf<P>, B::Matrix>,
    backend: &B,
    x: P,
) -> Result<(), Error>
where
    P: Point<Shape: ArrayShape>,
    B: HessianBackend<F, P::Shape, P::Contexts>,
{
    PreparedHessian::<_, B, _, _>::new(f, backend, &x)?.hessian_into(hess, x)
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
) -> Result<(ScalarOf<P>, LikeOf<P>, B::Matrix), Error>
where
    P: Point<Shape: ArrayShape>,
    B: HessianBackend<F, P::Shape, P::Contexts>,
{
    PreparedHessian::<_, B, _, _>::new(f, backend, &x)?.value_gradient_and_hessian(x)
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
    grad: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    hess: &mut impl MatrixBuffer<ScalarOf<P>, B::Matrix>,
    backend: &B,
    x: P,
) -> Result<ScalarOf<P>, Error>
where
    P: Point<Shape: ArrayShape>,
    B: HessianBackend<F, P::Shape, P::Contexts>,
{
    PreparedHessian::<_, B, _, _>::new(f, backend, &x)?.value_gradient_and_hessian_into(grad, hess, x)
}

/// Returns a prepared Hessian of `f`, which holds the preparation of the inner differentiation too; see
/// [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
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
    P: Point<Shape: ArrayShape>,
    H: Pointer,
    B: HessianBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut prepared = PreparedHessian::new(f, backend, &x)?;
    prepared.prepare_again(x)?;
    Ok(prepared)
}

/// A prepared Hessian, made by [`prepare_hessian`]: entry `(i, j)` is ∂²f/∂xᵢ∂xⱼ.
///
/// [`hessian`](Self::hessian) and [`value_gradient_and_hessian`](Self::value_gradient_and_hessian) return the matrix, the variants with `_into` fill one; [`value`](Self::value) returns the
/// output alone. [`prepare_again`](Self::prepare_again) prepares for another length. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend or the `SecondOrder` of two, the shape of the point and the contexts, if any.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Slice;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn cubic(x: &[f64]) -> f64 {
///     x[0] * x[0] * x[1]
/// }
/// type Both = SecondOrder<AutoForwardDiff, AutoReverseDiff>;
/// struct Newton {
///     hessian: PreparedHessian<Arc<Cubic>, Both, Slice<f64>>,
/// }
///
/// let mut newton = Newton { hessian: prepare_hessian(Arc::new(Cubic), &Both::default(), &[0.0; 2])? };
/// assert_eq!(newton.hessian.hessian(&[2.0, 5.0])?, [[10.0, 4.0], [4.0, 0.0]]);
/// let (y, grad, _) = newton.hessian.value_gradient_and_hessian(&[2.0, 5.0])?;
/// assert_eq!((y, grad), (20.0, vec![20.0, 4.0]));
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedHessian<H, B, X, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: HessianBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedHessian<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: HessianBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedHessian {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedHessian<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: HessianBackend<H::Function, X, C>,
{
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let mut memory = Memory::new();
        let at = At::new(x, &mut memory.point);
        let (state, inputs) = (backend.unprepared(at)?, at.coordinates().len());
        Ok(PreparedHessian { function: f, backend: backend.clone(), state, inputs, memory })
    }

    /// Returns the Hessian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, and those of [`hessian`].
    pub fn hessian<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<B::Matrix, Error> {
        self.matrix(&x, Request::Products)
    }

    /// Writes the Hessian at `x` into `hess`, a matrix of the type that [`hessian`](Self::hessian) returns or one of another crate, see
    /// [`MatrixBuffer`].
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`hessian`], and [`ErrorKind::BufferSize`] if `hess` is not inputs × inputs.
    pub fn hessian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        hess: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: P,
    ) -> Result<(), Error> {
        self.fill(hess, &x, Request::Products, |_| Ok(()))
    }

    /// Returns the value, the gradient and the Hessian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`hessian`].
    pub fn value_gradient_and_hessian<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(X::Scalar, X::Like, B::Matrix), Error> {
        let hess = self.matrix(&x, Request::Value)?;
        let (state, memory) = (&self.state, &mut self.memory.result);
        Ok((B::value(state), like(&x, memory, |grad| grad.copy_from_slice(B::gradient(state))), hess))
    }

    /// Returns the value, and writes the gradient and the Hessian at `x`; the gradient into a slice or an object of the type of the point.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`hessian`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferSize`] for wrong buffers.
    pub fn value_gradient_and_hessian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        hess: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: P,
    ) -> Result<X::Scalar, Error> {
        let check = |inputs| check_shaped::<_, X::Like>(inputs, x.outline(), grad);
        self.fill(hess, &x, Request::Value, check)?;
        write(grad, &mut self.memory.result, |grad| grad.copy_from_slice(B::gradient(&self.state)));
        Ok(B::value(&self.state))
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`hessian`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<X::Scalar, Error>
    where
        X::Scalar: Base,
    {
        let Memory { point, result } = &mut self.memory;
        let at = At::new(&x, point);
        check_point(self.inputs, at).map_err(Self::named)?;
        self.backend.evaluate(&mut self.state, self.function.function(), at, result)?;
        Ok(result[0])
    }

    /// What the engine has done for this preparation so far, for backends that choose their method at run time: `AutoReverseDiff` and its `compiled()`.
    pub fn report(&self) -> <B::State as Reports>::Report
    where
        B::State: Reports,
    {
        self.state.report()
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. Values that the function captures may
    /// have changed.
    ///
    /// # Errors
    /// Those of [`hessian`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        let PreparedHessian { function, backend, state, inputs, memory } = self;
        let at = At::new(&x, &mut memory.point);
        preparing(
            state,
            |state, adapts| backend.adapt(state, adapts),
            |state| backend.prepare(state, H::function(function), at),
        )?;
        *inputs = at.coordinates().len();
        memory.prepare();
        Ok(())
    }

    /// The backend's state: for a sparse backend it holds the pattern and the colours.
    pub fn state(&self) -> &B::State {
        &self.state
    }

    fn matrix<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P, request: Request) -> Result<B::Matrix, Error> {
        let PreparedHessian { function, backend, state, inputs, memory } = self;
        let at = At::new(x, &mut memory.point);
        check_point(*inputs, at).map_err(Self::named)?;
        backend.matrix(state, H::function(function), at, request)
    }

    /// Fills the matrix after a check of the point and then, by `check_buffer`, of what else is filled.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        hess: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: &P,
        request: Request,
        check_buffer: impl FnOnce(usize) -> Result<(), ErrorKind>,
    ) -> Result<(), Error> {
        let PreparedHessian { function, backend, state, inputs, memory } = self;
        let at = At::new(x, &mut memory.point);
        check_point(*inputs, at).and_then(|()| check_buffer(*inputs)).map_err(Self::named)?;
        let fill = |hess: &mut _| backend.fill(state, H::function(function), at, request, hess);
        hess.write(&mut memory.result, fill).map_err(|error| error.counting(X::MASKED))
    }

    fn named(kind: ErrorKind) -> Error {
        of_point::<X>(kind, "hessian", B::BACKEND)
    }
}
