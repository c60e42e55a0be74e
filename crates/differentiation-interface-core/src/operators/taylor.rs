//! Taylor coefficients of a function along a line: by its number, or along a direction at a point.
//!
//! Called by users; reaches an engine of truncated series through [`TaylorBackend`].

use super::Order;
use super::call::{check_buffer, check_point, checked_tangents};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::Output;
use crate::fault;
use crate::point::{At, NumberShape, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::scalar::{Base, Scalar};

/// What `taylor_coefficients` and `jet` accept as their backend, to the order `N`.
///
/// # For users
/// `AutoTaylor` implements it for every function that runs on its numbers.
///
/// # For backend authors
/// 1. `fill` leaves in `coefficients` those of f(x + t d) of the powers 0 to `N` of t, power by power, each with one entry per output;
///    d is `direction`, which is as long as the point. It does not allocate after the first call at points of one length.
/// 2. The operator has checked the lengths and has begun to watch for faults when it calls `fill`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no Taylor coefficients of order {N} of this function",
    note = "`AutoTaylor` has; the function must run on its numbers: write it over `T: Real`"
)]
pub trait TaylorBackend<F, X: Shape, C: Contexts, const N: usize>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](TaylorBackend::Num).
    type Output: Output<Self::Num>;
    /// Work memory of calls.
    type State: Clone + Send;

    /// Makes a state, without evaluating the function.
    ///
    /// # Errors
    /// If the backend refuses the point.
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error>;
    /// Computes the coefficients at `x`.
    ///
    /// # Errors
    /// If the backend cannot differentiate the function at `x`.
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        direction: &[X::Scalar],
        coefficients: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>;
    /// Evaluates the function at plain numbers. The operator has not begun to watch for faults.
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
    /// What the last evaluation kept of its output, see [`Output::Kept`].
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept;
}

/// One coefficient, in the shape of the output.
pub type Coefficient<B, F, X, C, const N: usize> = <<B as TaylorBackend<F, X, C, N>>::Output as Output<
    <B as TaylorBackend<F, X, C, N>>::Num,
>>::With<<X as Shape>::Scalar>;

/// Returns the coefficients c₀ to c_N of the Taylor series of `f` at the number `x`, f(x + t) = c₀ + c₁ t + … + c_N tᴺ + …, each in the shape
/// of the output: cₖ is the derivative of order k divided by k!.
///
/// # Errors
/// Those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn geometric<T: Real>(x: T) -> T {
///     1.0 / (1.0 - x)
/// }
/// assert_eq!(taylor_coefficients(&geometric, &AutoTaylor, 0.0, Order::<4>)?, [1.0, 1.0, 1.0, 1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn taylor_coefficients<F, B, P, const N: usize>(
    f: &F,
    backend: &B,
    x: P,
    order: Order<N>,
) -> Result<Vec<Coefficient<B, F, P::Shape, P::Contexts, N>>, Error>
where
    P: Point<Shape: NumberShape>,
    B: TaylorBackend<F, P::Shape, P::Contexts, N>,
{
    prepare_taylor_coefficients(f, backend, x, order).map(|prepared| prepared.0.coefficients())
}

/// Writes the Taylor coefficients of `f` at the number `x` into `coefficients`: power by power, each with one entry per output.
///
/// # Errors
/// [`ErrorKind::BufferLength`] if the buffer has not N + 1 entries per output, and those of [`taylor_coefficients`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn both<T: Real>(x: T) -> [T; 2] {
///     [x * x, 1.0 / x]
/// }
/// let mut coefficients = [0.0; 6];
/// taylor_coefficients_into(&both, &mut coefficients, &AutoTaylor, 1.0, Order::<2>)?;
/// assert_eq!(coefficients, [1.0, 1.0, 2.0, -1.0, 1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn taylor_coefficients_into<F, B, P, const N: usize>(
    f: &F,
    coefficients: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    order: Order<N>,
) -> Result<(), Error>
where
    P: Point<Shape: NumberShape>,
    B: TaylorBackend<F, P::Shape, P::Contexts, N>,
{
    prepare_taylor_coefficients(f, backend, x, order)?.0.write(coefficients, TAYLOR)
}

