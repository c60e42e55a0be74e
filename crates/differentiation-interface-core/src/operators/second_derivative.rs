//! Second derivative of a function of one number: the outer derivative of the inner derivative.
//!
//! Called by users. Reaches two backends through their `type Derivative` routes, with one lane each.

use super::NumOf;
use super::call::{check_buffer, has_storage};
use crate::backend::{Backend, Lane, MatrixRoute, Rows, SecondOrderBackend};
use crate::context::Contexts;
use crate::error::Error;
use crate::evaluate::{Bound, Evaluate, Flat, Output, handed};
use crate::fault;
use crate::point::{NumberShape, Point, ScalarOf, Shape};
use crate::recordings::Recordable;
use crate::scalar::Scalar;
use std::marker::PhantomData;
use std::ops::Deref;

/// The number type of the outer derivative.
type OuterNum<B, X> = NumOf<<B as SecondOrderBackend>::Outer, X, Lane<1>>;
/// The number type of `second_derivative` with two backends.
type Twice<B, X> = <<B as SecondOrderBackend>::Inner as Backend>::Num<OuterNum<B, X>, Lane<1>>;

/// What `second_derivative` accepts as its backend for the function `F` at numbers of shape `X` with contexts `C`.
///
/// # For users
/// Every backend and every [`SecondOrder`](crate::backend::SecondOrder) of two implements this trait for every function that runs on its numbers.
///
/// # For engine authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `second_derivative` or `fill` any number of times.
/// 2. `fill` writes every entry of `der2`, or refuses a buffer that is not as long as the output. Calls do not allocate after `prepare`.
/// 3. `value` and `derivative` are those of the last call with `with_value`.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `second_derivative` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, ..., and `SecondOrder(outer, inner)` of two, neither of them a `SecondOrder` itself"
)]
pub trait SecondDerivativeBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](SecondDerivativeBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: &P) -> Result<Self::State, Error>;
    /// Pays one-time costs at `x`.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, f: &F, x: &P) -> Result<(), Error>;
    /// Returns the second derivative at `x`, one entry per output, and keeps value and derivative if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn second_derivative<'s, P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &'s mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
    ) -> Result<&'s [X::Scalar], Error>;
    /// Writes the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength), and those of [`second_derivative`](Self::second_derivative).
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: &P,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error>;
    /// The value that the last call left.
    fn value(state: &Self::State) -> &[X::Scalar];
    /// The derivative that the last call left.
    fn derivative(state: &Self::State) -> &[X::Scalar];
    /// Writes value, derivative and second derivative at `x` without a state. Returns `false` if the engine needs a state or the result
    /// would be an error; the operator then calls `fill`. Called if the type of the output fixes its length.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(&self, _f: &F, _x: &P, _all: [&mut [X::Scalar]; 3]) -> bool {
        false
    }
}

