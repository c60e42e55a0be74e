//! Hessian-vector products, for several tangents at once.
//!
//! Called by users. Reaches two backends through the `type Hvp` route of the [`SecondOrderBackend`](crate::backend::SecondOrderBackend), with one lane per
//! tangent.

mod backend;
mod checks;
mod same_point;

pub use backend::{HvpBackend, HvpSamePointBackend, HvpWork};
pub use same_point::{PreparedHvpSamePoint, prepare_hvp_same_point};

use super::call::{Memory, check_point, checked_tangents, like, preparing, write};
use crate::backend::Request;
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::point::{At, LikeOf, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;
use checks::{check_buffers, named};

/// Returns `[H·v for v in tangents]`, where H is the Hessian of `f` at `x`; each product has the shape of `x`.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a tangent is not as long as `x`, [`ErrorKind::SeedShape`] if it has the type of `x` but a different shape, [`ErrorKind::NoSeeds`] if there is none,
/// and what the function and the backend refuse, as for [`gradient`](super::gradient).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
/// let [hv] = hvp(&cubic, &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(hv, [6.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn hvp<F, B, P, D, const T: usize>(f: &F, backend: &B, x: P, tangents: [D; T]) -> Result<[LikeOf<P>; T], Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.hvp(x, tangents)
}

/// Writes `H·v` of each tangent into the buffer of the same position; each is as long as `x`.
///
/// # Errors
/// Those of [`hvp`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if a buffer has the wrong length, or has the type of the result but a different shape.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let mut hv = [0.0; 2];
/// hvp_into(&cubic, [&mut hv], &AutoForwardDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(hv, [6.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn hvp_into<F, B, P, D, const T: usize>(
    f: &F,
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.hvp_into(products, x, tangents)
}

/// Returns the gradient of `f` at `x` and `H·v` of each tangent, from the same evaluation.
///
/// # Errors
/// Those of [`hvp`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (grad, [hv]) = gradient_and_hvp(&cubic, &AutoForwardDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(grad, [20.0, 4.0]);
/// assert_eq!(hv, [6.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn gradient_and_hvp<F, B, P, D, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(LikeOf<P>, [LikeOf<P>; T]), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.gradient_and_hvp(x, tangents)
}

/// Writes the gradient of `f` at `x` into `grad` and `H·v` of each tangent into its buffer.
///
/// # Errors
/// Those of [`hvp_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (mut grad, mut hv) = ([0.0; 2], [0.0; 2]);
/// let backend = AutoForwardDiff::default();
/// gradient_and_hvp_into(&cubic, &mut grad, [&mut hv], &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!((grad, hv), ([20.0, 4.0], [6.0, 4.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn gradient_and_hvp_into<F, B, P, D, const T: usize>(
    f: &F,
    grad: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.gradient_and_hvp_into(grad, products, x, tangents)
}

/// Returns `f(x)`, the gradient and `H·v` of each tangent, from the same evaluation, as Newton-CG needs them.
///
/// # Errors
/// Those of [`hvp`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (y, grad, [hv]) = value_gradient_and_hvp(&cubic, &AutoForwardDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(y, 20.0);
/// assert_eq!(grad, [20.0, 4.0]);
/// assert_eq!(hv, [6.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_gradient_and_hvp<F, B, P, D, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(ScalarOf<P>, LikeOf<P>, [LikeOf<P>; T]), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.value_gradient_and_hvp(x, tangents)
}

/// Returns `f(x)`, and writes the gradient and `H·v` of each tangent into buffers, from the same evaluation.
///
/// # Errors
/// Those of [`hvp_into`], for the buffer of the gradient too.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let (mut grad, mut hv) = ([0.0; 2], [0.0; 2]);
/// let backend = AutoForwardDiff::default();
/// let y = value_gradient_and_hvp_into(&cubic, &mut grad, [&mut hv], &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!((y, grad, hv), (20.0, [20.0, 4.0], [6.0, 4.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn value_gradient_and_hvp_into<F, B, P, D, const T: usize>(
    f: &F,
    grad: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<ScalarOf<P>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: HvpBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedHvp::<_, B, _, T, _>::new(f, backend, &x)?.value_gradient_and_hvp_into(grad, products, x, tangents)
}

