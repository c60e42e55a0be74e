//! Pushforward: the Jacobian times tangents, for several tangents at once.
//!
//! Called by users. Reaches a backend through its `type Pushforward` route, with one lane per tangent.

use super::{BorrowedOf, NumOf, ValueOf};
use crate::backend::{Backend, Lane, PushforwardRoute, Rows, Seeds};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Output};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};
use std::ops::Deref;

/// The number type of `pushforward` with `T` tangents.
type Lanes<B, X, const T: usize> = NumOf<B, X, Lane<T>>;

/// Returns `[J·dx for dx in tangents]`, where J is the Jacobian of `f` at `x`; each product has the shape of the output.
///
/// A tangent is given as a point is: `[&dx1, &dx2]` for vectors, `[1.0]` for a number.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a tangent is not as long as `x`, [`ErrorKind::NoSeeds`] if there is none.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// let [dy] = pushforward(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(dy, [3.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn pushforward<F, B, P, D, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<[ValueOf<F, P::Shape, P::Contexts, Lanes<B, P::Shape, T>>; T], Error>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    PreparedPushforward::new(f, backend, &x)?.pushforward(x, tangents)
}

/// Writes `J·dx` of each tangent into the buffer of the same position; each is as long as the output.
///
/// # Errors
/// Those of [`pushforward`], and [`ErrorKind::BufferLength`] if a buffer has another length.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let mut dy = [0.0; 2];
/// let backend = AutoForwardDiff::default();
/// pushforward_into(&product_and_sum, [&mut dy], &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(dy, [3.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn pushforward_into<F, B, P, D, const T: usize>(
    f: &F,
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    PreparedPushforward::new(f, backend, &x)?.pushforward_into(products, x, tangents)
}

/// Returns `f(x)` and `J·dx` of each tangent.
///
/// # Errors
/// Those of [`pushforward`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoForwardDiff::default();
/// let (y, [dy]) = value_and_pushforward(&product_and_sum, &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(dy, [3.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_pushforward<F, B, P, D, const T: usize>(
    f: &F,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<
    (
        ValueOf<F, P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
        [ValueOf<F, P::Shape, P::Contexts, Lanes<B, P::Shape, T>>; T],
    ),
    Error,
>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    PreparedPushforward::new(f, backend, &x)?.value_and_pushforward(x, tangents)
}

/// Returns `f(x)` and writes `J·dx` of each tangent into its buffer.
///
/// # Errors
/// Those of [`pushforward_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let mut dy = [0.0; 2];
/// let backend = AutoForwardDiff::default();
/// let y = value_and_pushforward_into(&product_and_sum, [&mut dy], &backend, &[2.0, 5.0], [&[1.0, -1.0]])?;
/// assert_eq!((y, dy), ([10.0, 7.0], [3.0, 0.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn value_and_pushforward_into<F, B, P, D, const T: usize>(
    f: &F,
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<ValueOf<F, P::Shape, P::Contexts, Lanes<B, P::Shape, T>>, Error>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    let mut call = PreparedPushforward::new(f, backend, &x)?;
    call.value_and_pushforward_into(products, x, tangents)?;
    Ok(PreparedPushforward::<&F, B, P::Shape, T, P::Contexts>::build(&call.y))
}

/// Pays the one-time costs of pushforwards with `T` tangents; see [`prepare_gradient`](super::prepare_gradient) for what it
/// is good for. The values of the tangents do not matter.
///
/// # Errors
/// Those of [`pushforward`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoForwardDiff::default();
/// let mut prepared = prepare_pushforward(&product_and_sum, &backend, &[0.0; 2], [&[0.0; 2]])?;
/// assert_eq!(prepared.pushforward(&[2.0, 5.0], [&[1.0, -1.0]])?, [[3.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_pushforward<H, B, P, D, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PreparedPushforward<H, B, P::Shape, T, P::Contexts>, Error>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    let mut prepared = PreparedPushforward::new(f, backend, &x)?;
    prepared.prepare_again(x, tangents)?;
    Ok(prepared)
}

/// Fixes the point of pushforwards and evaluates what depends on it alone: reverse mode then never runs the function again,
/// finite differences keep `f(x)`.
///
/// # Errors
/// Those of [`pushforward`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> [T; 2] { [x[0] * x[1], x[0] + x[1]] }
/// let backend = AutoReverseDiff::default();
/// let mut prepared = prepare_pushforward_same_point(&product_and_sum, &backend, &[2.0, 5.0], [&[0.0; 2]])?;
/// assert_eq!(prepared.pushforward([&[1.0, -1.0]])?, [[3.0, 0.0]]);
/// assert_eq!(prepared.pushforward([&[0.0, 1.0]])?, [[2.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_pushforward_same_point<H, B, P, D, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PreparedPushforwardSamePoint<H, B, P, T>, Error>
where
    B: Backend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    let mut call = PreparedPushforward::new(f, backend, &x)?;
    call.hold(&x, &tangents)?;
    let mut prepared = PreparedPushforwardSamePoint { call, point: x };
    // One call sizes the work memory that the evaluation alone does not.
    prepared.run(&tangents)?;
    prepared.call.column.clone_from(&prepared.call.y);
    Ok(prepared)
}