/// State of a second derivative by two backends.
pub struct SecondDerivativeWork<B: SecondOrderBackend, X: Shape, C: Contexts> {
    pair: (B::Outer, B::Inner),
    outer: <<B::Outer as Backend>::Derivative as MatrixRoute<B::Outer>>::State<X::Scalar, Lane<1>>,
    inner: <<B::Inner as Backend>::Derivative as MatrixRoute<B::Inner>>::State<OuterNum<B, X>, Lane<1>>,
    storage: C::Storage<Twice<B, X>>,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    inner_value: Vec<OuterNum<B, X>>,
    /// Outputs of an evaluation for the value alone.
    scratch: Vec<OuterNum<B, X>>,
    y: Vec<X::Scalar>,
    der: Vec<X::Scalar>,
    der2: Vec<X::Scalar>,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts> Clone for SecondDerivativeWork<B, X, C> {
    fn clone(&self) -> Self {
        SecondDerivativeWork {
            pair: self.pair.clone(),
            outer: self.outer.clone(),
            inner: self.inner.clone(),
            storage: self.storage.clone(),
            outputs: self.outputs,
            inner_value: self.inner_value.clone(),
            scratch: self.scratch.clone(),
            y: self.y.clone(),
            der: self.der.clone(),
            der2: self.der2.clone(),
        }
    }
}

/// The derivative by the inner backend as a flat function of numbers of the outer one.
struct DerivativeOf<'a, F, I: Backend, N: Scalar, S> {
    f: &'a mut F,
    inner: &'a I,
    state: &'a mut <I::Derivative as MatrixRoute<I>>::State<N, Lane<1>>,
    inner_value: &'a mut Vec<N>,
    /// The buffer for the value of the first evaluation, if requested, and the function that projects it.
    value: Option<(&'a mut Vec<S>, fn(&N) -> S)>,
    error: Option<Error>,
}

impl<F: Flat<I::Num<N, Lane<1>>>, I: Backend, N: Scalar, S> Flat<N> for DerivativeOf<'_, F, I, N, S> {
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_some() {
            return;
        }
        let value = self.value.is_some().then_some(&mut *self.inner_value);
        match I::Derivative::matrix(self.inner, self.state, self.f, x, value, Rows::growing(y, 1)) {
            Ok(()) => {
                if let Some((value, project)) = self.value.take() {
                    value.clear();
                    value.extend(self.inner_value.iter().map(project));
                }
            }
            Err(error) => self.error = Some(error),
        }
    }
    fn recordable(&self) -> Option<&dyn Recordable> {
        Some(self)
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

impl<F: Flat<I::Num<N, Lane<1>>>, I: Backend, N: Scalar, S> Recordable for DerivativeOf<'_, F, I, N, S> {
    fn is_pure(&self) -> bool {
        self.f.recordable().is_pure()
    }
    fn parameters(&self, values: &mut Vec<f64>) {
        self.f.recordable().parameters(values);
    }
    fn lengths(&self, lengths: &mut Vec<usize>) {
        self.f.recordable().lengths(lengths);
    }
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.f.recordable().has_failed()
    }
}

/// The same on the stack, for an output of type `O`, whose length it fixes.
struct DerivativeOnStack<'a, F, I, O, S, Project> {
    f: &'a mut F,
    inner: &'a I,
    /// The buffer for the value, and the function that projects it.
    y: &'a mut [S],
    project: Project,
    output: PhantomData<O>,
}

