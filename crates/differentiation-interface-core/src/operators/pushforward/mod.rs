//! Pushforward: the Jacobian times tangents, for several tangents at once.
//!
//! Called by users. Reaches a backend through its `type Pushforward` route, with one lane per tangent.

mod backend;

pub use backend::{PushforwardBackend, PushforwardWork};

use super::call::{Memory, check_point, check_shaped, checked_tangents, of_point, preparing, write};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::Output;
use crate::point::{At, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;

/// The shape of a function's output in a call of `pushforward`.
type Out<B, F, X, C, const T: usize> = <B as PushforwardBackend<F, X, C, T>>::Output;
/// A product, or the value, in the shape of the output.
type PushforwardValue<B, F, X, C, const T: usize> =
    <Out<B, F, X, C, T> as Output<<B as PushforwardBackend<F, X, C, T>>::Num>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type PushforwardBorrowed<'a, B, F, X, C, const T: usize> =
    <Out<B, F, X, C, T> as Output<<B as PushforwardBackend<F, X, C, T>>::Num>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns `[J·dx for dx in tangents]`, where J is the Jacobian of `f` at `x`; each product has the shape of the output.
///
/// Tangents are passed like points: `[&dx1, &dx2]` for vectors, `[1.0]` for a number.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a tangent is not as long as `x`, [`ErrorKind::SeedShape`] if it has the type of `x` but a different shape, [`ErrorKind::NoSeeds`] if there is none,
/// and what the function and the backend refuse, as for [`gradient`](super::gradient).
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
) -> Result<[PushforwardValue<B, F, P::Shape, P::Contexts, T>; T], Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PushforwardBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedPushforward::<_, B, _, T, _>::new(f, backend, &x)?.pushforward(x, tangents)
}

/// Writes `J·dx` of each tangent into the buffer of the same position; each is as long as the output.
///
/// # Errors
/// Those of [`pushforward`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if a buffer has the wrong length, or has the type of the result but a different shape.
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
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PushforwardBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedPushforward::<_, B, _, T, _>::new(f, backend, &x)?.pushforward_into(products, x, tangents)
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
    (PushforwardValue<B, F, P::Shape, P::Contexts, T>, [PushforwardValue<B, F, P::Shape, P::Contexts, T>; T]),
    Error,
>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PushforwardBackend<F, P::Shape, P::Contexts, T>,
{
    PreparedPushforward::<_, B, _, T, _>::new(f, backend, &x)?.value_and_pushforward(x, tangents)
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
    products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PushforwardValue<B, F, P::Shape, P::Contexts, T>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: PushforwardBackend<F, P::Shape, P::Contexts, T>,
{
    let mut call = PreparedPushforward::<&F, B, P::Shape, T, P::Contexts>::new(f, backend, &x)?;
    call.value_and_pushforward_into(products, x, tangents)?;
    Ok(B::Output::build(B::value(&call.state), B::kept(&call.state)))
}

/// Returns prepared pushforwards of `f` with `T` tangents; see [`prepare_gradient`](super::prepare_gradient) for the
/// calls that it accepts. The values of the tangents do not matter.
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
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: PushforwardBackend<H::Function, P::Shape, P::Contexts, T>,
{
    let mut prepared = PreparedPushforward::new(f, backend, &x)?;
    prepared.prepare_again(x, tangents)?;
    Ok(prepared)
}

/// Fixes the point of pushforwards and computes everything that depends on it alone: reverse mode then does not run the function
/// again, finite differences keep `f(x)`.
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
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: PushforwardBackend<H::Function, P::Shape, P::Contexts, T>,
{
    let mut call = PreparedPushforward::<H, B, P::Shape, T, P::Contexts>::new(f, backend, &x)?;
    checked_tangents(&x, call.inputs, &tangents, &mut call.tangents)
        .map_err(|kind| of_point::<P::Shape>(kind, "pushforward", B::BACKEND))?;
    let at = At::new(&x, &mut call.memory.point);
    call.backend.hold(&mut call.state, call.function.function(), at)?;
    let mut prepared = PreparedPushforwardSamePoint { call, point: x };
    // One call sizes the work memory of the products.
    prepared.run(&tangents)?;
    Ok(prepared)
}

/// Prepared pushforwards, made by [`prepare_pushforward`]: dy = J dx for each of `T` tangents dx.
///
/// [`pushforward`](Self::pushforward) and [`value_and_pushforward`](Self::value_and_pushforward) return them, the variants with `_into` write into buffers; [`value`](Self::value) returns the
/// output alone. [`prepare_again`](Self::prepare_again) prepares for another length. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the number of tangents and the contexts, if any.
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
/// struct Linear {
///     pushforward: PreparedPushforward<Arc<ProductAndSum>, AutoForwardDiff, Slice<f64>, 1>,
/// }
///
/// let f = Arc::new(ProductAndSum);
/// let pushforward = prepare_pushforward(f, &AutoForwardDiff::default(), &[0.0; 2], [&[0.0; 2]])?;
/// let mut linear = Linear { pushforward };
/// // The Jacobian is [[5, 2], [1, 1]].
/// assert_eq!(linear.pushforward.pushforward(&[2.0, 5.0], [&[1.0, -1.0]])?, [[3.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedPushforward<H, B, X, const T: usize, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: PushforwardBackend<H::Function, X, C, T>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
    /// The numbers of tangents that do not lie in one piece.
    tangents: [Vec<X::Scalar>; T],
}