/// Prepared pushforwards, made by [`prepare_pushforward`]. One thread at a time; clone it for another thread.
pub struct PreparedPushforward<H, B: Backend, X: Shape, const T: usize, C: Contexts = ()> {
    function: H,
    backend: B,
    state: <B::Pushforward as PushforwardRoute<B>>::State<X::Scalar, Lane<T>>,
    storage: C::Storage<Lanes<B, X, T>>,
    inputs: usize,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    y: Vec<X::Scalar>,
    /// The products, one column per tangent.
    dy: Vec<X::Scalar>,
    /// One product at a time, to build an output of.
    column: Vec<X::Scalar>,
}

impl<H: Clone, B: Backend, X: Shape, const T: usize, C: Contexts> Clone for PreparedPushforward<H, B, X, T, C> {
    fn clone(&self) -> Self {
        PreparedPushforward {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            inputs: self.inputs,
            outputs: self.outputs,
            y: self.y.clone(),
            dy: self.dy.clone(),
            column: self.column.clone(),
        }
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: impl Into<Error>) -> Error {
    error.into().during("pushforward", B::NAME)
}

impl<H, B: Backend, X: Shape, const T: usize, C: Contexts> PreparedPushforward<H, B, X, T, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let inputs = x.coordinates().len();
        Ok(PreparedPushforward {
            function: f,
            backend: backend.clone(),
            state: <B::Pushforward as PushforwardRoute<B>>::state(backend, inputs, T).map_err(named::<B>)?,
            storage: C::allocate(x.contexts()),
            inputs,
            outputs: None,
            y: Vec::new(),
            dy: Vec::new(),
            column: Vec::new(),
        })
    }

    /// Column `k` of the products.
    fn product(&self, k: usize) -> impl ExactSizeIterator<Item = X::Scalar> + '_ {
        self.dy.iter().skip(k).step_by(T).copied()
    }

    /// Copies the products into buffers of the caller.
    fn copy_products(&self, products: [&mut [X::Scalar]; T]) -> Result<(), Error> {
        let expected = self.dy.len() / T.max(1);
        for buffer in &products {
            if buffer.len() != expected {
                return Err(named::<B>(ErrorKind::BufferLength { expected, found: buffer.len() }));
            }
        }
        for (k, buffer) in products.into_iter().enumerate() {
            for (entry, value) in buffer.iter_mut().zip(self.product(k)) {
                *entry = value;
            }
        }
        Ok(())
    }
}

/// Checks the tangents of a call and gives them as slices.
fn checked<B: Backend, D: Point, const T: usize>(
    tangents: &[D; T],
    inputs: usize,
) -> Result<[&[ScalarOf<D>]; T], Error> {
    let slices = tangents.each_ref().map(Point::coordinates);
    Seeds::Vectors(&slices).check(inputs).map_err(named::<B>)?;
    Ok(slices)
}