/// Returns prepared Hessian-vector products of `f` with `T` tangents, which hold the preparation of the inner differentiation too; see
/// [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts. The values of the tangents do not matter.
///
/// # Errors
/// Those of [`hvp`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
/// let mut prepared = prepare_hvp(&cubic, &backend, &[0.0; 2], [&[0.0; 2]])?;
/// assert_eq!(prepared.hvp(&[2.0, 5.0], [&[1.0, -1.0]])?, [[6.0, 4.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_hvp<H, B, P, D, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PreparedHvp<H, B, P::Shape, T, P::Contexts>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: HvpBackend<H::Function, P::Shape, P::Contexts, T>,
{
    let mut prepared = PreparedHvp::new(f, backend, &x)?;
    prepared.prepare_again(x, tangents)?;
    Ok(prepared)
}

/// Prepared Hessian-vector products, made by [`prepare_hvp`]: H v for each of `T` tangents v.
///
/// [`hvp`](Self::hvp), [`gradient_and_hvp`](Self::gradient_and_hvp) and [`value_gradient_and_hvp`](Self::value_gradient_and_hvp) return them, the variants with `_into` write into buffers;
/// [`value`](Self::value) returns the output alone. [`prepare_again`](Self::prepare_again) prepares for another length. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend or the `SecondOrder` of two, the shape of the point, the number of tangents and the contexts, if any.
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
/// struct Curvature {
///     hvp: PreparedHvp<Arc<Cubic>, AutoReverseDiff, Slice<f64>, 1>,
/// }
///
/// let hvp = prepare_hvp(Arc::new(Cubic), &AutoReverseDiff::default(), &[0.0; 2], [&[0.0; 2]])?;
/// let mut curvature = Curvature { hvp };
/// // The Hessian is [[10, 4], [4, 0]].
/// assert_eq!(curvature.hvp.hvp(&[2.0, 5.0], [&[1.0, -1.0]])?, [[6.0, 4.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedHvp<H, B, X, const T: usize, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: HvpBackend<H::Function, X, C, T>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
    /// The numbers of tangents that do not lie in one piece.
    tangents: [Vec<X::Scalar>; T],
}

impl<H, B, X, const T: usize, C> Clone for PreparedHvp<H, B, X, T, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: HvpBackend<H::Function, X, C, T>,
{
    fn clone(&self) -> Self {
        PreparedHvp {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
            tangents: self.tangents.clone(),
        }
    }
}