impl<H, B, X, const T: usize, C> Clone for PreparedPushforward<H, B, X, T, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: PushforwardBackend<H::Function, X, C, T>,
{
    fn clone(&self) -> Self {
        PreparedPushforward {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
            tangents: self.tangents.clone(),
        }
    }
}

impl<H, B, X, const T: usize, C> PreparedPushforward<H, B, X, T, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: PushforwardBackend<H::Function, X, C, T>,
{
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let mut memory = Memory::new();
        let at = At::new(x, &mut memory.point);
        let (state, inputs) = (backend.unprepared(at)?, at.coordinates().len());
        let tangents = std::array::from_fn(|_| Vec::new());
        Ok(PreparedPushforward { function: f, backend: backend.clone(), state, inputs, memory, tangents })
    }

    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, and those of
    /// [`pushforward`].
    pub fn pushforward<P, D>(
        &mut self,
        x: P,
        tangents: [D; T],
    ) -> Result<[PushforwardValue<B, H::Function, X, C, T>; T], Error>
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
    /// Those of [`pushforward`](Self::pushforward), and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`].
    pub fn pushforward_into<P, D>(
        &mut self,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
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
    ) -> Result<(PushforwardValue<B, H::Function, X, C, T>, [PushforwardValue<B, H::Function, X, C, T>; T]), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, true)?;
        Ok((B::Output::build(B::value(&self.state), B::kept(&self.state)), self.products()))
    }

    /// Returns the value, borrowed from the preparation, and writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`pushforward_into`](Self::pushforward_into).
    pub fn value_and_pushforward_into<P, D>(
        &mut self,
        products: [&mut (impl Buffer<X::Scalar> + ?Sized); T],
        x: P,
        tangents: [D; T],
    ) -> Result<PushforwardBorrowed<'_, B, H::Function, X, C, T>, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, true)?;
        self.copy_products(products)?;
        Ok(B::Output::borrow(B::value(&self.state), B::kept(&self.state)))
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`pushforward`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<PushforwardValue<B, H::Function, X, C, T>, Error>
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
    /// Those of [`pushforward`].
    pub fn prepare_again<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let at = At::new(&x, &mut self.memory.point);
        let tangents =
            checked_tangents(&x, at.coordinates().len(), &tangents, &mut self.tangents).map_err(Self::of_point)?;
        let (backend, f) = (&self.backend, self.function.function());
        preparing(
            &mut self.state,
            |state, adapts| backend.adapt(state, adapts),
            |state| backend.prepare(state, f, at, &tangents),
        )?;
        self.inputs = at.coordinates().len();
        Ok(())
    }

    fn run<P, D>(&mut self, x: &P, tangents: &[D; T], with_value: bool) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let at = At::new(x, &mut self.memory.point);
        check_point(self.inputs, at).map_err(Self::of_point)?;
        let tangents = checked_tangents(x, self.inputs, tangents, &mut self.tangents).map_err(Self::of_point)?;
        self.backend.products(&mut self.state, self.function.function(), at, &tangents, with_value)
    }

    /// The backend's state, which may report on the last call: estimated errors of differences, for example.
    pub fn state(&self) -> &B::State {
        &self.state
    }

    /// An error about a product.
    fn of_output(kind: ErrorKind) -> Error {
        Error::new(kind).during("pushforward", B::BACKEND)
    }

    /// An error about the point or a tangent.
    fn of_point(kind: ErrorKind) -> Error {
        of_point::<X>(kind, "pushforward", B::BACKEND)
    }

    /// Copies the products into buffers of the caller.
    fn copy_products(&mut self, products: [&mut (impl Buffer<X::Scalar> + ?Sized); T]) -> Result<(), Error> {
        // All products are as long as the output. There is at least one, because an empty list of seeds is an error.
        let (product, kept) = B::product(&mut self.state, 0);
        let (expected, outline) = (product.len(), B::Output::outline(kept));
        let check = |buffer: &&mut _| {
            check_shaped::<_, PushforwardValue<B, H::Function, X, C, T>>(expected, outline, &**buffer)
        };
        products.iter().try_for_each(check).map_err(Self::of_output)?;
        for (k, buffer) in products.into_iter().enumerate() {
            let product = B::product(&mut self.state, k).0;
            write(buffer, &mut self.memory.result, |out| out.copy_from_slice(product));
        }
        Ok(())
    }

    fn products(&mut self) -> [PushforwardValue<B, H::Function, X, C, T>; T] {
        std::array::from_fn(|k| {
            let (product, kept) = B::product(&mut self.state, k);
            B::Output::build(product, kept)
        })
    }
}