/// Returns prepared Taylor coefficients of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`taylor_coefficients`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn geometric<T: Real>(x: T) -> T { 1.0 / (1.0 - x) }
/// let mut prepared = prepare_taylor_coefficients(&geometric, &AutoTaylor, 0.0, Order::<2>)?;
/// assert_eq!(prepared.taylor_coefficients(0.5)?, [2.0, 4.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_taylor_coefficients<H, B, P, const N: usize>(
    f: H,
    backend: &B,
    x: P,
    _order: Order<N>,
) -> Result<PreparedTaylorCoefficients<H, B, P::Shape, P::Contexts, N>, Error>
where
    P: Point<Shape: NumberShape>,
    H: Pointer,
    B: TaylorBackend<H::Function, P::Shape, P::Contexts, N>,
{
    let one = [ScalarOf::<P>::constant(Base::from_f64(1.0))];
    Line::prepare(TAYLOR, f, backend, &x, &one).map(PreparedTaylorCoefficients)
}

/// Returns the Taylor coefficients of `f` along `direction` at `x`: f(x + t d) = c₀ + c₁ t + … + c_N tᴺ + …, each in the shape of the output.
///
/// c₁ is the product of Jacobian and direction, and 2 c₂ for one output is dᵀ H d.
///
/// # Errors
/// [`ErrorKind::SeedLength`] if the direction is not as long as the point, [`ErrorKind::SeedShape`] if it has the type of the point but a different shape, and those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn f<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// // (1 + t)² (2 + 3 t)
/// assert_eq!(jet(&f, &AutoTaylor, &[1.0, 2.0], &[1.0, 3.0], Order::<3>)?, [2.0, 7.0, 8.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn jet<F, B, P, D, const N: usize>(
    f: &F,
    backend: &B,
    x: P,
    direction: D,
    order: Order<N>,
) -> Result<Vec<Coefficient<B, F, P::Shape, P::Contexts, N>>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: TaylorBackend<F, P::Shape, P::Contexts, N>,
{
    prepare_jet(f, backend, x, direction, order).map(|prepared| prepared.0.coefficients())
}

/// Writes the Taylor coefficients along `direction` into `coefficients`: power by power, each with one entry per output.
///
/// # Errors
/// [`ErrorKind::BufferLength`] if the buffer has not N + 1 entries per output, and those of [`jet`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn f<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let mut coefficients = [0.0; 3];
/// jet_into(&f, &mut coefficients, &AutoTaylor, &[1.0, 2.0], &[1.0, 3.0], Order::<2>)?;
/// assert_eq!(coefficients, [2.0, 7.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn jet_into<F, B, P, D, const N: usize>(
    f: &F,
    coefficients: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    direction: D,
    order: Order<N>,
) -> Result<(), Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    B: TaylorBackend<F, P::Shape, P::Contexts, N>,
{
    prepare_jet(f, backend, x, direction, order)?.0.write(coefficients, JET)
}

/// Returns prepared Taylor coefficients of `f` along directions; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`jet`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn f<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let mut prepared = prepare_jet(&f, &AutoTaylor, &[0.0, 0.0], &[0.0, 0.0], Order::<3>)?;
/// assert_eq!(prepared.jet(&[1.0, 2.0], &[0.0, 1.0])?, [2.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_jet<H, B, P, D, const N: usize>(
    f: H,
    backend: &B,
    x: P,
    direction: D,
    _order: Order<N>,
) -> Result<PreparedJet<H, B, P::Shape, P::Contexts, N>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: TaylorBackend<H::Function, P::Shape, P::Contexts, N>,
{
    Line::prepare(JET, f, backend, &x, &direction).map(PreparedJet)
}

const TAYLOR: &str = "taylor_coefficients";
const JET: &str = "jet";

