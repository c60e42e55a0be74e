//! Jacobian of a function from an array to an array.
//!
//! Called by users. Reaches a backend through its `type Jacobian` route.

use super::call::{MatrixWork, Memory, check_point, has_storage, of_point, preparing};
use super::{GradientLanes, GradientNum};
use crate::backend::{Backend, MatrixRoute, Rows};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{ArrayOutput, Evaluate, KeptBy, Output};
use crate::matrix::{DerivativeMatrix, Matrix, MatrixBuffer};
use crate::point::{ArrayShape, At, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::recordings::Reports;
use crate::scalar::{Base, Scalar};

/// What `jacobian` accepts as its backend: a [`Backend`], which returns a dense [`Matrix`], or a wrapper such as `AutoSparse`,
/// which returns a matrix of its own type.
///
/// # For users
/// Every backend implements this trait.
///
/// # For backend authors
/// 1. The operator calls `unprepared`, then `prepare` if the user prepares, then `matrix` or `fill` any number of times.
/// 2. `fill` must not allocate after `prepare`. The operator checks that the point has the length of the last `prepare` or `unprepared`;
///    the implementation checks the size of the matrix.
/// 3. `evaluate` writes `f(x)`, without derivatives, and keeps what the output keeps. `value` returns the outputs of the last call `with_value`, `kept` what it kept of the output, see [`Output::Kept`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the `jacobian` of this function",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ..., and `AutoSparse` of them; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only",
    note = "`AutoSparse` runs the function on several number types, a closure has one: put `#[differentiable]` on the `fn` and pass the object it makes, or implement `Function` for a type of your own"
)]
pub trait JacobianBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](JacobianBackend::Num).
    type Output: Output<Self::Num>;
    /// The result.
    type Matrix: DerivativeMatrix<X::Scalar>;
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
    /// Those of [`matrix`](Self::matrix).
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error>;
    /// Returns the Jacobian at `x`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Self::Matrix, Error>;
    /// Writes the Jacobian at `x` into `jac`, and keeps the value if `with_value`.
    ///
    /// # Errors
    /// Those of [`matrix`](Self::matrix), and [`ErrorKind::BufferSize`] if `jac` has another size.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut Self::Matrix,
    ) -> Result<(), Error>;
    /// Called by the operator with `true` at the end of a preparation and with `false` at its beginning: in between, calls that repeat may be
    /// computed in a different way than the first ones.
    fn adapt(&self, _state: &mut Self::State, _adapts: bool) {}
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
    /// The outputs that the last call left.
    fn value(state: &Self::State) -> &[X::Scalar];
    /// What the last call kept of the output.
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
}

impl<B, F, X, C> JacobianBackend<F, X, C> for B
where
    B: Backend,
    X: Shape,
    C: Contexts,
    F: Evaluate<X, C, GradientNum<B, X>>,
    F::Output: ArrayOutput<GradientNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = GradientNum<B, X>;
    type Output = F::Output;
    type Matrix = Matrix<X::Scalar>;
    type State = MatrixWork<B, B::Jacobian, GradientLanes<B, X>, X, C, KeptBy<F, X, C, GradientNum<B, X>>>;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        MatrixWork::new("jacobian", self, x)
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
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let columns = x.coordinates().len();
        // The number of rows of a Jacobian without columns is known from the value only.
        let with_value = with_value || columns == 0;
        if const { goes_on_stack::<B, F, X, C>() } {
            let rows = F::Output::fixed::<X::Scalar>().as_ref().len();
            let mut jac = Matrix::filled(rows, columns, X::Scalar::default());
            if state.fill_on_stack(self, f, x, with_value.then_some(rows), jac.as_mut_slice()) {
                return Ok(jac);
            }
        }
        let mut data = Vec::with_capacity(state.outputs.unwrap_or(0) * columns);
        state.run(self, f, x, with_value, Rows::growing(&mut data, columns))?;
        let rows = data.len().checked_div(columns).unwrap_or(state.y.len());
        Ok(Matrix::from_rows(rows, columns, data))
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut Matrix<X::Scalar>,
    ) -> Result<(), Error> {
        let columns = x.coordinates().len();
        let found = jac.size();
        let expected = (state.outputs.unwrap_or(found.0), columns);
        if found != expected {
            return Err(state.named(ErrorKind::BufferSize { expected, found }));
        }
        let outputs = with_value.then_some(found.0);
        if const { goes_on_stack::<B, F, X, C>() } && state.fill_on_stack(self, f, x, outputs, jac.as_mut_slice()) {
            return Ok(());
        }
        state.run(self, f, x, with_value, jac.rows_to_fill()).map_err(|error| {
            match error.kind() {
                // The function returned another number of outputs than the matrix has rows.
                ErrorKind::BufferLength { expected, .. } => {
                    let outputs = expected / columns.max(1);
                    state.named(match state.outputs {
                        Some(prepared) => ErrorKind::OutputLength { expected: prepared, found: outputs },
                        None => ErrorKind::BufferSize { expected: (outputs, columns), found },
                    })
                }
                _ => error,
            }
        })
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
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    #[inline]
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, GradientNum<B, X>> {
        &state.kept
    }
}