/// Pushforwards prepared at one point, made by [`prepare_pushforward_same_point`]: dy = J dx for each of `T` tangents dx, which alone vary.
///
/// [`pushforward`](Self::pushforward) returns the products, [`pushforward_into`](Self::pushforward_into) writes them into buffers; [`value`](Self::value) is that of the preparation. One
/// thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the type of the point and the number of tangents. It keeps the point: a struct has an array.
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
/// struct Linear {
///     pushforward: PreparedPushforwardSamePoint<Arc<ProductAndSum>, AutoForwardDiff, [f64; 2], 1>,
/// }
///
/// let f = Arc::new(ProductAndSum);
/// let pushforward = prepare_pushforward_same_point(f, &AutoForwardDiff::default(), [2.0, 5.0], [[0.0; 2]])?;
/// let mut linear = Linear { pushforward };
/// assert_eq!(linear.pushforward.value(), [10.0, 7.0]);
/// assert_eq!(linear.pushforward.pushforward([[1.0, -1.0]])?, [[3.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedPushforwardSamePoint<H, B, P, const T: usize>
where
    H: Pointer,
    P: Point,
    B: PushforwardBackend<H::Function, P::Shape, P::Contexts, T>,
{
    call: PreparedPushforward<H, B, P::Shape, T, P::Contexts>,
    point: P,
}

impl<H, B, P, const T: usize> Clone for PreparedPushforwardSamePoint<H, B, P, T>
where
    H: Pointer + Clone,
    P: Point + Clone,
    B: PushforwardBackend<H::Function, P::Shape, P::Contexts, T>,
{
    fn clone(&self) -> Self {
        PreparedPushforwardSamePoint { call: self.call.clone(), point: self.point.clone() }
    }
}

impl<H, B, P, const T: usize> PreparedPushforwardSamePoint<H, B, P, T>
where
    H: Pointer,
    P: Point,
    B: PushforwardBackend<H::Function, P::Shape, P::Contexts, T>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> PushforwardBorrowed<'_, B, H::Function, P::Shape, P::Contexts, T> {
        B::Output::borrow(B::value(&self.call.state), B::kept(&self.call.state))
    }

    /// Returns the products with other tangents.
    ///
    /// # Errors
    /// Those of [`pushforward`].
    pub fn pushforward<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        tangents: [D; T],
    ) -> Result<[PushforwardValue<B, H::Function, P::Shape, P::Contexts, T>; T], Error> {
        self.run(&tangents)?;
        Ok(self.call.products())
    }

    /// Writes the products with other tangents into the buffers.
    ///
    /// # Errors
    /// Those of [`pushforward_into`].
    pub fn pushforward_into<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
        tangents: [D; T],
    ) -> Result<(), Error> {
        self.run(&tangents)?;
        self.call.copy_products(products)
    }

    fn run<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(&mut self, tangents: &[D; T]) -> Result<(), Error> {
        let PreparedPushforwardSamePoint { call, point } = self;
        let PreparedPushforward { function, backend, state, inputs, memory, tangents: flat } = call;
        let tangents = checked_tangents(point, *inputs, tangents, flat)
            .map_err(|kind| of_point::<P::Shape>(kind, "pushforward", B::BACKEND))?;
        backend.held(state, H::function(function), At::new(point, &mut memory.point), &tangents)
    }
}
