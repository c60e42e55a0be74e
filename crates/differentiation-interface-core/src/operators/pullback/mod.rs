//! Pullback: the transposed Jacobian times cotangents, for several cotangents at once.
//!
//! Called by users. Reaches a backend through its `type Pullback` route.

mod backend;

pub use backend::{PullbackBackend, PullbackWork};

use super::call::{Memory, check_outlines, check_point, check_shaped, flat_seeds, like, of_point, preparing, write};
use crate::backend::Seeds;
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::Output;
use crate::point::{At, LikeOf, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;

/// The shape of a function's output in a call of `pullback`.
type Out<B, F, X, C> = <B as PullbackBackend<F, X, C>>::Output;
/// The value in the shape of the output.
type PullbackValue<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as PullbackBackend<F, X, C>>::Num>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type PullbackBorrowed<'a, B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as PullbackBackend<F, X, C>>::Num>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns `[Jᵀ·dy for dy in cotangents]`, where J is the Jacobian of `f` at `x`; each product has the shape of `x`.
///
/// Cotangents are passed like points: `[&dy1, &dy2]` for outputs that are vectors, `[1.0]` for a number.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a cotangent is not as long as the output, [`ErrorKind::SeedShape`] if it has the type of the output but a different shape, [`ErrorKind::NoSeeds`] if there is none,
/// and what the function and the backend refuse, as for [`gradient`](super::gradient).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// let [dx] = pullback(&product_and_sum, &AutoReverseDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(dx, [4.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn pullback<F, B, P, W, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<[LikeOf<P>; T], Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PullbackBackend<F, P::Shape, P::Contexts>,
{
    PreparedPullback::<_, B, _, T, _>::new(f, backend, &x)?.pullback(x, cotangents)
}

/// Writes `Jᵀ·dy` of each cotangent into the buffer of the same position; each is as long as `x`.
///
/// # Errors
/// Those of [`pullback`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if a buffer has the wrong length, or has the type of `x` but a different shape.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let mut dx = [0.0; 2];
/// pullback_into(&product_and_sum, [&mut dx], &AutoReverseDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(dx, [4.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn pullback_into<F, B, P, W, const T: usize>(
    f: &F,
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<(), Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PullbackBackend<F, P::Shape, P::Contexts>,
{
    PreparedPullback::<_, B, _, T, _>::new(f, backend, &x)?.pullback_into(products, x, cotangents)
}

/// Returns `f(x)` and `Jᵀ·dy` of each cotangent.
///
/// # Errors
/// Those of [`pullback`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoReverseDiff::default();
/// let (y, [dx]) = value_and_pullback(&product_and_sum, &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(dx, [4.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_pullback<F, B, P, W, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<(PullbackValue<B, F, P::Shape, P::Contexts>, [LikeOf<P>; T]), Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PullbackBackend<F, P::Shape, P::Contexts>,
{
    PreparedPullback::<_, B, _, T, _>::new(f, backend, &x)?.value_and_pullback(x, cotangents)
}

/// Returns `f(x)` and writes `Jᵀ·dy` of each cotangent into its buffer.
///
/// # Errors
/// Those of [`pullback_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let mut dx = [0.0; 2];
/// let backend = AutoReverseDiff::default();
/// let y = value_and_pullback_into(&product_and_sum, [&mut dx], &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!((y, dx), ([10.0, 7.0], [4.0, 1.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_pullback_into<F, B, P, W, const T: usize>(
    f: &F,
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<PullbackValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PullbackBackend<F, P::Shape, P::Contexts>,
{
    let mut call = PreparedPullback::<&F, B, P::Shape, T, P::Contexts>::new(f, backend, &x)?;
    call.pullback_into(products, x, cotangents)?;
    Ok(B::Output::build(B::value(&call.state), B::kept(&call.state)))
}

/// Returns prepared pullbacks of `f` with `T` cotangents; see [`prepare_gradient`](super::prepare_gradient) for the
/// calls that it accepts. The values of the cotangents do not matter.
///
/// # Errors
/// Those of [`pullback`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoReverseDiff::default();
/// let mut prepared = prepare_pullback(&product_and_sum, &backend, &[0.0; 2], [&[0.0; 2]])?;
/// assert_eq!(prepared.pullback(&[2.0, 5.0], [&[1.0, -1.0]])?, [[4.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_pullback<H, B, P, W, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<PreparedPullback<H, B, P::Shape, T, P::Contexts>, Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: PullbackBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut prepared = PreparedPullback::new(f, backend, &x)?;
    prepared.prepare_again(x, cotangents)?;
    Ok(prepared)
}

