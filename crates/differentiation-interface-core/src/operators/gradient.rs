//! Gradient of a function that returns one number.
//!
//! Called by users. Reaches a backend through its `type Gradient` route.

use super::call::{MatrixWork, Memory, check_buffer, check_point, check_shaped, of_point, on_stack};
use super::{GradientLanes, GradientNum};
use crate::backend::{Backend, Rows};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::Error;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::evaluate::{Evaluate, KeptBy, NumberOutput};
use crate::point::{At, LikeOf, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::Base;

/// What `gradient` accepts as its backend for the function `F` at points of shape `X` with contexts `C`.
///
/// # For users
/// Every [`Backend`] implements this trait for every function that runs on its numbers. Code that is generic over backends needs
/// the one bound `B: GradientBackend<F, Slice<f64>, ()>`.
///
/// # For backend authors
/// Implement it for an engine that differentiates without numbers of its own: hand-written derivatives, another program,
/// compiled code.
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `fill` any number of times. The point and `grad` have
///    the length of the last `prepare` or `unprepared`.
/// 2. `fill` writes every entry of `grad`, whose content on entry is undefined, and does not allocate after `prepare`.
/// 3. `value` is `f(x)` of the last `fill` with `with_value`.
/// 4. After an error the state stays usable. A clone of a state holds what the original holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `gradient` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only, `AutoSparse` with `jacobian` and `hessian`"
)]
pub trait GradientBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state for points of the length of `x`, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses such points.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Does the one-time work at `x`, whose length may have changed.
    ///
    /// # Errors
    /// Those of [`fill`](Self::fill).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Writes the gradient at `x`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        grad: &mut [X::Scalar],
    ) -> Result<(), Error>;
    /// Writes `f(x)` to `y`, without derivatives.
    ///
    /// # Errors
    /// If the function cannot be evaluated.
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base;
    /// The value that the last call left.
    fn value(state: &Self::State) -> X::Scalar;
    /// Writes the gradient at `x`, and the value if `value` is given, without a state. Returns `false` if the engine needs a state or
    /// the result would be an error; the operator then calls `fill`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        _f: &F,
        _x: At<'_, P>,
        _value: Option<&mut X::Scalar>,
        _grad: &mut [X::Scalar],
    ) -> bool {
        false
    }
}

impl<B, F, X, C> GradientBackend<F, X, C> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, GradientNum<B, X>>,
    F::Output: NumberOutput<GradientNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type State = MatrixWork<B, B::Gradient, GradientLanes<B, X>, X, C, KeptBy<F, X, C, GradientNum<B, X>>>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        MatrixWork::new("gradient", self, x)
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.prepare(self, f, x)
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        grad: &mut [X::Scalar],
    ) -> Result<(), Error> {
        let inputs = grad.len();
        state.run(self, f, x, with_value, Rows::fixed(grad, inputs))
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        state.evaluate(f, x, y)
    }
    #[inline]
    fn value(state: &Self::State) -> X::Scalar {
        state.y[0]
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        value: Option<&mut X::Scalar>,
        grad: &mut [X::Scalar],
    ) -> bool {
        on_stack::<B, B::Gradient, GradientLanes<B, X>, _, _>(self, f, x, value.map(std::slice::from_mut), grad)
    }
}

/// Returns the gradient of `f` at `x`: entry `i` is ∂f/∂xᵢ, and the result has the shape of `x`.
///
/// To differentiate the same function many times, call [`prepare_gradient`] once.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if the backend has a fixed chunk larger than `x`, [`ErrorKind::FunctionFailed`] if the function returns an `Err`, and
/// what else the backend refuses, such as [`ErrorKind::ForeignNumber`], [`ErrorKind::OtherThread`] or [`ErrorKind::TapeOverflow`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn energy<T: Real>(x: &[T], k: f64) -> T {
///     x.iter().map(|&v| 0.5 * k * v * v).sum()
/// }
/// let f = |x: &[_]| energy(x, 3.0);
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[2.0, 5.0])?, [6.0, 15.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn gradient<F, B, P>(f: &F, backend: &B, x: P) -> Result<LikeOf<P>, Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    // Lists of their own and no `Memory`: the compiler removes what a point of one piece does not use.
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    match stateless(f, backend, at, None) {
        Some(grad) => Ok(grad),
        None => x.filled(&mut Vec::new(), |grad| with_state(f, backend, at, None, grad)),
    }
}

/// Writes the gradient of `f` at `x` into `grad`, which is as long as `x`.
///
/// # Errors
/// Those of [`gradient`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if `grad` has the wrong length, or has the type of `x` but a different shape.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut grad = [0.0; 2];
/// gradient_into(&energy, &mut grad, &AutoReverseDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(grad, [4.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn gradient_into<F, B, P>(
    f: &F,
    grad: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<(), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    refuse_other_outline::<B, F, P>(at.coordinates().len(), at, grad)?;
    grad.write(&mut memory.result, |grad| once(f, backend, at, None, grad))
}