impl<F, I, O, N, S, Project> Flat<N> for DerivativeOnStack<'_, F, I, O, S, Project>
where
    F: Flat<I::Num<N, Lane<1>>>,
    I: Backend,
    O: Output<I::Num<N, Lane<1>>>,
    N: Scalar,
    Project: Fn(&N) -> S,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        self.call_fixed(|i| x[i], |outputs| outputs.clone_into(y));
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        self.f.fixed()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        self.f.captures()
    }
    /// Passes no outputs if the inner backend cannot compute on the stack; the outer backend then gives up too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_fixed<R>(&mut self, mut x: impl FnMut(usize) -> N, read: impl FnOnce(&[N]) -> R) -> R {
        let (mut y, mut der) = (O::fixed::<N>(), O::fixed::<N>());
        let rows = &mut Rows::fixed(der.as_mut(), 1);
        if !I::Derivative::on_stack::<N, Lane<1>, F>(self.inner, self.f, &[x(0)], Some(y.as_mut()), rows) {
            return read(&[]);
        }
        for (y, number) in self.y.iter_mut().zip(y.as_ref()) {
            *y = (self.project)(number);
        }
        read(der.as_ref())
    }
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// Differentiates the inner derivative by the route of the outer backend, and writes the inner derivative if a buffer is given.
#[inline]
fn outermost<O: Backend, S: Scalar, F: Flat<O::Num<S, Lane<1>>>>(
    outer: &O,
    state: &mut <O::Derivative as MatrixRoute<O>>::State<S, Lane<1>>,
    derivative: &mut F,
    x: &[S],
    der: Option<&mut Vec<S>>,
    rows: Rows<'_, S>,
) -> Result<(), Error> {
    fault::watch(|| O::Derivative::matrix(outer, state, derivative, x, der, rows))
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("second_derivative", B::NAME)
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts> SecondDerivativeWork<B, X, C> {
    /// Differentiates at `x` into `buffer`, or into `self.der2` if there is none.
    #[inline]
    fn run<F, P>(&mut self, f: &F, x: &P, with_value: bool, buffer: Option<&mut [X::Scalar]>) -> Result<(), Error>
    where
        F: Evaluate<X, C, Twice<B, X>>,
        P: Point<Shape = X, Contexts = C>,
    {
        let (outer, inner) = &self.pair;
        let mut f = Bound::<_, X, C, _>::new(f, x.contexts(), &mut self.storage);
        let mut f = handed(&mut f);
        let project: fn(&OuterNum<B, X>) -> X::Scalar = <B::Outer as Backend>::project::<X::Scalar, Lane<1>>;
        let mut derivative = DerivativeOf {
            f: &mut f,
            inner,
            state: &mut self.inner,
            inner_value: &mut self.inner_value,
            value: with_value.then_some((&mut self.y, project)),
            error: None,
        };
        let der = with_value.then_some(&mut self.der);
        let rows = match buffer {
            None => Rows::growing(&mut self.der2, 1),
            Some(buffer) => Rows::fixed(buffer, 1),
        }
        .expecting(self.outputs);
        let result = outermost::<B::Outer, _, _>(outer, &mut self.outer, &mut derivative, x.coordinates(), der, rows);
        // An outer backend that replays a recording has not evaluated the function, so the value is still missing.
        if result.is_ok() && derivative.error.is_none() && derivative.value.is_some() {
            let point = [<B::Outer as Backend>::inject::<X::Scalar, Lane<1>>(x.coordinates()[0])];
            derivative.call(&point, &mut self.scratch);
        }
        let result = match derivative.error {
            Some(error) => Err(named::<B>(error)),
            None => result.map_err(named::<B>),
        };
        if with_value && self.scratch.capacity() < self.y.len() {
            self.scratch.reserve_exact(self.y.len());
        }
        result
    }
}

impl<B, F, X, C> SecondDerivativeBackend<F, X, C> for B
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, Twice<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = Twice<B, X>;
    type Output = F::Output;
    type State = SecondDerivativeWork<B, X, C>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: &P) -> Result<Self::State, Error> {
        let pair = self.pair();
        Ok(SecondDerivativeWork {
            outer: <B::Outer as Backend>::Derivative::state(&pair.0, 1).map_err(named::<B>)?,
            inner: <B::Inner as Backend>::Derivative::state(&pair.1, 1).map_err(named::<B>)?,
            pair,
            storage: C::allocate(x.contexts()),
            outputs: None,
            inner_value: Vec::new(),
            scratch: Vec::new(),
            y: Vec::new(),
            der: Vec::new(),
            der2: Vec::new(),
        })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, f: &F, x: &P) -> Result<(), Error> {
        state.outputs = None;
        state.run(f, x, true, None)?;
        state.outputs = Some(state.y.len());
        Ok(())
    }
    #[inline]
    fn second_derivative<'s, P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &'s mut Self::State,
        f: &F,
        x: &P,
        with_value: bool,
    ) -> Result<&'s [X::Scalar], Error> {
        state.run(f, x, with_value, None)?;
        Ok(&state.der2)
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: &P,
        der2: &mut [X::Scalar],
    ) -> Result<(), Error> {
        state.run(f, x, false, Some(der2))
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    #[inline]
    fn derivative(state: &Self::State) -> &[X::Scalar] {
        &state.der
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: &P,
        [y, der, der2]: [&mut [X::Scalar]; 3],
    ) -> bool {
        if const { !on_stack::<B>() || F::FIXED.is_none() || has_storage::<C, Twice<B, X>>() } {
            return false;
        }
        let (outer, inner) = self.pair();
        let mut storage = C::allocate(x.contexts());
        let mut f = Bound::<_, X, C, _>::new(f, x.contexts(), &mut storage);
        let project = <B::Outer as Backend>::project::<X::Scalar, Lane<1>>;
        let mut derivative =
            DerivativeOnStack { f: &mut f, inner: &inner, y, project, output: PhantomData::<F::Output> };
        let rows = &mut Rows::fixed(der2, 1);
        <B::Outer as Backend>::Derivative::on_stack::<_, Lane<1>, _>(
            &outer,
            &mut derivative,
            x.coordinates(),
            Some(der),
            rows,
        )
    }
}

/// Whether both routes compute on the stack.
const fn on_stack<B: SecondOrderBackend>() -> bool {
    <<B::Outer as Backend>::Derivative as MatrixRoute<B::Outer>>::ON_STACK
        && <<B::Inner as Backend>::Derivative as MatrixRoute<B::Inner>>::ON_STACK
}

