//! Hessian-vector products, for several tangents at once.
//!
//! Called by users. Reaches two backends through the `type Hvp` route of the [`SecondOrderBackend`], with one lane per
//! tangent.

use crate::backend::{Backend, HvpRoute, Lane, Rows, SecondOrderBackend, Seeds, Want};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, NumberOutput};
use crate::fault;
use crate::point::{Point, ScalarOf, Shape};
use crate::scalar::{Base, Scalar};
use std::ops::Deref;

/// The number type of `hvp` with `T` tangents.
type Lanes<B, X, const T: usize> = <<B as SecondOrderBackend>::Hvp as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::Num<<X as Shape>::Scalar, Lane<T>>;
/// Who differentiates at a fixed point.
type SamePoint<B> = <<B as SecondOrderBackend>::Hvp as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::SamePoint;
/// Results in the shape of the point.
type Like<P> = <<P as Point>::Shape as Shape>::Like;

/// Returns `[H·v for v in tangents]`, where H is the Hessian of `f` at `x`; each product has the shape of `x`.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if a tangent is not as long as `x`, [`ErrorKind::NoSeeds`] if there is none.
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
pub fn hvp<F, B, P, D, const T: usize>(f: &F, backend: &B, x: P, tangents: [D; T]) -> Result<[Like<P>; T], Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.hvp(x, tangents)
}

/// Writes `H·v` of each tangent into the buffer of the same position; each is as long as `x`.
///
/// # Errors
/// Those of [`hvp`], and [`ErrorKind::BufferLength`] if a buffer has another length.
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
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.hvp_into(products, x, tangents)
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
) -> Result<(Like<P>, [Like<P>; T]), Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.gradient_and_hvp(x, tangents)
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
    grad: &mut [ScalarOf<P>],
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<(), Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.gradient_and_hvp_into(grad, products, x, tangents)
}

/// Returns `f(x)`, the gradient and `H·v` of each tangent, from the same evaluation: what Newton-CG asks for.
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
) -> Result<(ScalarOf<P>, Like<P>, [Like<P>; T]), Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.value_gradient_and_hvp(x, tangents)
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
    grad: &mut [ScalarOf<P>],
    products: [&mut [ScalarOf<P>]; T],
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<ScalarOf<P>, Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    F: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>>,
    F::Output: NumberOutput<Lanes<B, P::Shape, T>>,
{
    PreparedHvp::new(f, backend, &x)?.value_gradient_and_hvp_into(grad, products, x, tangents)
}

/// Pays the one-time costs of Hessian-vector products with `T` tangents, those of the inner differentiation too; see
/// [`prepare_gradient`](super::prepare_gradient) for what it is good for. The values of the tangents do not matter.
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
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Lanes<B, P::Shape, T>, Output: NumberOutput<Lanes<B, P::Shape, T>>>,
{
    let mut prepared = PreparedHvp::new(f, backend, &x)?;
    prepared.prepare_again(x, tangents)?;
    Ok(prepared)
}

/// Fixes the point of Hessian-vector products and evaluates what depends on it alone: value and gradient always, and with
/// reverse mode the linearisation of the gradient, so that the function is not run again.
///
/// Reverse over reverse keeps the linearisation. Forward over reverse cannot, so its inner backend then takes both places;
/// where the inner backend is forward, the function is run again for other tangents.
///
/// # Errors
/// Those of [`hvp`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let backend = SecondOrder(AutoReverseDiff::default(), AutoReverseDiff::default());
/// let mut prepared = prepare_hvp_same_point(&cubic, &backend, &[2.0, 5.0], [&[0.0; 2]])?;
/// assert_eq!((prepared.value(), prepared.gradient()), (20.0, vec![20.0, 4.0]));
/// assert_eq!(prepared.hvp([&[1.0, -1.0]])?, [[6.0, 4.0]]);
/// assert_eq!(prepared.hvp([&[0.0, 1.0]])?, [[4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_hvp_same_point<H, B, P, D, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PreparedHvpSamePoint<H, B, P, T>, Error>
where
    B: SecondOrderBackend,
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<
            P::Shape,
            P::Contexts,
            Lanes<SamePoint<B>, P::Shape, T>,
            Output: NumberOutput<Lanes<SamePoint<B>, P::Shape, T>>,
        >,
{
    let mut call = PreparedHvp::new(f, &B::Hvp::same_point(&backend.pair()), &x)?;
    call.hold(&x)?;
    let mut prepared = PreparedHvpSamePoint { call, point: x };
    // One call sizes the work memory that the evaluation alone does not.
    let given = tangents.each_ref().map(Point::coordinates);
    let dense = prepared.call.dense_tangent();
    prepared.products(&PreparedHvp::<H, SamePoint<B>, P::Shape, T, P::Contexts>::sizing_tangents(&given, &dense))?;
    Ok(prepared)
}