/// Fixes the point of pullbacks and computes everything that depends on it alone: reverse mode then does not run the function again.
///
/// # Errors
/// Those of [`pullback`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoReverseDiff::default();
/// let mut prepared = prepare_pullback_same_point(&product_and_sum, &backend, &[2.0, 5.0], [&[0.0; 2]])?;
/// assert_eq!(prepared.pullback([&[1.0, -1.0]])?, [[4.0, 1.0]]);
/// assert_eq!(prepared.pullback([&[0.0, 1.0]])?, [[1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_pullback_same_point<H, B, P, W, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<PreparedPullbackSamePoint<H, B, P, T>, Error>
where
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: PullbackBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut call = PreparedPullback::<H, B, P::Shape, T, P::Contexts>::new(f, backend, &x)?;
    call.record(&x)?;
    // One sweep sizes the work memory of the products.
    call.sweep(&x, &cotangents)?;
    Ok(PreparedPullbackSamePoint { call, point: x })
}

/// Prepared pullbacks, made by [`prepare_pullback`]: dx = Jᵀ dy for each of `T` cotangents dy.
///
/// [`pullback`](Self::pullback) and [`value_and_pullback`](Self::value_and_pullback) return them, the variants with `_into` write into buffers; [`value`](Self::value) returns the
/// output alone. [`prepare_again`](Self::prepare_again) prepares for another length. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the number of cotangents and the contexts, if any.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Slice;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn product_and_sum(x: &[f64]) -> [f64; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// struct Adjoint {
///     pullback: PreparedPullback<Arc<ProductAndSum>, AutoReverseDiff, Slice<f64>, 1>,
/// }
///
/// let f = Arc::new(ProductAndSum);
/// let pullback = prepare_pullback(f, &AutoReverseDiff::default(), &[0.0; 2], [&[0.0; 2]])?;
/// let mut adjoint = Adjoint { pullback };
/// // The Jacobian is [[5, 2], [1, 1]].
/// assert_eq!(adjoint.pullback.pullback(&[2.0, 5.0], [&[1.0, -1.0]])?, [[4.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedPullback<H, B, X, const T: usize, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: PullbackBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
    /// The numbers of cotangents that do not lie in one piece.
    cotangents: [Vec<X::Scalar>; T],
}

impl<H, B, X, const T: usize, C> Clone for PreparedPullback<H, B, X, T, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: PullbackBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedPullback {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
            cotangents: self.cotangents.clone(),
        }
    }
}