/// Prepared Taylor coefficients, made by [`prepare_taylor_coefficients`]: c₀ … c_N of f(x + t) = Σ cₖ tᵏ for a function of one number, each in the shape of the output.
///
/// [`taylor_coefficients`](Self::taylor_coefficients) returns them, [`taylor_coefficients_into`](Self::taylor_coefficients_into) writes them into a buffer. One thread at a time; clone it
/// for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the contexts and the order.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::point::Number;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn geometric(x: f64) -> f64 {
///     1.0 / (1.0 - x)
/// }
/// struct Series {
///     taylor: PreparedTaylorCoefficients<Arc<Geometric>, AutoTaylor, Number<f64>, (), 2>,
/// }
///
/// let taylor = prepare_taylor_coefficients(Arc::new(Geometric), &AutoTaylor, 0.0, Order::<2>)?;
/// let mut series = Series { taylor };
/// assert_eq!(series.taylor.taylor_coefficients(0.5)?, [2.0, 4.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedTaylorCoefficients<H, B, X, C, const N: usize>(Line<H, B, X, C, N>)
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>;

impl<H, B, X, C, const N: usize> Clone for PreparedTaylorCoefficients<H, B, X, C, N>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    fn clone(&self) -> Self {
        PreparedTaylorCoefficients(self.0.clone())
    }
}

impl<H, B, X, C, const N: usize> PreparedTaylorCoefficients<H, B, X, C, N>
where
    H: Pointer,
    X: NumberShape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    /// Returns the coefficients at `x`.
    ///
    /// # Errors
    /// Those of [`taylor_coefficients`].
    pub fn taylor_coefficients<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Vec<Coefficient<B, H::Function, X, C, N>>, Error> {
        self.0.run(TAYLOR, &x, &[X::Scalar::constant(Base::from_f64(1.0))])?;
        Ok(self.0.coefficients())
    }
    /// Writes the coefficients at `x` into `coefficients`, without allocation.
    ///
    /// # Errors
    /// Those of [`taylor_coefficients_into`].
    pub fn taylor_coefficients_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        coefficients: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        self.0.run(TAYLOR, &x, &[X::Scalar::constant(Base::from_f64(1.0))])?;
        self.0.write(coefficients, TAYLOR)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// Those of the backend.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn geometric<T: Real>(x: T) -> T { 1.0 / (1.0 - x) }
    /// let mut prepared = prepare_taylor_coefficients(&geometric, &AutoTaylor, 0.0, Order::<2>)?;
    /// assert_eq!(prepared.value(0.5)?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Coefficient<B, H::Function, X, C, N>, Error>
    where
        X::Scalar: Base,
    {
        self.0.value(TAYLOR, &x)
    }
}

/// Prepared Taylor coefficients along directions, made by [`prepare_jet`]: c₀ … c_N of f(x + t d) = Σ cₖ tᵏ, each in the shape of the output.
///
/// [`jet`](Self::jet) returns them, [`jet_into`](Self::jet_into) writes them into a buffer. One thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point, the contexts and the order.
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
/// struct Along {
///     jet: PreparedJet<Arc<Cubic>, AutoTaylor, Slice<f64>, (), 3>,
/// }
///
/// let mut along = Along { jet: prepare_jet(Arc::new(Cubic), &AutoTaylor, &[0.0; 2], &[0.0; 2], Order::<3>)? };
/// // (1 + t)² (2 + 3 t)
/// assert_eq!(along.jet.jet(&[1.0, 2.0], &[1.0, 3.0])?, [2.0, 7.0, 8.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedJet<H, B, X, C, const N: usize>(Line<H, B, X, C, N>)
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>;

impl<H, B, X, C, const N: usize> Clone for PreparedJet<H, B, X, C, N>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    fn clone(&self) -> Self {
        PreparedJet(self.0.clone())
    }
}

impl<H, B, X, C, const N: usize> PreparedJet<H, B, X, C, N>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    /// Returns the coefficients along `direction` at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`jet`].
    pub fn jet<P, D>(&mut self, x: P, direction: D) -> Result<Vec<Coefficient<B, H::Function, X, C, N>>, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.0.run(JET, &x, &direction)?;
        Ok(self.0.coefficients())
    }
    /// Writes the coefficients along `direction` at `x` into `coefficients`, without allocation.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`jet_into`].
    pub fn jet_into<P, D>(
        &mut self,
        coefficients: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
        direction: D,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        self.0.run(JET, &x, &direction)?;
        self.0.write(coefficients, JET)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of the backend.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn f<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
    /// let mut prepared = prepare_jet(&f, &AutoTaylor, &[0.0, 0.0], &[0.0, 0.0], Order::<3>)?;
    /// assert_eq!(prepared.value(&[3.0, 2.0])?, 18.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Coefficient<B, H::Function, X, C, N>, Error>
    where
        X::Scalar: Base,
    {
        self.0.value(JET, &x)
    }
}

