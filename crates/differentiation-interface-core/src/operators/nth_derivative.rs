//! The derivative of any order of a function of one number.
//!
//! Called by users. Every [`Backend`] that runs over its own numbers is nested in itself, once per order, by [`Nest`]; an engine of
//! truncated series implements [`NthDerivativeBackend`] itself and needs one evaluation.

use super::call::check_buffer;
use crate::backend::{Backend, Lane, MatrixRoute, Rows};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, KeptBy, Output, Storage, handed};
use crate::fault;
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::scalar::Scalar;

/// The order of a derivative, known to the compiler: `Order::<3>`. The number type of the function depends on it.
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cube<T: Real>(x: T) -> T {
///     x.powi(3)
/// }
/// assert_eq!(nth_derivative(&cube, &AutoTaylor, 2.0, Order::<2>)?, 12.0);
/// assert_eq!(taylor_coefficients(&cube, &AutoTaylor, 2.0, Order::<3>)?, [8.0, 12.0, 6.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order<const N: usize>;

/// What the function returns, with numbers of the point.
type Like<B, F, X, C, const N: usize> = <<B as NthDerivativeBackend<F, X, C, N>>::Output as Output<
    <B as NthDerivativeBackend<F, X, C, N>>::Num,
>>::With<<X as Shape>::Scalar>;

/// Returns the derivative of order `N` of `f` at the number `x`, in the shape of the output: dᴺf/dxᴺ. Order 0 is the value.
///
/// A [`Backend`] is nested in itself `N` times, up to order 8. Forward mode then computes with 2ᴺ numbers, so that orders above 4 are better
/// left to `AutoTaylor`, which carries N + 1. `AutoFiniteDiff` keeps about 7 digits at the second order, 3 at the third and none at the fourth;
/// `AutoFiniteDifferences` has a formula for each order and loses a digit or two with each.
///
/// # Errors
/// Those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn power<T: Real>(x: T) -> T {
///     x.powi(5)
/// }
/// // 5 · 4 · 3 x²
/// assert_eq!(nth_derivative(&power, &AutoForwardDiff::default(), 2.0, Order::<3>)?, 240.0);
/// assert_eq!(nth_derivative(&power, &AutoTaylor, 2.0, Order::<3>)?, 240.0);
/// # Ok::<(), Error>(())
/// ```
pub fn nth_derivative<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<Like<B, F, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    if let Some(der) = stateless(f, backend, at) {
        return Ok(B::Output::build(der.as_ref(), &Default::default()));
    }
    let mut y = Vec::new();
    let mut state = backend.unprepared(at)?;
    run(f, backend, &mut state, at, &mut y)?;
    Ok(B::Output::build(&y, B::kept(&state)))
}

/// Writes the derivative of order `N` of `f` at the number `x` into `der`, which is as long as the output.
///
/// # Errors
/// [`ErrorKind::BufferLength`](crate::error::ErrorKind::BufferLength) if `der` has the wrong length, and those of [`nth_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn both<T: Real>(x: T) -> [T; 2] {
///     [x.powi(4), x * x]
/// }
/// let mut der = [0.0; 2];
/// nth_derivative_into(&both, &mut der, &AutoTaylor, 2.0, Order::<3>)?;
/// assert_eq!(der, [48.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn nth_derivative_into<F, B, P, const N: usize>(
    f: &F,
    der: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut state, mut y) = (backend.unprepared(at)?, Vec::new());
    run(f, backend, &mut state, at, &mut y)?;
    der.write(&mut Vec::new(), |der| copy::<B, F, P::Shape, P::Contexts, N>(der, &y))
}

/// Fills `y` by a state.
#[inline]
fn run<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    x: At<'_, P>,
    y: &mut Vec<ScalarOf<P>>,
) -> Result<(), Error>
where
    P: Point,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    let result = fault::Watch::begin().end(backend.fill(state, f, x, y));
    result.map_err(|error| error.during("nth_derivative", B::BACKEND))
}

/// Copies the result into a buffer of the same length.
fn copy<B: NthDerivativeBackend<F, X, C, N>, F, X: Shape, C: Contexts, const N: usize>(
    der: &mut [X::Scalar],
    y: &[X::Scalar],
) -> Result<(), Error> {
    check_buffer(y.len(), der.len()).map_err(|kind| Error::new(kind).during("nth_derivative", B::BACKEND))?;
    der.copy_from_slice(y);
    Ok(())
}

/// Outputs of fixed number.
type Fixed<B, F, X, C, const N: usize> = <<B as NthDerivativeBackend<F, X, C, N>>::Output as Output<
    <B as NthDerivativeBackend<F, X, C, N>>::Num,
>>::Fixed<<X as Shape>::Scalar>;