/// Whether the Jacobian is computed without a state.
const fn goes_on_stack<B: Backend, F: Evaluate<X, C, GradientNum<B, X>>, X: Shape, C: Contexts>() -> bool {
    <B::Jacobian as MatrixRoute<B>>::ON_STACK && F::FIXED.is_some() && !has_storage::<X, C, GradientNum<B, X>>()
}

/// The value of a function in a call of `jacobian`.
pub(super) type JacobianValue<B, F, X, C> = <<B as JacobianBackend<F, X, C>>::Output as Output<
    <B as JacobianBackend<F, X, C>>::Num,
>>::With<<X as Shape>::Scalar>;
/// The same, borrowed from the preparation.
type JacobianBorrowed<'a, B, F, X, C> = <<B as JacobianBackend<F, X, C>>::Output as Output<
    <B as JacobianBackend<F, X, C>>::Num,
>>::Borrowed<'a, <X as Shape>::Scalar>;

/// Returns the Jacobian of `f` at `x`: entry `(i, j)` is ∂fᵢ/∂xⱼ, with one row per output and one column per input.
///
/// # Errors
/// [`ErrorKind::ChunkTooLarge`] if the backend has a fixed chunk larger than `x`, [`ErrorKind::FunctionFailed`] if the function returns an `Err`, and
/// what else the backend refuses, such as [`ErrorKind::ForeignNumber`], [`ErrorKind::OtherThread`] or [`ErrorKind::TapeOverflow`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> {
///     vec![x[0] * x[1], x[0] + x[1]]
/// }
/// let jac = jacobian(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn jacobian<F, B, P>(f: &F, backend: &B, x: P) -> Result<B::Matrix, Error>
where
    P: Point<Shape: ArrayShape>,
    B: JacobianBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    backend.matrix(&mut backend.unprepared(at)?, f, at, false)
}

/// Writes the Jacobian of `f` at `x` into `jac`: a matrix of the type that [`jacobian`] returns, or one of `nalgebra`, `ndarray` or `faer`, see
/// [`MatrixBuffer`].
///
/// # Errors
/// Those of [`jacobian`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn differences<T: Real>(y: &mut [T], x: &[T]) {
///     for i in 0..y.len() {
///         y[i] = x[i + 1] - x[i];
///     }
/// }
/// let f = in_place(|y: &mut [_], x: &[_]| differences(y, x), 2);
/// let mut jac = Matrix::filled(2, 3, 0.0);
/// jacobian_into(&f, &mut jac, &AutoReverseDiff::default(), &[1.0, 4.0, 9.0])?;
/// assert_eq!(jac, [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn jacobian_into<F, B, P>(
    f: &F,
    jac: &mut impl MatrixBuffer<ScalarOf<P>, B::Matrix>,
    backend: &B,
    x: P,
) -> Result<(), Error>
where
    P: Point<Shape: ArrayShape>,
    B: JacobianBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    let mut state = backend.unprepared(at)?;
    let filled = jac.write(&mut memory.result, |jac| backend.fill(&mut state, f, at, false, jac));
    filled.map_err(|error| error.counting(P::Shape::MASKED))
}