/// Returns `f(x)` and the gradient of `f` at `x`.
///
/// # Errors
/// Those of [`gradient`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let (y, grad) = value_and_gradient(&energy, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, 29.0);
/// assert_eq!(grad, [4.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_gradient<F, B, P>(f: &F, backend: &B, x: P) -> Result<(ScalarOf<P>, LikeOf<P>), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    let mut value = Default::default();
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let grad = match stateless(f, backend, at, Some(&mut value)) {
        Some(grad) => grad,
        None => x.filled(&mut Vec::new(), |grad| with_state(f, backend, at, Some(&mut value), grad))?,
    };
    Ok((value, grad))
}

/// Returns `f(x)` and writes the gradient of `f` at `x` into `grad`.
///
/// # Errors
/// Those of [`gradient_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut grad = vec![0.0; 2];
/// let y = value_and_gradient_into(&energy, &mut grad, &AutoReverseDiff::default(), &[2.0, 5.0])?;
/// assert_eq!((y, grad), (29.0, vec![4.0, 10.0]));
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_gradient_into<F, B, P>(
    f: &F,
    grad: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
) -> Result<ScalarOf<P>, Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    let mut value = Default::default();
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    refuse_other_outline::<B, F, P>(at.coordinates().len(), at, grad)?;
    grad.write(&mut memory.result, |grad| once(f, backend, at, Some(&mut value), grad))?;
    Ok(value)
}

/// One call without preparation: without a state if the backend can, else with a state for this call.
#[inline]
fn once<F, B, P>(
    f: &F,
    backend: &B,
    x: At<'_, P>,
    mut value: Option<&mut ScalarOf<P>>,
    grad: &mut [ScalarOf<P>],
) -> Result<(), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    if grad.len() == x.coordinates().len() && backend.stateless(f, x, value.as_deref_mut(), grad) {
        return Ok(());
    }
    with_state(f, backend, x, value, grad)
}

/// One call with a state.
#[inline(never)]
fn with_state<F, B, P>(
    f: &F,
    backend: &B,
    x: At<'_, P>,
    value: Option<&mut ScalarOf<P>>,
    grad: &mut [ScalarOf<P>],
) -> Result<(), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    by_state(f, backend, &mut backend.unprepared(x)?, x.coordinates().len(), x, value, grad)
}

/// One call with the state of a preparation for points of `inputs` numbers.
#[inline]
fn by_state<F, B, P>(
    f: &F,
    backend: &B,
    state: &mut B::State,
    inputs: usize,
    x: At<'_, P>,
    value: Option<&mut ScalarOf<P>>,
    grad: &mut [ScalarOf<P>],
) -> Result<(), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    let named = |kind| of_point::<P::Shape>(kind, "gradient", B::BACKEND);
    check_point(inputs, x).map_err(named)?;
    check_buffer(x.coordinates().len(), grad.len()).map_err(named)?;
    backend.fill(state, f, x, value.is_some(), grad)?;
    if let Some(value) = value {
        *value = B::value(state);
    }
    Ok(())
}

/// Refuses a point of the wrong length, then a buffer of its type with a different shape. The lengths of other buffers are checked where they are flat numbers.
#[inline]
fn refuse_other_outline<B, F, P>(
    inputs: usize,
    x: At<'_, P>,
    grad: &(impl Buffer<ScalarOf<P>> + ?Sized),
) -> Result<(), Error>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    let Some(outline) = x.point().outline() else { return Ok(()) };
    if !grad.has_other_outline::<LikeOf<P>>(outline) {
        return Ok(());
    }
    let check = check_point(inputs, x).and_then(|()| check_shaped::<_, LikeOf<P>>(inputs, Some(outline), grad));
    check.map_err(|kind| Error::new(kind).during("gradient", B::BACKEND))
}

/// The gradient if the backend computes it without a state, and the value if `value` is given. For shapes of fixed length.
/// The result is a local variable without other references, so the compiler keeps it in registers.
#[inline]
fn stateless<F, B, P>(f: &F, backend: &B, x: At<'_, P>, value: Option<&mut ScalarOf<P>>) -> Option<LikeOf<P>>
where
    P: Point,
    B: GradientBackend<F, P::Shape, P::Contexts>,
{
    P::Shape::LENGTH?;
    let fill = |grad: &mut [_]| if backend.stateless(f, x, value, grad) { Ok(()) } else { Err(()) };
    x.point().filled(&mut Vec::new(), fill).ok()
}

/// Returns a prepared gradient of `f`. Evaluates `f` once at `x` to size its work memory.
///
/// `f` is a reference or another pointer to the function (`&f`, `Arc`, `Box`). The prepared object keeps it, so that it cannot be
/// used with another function. It accepts any point of the same length and any values of constants.
///
/// # Errors
/// Those of [`gradient`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn energy<T: Real>(x: &[T]) -> T { x.iter().map(|v| v * v).sum() }
/// let mut prepared = prepare_gradient(&energy, &AutoReverseDiff::default(), &[0.0, 0.0])?;
/// let mut x = [2.0, 5.0];
/// let mut grad = [0.0; 2];
/// for _ in 0..10 {
///     let y = prepared.value_and_gradient_into(&mut grad, &x)?;
///     assert_eq!(y, x[0] * x[0] + x[1] * x[1]);
///     x = [x[0] - 0.25 * grad[0], x[1] - 0.25 * grad[1]];
/// }
/// assert_eq!(x, [2.0 / 1024.0, 5.0 / 1024.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_gradient<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedGradient<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point,
    H: Pointer,
    B: GradientBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    let mut state = backend.unprepared(at)?;
    backend.prepare(&mut state, f.function(), at)?;
    let inputs = at.coordinates().len();
    memory.prepare();
    Ok(PreparedGradient { function: f, backend: backend.clone(), state, inputs, memory })
}