/// Prepared Hessian-vector products, made by [`prepare_hvp`]. One thread at a time; clone it for another thread.
pub struct PreparedHvp<H, B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts = ()> {
    function: H,
    pair: (B::Outer, B::Inner),
    state: <B::Hvp as HvpRoute<B::Outer, B::Inner>>::State<X::Scalar, Lane<T>>,
    storage: C::Storage<Lanes<B, X, T>>,
    inputs: usize,
    products: Vec<X::Scalar>,
}

impl<H: Clone, B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> Clone for PreparedHvp<H, B, X, T, C> {
    fn clone(&self) -> Self {
        PreparedHvp {
            function: self.function.clone(),
            pair: self.pair.clone(),
            state: self.state.clone(),
            storage: self.storage.clone(),
            inputs: self.inputs,
            products: self.products.clone(),
        }
    }
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("hvp", B::NAME)
}

impl<H, B: SecondOrderBackend, X: Shape, const T: usize, C: Contexts> PreparedHvp<H, B, X, T, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let pair = backend.pair();
        let inputs = x.coordinates().len();
        Ok(PreparedHvp {
            function: f,
            state: B::Hvp::state(&pair, inputs, T).map_err(named::<B>)?,
            pair,
            storage: C::allocate(x.contexts()),
            inputs,
            products: Vec::new(),
        })
    }

    /// Checks that points like `x` can be served, and serves them from now on.
    fn accept(&mut self, x: &[X::Scalar]) -> Result<(), Error> {
        let state = B::Hvp::state(&self.pair, x.len(), T).map_err(named::<B>)?;
        if self.pair.0.keeps_recordings() || self.pair.1.keeps_recordings() {
            self.state = state;
        }
        self.inputs = x.len();
        Ok(())
    }

    /// The value that the last call left.
    fn value(&self) -> X::Scalar {
        B::Hvp::value(&self.state)
    }

    /// The gradient that the last call left.
    fn gradient(&self) -> &[X::Scalar] {
        B::Hvp::gradient(&self.state)
    }

    /// Product `k`, whichever way round the route writes it.
    fn product(&self, k: usize) -> impl ExactSizeIterator<Item = X::Scalar> + '_ {
        let (start, step) = if B::Hvp::seeds_are_rows(&self.pair) { (k * self.inputs, 1) } else { (k, T) };
        self.products.iter().skip(start).step_by(step).take(self.inputs).copied()
    }

    fn like(&self) -> [X::Like; T] {
        std::array::from_fn(|k| X::like(&self.product(k).collect::<Vec<_>>()))
    }

    fn copy_products(&self, products: [&mut [X::Scalar]; T]) {
        for (k, buffer) in products.into_iter().enumerate() {
            for (entry, value) in buffer.iter_mut().zip(self.product(k)) {
                *entry = value;
            }
        }
    }

    fn check_buffer(&self, buffer: &[X::Scalar]) -> Result<(), Error> {
        if buffer.len() == self.inputs {
            Ok(())
        } else {
            Err(named::<B>(ErrorKind::BufferLength { expected: self.inputs, found: buffer.len() }))
        }
    }

    fn check_buffers(&self, products: &[&mut [X::Scalar]; T]) -> Result<(), Error> {
        products.iter().try_for_each(|buffer| self.check_buffer(buffer))
    }
}