/// Returns `f(x)` and the Jacobian of `f` at `x`. The value needs no extra evaluation.
///
/// # Errors
/// Those of [`jacobian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let (y, jac) = value_and_jacobian(&product_and_sum, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_jacobian<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<(JacobianValue<B, F, P::Shape, P::Contexts>, B::Matrix), Error>
where
    P: Point<Shape: ArrayShape>,
    B: JacobianBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let mut state = backend.unprepared(at)?;
    let jac = backend.matrix(&mut state, f, at, true)?;
    Ok((B::Output::build(B::value(&state), B::kept(&state)), jac))
}

/// Returns `f(x)` and writes the Jacobian of `f` at `x` into `jac`.
///
/// # Errors
/// Those of [`jacobian_into`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let mut jac = Matrix::filled(2, 2, 0.0);
/// let y = value_and_jacobian_into(&product_and_sum, &mut jac, &AutoForwardDiff::default(), &[2.0, 5.0])?;
/// assert_eq!(y, [10.0, 7.0]);
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
#[inline]
pub fn value_and_jacobian_into<F, B, P>(
    f: &F,
    jac: &mut impl MatrixBuffer<ScalarOf<P>, B::Matrix>,
    backend: &B,
    x: P,
) -> Result<JacobianValue<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: ArrayShape>,
    B: JacobianBackend<F, P::Shape, P::Contexts>,
{
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    let mut state = backend.unprepared(at)?;
    let filled = jac.write(&mut memory.result, |jac| backend.fill(&mut state, f, at, true, jac));
    filled.map_err(|error| error.counting(P::Shape::MASKED))?;
    Ok(B::Output::build(B::value(&state), B::kept(&state)))
}

/// Returns a prepared Jacobian of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`jacobian`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn product_and_sum<T: Real>(x: &[T]) -> Vec<T> { vec![x[0] * x[1], x[0] + x[1]] }
/// let mut prepared = prepare_jacobian(&product_and_sum, &AutoForwardDiff::default(), &[0.0, 0.0])?;
/// let mut jac = Matrix::filled(2, 2, 0.0);
/// prepared.jacobian_into(&mut jac, &[2.0, 5.0])?;
/// assert_eq!(jac, [[5.0, 2.0], [1.0, 1.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_jacobian<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedJacobian<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point<Shape: ArrayShape>,
    H: Pointer,
    B: JacobianBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Memory::new();
    let at = At::new(&x, &mut memory.point);
    let mut state = backend.unprepared(at)?;
    backend.prepare(&mut state, f.function(), at)?;
    backend.adapt(&mut state, true);
    let inputs = at.coordinates().len();
    Ok(PreparedJacobian { function: f, backend: backend.clone(), state, inputs, memory })
}