impl<H, B, X, const T: usize, C> PreparedPullback<H, B, X, T, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: PullbackBackend<H::Function, X, C>,
{
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let mut memory = Memory::new();
        let at = At::new(x, &mut memory.point);
        let (state, inputs) = (backend.unprepared(at)?, at.coordinates().len());
        let cotangents = std::array::from_fn(|_| Vec::new());
        Ok(PreparedPullback { function: f, backend: backend.clone(), state, inputs, memory, cotangents })
    }

    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, and those of [`pullback`].
    pub fn pullback<P, W>(&mut self, x: P, cotangents: [W; T]) -> Result<[X::Like; T], Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        Ok(self.products(&x))
    }

    /// Writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback`](Self::pullback), and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`].
    pub fn pullback_into<P, W>(
        &mut self,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        cotangents: [W; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        self.copy_products(&x, products)
    }

    /// Returns the value and the products at `x`.
    ///
    /// # Errors
    /// Those of [`pullback`](Self::pullback).
    pub fn value_and_pullback<P, W>(
        &mut self,
        x: P,
        cotangents: [W; T],
    ) -> Result<(PullbackValue<B, H::Function, X, C>, [X::Like; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        Ok((B::Output::build(B::value(&self.state), B::kept(&self.state)), self.products(&x)))
    }

    /// Returns the value, borrowed from the preparation, and writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback_into`](Self::pullback_into).
    pub fn value_and_pullback_into<P, W>(
        &mut self,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        cotangents: [W; T],
    ) -> Result<PullbackBorrowed<'_, B, H::Function, X, C>, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        self.copy_products(&x, products)?;
        Ok(B::Output::borrow(B::value(&self.state), B::kept(&self.state)))
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`pullback`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<PullbackValue<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let Memory { point, result } = &mut self.memory;
        let at = At::new(&x, point);
        check_point(self.inputs, at).map_err(Self::of_point)?;
        self.backend.evaluate(&mut self.state, self.function.function(), at, result)?;
        Ok(B::Output::build(result, B::kept(&self.state)))
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
    /// Those of [`pullback`].
    pub fn prepare_again<P, W>(&mut self, x: P, cotangents: [W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        preparing(
            self,
            |prepared, adapts| prepared.backend.adapt(&mut prepared.state, adapts),
            |prepared| {
                prepared.backend.prepare(&mut prepared.state, At::new(&x, &mut prepared.memory.point))?;
                prepared.record(&x)?;
                prepared.sweep(&x, &cotangents)
            },
        )
    }

    /// Evaluates the function at `x`, of any length, and keeps the data for the products.
    fn record<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P) -> Result<(), Error> {
        let at = At::new(x, &mut self.memory.point);
        self.backend.record(&mut self.state, self.function.function(), at)?;
        self.inputs = at.coordinates().len();
        self.memory.prepare();
        Ok(())
    }

    /// Propagates cotangents back from the last recording, which was at `x`.
    fn sweep<P, W>(&mut self, x: &P, cotangents: &[W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let flat = flat_seeds(cotangents, &mut self.cotangents);
        Seeds::Vectors(&flat).check(B::value(&self.state).len()).map_err(Self::of_output)?;
        Self::check_shapes(&self.state, cotangents)?;
        let at = At::new(x, &mut self.memory.point);
        self.backend.products(&mut self.state, self.function.function(), at, &flat)
    }

    fn run<P, W>(&mut self, x: &P, cotangents: &[W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let at = At::new(x, &mut self.memory.point);
        check_point(self.inputs, at).map_err(Self::of_point)?;
        let seeds = flat_seeds(cotangents, &mut self.cotangents);
        if self.backend.at_once(&mut self.state, self.function.function(), at, &seeds) {
            return Self::check_shapes(&self.state, cotangents);
        }
        self.record(x)?;
        self.sweep(x, cotangents)
    }

    /// Refuses cotangents whose shape differs from that of the last output.
    fn check_shapes<W: Point<Shape: Shape<Scalar = X::Scalar>>>(
        state: &B::State,
        cotangents: &[W; T],
    ) -> Result<(), Error> {
        let outline = B::Output::outline(B::kept(state));
        check_outlines::<PullbackValue<B, H::Function, X, C>, W>(outline, cotangents).map_err(Self::of_output)
    }

    /// An error about a cotangent.
    fn of_output(kind: ErrorKind) -> Error {
        Error::new(kind).during("pullback", B::BACKEND)
    }

    /// An error about the point or a product.
    fn of_point(kind: ErrorKind) -> Error {
        of_point::<X>(kind, "pullback", B::BACKEND)
    }

    /// Row `k` of the products.
    fn product(state: &B::State, inputs: usize, k: usize) -> &[X::Scalar] {
        &B::rows(state)[k * inputs..(k + 1) * inputs]
    }

    fn products<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P) -> [X::Like; T] {
        let PreparedPullback { state, inputs, memory, .. } = self;
        std::array::from_fn(|k| {
            like(x, &mut memory.result, |out| out.copy_from_slice(Self::product(state, *inputs, k)))
        })
    }

    /// Copies the products into buffers of the caller. The last recording was at `x`.
    fn copy_products<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: &P,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
    ) -> Result<(), Error> {
        let check = |buffer: &&mut _| check_shaped::<_, X::Like>(self.inputs, x.outline(), &**buffer);
        products.iter().try_for_each(check).map_err(Self::of_point)?;
        for (k, buffer) in products.into_iter().enumerate() {
            let product = Self::product(&self.state, self.inputs, k);
            write(buffer, &mut self.memory.result, |out| out.copy_from_slice(product));
        }
        Ok(())
    }
}

/// Pullbacks prepared at one point, made by [`prepare_pullback_same_point`]: dx = Jᵀ dy for each of `T` cotangents dy, which alone vary.
///
/// [`pullback`](Self::pullback) returns the products, [`pullback_into`](Self::pullback_into) writes them into buffers; [`value`](Self::value) is that of the preparation. One
/// thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the type of the point and the number of cotangents. It keeps the point: a struct has an array.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn product_and_sum(x: &[f64; 2]) -> [f64; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// struct Adjoint {
///     pullback: PreparedPullbackSamePoint<Arc<ProductAndSum>, AutoReverseDiff, [f64; 2], 1>,
/// }
///
/// let f = Arc::new(ProductAndSum);
/// let pullback = prepare_pullback_same_point(f, &AutoReverseDiff::default(), [2.0, 5.0], [[0.0; 2]])?;
/// let mut adjoint = Adjoint { pullback };
/// assert_eq!(adjoint.pullback.value(), [10.0, 7.0]);
/// assert_eq!(adjoint.pullback.pullback([[1.0, -1.0]])?, [[4.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedPullbackSamePoint<H, B, P, const T: usize>
where
    H: Pointer,
    P: Point,
    B: PullbackBackend<H::Function, P::Shape, P::Contexts>,
{
    call: PreparedPullback<H, B, P::Shape, T, P::Contexts>,
    point: P,
}

impl<H, B, P, const T: usize> Clone for PreparedPullbackSamePoint<H, B, P, T>
where
    H: Pointer + Clone,
    P: Point + Clone,
    B: PullbackBackend<H::Function, P::Shape, P::Contexts>,
{
    fn clone(&self) -> Self {
        PreparedPullbackSamePoint { call: self.call.clone(), point: self.point.clone() }
    }
}

impl<H, B, P, const T: usize> PreparedPullbackSamePoint<H, B, P, T>
where
    H: Pointer,
    P: Point,
    B: PullbackBackend<H::Function, P::Shape, P::Contexts>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> PullbackBorrowed<'_, B, H::Function, P::Shape, P::Contexts> {
        B::Output::borrow(B::value(&self.call.state), B::kept(&self.call.state))
    }

    /// Returns the products with other cotangents.
    ///
    /// # Errors
    /// Those of [`pullback`].
    pub fn pullback<W: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        cotangents: [W; T],
    ) -> Result<[LikeOf<P>; T], Error> {
        self.call.sweep(&self.point, &cotangents)?;
        Ok(self.call.products(&self.point))
    }

    /// Writes the products with other cotangents into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback_into`].
    pub fn pullback_into<W: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
        cotangents: [W; T],
    ) -> Result<(), Error> {
        self.call.sweep(&self.point, &cotangents)?;
        self.call.copy_products(&self.point, products)
    }
}