/// A prepared gradient, made by [`prepare_gradient`]. A struct names it by the pointer to the function, the backend, the shape of the point and the contexts, if any.
/// It accepts points of the same length, on one thread at a time; clone it for another thread. After an error it stays usable.
///
/// # Example
/// ```
/// # use differentiation_interface::{point::Slice, prelude::*};
/// #[differentiable]
/// fn energy(x: &[f64]) -> f64 { x[0] * x[0] + 3.0 * x[1] }
/// let mut prepared: PreparedGradient<Box<Energy>, AutoForwardDiff, Slice<f64>> =
///     prepare_gradient(Box::new(Energy), &AutoForwardDiff::default(), &[0.0; 2])?;
/// assert_eq!(prepared.value_and_gradient(&[2.0, 5.0])?, (19.0, vec![4.0, 3.0]));
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedGradient<H, B, X, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: GradientBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedGradient<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: GradientBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedGradient {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedGradient<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: GradientBackend<H::Function, X, C>,
{
    /// Returns the gradient at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, and those of [`gradient`].
    #[inline]
    pub fn gradient<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<X::Like, Error> {
        let PreparedGradient { function, backend, state, inputs, memory } = self;
        let at = At::new(&x, &mut memory.point);
        match stateless(H::function(function), backend, at, None) {
            Some(grad) => Ok(grad),
            None => x.filled(&mut memory.result, |grad| {
                by_state(H::function(function), backend, state, *inputs, at, None, grad)
            }),
        }
    }

    /// Writes the gradient at `x` into `grad`, a slice or an object of the type of the point.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`gradient`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if `grad` has the wrong length, or has the type of `x` but a different shape.
    #[inline]
    pub fn gradient_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        self.fill(grad, &x, None)
    }

    /// Returns the value and the gradient at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`gradient`].
    #[inline]
    pub fn value_and_gradient<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(X::Scalar, X::Like), Error> {
        let PreparedGradient { function, backend, state, inputs, memory } = self;
        let at = At::new(&x, &mut memory.point);
        let mut value = X::Scalar::default();
        let grad = match stateless(H::function(function), backend, at, Some(&mut value)) {
            Some(grad) => grad,
            None => x.filled(&mut memory.result, |grad| {
                by_state(H::function(function), backend, state, *inputs, at, Some(&mut value), grad)
            })?,
        };
        Ok((value, grad))
    }

    /// Returns the value and writes the gradient at `x` into `grad`, a slice or an object of the type of the point.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`gradient`], and [`ErrorKind::BufferLength`] or [`ErrorKind::BufferShape`] if `grad` has the wrong length, or has the type of `x` but a different shape.
    #[inline]
    pub fn value_and_gradient_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<X::Scalar, Error> {
        let mut value = X::Scalar::default();
        self.fill(grad, &x, Some(&mut value))?;
        Ok(value)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`gradient`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<X::Scalar, Error>
    where
        X::Scalar: Base,
    {
        let Memory { point, result } = &mut self.memory;
        let at = At::new(&x, point);
        check_point(self.inputs, at).map_err(|kind| of_point::<X>(kind, "gradient", B::BACKEND))?;
        self.backend.evaluate(&mut self.state, self.function.function(), at, result)?;
        Ok(result[0])
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. Values that the function captures may
    /// have changed.
    ///
    /// # Errors
    /// Those of [`gradient`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        let at = At::new(&x, &mut self.memory.point);
        self.backend.prepare(&mut self.state, self.function.function(), at)?;
        self.inputs = at.coordinates().len();
        self.memory.prepare();
        Ok(())
    }

    /// What the engine has done for this preparation so far, for backends that choose their method at run time: `AutoReverseDiff` and its `compiled()`.
    pub fn report(&self) -> <B::State as Reports>::Report
    where
        B::State: Reports,
    {
        self.state.report()
    }

    /// The backend's state, which may report on the last call: estimated errors of differences, for example.
    pub fn state(&self) -> &B::State {
        &self.state
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        grad: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: &P,
        mut value: Option<&mut X::Scalar>,
    ) -> Result<(), Error> {
        let PreparedGradient { function, backend, state, inputs, memory } = self;
        let at = At::new(x, &mut memory.point);
        refuse_other_outline::<B, H::Function, P>(*inputs, at, grad)?;
        grad.write(&mut memory.result, |grad| {
            if grad.len() == at.coordinates().len()
                && backend.stateless(H::function(function), at, value.as_deref_mut(), grad)
            {
                return Ok(());
            }
            by_state(H::function(function), backend, state, *inputs, at, value, grad)
        })
    }
}