/// A prepared Jacobian, made by [`prepare_jacobian`]: entry `(i, j)` is ∂fᵢ/∂xⱼ.
///
/// [`jacobian`](Self::jacobian) and [`value_and_jacobian`](Self::value_and_jacobian) return the matrix, the variants with `_into` fill one; [`value`](Self::value) returns the outputs alone.
/// [`prepare_again`](Self::prepare_again) prepares for another length. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point and the contexts, if any.
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
/// struct Newton {
///     jacobian: PreparedJacobian<Arc<ProductAndSum>, AutoForwardDiff, Slice<f64>>,
/// }
///
/// let jacobian = prepare_jacobian(Arc::new(ProductAndSum), &AutoForwardDiff::default(), &[0.0; 2])?;
/// let mut newton = Newton { jacobian };
/// assert_eq!(newton.jacobian.jacobian(&[2.0, 5.0])?, [[5.0, 2.0], [1.0, 1.0]]);
/// assert_eq!(newton.jacobian.value(&[2.0, 5.0])?, [10.0, 7.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedJacobian<H, B, X, C = ()>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: JacobianBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    memory: Memory<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedJacobian<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: JacobianBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedJacobian {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedJacobian<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: JacobianBackend<H::Function, X, C>,
{
    /// Returns the Jacobian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`] if `x` differs in length from the prepared point, [`ErrorKind::OutputLength`] if the function
    /// returns a different number of outputs than in the preparation, and those of [`jacobian`].
    #[inline]
    pub fn jacobian<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<B::Matrix, Error> {
        self.matrix(&x, false)
    }

    /// Writes the Jacobian at `x` into `jac`, a matrix of the type that [`jacobian`](Self::jacobian) returns or one of another crate, see
    /// [`MatrixBuffer`].
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`jacobian`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
    #[inline]
    pub fn jacobian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: P,
    ) -> Result<(), Error> {
        self.fill(jac, &x, false)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`jacobian`].
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<JacobianValue<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let Memory { point, result } = &mut self.memory;
        let at = At::new(&x, point);
        check_point(self.inputs, at).map_err(Self::named)?;
        self.backend.evaluate(&mut self.state, self.function.function(), at, result)?;
        Ok(B::Output::build(result, B::kept(&self.state)))
    }

    /// Returns the value and the Jacobian at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`jacobian`].
    #[inline]
    pub fn value_and_jacobian<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<(JacobianValue<B, H::Function, X, C>, B::Matrix), Error> {
        let jac = self.matrix(&x, true)?;
        Ok((self.last_value(), jac))
    }

    /// Returns the value, borrowed from the preparation, and writes the Jacobian at `x` into `jac`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], those of [`jacobian`], and [`ErrorKind::BufferSize`] if `jac` is not outputs × inputs.
    #[inline]
    pub fn value_and_jacobian_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: P,
    ) -> Result<JacobianBorrowed<'_, B, H::Function, X, C>, Error> {
        self.fill(jac, &x, true)?;
        Ok(B::Output::borrow(B::value(&self.state), B::kept(&self.state)))
    }

    /// Prepares again for points of the length of `x`, keeping function, backend and memory. Values that the function captures may
    /// have changed.
    ///
    /// # Errors
    /// Those of [`jacobian`].
    pub fn prepare_again<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<(), Error> {
        let PreparedJacobian { function, backend, state, inputs, memory } = self;
        let at = At::new(&x, &mut memory.point);
        preparing(
            state,
            |state, adapts| backend.adapt(state, adapts),
            |state| backend.prepare(state, H::function(function), at),
        )?;
        *inputs = at.coordinates().len();
        Ok(())
    }

    /// What the engine has done for this preparation so far, for backends that choose their method at run time: `AutoReverseDiff` and its `compiled()`.
    pub fn report(&self) -> <B::State as Reports>::Report
    where
        B::State: Reports,
    {
        self.state.report()
    }

    /// The backend's state: for a sparse backend it holds the pattern and the colours.
    pub fn state(&self) -> &B::State {
        &self.state
    }

    #[inline]
    fn matrix<P: Point<Shape = X, Contexts = C>>(&mut self, x: &P, with_value: bool) -> Result<B::Matrix, Error> {
        let PreparedJacobian { function, backend, state, inputs, memory } = self;
        let at = At::new(x, &mut memory.point);
        check_point(*inputs, at).map_err(Self::named)?;
        backend.matrix(state, H::function(function), at, with_value)
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        jac: &mut impl MatrixBuffer<X::Scalar, B::Matrix>,
        x: &P,
        with_value: bool,
    ) -> Result<(), Error> {
        let PreparedJacobian { function, backend, state, inputs, memory } = self;
        let at = At::new(x, &mut memory.point);
        check_point(*inputs, at).map_err(Self::named)?;
        let fill = |jac: &mut _| backend.fill(state, H::function(function), at, with_value, jac);
        jac.write(&mut memory.result, fill).map_err(|error| error.counting(X::MASKED))
    }

    fn named(kind: ErrorKind) -> Error {
        of_point::<X>(kind, "jacobian", B::BACKEND)
    }

    /// The value left by the last call.
    #[inline]
    fn last_value(&self) -> JacobianValue<B, H::Function, X, C> {
        B::Output::build(B::value(&self.state), B::kept(&self.state))
    }
}