/// The shape of a function's output in a call of `second_derivative`.
type Out<B, F, X, C> = <B as SecondDerivativeBackend<F, X, C>>::Output;
/// A derivative, or the value, in the shape of the output.
type Like<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type Borrowed<'a, B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns the second derivative of `f` at the number `x`, in the shape of the output.
///
/// The backend is a single one, which then is both the outer and the inner backend, or a [`SecondOrder`](crate::backend::SecondOrder).
///
/// # Errors
/// Those of the backends.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: T) -> T {
///     x * x * x
/// }
/// assert_eq!(second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn second_derivative<F, B, P>(f: &F, backend: &B, x: P) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    match stateless(f, backend, &x) {
        Some([_, _, der2]) => Ok(B::Output::build(der2.as_ref())),
        None => PreparedSecondDerivative::<_, B, _, _>::new(f, backend, &x)?.second_derivative(x),
    }
}

/// Writes the second derivative of `f` at the number `x` into `der2`, which is as long as the output.
///
/// # Errors
/// [`BufferLength`](crate::error::ErrorKind::BufferLength) if `der2` has another length.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let mut der2 = [0.0; 2];
/// second_derivative_into(&powers, &mut der2, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(der2, [2.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn second_derivative_into<F, B, P>(f: &F, der2: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    match stateless(f, backend, &x) {
        Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
        _ => PreparedSecondDerivative::<_, B, _, _>::new(f, backend, &x)?.second_derivative_into(der2, x)?,
    }
    Ok(())
}

/// Returns `f(x)`, the derivative and the second derivative of `f` at the number `x`, all from the same evaluation.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let all = value_derivative_and_second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(all, (8.0, 12.0, 12.0));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_derivative_and_second_derivative<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<
    (Like<B, F, P::Shape, P::Contexts>, Like<B, F, P::Shape, P::Contexts>, Like<B, F, P::Shape, P::Contexts>),
    Error,
>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    match stateless(f, backend, &x) {
        Some([y, der, der2]) => {
            Ok((B::Output::build(y.as_ref()), B::Output::build(der.as_ref()), B::Output::build(der2.as_ref())))
        }
        None => PreparedSecondDerivative::<_, B, _, _>::new(f, backend, &x)?.value_derivative_and_second_derivative(x),
    }
}

/// Returns `f(x)` and writes the derivative and the second derivative of `f` at the number `x` into `der` and `der2`.
///
/// # Errors
/// [`BufferLength`](crate::error::ErrorKind::BufferLength) if a buffer is not as long as the output.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let (mut der, mut der2) = ([0.0; 2], [0.0; 2]);
/// let backend = AutoForwardDiff::default();
/// let y = value_derivative_and_second_derivative_into(&powers, &mut der, &mut der2, &backend, 2.0)?;
/// assert_eq!((y, der, der2), ([4.0, 8.0], [4.0, 12.0], [2.0, 12.0]));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_derivative_and_second_derivative_into<F, B, P>(
    f: &F,
    der: &mut [ScalarOf<P>],
    der2: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<Like<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    if let Some([y, first, second]) = stateless(f, backend, &x)
        && [der.len(), der2.len()] == [second.as_ref().len(); 2]
    {
        der.copy_from_slice(first.as_ref());
        der2.copy_from_slice(second.as_ref());
        return Ok(B::Output::build(y.as_ref()));
    }
    let mut call = PreparedSecondDerivative::<&F, B, P::Shape, P::Contexts>::new(f, backend, &x)?;
    call.value_derivative_and_second_derivative_into(der, der2, x)?;
    Ok(B::Output::build(B::value(&call.state)))
}

/// Outputs of fixed number, in a call of `second_derivative`.
type Fixed<B, F, X, C> =
    <Out<B, F, X, C> as Output<<B as SecondDerivativeBackend<F, X, C>>::Num>>::Fixed<<X as Shape>::Scalar>;

/// Value, derivative and second derivative, if the backends compute them without a state.
#[inline]
fn stateless<F, B, P>(f: &F, backend: &B, x: &P) -> Option<[Fixed<B, F, P::Shape, P::Contexts>; 3]>
where
    P: Point,
    B: SecondDerivativeBackend<F, P::Shape, P::Contexts>,
{
    if !B::Output::FIXED {
        return None;
    }
    let mut all = [B::Output::fixed(), B::Output::fixed(), B::Output::fixed()];
    backend.stateless(f, x, all.each_mut().map(AsMut::as_mut)).then_some(all)
}