impl<H, B, X, const T: usize, C> PreparedPushforward<H, B, X, T, C>
where
    B: Backend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Lanes<B, X, T>>,
{
    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation, and those of
    /// [`pushforward`].
    pub fn pushforward<P, D>(
        &mut self,
        x: P,
        tangents: [D; T],
    ) -> Result<[ValueOf<H::Target, X, C, Lanes<B, X, T>>; T], Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, false)?;
        Ok(self.products())
    }

    /// Writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pushforward`](Self::pushforward), and [`ErrorKind::BufferLength`].
    pub fn pushforward_into<P, D>(
        &mut self,
        products: [&mut [X::Scalar]; T],
        x: P,
        tangents: [D; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, false)?;
        self.copy_products(products)
    }

    /// Returns the value and the products at `x`.
    ///
    /// # Errors
    /// Those of [`pushforward`](Self::pushforward).
    pub fn value_and_pushforward<P, D>(
        &mut self,
        x: P,
        tangents: [D; T],
    ) -> Result<(ValueOf<H::Target, X, C, Lanes<B, X, T>>, [ValueOf<H::Target, X, C, Lanes<B, X, T>>; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, true)?;
        Ok((Self::build(&self.y), self.products()))
    }

    /// Returns the value, borrowed from the preparation, and writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pushforward_into`](Self::pushforward_into).
    pub fn value_and_pushforward_into<P, D>(
        &mut self,
        products: [&mut [X::Scalar]; T],
        x: P,
        tangents: [D; T],
    ) -> Result<BorrowedOf<'_, H::Target, X, C, Lanes<B, X, T>>, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, true)?;
        self.copy_products(products)?;
        Ok(<H::Target as Evaluate<X, C, Lanes<B, X, T>>>::Output::borrow(&self.y))
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. What the function captured
    /// may have changed.
    ///
    /// # Errors
    /// Those of [`pushforward`].
    pub fn prepare_again<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.accept(x.coordinates(), &tangents)?;
        self.run(&x, &tangents, true)?;
        self.outputs = Some(self.y.len());
        self.column.clone_from(&self.y);
        Ok(())
    }

    /// Checks that points like `x` can be served, and serves them from now on.
    fn accept<D: Point<Shape: Shape<Scalar = X::Scalar>>>(
        &mut self,
        x: &[X::Scalar],
        tangents: &[D; T],
    ) -> Result<(), Error> {
        checked::<B, D, T>(tangents, x.len())?;
        let state = <B::Pushforward as PushforwardRoute<B>>::state(&self.backend, x.len(), T).map_err(named::<B>)?;
        if self.backend.keeps_recordings() {
            self.state = state;
        }
        self.inputs = x.len();
        self.outputs = None;
        Ok(())
    }

    /// Evaluates the function at `x` and keeps what calls at the same point need.
    fn hold<P, D>(&mut self, x: &P, tangents: &[D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let flat = x.coordinates();
        self.accept(flat, tangents)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        fault::watch(|| {
            <B::Pushforward as PushforwardRoute<B>>::hold(&self.backend, &mut self.state, &mut f, flat, &mut self.y)
        })
        .map_err(named::<B>)
    }

    fn run<P, D>(&mut self, x: &P, tangents: &[D; T], with_value: bool) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let flat = x.coordinates();
        if flat.len() != self.inputs {
            return Err(named::<B>(ErrorKind::PreparedLength { prepared: self.inputs, found: flat.len() }));
        }
        let tangents = checked::<B, D, T>(tangents, self.inputs)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        let y = if with_value { Some(&mut self.y) } else { None };
        let rows = Rows::growing(&mut self.dy, T).expecting(self.outputs);
        let seeds = Seeds::Vectors(&tangents);
        fault::watch(|| {
            <B::Pushforward as PushforwardRoute<B>>::pushforward(
                &self.backend,
                &mut self.state,
                &mut f,
                flat,
                seeds,
                y,
                rows,
            )
        })
        .map_err(named::<B>)
    }

    fn build(flat: &[X::Scalar]) -> ValueOf<H::Target, X, C, Lanes<B, X, T>> {
        <H::Target as Evaluate<X, C, Lanes<B, X, T>>>::Output::build(flat)
    }

    fn products(&mut self) -> [ValueOf<H::Target, X, C, Lanes<B, X, T>>; T] {
        if T == 1 {
            return std::array::from_fn(|_| Self::build(&self.dy));
        }
        std::array::from_fn(|k| {
            self.column.clear();
            self.column.extend(self.dy.iter().skip(k).step_by(T));
            Self::build(&self.column)
        })
    }
}

/// Pushforwards prepared at one point, made by [`prepare_pushforward_same_point`]. Only the tangents vary.
pub struct PreparedPushforwardSamePoint<H, B: Backend, P: Point, const T: usize> {
    call: PreparedPushforward<H, B, P::Shape, T, P::Contexts>,
    point: P,
}

impl<H: Clone, B: Backend, P: Point + Clone, const T: usize> Clone for PreparedPushforwardSamePoint<H, B, P, T> {
    fn clone(&self) -> Self {
        PreparedPushforwardSamePoint { call: self.call.clone(), point: self.point.clone() }
    }
}

impl<H, B, P, const T: usize> PreparedPushforwardSamePoint<H, B, P, T>
where
    B: Backend,
    P: Point,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> BorrowedOf<'_, H::Target, P::Shape, P::Contexts, Lanes<B, P::Shape, T>> {
        <H::Target as Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>>::Output::borrow(&self.call.y)
    }

    /// Returns the products with other tangents.
    ///
    /// # Errors
    /// Those of [`pushforward`].
    pub fn pushforward<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        tangents: [D; T],
    ) -> Result<[ValueOf<H::Target, P::Shape, P::Contexts, Lanes<B, P::Shape, T>>; T], Error> {
        self.run(&tangents)?;
        Ok(self.call.products())
    }

    /// Writes the products with other tangents into the buffers.
    ///
    /// # Errors
    /// Those of [`pushforward_into`].
    pub fn pushforward_into<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut [ScalarOf<P>]; T],
        tangents: [D; T],
    ) -> Result<(), Error> {
        self.run(&tangents)?;
        self.call.copy_products(products)
    }

    fn run<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(&mut self, tangents: &[D; T]) -> Result<(), Error> {
        let PreparedPushforwardSamePoint { call, point } = self;
        let tangents = checked::<B, D, T>(tangents, call.inputs)?;
        let mut f = Bound::<_, P::Shape, P::Contexts, _>::new(&*call.function, point.contexts(), &mut call.storage);
        let rows = Rows::growing(&mut call.dy, T);
        let seeds = Seeds::Vectors(&tangents);
        fault::watch(|| {
            <B::Pushforward as PushforwardRoute<B>>::held(&call.backend, &mut call.state, &mut f, seeds, rows)
        })
        .map_err(named::<B>)
    }
}