impl<H, B, X, const T: usize, C> PreparedHvp<H, B, X, T, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: HvpBackend<H::Function, X, C, T>,
{
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let mut memory = Memory::new();
        let at = At::new(x, &mut memory.point);
        let (state, inputs) = (backend.unprepared(at)?, at.coordinates().len());
        let tangents = std::array::from_fn(|_| Vec::new());
        Ok(PreparedHvp { function: f, backend: backend.clone(), state, inputs, memory, tangents })
    }

    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, and those of [`hvp`].
    pub fn hvp<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<[X::Like; T], Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, Request::Products, |_| Ok(()))?;
        Ok(self.products_like(&x))
    }

    /// Writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp`](Self::hvp), and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`].
    pub fn hvp_into<P, D>(
        &mut self,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        tangents: [D; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        if T == 1 {
            for product in products {
                let PreparedHvp { function, backend, state, inputs, memory, tangents: seeds } = self;
                let at = At::new(&x, &mut memory.point);
                let tangents = checked(*inputs, at, &tangents, seeds, B::BACKEND)?;
                check_buffers(&x, *inputs, &[&mut *product], B::BACKEND)?;
                product.write(&mut memory.result, |out| {
                    backend.product(state, H::function(function), at, &tangents, out)
                })?;
            }
            return Ok(());
        }
        let check = |inputs| check_buffers(&x, inputs, &products, B::BACKEND);
        self.run(&x, &tangents, Request::Products, check)?;
        self.copy_products(products);
        Ok(())
    }

    /// Returns the gradient and the products at `x`.
    ///
    /// # Errors
    /// Those of [`hvp`](Self::hvp).
    pub fn gradient_and_hvp<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<(X::Like, [X::Like; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, Request::Gradient, |_| Ok(()))?;
        let grad = like(&x, &mut self.memory.result, |grad| grad.copy_from_slice(B::gradient(&self.state)));
        Ok((grad, self.products_like(&x)))
    }

    /// Writes the gradient and the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`](Self::hvp_into).
    pub fn gradient_and_hvp_into<P, D>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        tangents: [D; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let check = |inputs| {
            check_buffers(&x, inputs, &[&mut *grad], B::BACKEND)?;
            check_buffers(&x, inputs, &products, B::BACKEND)
        };
        self.run(&x, &tangents, Request::Gradient, check)?;
        write(grad, &mut self.memory.result, |grad| grad.copy_from_slice(B::gradient(&self.state)));
        self.copy_products(products);
        Ok(())
    }

    /// Returns the value, the gradient and the products at `x`.
    ///
    /// # Errors
    /// Those of [`hvp`](Self::hvp).
    pub fn value_gradient_and_hvp<P, D>(
        &mut self,
        x: P,
        tangents: [D; T],
    ) -> Result<(X::Scalar, X::Like, [X::Like; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, Request::Value, |_| Ok(()))?;
        let grad = like(&x, &mut self.memory.result, |grad| grad.copy_from_slice(B::gradient(&self.state)));
        Ok((B::value(&self.state), grad, self.products_like(&x)))
    }

    /// Returns the value, and writes the gradient and the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`](Self::hvp_into).
    pub fn value_gradient_and_hvp_into<P, D>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        tangents: [D; T],
    ) -> Result<X::Scalar, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let check = |inputs| {
            check_buffers(&x, inputs, &[&mut *grad], B::BACKEND)?;
            check_buffers(&x, inputs, &products, B::BACKEND)
        };
        self.run(&x, &tangents, Request::Value, check)?;
        write(grad, &mut self.memory.result, |grad| grad.copy_from_slice(B::gradient(&self.state)));
        self.copy_products(products);
        Ok(B::value(&self.state))
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`hvp`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<X::Scalar, Error>
    where
        X::Scalar: Base,
    {
        let Memory { point, result } = &mut self.memory;
        let at = At::new(&x, point);
        check_point(self.inputs, at).map_err(|kind| named::<X>(kind, B::BACKEND))?;
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
    /// Those of [`hvp`].
    pub fn prepare_again<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let at = At::new(&x, &mut self.memory.point);
        let tangents = checked_tangents(&x, at.coordinates().len(), &tangents, &mut self.tangents);
        let tangents = tangents.map_err(|kind| named::<X>(kind, B::BACKEND))?;
        let (backend, f) = (&self.backend, self.function.function());
        preparing(
            &mut self.state,
            |state, adapts| backend.adapt(state, adapts),
            |state| backend.prepare(state, f, at, &tangents),
        )?;
        self.inputs = at.coordinates().len();
        self.memory.prepare();
        Ok(())
    }

    /// Computes the products after a check of point and tangents and then, by `check_buffers`, of what they are written to.
    fn run<P, D>(
        &mut self,
        x: &P,
        tangents: &[D; T],
        request: Request,
        check_buffers: impl FnOnce(usize) -> Result<(), Error>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let at = At::new(x, &mut self.memory.point);
        let tangents = checked(self.inputs, at, tangents, &mut self.tangents, B::BACKEND)?;
        check_buffers(self.inputs)?;
        self.backend.products(&mut self.state, self.function.function(), at, &tangents, request)
    }

    fn products_like<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P) -> [X::Like; T] {
        std::array::from_fn(|k| like(x, &mut self.memory.result, |out| B::copy_product(&self.state, k, out)))
    }

    fn copy_products(&mut self, products: [&mut (impl Buffer<X::Scalar> + ?Sized); T]) {
        for (k, product) in products.into_iter().enumerate() {
            write(product, &mut self.memory.result, |out| B::copy_product(&self.state, k, out));
        }
    }
}

/// The numbers of the tangents, after a check of the lengths of point and tangents and of their shapes.
#[inline]
fn checked<'a, P: Point, D: Point<Shape: Shape<Scalar = ScalarOf<P>>>, const T: usize>(
    inputs: usize,
    at: At<'_, P>,
    tangents: &'a [D; T],
    memory: &'a mut [Vec<ScalarOf<P>>; T],
    backend: &'static str,
) -> Result<[&'a [ScalarOf<P>]; T], Error> {
    let check = check_point(inputs, at);
    let tangents = check.and_then(|()| checked_tangents(at.point(), inputs, tangents, memory));
    tangents.map_err(|kind| named::<P::Shape>(kind, backend))
}
