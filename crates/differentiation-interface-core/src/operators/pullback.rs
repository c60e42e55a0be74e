//! Pullback: the transposed Jacobian times cotangents, for several cotangents at once.
//!
//! Called by users. Reaches a backend through its `type Pullback` route.

use super::{BorrowedOf, NumOf, ValueOf};
use crate::backend::{Backend, PullbackRoute, Rows, Seeds};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Output};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};
use std::ops::Deref;

/// The number type of `pullback`.
type Wide<B, X> = NumOf<B, X, <B as Backend>::Lanes>;

/// Returns `[Jᵀ·dy for dy in cotangents]`, where J is the Jacobian of `f` at `x`; each product has the shape of `x`.
///
/// A cotangent is given as a point of the shape of the output is: `[&dy1, &dy2]` for vectors, `[1.0]` for a number.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a cotangent is not as long as the output, [`ErrorKind::NoSeeds`] if there is none.
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
) -> Result<[<P::Shape as Shape>::Like; T], Error>
where
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    PreparedPullback::new(f, backend, &x)?.pullback(x, cotangents)
}

/// Writes `Jᵀ·dy` of each cotangent into the buffer of the same position; each is as long as `x`.
///
/// # Errors
/// Those of [`pullback`], and [`ErrorKind::BufferLength`] if a buffer has another length.
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
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<(), Error>
where
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    PreparedPullback::new(f, backend, &x)?.pullback_into(products, x, cotangents)
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
) -> Result<(ValueOf<F, P::Shape, P::Contexts, Wide<B, P::Shape>>, [<P::Shape as Shape>::Like; T]), Error>
where
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    PreparedPullback::new(f, backend, &x)?.value_and_pullback(x, cotangents)
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
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    cotangents: [W; T],
) -> Result<ValueOf<F, P::Shape, P::Contexts, Wide<B, P::Shape>>, Error>
where
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    let mut call = PreparedPullback::new(f, backend, &x)?;
    call.pullback_into(products, x, cotangents)?;
    Ok(PreparedPullback::<&F, B, P::Shape, T, P::Contexts>::build(&call.y))
}

/// Pays the one-time costs of pullbacks with `T` cotangents; see [`prepare_gradient`](super::prepare_gradient) for what it is
/// good for. The values of the cotangents do not matter.
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
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    let mut prepared = PreparedPullback::new(f, backend, &x)?;
    prepared.prepare_again(x, cotangents)?;
    Ok(prepared)
}

/// Fixes the point of pullbacks and evaluates what depends on it alone: reverse mode then never runs the function again.
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
    B: Backend,
    P: Point,
    W: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    let mut call = PreparedPullback::new(f, backend, &x)?;
    call.record(&x)?;
    // One sweep sizes the work memory that the recording alone does not.
    call.sweep(&x, &cotangents)?;
    Ok(PreparedPullbackSamePoint { call, point: x })
}

/// Prepared pullbacks, made by [`prepare_pullback`]. One thread at a time; clone it for another thread.
pub struct PreparedPullback<H, B: Backend, X: Shape, const T: usize, C: Contexts = ()> {
    function: H,
    backend: B,
    state: <B::Pullback as PullbackRoute<B>>::State<X::Scalar, B::Lanes>,
    storage: C::Storage<Wide<B, X>>,
    inputs: usize,
    y: Vec<X::Scalar>,
    /// The products, one row per cotangent.
    dx: Vec<X::Scalar>,
}

impl<H: Clone, B: Backend, X: Shape, const T: usize, C: Contexts> Clone for PreparedPullback<H, B, X, T, C> {
    fn clone(&self) -> Self {
        PreparedPullback {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            inputs: self.inputs,
            y: self.y.clone(),
            dx: self.dx.clone(),
        }
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: impl Into<Error>) -> Error {
    error.into().during("pullback", B::NAME)
}

impl<H, B: Backend, X: Shape, const T: usize, C: Contexts> PreparedPullback<H, B, X, T, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let inputs = x.coordinates().len();
        Ok(PreparedPullback {
            function: f,
            backend: backend.clone(),
            state: <B::Pullback as PullbackRoute<B>>::state(backend, inputs).map_err(named::<B>)?,
            storage: C::allocate(x.contexts()),
            inputs,
            y: Vec::new(),
            dx: Vec::new(),
        })
    }

    fn products(&self) -> [X::Like; T] {
        std::array::from_fn(|k| X::like(&self.dx[k * self.inputs..(k + 1) * self.inputs]))
    }

    /// Copies the products into buffers of the caller.
    fn copy_products(&self, products: [&mut [X::Scalar]; T]) -> Result<(), Error> {
        let expected = self.inputs;
        for buffer in &products {
            if buffer.len() != expected {
                return Err(named::<B>(ErrorKind::BufferLength { expected, found: buffer.len() }));
            }
        }
        for (k, buffer) in products.into_iter().enumerate() {
            buffer.copy_from_slice(&self.dx[k * expected..(k + 1) * expected]);
        }
        Ok(())
    }
}