impl<H, B, X, const T: usize, C> PreparedHvp<H, B, X, T, C>
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Lanes<B, X, T>>,
{
    /// Returns the products at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` has another length than the point of the preparation, and those of [`hvp`].
    pub fn hvp<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<[X::Like; T], Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.run(&x, &tangents, Want::Products)?;
        Ok(self.like())
    }

    /// Writes the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp`](Self::hvp), and [`ErrorKind::BufferLength`].
    pub fn hvp_into<P, D>(&mut self, products: [&mut [X::Scalar]; T], x: P, tangents: [D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.check_buffers(&products)?;
        self.run(&x, &tangents, Want::Products)?;
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
        self.run(&x, &tangents, Want::Gradient)?;
        Ok((X::like(self.gradient()), self.like()))
    }

    /// Writes the gradient and the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`](Self::hvp_into).
    pub fn gradient_and_hvp_into<P, D>(
        &mut self,
        grad: &mut [X::Scalar],
        products: [&mut [X::Scalar]; T],
        x: P,
        tangents: [D; T],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.check_buffer(grad)?;
        self.check_buffers(&products)?;
        self.run(&x, &tangents, Want::Gradient)?;
        grad.copy_from_slice(self.gradient());
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
        self.run(&x, &tangents, Want::Value)?;
        Ok((self.value(), X::like(self.gradient()), self.like()))
    }

    /// Returns the value, and writes the gradient and the products at `x` into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`](Self::hvp_into).
    pub fn value_gradient_and_hvp_into<P, D>(
        &mut self,
        grad: &mut [X::Scalar],
        products: [&mut [X::Scalar]; T],
        x: P,
        tangents: [D; T],
    ) -> Result<X::Scalar, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.check_buffer(grad)?;
        self.check_buffers(&products)?;
        self.run(&x, &tangents, Want::Value)?;
        grad.copy_from_slice(self.gradient());
        self.copy_products(products);
        Ok(self.value())
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. What the function captured
    /// may have changed.
    ///
    /// # Errors
    /// Those of [`hvp`].
    pub fn prepare_again<P, D>(&mut self, x: P, tangents: [D; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.accept(x.coordinates())?;
        let given = tangents.each_ref().map(Point::coordinates);
        let ones = self.dense_tangent();
        self.products(&x, &Self::sizing_tangents(&given, &ones), Want::Value)
    }

    /// Evaluates what depends on the point `x` alone.
    fn hold<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P) -> Result<(), Error> {
        self.accept(x.coordinates())?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        fault::watch(|| B::Hvp::hold(&self.pair, &mut self.state, &mut f, x.coordinates())).map_err(named::<B>)
    }

    /// The products at the point `x` of the last [`hold`](Self::hold).
    fn held<P>(&mut self, x: &P, tangents: &[&[X::Scalar]; T]) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let seeds = Seeds::Vectors(tangents);
        seeds.check(self.inputs).map_err(named::<B>)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        let columns = if B::Hvp::seeds_are_rows(&self.pair) { self.inputs } else { T };
        let rows = Rows::growing(&mut self.products, columns);
        fault::watch(|| B::Hvp::held(&self.pair, &mut self.state, &mut f, x.coordinates(), seeds, rows))
            .map_err(named::<B>)
    }

    /// A tangent without zeros, for routes whose memory follows tangents.
    fn dense_tangent(&self) -> Vec<X::Scalar> {
        let one = X::Scalar::constant(<X::Scalar as Scalar>::Base::ONE);
        if B::Hvp::memory_follows_tangents(&self.pair) { vec![one; self.inputs] } else { Vec::new() }
    }

    /// The tangents to size memory with: the given ones, or dense ones in their place if they are as long.
    fn sizing_tangents<'a>(given: &[&'a [X::Scalar]; T], dense: &'a [X::Scalar]) -> [&'a [X::Scalar]; T] {
        given.map(|tangent| if tangent.len() == dense.len() { dense } else { tangent })
    }

    fn run<P, D>(&mut self, x: &P, tangents: &[D; T], want: Want) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.products(x, &tangents.each_ref().map(Point::coordinates), want)
    }

    fn products<P>(&mut self, x: &P, tangents: &[&[X::Scalar]; T], want: Want) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let (prepared, found) = (self.inputs, x.coordinates().len());
        if found != prepared {
            return Err(named::<B>(ErrorKind::PreparedLength { prepared, found }));
        }
        let seeds = Seeds::Vectors(tangents);
        seeds.check(prepared).map_err(named::<B>)?;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        let columns = if B::Hvp::seeds_are_rows(&self.pair) { prepared } else { T };
        let rows = Rows::growing(&mut self.products, columns);
        fault::watch(|| B::Hvp::products(&self.pair, &mut self.state, &mut f, x.coordinates(), seeds, want, rows))
            .map_err(named::<B>)
    }
}

/// Hessian-vector products prepared at one point, made by [`prepare_hvp_same_point`]. Only the tangents vary.
pub struct PreparedHvpSamePoint<H, B: SecondOrderBackend, P: Point, const T: usize> {
    call: PreparedHvp<H, SamePoint<B>, P::Shape, T, P::Contexts>,
    point: P,
}

impl<H: Clone, B: SecondOrderBackend, P: Point + Clone, const T: usize> Clone for PreparedHvpSamePoint<H, B, P, T> {
    fn clone(&self) -> Self {
        PreparedHvpSamePoint { call: self.call.clone(), point: self.point.clone() }
    }
}

impl<H, B, P, const T: usize> PreparedHvpSamePoint<H, B, P, T>
where
    B: SecondOrderBackend,
    P: Point,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Lanes<SamePoint<B>, P::Shape, T>>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> ScalarOf<P> {
        self.call.value()
    }

    /// The gradient at the point, evaluated by the preparation.
    pub fn gradient(&self) -> Like<P> {
        P::Shape::like(self.call.gradient())
    }

    /// Returns the products with other tangents.
    ///
    /// # Errors
    /// Those of [`hvp`].
    pub fn hvp<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        tangents: [D; T],
    ) -> Result<[Like<P>; T], Error> {
        self.run(&tangents)?;
        Ok(self.call.like())
    }

    /// Writes the products with other tangents into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`].
    pub fn hvp_into<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut [ScalarOf<P>]; T],
        tangents: [D; T],
    ) -> Result<(), Error> {
        self.call.check_buffers(&products)?;
        self.run(&tangents)?;
        self.call.copy_products(products);
        Ok(())
    }

    fn run<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(&mut self, tangents: &[D; T]) -> Result<(), Error> {
        self.products(&tangents.each_ref().map(Point::coordinates))
    }

    fn products(&mut self, tangents: &[&[ScalarOf<P>]; T]) -> Result<(), Error> {
        self.call.held(&self.point, tangents)
    }
}