/// The derivative if the backend computes it without a state.
#[inline]
fn stateless<F, B, P, const N: usize>(f: &F, backend: &B, x: At<'_, P>) -> Option<Fixed<B, F, P::Shape, P::Contexts, N>>
where
    P: Point,
    B: NthDerivativeBackend<F, P::Shape, P::Contexts, N>,
{
    if !B::Output::FIXED {
        return None;
    }
    let mut der = B::Output::fixed();
    backend.stateless(f, x, der.as_mut()).then_some(der)
}

/// Returns a prepared derivative of order `N` of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// With `AutoTaylor` a prepared call allocates nothing. Backends nested in themselves allocate in each call.
///
/// # Errors
/// Those of [`nth_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn power<T: Real>(x: T) -> T {
///     x.powi(5)
/// }
/// let mut prepared = prepare_nth_derivative(&power, &AutoTaylor, 0.0, Order::<4>)?;
/// assert_eq!(prepared.nth_derivative(2.0)?, 240.0);
/// assert_eq!(prepared.nth_derivative(-1.0)?, -120.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_nth_derivative<H, B, P, const N: usize>(
    f: H,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<PreparedNthDerivative<H, B, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Pointer,
    B: NthDerivativeBackend<H::Function, P::Shape, P::Contexts, N> + Clone,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut state, mut y) = (backend.unprepared(at)?, Vec::new());
    run(f.function(), backend, &mut state, at, &mut y)?;
    let memory = vec![Default::default(); if B::Output::FIXED { 0 } else { y.len() }];
    Ok(PreparedNthDerivative { function: f, backend: backend.clone(), state, y, memory })
}

/// A prepared derivative of order `N`, made by [`prepare_nth_derivative`]: dᴺy/dxᴺ of a function of one number, in the shape of the output.
///
/// [`nth_derivative`](Self::nth_derivative) returns it, [`nth_derivative_into`](Self::nth_derivative_into) writes it into a buffer. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the contexts and the order.
///
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Number;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn power(x: f64) -> f64 {
///     x.powi(5)
/// }
/// struct Third {
///     derivative: PreparedNthDerivative<Arc<Power>, AutoTaylor, Number<f64>, (), 3>,
/// }
///
/// let derivative = prepare_nth_derivative(Arc::new(Power), &AutoTaylor, 0.0, Order::<3>)?;
/// let mut third = Third { derivative };
/// assert_eq!(third.derivative.nth_derivative(2.0)?, 240.0); // 5 · 4 · 3 x²
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedNthDerivative<H, B, X, C, const N: usize>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N>,
{
    function: H,
    backend: B,
    state: B::State,
    /// The result of the last call.
    y: Vec<X::Scalar>,
    /// The numbers of a result that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C, const N: usize> Clone for PreparedNthDerivative<H, B, X, C, N>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N> + Clone,
{
    fn clone(&self) -> Self {
        PreparedNthDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            y: self.y.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C, const N: usize> PreparedNthDerivative<H, B, X, C, N>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: NthDerivativeBackend<H::Function, X, C, N>,
{
    /// Returns the derivative of order `N` at `x`.
    ///
    /// # Errors
    /// Those of [`nth_derivative`].
    #[inline]
    pub fn nth_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Like<B, H::Function, X, C, N>, Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        if let Some(der) = stateless(self.function.function(), &self.backend, at) {
            return Ok(B::Output::build(der.as_ref(), &Default::default()));
        }
        run(self.function.function(), &self.backend, &mut self.state, at, &mut self.y)?;
        Ok(B::Output::build(&self.y, B::kept(&self.state)))
    }

    /// Writes the derivative of order `N` at `x` into `der`, a slice or an object of the type of the output.
    ///
    /// # Errors
    /// Those of [`nth_derivative_into`].
    #[inline]
    pub fn nth_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        let mut memory = Vec::new();
        let at = At::new(&x, &mut memory);
        run(self.function.function(), &self.backend, &mut self.state, at, &mut self.y)?;
        der.write(&mut self.memory, |der| copy::<B, H::Function, X, C, N>(der, &self.y))
    }
}

/// What `nth_derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C` and the order `N`.
///
/// # For users
/// Every backend that nests implements it up to order 8, for every function that runs on its numbers; `AutoTaylor` for every order.
///
/// # For backend authors
/// 1. `fill` leaves the derivative of order `N` in `y`, one entry per output. It may find in the state what an earlier call left there.
/// 2. The operator has begun to watch for faults when it calls `fill`, and not when it calls `stateless`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `nth_derivative` of order {N} of this function",
    note = "backends that nest in themselves reach order 8; `AutoTaylor` reaches every order",
    note = "the function must run on the numbers of the backend: write it over `T: Real`"
)]
pub trait NthDerivativeBackend<F, X: Shape, C: Contexts, const N: usize> {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](NthDerivativeBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Writes the derivative at `x`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>;
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
    /// Writes the derivative at `x` without a state. Returns `false` if the engine needs a state or the result would be an error;
    /// the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, _f: &F, _x: At<'_, P>, _der: &mut [X::Scalar]) -> bool {
        false
    }
}