impl<H, B, X, const T: usize, C> PreparedPullback<H, B, X, T, C>
where
    B: Backend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Wide<B, X>>,
{
    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation, and those of [`pullback`].
    pub fn pullback<P, W>(&mut self, x: P, cotangents: [W; T]) -> Result<[X::Like; T], Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        Ok(self.products())
    }

    /// Writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback`](Self::pullback), and [`ErrorKind::BufferLength`].
    pub fn pullback_into<P, W>(
        &mut self,
        products: [&mut [X::Scalar]; T],
        x: P,
        cotangents: [W; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        self.copy_products(products)
    }

    /// Returns the value and the products at `x`.
    ///
    /// # Errors
    /// Those of [`pullback`](Self::pullback).
    pub fn value_and_pullback<P, W>(
        &mut self,
        x: P,
        cotangents: [W; T],
    ) -> Result<(ValueOf<H::Target, X, C, Wide<B, X>>, [X::Like; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        Ok((Self::build(&self.y), self.products()))
    }

    /// Returns the value, borrowed from the preparation, and writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback_into`](Self::pullback_into).
    pub fn value_and_pullback_into<P, W>(
        &mut self,
        products: [&mut [X::Scalar]; T],
        x: P,
        cotangents: [W; T],
    ) -> Result<BorrowedOf<'_, H::Target, X, C, Wide<B, X>>, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &cotangents)?;
        self.copy_products(products)?;
        Ok(<H::Target as Evaluate<X, C, Wide<B, X>>>::Output::borrow(&self.y))
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. What the function captured
    /// may have changed.
    ///
    /// # Errors
    /// Those of [`pullback`].
    pub fn prepare_again<P, W>(&mut self, x: P, cotangents: [W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let inputs = x.coordinates().len();
        let state = <B::Pullback as PullbackRoute<B>>::state(&self.backend, inputs).map_err(named::<B>)?;
        if self.backend.keeps_recordings() {
            (self.state, self.inputs) = (state, inputs);
        }
        self.record(&x)?;
        self.sweep(&x, &cotangents)
    }

    /// Evaluates the function at `x`, of any length, and keeps what sweeps need.
    fn record<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P) -> Result<(), Error> {
        let flat = x.coordinates();
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        fault::watch(|| {
            <B::Pullback as PullbackRoute<B>>::record(&self.backend, &mut self.state, &mut f, flat, &mut self.y)
        })
        .map_err(named::<B>)?;
        self.inputs = flat.len();
        Ok(())
    }

    /// Propagates cotangents back from the last recording, which was at `x`.
    fn sweep<P, W>(&mut self, x: &P, cotangents: &[W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let slices = cotangents.each_ref().map(Point::coordinates);
        let seeds = Seeds::Vectors(&slices);
        seeds.check(self.y.len()).map_err(named::<B>)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        let rows = Rows::growing(&mut self.dx, self.inputs);
        fault::watch(|| <B::Pullback as PullbackRoute<B>>::sweep(&self.backend, &mut self.state, &mut f, seeds, rows))
            .map_err(named::<B>)
    }

    fn run<P, W>(&mut self, x: &P, cotangents: &[W; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        W: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let found = x.coordinates().len();
        if found != self.inputs {
            return Err(named::<B>(ErrorKind::PreparedLength { prepared: self.inputs, found }));
        }
        self.record(x)?;
        self.sweep(x, cotangents)
    }

    fn build(flat: &[X::Scalar]) -> ValueOf<H::Target, X, C, Wide<B, X>> {
        <H::Target as Evaluate<X, C, Wide<B, X>>>::Output::build(flat)
    }
}

/// Pullbacks prepared at one point, made by [`prepare_pullback_same_point`]. Only the cotangents vary.
pub struct PreparedPullbackSamePoint<H, B: Backend, P: Point, const T: usize> {
    call: PreparedPullback<H, B, P::Shape, T, P::Contexts>,
    point: P,
}

impl<H: Clone, B: Backend, P: Point + Clone, const T: usize> Clone for PreparedPullbackSamePoint<H, B, P, T> {
    fn clone(&self) -> Self {
        PreparedPullbackSamePoint { call: self.call.clone(), point: self.point.clone() }
    }
}

impl<H, B, P, const T: usize> PreparedPullbackSamePoint<H, B, P, T>
where
    B: Backend,
    P: Point,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> BorrowedOf<'_, H::Target, P::Shape, P::Contexts, Wide<B, P::Shape>> {
        <H::Target as Evaluate<P::Shape, P::Contexts, Wide<B, P::Shape>>>::Output::borrow(&self.call.y)
    }

    /// Returns the products with other cotangents.
    ///
    /// # Errors
    /// Those of [`pullback`].
    pub fn pullback<W: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        cotangents: [W; T],
    ) -> Result<[<P::Shape as Shape>::Like; T], Error> {
        self.call.sweep(&self.point, &cotangents)?;
        Ok(self.call.products())
    }

    /// Writes the products with other cotangents into the buffers.
    ///
    /// # Errors
    /// Those of [`pullback_into`].
    pub fn pullback_into<W: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut [ScalarOf<P>]; T],
        cotangents: [W; T],
    ) -> Result<(), Error> {
        self.call.sweep(&self.point, &cotangents)?;
        self.call.copy_products(products)
    }
}