/// What both preparations hold.
struct Line<H, B, X, C, const N: usize>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    function: H,
    backend: B,
    state: B::State,
    inputs: usize,
    /// The result of the last call, power by power.
    coefficients: Vec<X::Scalar>,
    /// The result of the last evaluation without derivatives.
    y: Vec<X::Scalar>,
    /// The numbers of a point or a buffer that do not lie in one piece.
    memory: Vec<X::Scalar>,
    /// The numbers of a direction that do not lie in one piece.
    direction: [Vec<X::Scalar>; 1],
}

impl<H, B, X, C, const N: usize> Clone for Line<H, B, X, C, N>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    fn clone(&self) -> Self {
        Line {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            inputs: self.inputs,
            coefficients: self.coefficients.clone(),
            y: self.y.clone(),
            memory: self.memory.clone(),
            direction: self.direction.clone(),
        }
    }
}

impl<H, B, X, C, const N: usize> Line<H, B, X, C, N>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: TaylorBackend<H::Function, X, C, N>,
{
    fn prepare<P, D>(operator: &'static str, f: H, backend: &B, x: &P, direction: &D) -> Result<Self, Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let mut memory = Vec::new();
        let at = At::new(x, &mut memory);
        let (inputs, state) = (at.coordinates().len(), backend.unprepared(at)?);
        let mut line = Line {
            function: f,
            backend: backend.clone(),
            state,
            inputs,
            coefficients: Vec::new(),
            y: Vec::new(),
            memory,
            direction: [Vec::new()],
        };
        line.run(operator, x, direction)?;
        Ok(line)
    }

    fn run<P, D>(&mut self, operator: &'static str, x: &P, direction: &D) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        D: Point<Shape: Shape<Scalar = X::Scalar>>,
    {
        let Line { function, backend, state, inputs, coefficients, memory, direction: flat, .. } = self;
        let at = At::new(x, memory);
        let result = fault::watch(|| {
            check_point(*inputs, at)?;
            let [direction] = checked_tangents(x, *inputs, std::array::from_ref(direction), flat)?;
            backend.fill(state, H::function(function), at, direction, coefficients)
        });
        result.map_err(|error| error.during(operator, B::BACKEND).counting(X::MASKED))
    }

    /// Evaluates the function at plain numbers.
    fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        operator: &'static str,
        x: &P,
    ) -> Result<Coefficient<B, H::Function, X, C, N>, Error>
    where
        X::Scalar: Base,
    {
        let Line { function, backend, state, inputs, y, memory, .. } = self;
        let at = At::new(x, memory);
        let checked = check_point(*inputs, at).map_err(Error::from);
        let result = checked.and_then(|()| backend.evaluate(state, H::function(function), at, y));
        result.map_err(|error| error.during(operator, B::BACKEND).counting(X::MASKED))?;
        Ok(B::Output::build(y, B::kept(state)))
    }

    /// The coefficients of the last call.
    fn coefficients(&self) -> Vec<Coefficient<B, H::Function, X, C, N>> {
        let outputs = self.coefficients.len() / (N + 1);
        let power = |k: usize| &self.coefficients[k * outputs..(k + 1) * outputs];
        (0..=N).map(|k| B::Output::build(power(k), B::kept(&self.state))).collect()
    }

    fn write(&mut self, buffer: &mut (impl Buffer<X::Scalar> + ?Sized), operator: &'static str) -> Result<(), Error> {
        let coefficients = &self.coefficients;
        buffer.write(&mut self.memory, |buffer| {
            check_buffer(coefficients.len(), buffer.len())
                .map_err(|kind: ErrorKind| Error::new(kind).during(operator, B::BACKEND))?;
            buffer.copy_from_slice(coefficients);
            Ok(())
        })
    }
}