/// `Order<N>` as the number of times that the backend `B` is nested in itself over the scalar `S`. Implemented for orders up to 8;
/// operators use it.
pub trait Nest<B: Backend, S: Scalar> {
    /// The number type of the innermost differentiation.
    type Num: Scalar<Base = S::Base>;
    /// Writes the derivative of this order at `x` into `y`.
    ///
    /// # Errors
    /// Those of the backend.
    fn fill<F: Flat<Self::Num>>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error>;
    /// A constant of all differentiations of the nest.
    fn inject(value: S) -> Self::Num;
    /// The value without the derivatives of the nest.
    fn project(number: &Self::Num) -> S;
}

impl<B: Backend, S: Scalar> Nest<B, S> for Order<0> {
    type Num = S;
    fn fill<F: Flat<S>>(_backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error> {
        f.call(x, y);
        Ok(())
    }
    fn inject(value: S) -> S {
        value
    }
    fn project(number: &S) -> S {
        *number
    }
}

/// The derivative of an order as a flat function of numbers of the differentiation around it.
struct Below<'a, F, B, O> {
    f: &'a mut F,
    backend: B,
    order: std::marker::PhantomData<O>,
    error: Option<Error>,
}

impl<N: Scalar, B: Backend, O: Nest<B, N>, F: Flat<O::Num>> Flat<N> for Below<'_, F, B, O> {
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_none()
            && let Err(error) = O::fill(&self.backend, self.f, x, y)
        {
            self.error = Some(error);
        }
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// The outermost differentiation of a nest: the route of `derivative` over the derivative of the order below.
fn outermost<B, S, O, F>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>, is_nested: bool) -> Result<(), Error>
where
    B: Backend,
    S: Scalar,
    O: Nest<B, B::Num<S, Lane<1>>>,
    F: Flat<O::Num>,
{
    // Differences of differences need wider steps at every level.
    let widens = is_nested && !backend.is_exact();
    let backend = if widens { backend.for_nested_differences() } else { backend.clone() };
    let mut inner = Below::<_, _, O> { f, backend: backend.clone(), order: std::marker::PhantomData, error: None };
    let mut state = <B::Derivative as MatrixRoute<B>>::state::<S, Lane<1>>(&backend, 1)?;
    let result = fault::watch(|| {
        B::Derivative::matrix(&backend, &mut state, &mut handed(&mut inner), x, None, Rows::growing(y, 1))
    });
    inner.error.map_or(result, Err)
}

/// One line per order, each over the order below: type parameters cannot be counted down.
macro_rules! orders {
    ($($order:literal over $below:literal;)*) => {$(
        impl<B: Backend, S: Scalar> Nest<B, S> for Order<$order> {
            type Num = <Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::Num;
            fn fill<F: Flat<Self::Num>>(backend: &B, f: &mut F, x: &[S], y: &mut Vec<S>) -> Result<(), Error> {
                outermost::<B, S, Order<$below>, F>(backend, f, x, y, $below > 0)
            }
            fn inject(value: S) -> Self::Num {
                <Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::inject(B::inject::<S, Lane<1>>(value))
            }
            fn project(number: &Self::Num) -> S {
                B::project::<S, Lane<1>>(&<Order<$below> as Nest<B, B::Num<S, Lane<1>>>>::project(number))
            }
        }
    )*};
}
orders! {
    1 over 0;
    2 over 1;
    3 over 2;
    4 over 3;
    5 over 4;
    6 over 5;
    7 over 6;
    8 over 7;
}

impl<B, F, X, C, const N: usize> NthDerivativeBackend<F, X, C, N> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    Order<N>: Nest<B, X::Scalar>,
    F: Evaluate<X, C, <Order<N> as Nest<B, X::Scalar>>::Num>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = <Order<N> as Nest<B, X::Scalar>>::Num;
    type Output = F::Output;
    type State = NestWork<Storage<X, C, Self::Num>, KeptBy<F, X, C, Self::Num>>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(NestWork { storage: Storage::new(x), kept: Default::default() })
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let mut bound = Bound::new(f, x, &mut state.storage, &mut state.kept);
        let mut f = handed(&mut bound);
        let (mut point, mut outputs) = (Vec::new(), Vec::new());
        let mut values = |x: X::Scalar, y: &mut Vec<X::Scalar>| {
            point.clear();
            point.push(<Order<N> as Nest<B, X::Scalar>>::inject(x));
            f.call(&point, &mut outputs);
            y.clear();
            y.extend(outputs.iter().map(<Order<N> as Nest<B, X::Scalar>>::project));
        };
        match self.nth_from_values(N, &mut values, x.coordinates()[0], y) {
            Some(result) => result?,
            None => <Order<N> as Nest<B, X::Scalar>>::fill(self, &mut f, x.coordinates(), y)?,
        }
        bound.settle(x.coordinates())
    }
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, Self::Num> {
        &state.kept
    }
}

/// State of a derivative of any order by a nested backend.
#[derive(Clone)]
pub struct NestWork<T, K> {
    storage: T,
    kept: K,
}