/// Pays the one-time costs of a second derivative; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let mut prepared = prepare_second_derivative(&cubic, &AutoForwardDiff::default(), 0.0)?;
/// assert_eq!(prepared.second_derivative(2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_second_derivative<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedSecondDerivative<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Deref<Target: Sized>,
    B: SecondDerivativeBackend<H::Target, P::Shape, P::Contexts>,
{
    let mut prepared = PreparedSecondDerivative::new(f, backend, &x)?;
    prepared.backend.prepare(&mut prepared.state, &prepared.function, &x)?;
    Ok(prepared)
}

/// A prepared second derivative, made by [`prepare_second_derivative`]. One thread at a time; clone it for another thread.
pub struct PreparedSecondDerivative<H, B, X, C = ()>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
}

impl<H, B, X, C> Clone for PreparedSecondDerivative<H, B, X, C>
where
    H: Deref<Target: Sized> + Clone,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    fn clone(&self) -> Self {
        PreparedSecondDerivative {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
        }
    }
}

impl<H, B, X, C> PreparedSecondDerivative<H, B, X, C>
where
    H: Deref<Target: Sized>,
    X: Shape,
    C: Contexts,
    B: SecondDerivativeBackend<H::Target, X, C>,
{
    #[inline]
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        Ok(PreparedSecondDerivative { function: f, backend: backend.clone(), state: backend.unprepared(x)? })
    }

    /// Returns the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Like<B, H::Target, X, C>, Error> {
        if let Some([_, _, der2]) = stateless(&*self.function, &self.backend, &x) {
            return Ok(B::Output::build(der2.as_ref()));
        }
        Ok(B::Output::build(self.backend.second_derivative(&mut self.state, &self.function, &x, false)?))
    }

    /// Writes the second derivative at `x` into `der2`.
    ///
    /// # Errors
    /// Those of [`second_derivative_into`].
    #[inline]
    pub fn second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        match stateless(&*self.function, &self.backend, &x) {
            Some([_, _, found]) if found.as_ref().len() == der2.len() => der2.copy_from_slice(found.as_ref()),
            _ => self.backend.fill(&mut self.state, &self.function, &x, der2)?,
        }
        Ok(())
    }

    /// Returns the value, the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    #[inline]
    pub fn value_derivative_and_second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(Like<B, H::Target, X, C>, Like<B, H::Target, X, C>, Like<B, H::Target, X, C>), Error> {
        if let Some([y, der, der2]) = stateless(&*self.function, &self.backend, &x) {
            let build = |fixed: &[X::Scalar]| B::Output::build(fixed);
            return Ok((build(y.as_ref()), build(der.as_ref()), build(der2.as_ref())));
        }
        let der2 = B::Output::build(self.backend.second_derivative(&mut self.state, &self.function, &x, true)?);
        Ok((B::Output::build(B::value(&self.state)), B::Output::build(B::derivative(&self.state)), der2))
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// [`BufferLength`](crate::error::ErrorKind::BufferLength) if a buffer is not as long as the output.
    #[inline]
    pub fn value_derivative_and_second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<Borrowed<'_, B, H::Target, X, C>, Error> {
        if let Some([y, first, second]) = stateless(&*self.function, &self.backend, &x)
            && let Some(y) = B::Output::owned(y)
            && [der.len(), der2.len()] == [second.as_ref().len(); 2]
        {
            der.copy_from_slice(first.as_ref());
            der2.copy_from_slice(second.as_ref());
            return Ok(y);
        }
        let result = self.backend.second_derivative(&mut self.state, &self.function, &x, true)?;
        // Both lengths are checked before either buffer is written.
        for found in [der.len(), der2.len()] {
            check_buffer(result.len(), found)
                .map_err(|kind| Error::new(kind).during("second_derivative", B::BACKEND))?;
        }
        der2.copy_from_slice(result);
        der.copy_from_slice(B::derivative(&self.state));
        Ok(B::Output::borrow(B::value(&self.state)))
    }
}
