//! The Taylor expansion of a function in all its inputs, to any total order.
//!
//! Called by users; reaches an engine of truncated polynomials through [`ExpansionBackend`]. The result is an [`Expansion`].

use super::call::check_point;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::Output;
use crate::fault;
use crate::monomials::Monomials;
use crate::point::{At, Point, Shape};
use crate::pointer::Pointer;
use crate::scalar::{Base, Scalar};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// What `taylor_expansion` and `mixed_partial` accept as their backend.
///
/// # For users
/// `AutoTaylor` implements it for every function that runs on its numbers.
///
/// # For backend authors
/// 1. `fill` leaves in `coefficients`, output by output, those of the powers of d in f(x + d), in the order of `monomials`, whose number of
///    variables is the length of the point. It does not allocate if the last call on the thread was like this one.
/// 2. The operator has checked the lengths and has begun to watch for faults when it calls `fill`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no expansion in several variables of this function",
    note = "`AutoTaylor` has; the function must run on its numbers: write it over `T: Real`"
)]
pub trait ExpansionBackend<F, X: Shape, C: Contexts>: Clone {
    /// Name in errors.
    const BACKEND: &'static str;
    /// The number type that the function runs on.
    type Num: Scalar;
    /// What the function returns, at [`Num`](ExpansionBackend::Num).
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
        monomials: &Arc<Monomials>,
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

/// A truncated Taylor expansion in several variables, one polynomial in the displacement per output. Made by [`taylor_expansion`].
///
/// `O` is what the function returns at the numbers `N` of the engine; the methods return objects of its shape with numbers `S`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn f<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// // (1 + a)² (2 + b) to the second order: 2 + 4 a + b + 2 a² + 2 a b
/// let expansion = taylor_expansion(&f, &AutoTaylor, &[1.0, 2.0], 2)?;
/// assert_eq!((expansion.order(), expansion.outputs()), (2, 1));
/// assert_eq!((expansion.coefficient(&[2, 0])?, expansion.partial(&[2, 0])?), (2.0, 4.0));
/// assert_eq!(expansion.evaluate(&[1.0, 1.0])?, 11.0);
/// # Ok::<(), Error>(())
/// ```
pub struct Expansion<O: Output<N>, N: Scalar, S> {
    monomials: Arc<Monomials>,
    /// Output by output, in the order of the monomials.
    coefficients: Vec<S>,
    kept: O::Kept,
    numbers: PhantomData<fn() -> N>,
}

impl<O: Output<N>, N: Scalar, S: Clone> Clone for Expansion<O, N, S> {
    fn clone(&self) -> Self {
        Expansion {
            monomials: Arc::clone(&self.monomials),
            coefficients: self.coefficients.clone(),
            kept: self.kept.clone(),
            numbers: PhantomData,
        }
    }
}

impl<O: Output<N>, N: Scalar, S: fmt::Debug> fmt::Debug for Expansion<O, N, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.monomials.len();
        let terms = |output: &[S]| {
            (0..size).map(|k| format!("{:?}: {:?}", self.monomials.exponents(k), output[k])).collect::<Vec<_>>()
        };
        f.debug_list().entries(self.coefficients.chunks(size).map(terms)).finish()
    }
}

impl<O: Output<N>, N: Scalar, S: Scalar> Expansion<O, N, S> {
    /// The monomials, in the order of [`coefficients`](Self::coefficients).
    pub fn monomials(&self) -> &Monomials {
        &self.monomials
    }
    /// The highest total degree.
    pub fn order(&self) -> usize {
        self.monomials.order()
    }
    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.coefficients.len() / self.monomials.len()
    }
    /// The coefficients of one output, in the order of [`monomials`](Self::monomials).
    ///
    /// # Panics
    /// If there are not more than `output` outputs.
    pub fn coefficients(&self, output: usize) -> &[S] {
        let size = self.monomials.len();
        &self.coefficients[output * size..(output + 1) * size]
    }

    /// The coefficient of d^α, in the shape of the output.
    ///
    /// # Errors
    /// [`ErrorKind::MultiIndexLength`] and [`ErrorKind::MultiIndexOrder`].
    pub fn coefficient(&self, multi_index: &[usize]) -> Result<O::With<S>, Error> {
        self.scaled(multi_index, |_| 1.0, "coefficient")
    }

    /// The partial derivative ∂^α f at the point of expansion: α! times the coefficient, in the shape of the output.
    ///
    /// # Errors
    /// [`ErrorKind::MultiIndexLength`] and [`ErrorKind::MultiIndexOrder`].
    pub fn partial(&self, multi_index: &[usize]) -> Result<O::With<S>, Error> {
        self.scaled(multi_index, factorial, "partial")
    }

    fn scaled(
        &self,
        multi_index: &[usize],
        factor: impl Fn(&[usize]) -> f64,
        operator: &'static str,
    ) -> Result<O::With<S>, Error> {
        self.check_length(multi_index.len()).map_err(|kind| Error::new(kind).during(operator, "expansion"))?;
        let found = multi_index.iter().fold(0, |sum: usize, k| sum.saturating_add(*k));
        let Some(place) = self.monomials.position(multi_index) else {
            let kind = ErrorKind::MultiIndexOrder { order: self.order(), found };
            return Err(Error::new(kind).during(operator, "expansion"));
        };
        let factor = S::Base::from_f64(factor(multi_index));
        let coefficients = self.coefficients.chunks(self.monomials.len()).map(|output| output[place].scale(factor));
        Ok(O::build(&coefficients.collect::<Vec<_>>(), &self.kept))
    }

    fn check_length(&self, found: usize) -> Result<(), ErrorKind> {
        let expected = self.monomials.variables();
        if found == expected { Ok(()) } else { Err(ErrorKind::MultiIndexLength { expected, found }) }
    }

    /// The value of the polynomials at a displacement, an approximation of f(x + d), in the shape of the output.
    ///
    /// # Errors
    /// [`ErrorKind::DisplacementLength`] if the displacement is not as long as the point.
    pub fn evaluate(&self, displacement: &[S]) -> Result<O::With<S>, Error> {
        let (expected, found) = (self.monomials.variables(), displacement.len());
        if found != expected {
            let kind = ErrorKind::DisplacementLength { expected, found };
            return Err(Error::new(kind).during("evaluate", "expansion"));
        }
        let size = self.monomials.len();
        let mut powers = vec![S::constant(Base::from_f64(1.0)); size];
        let mut lower = vec![0; expected];
        for place in 1..size {
            lower.copy_from_slice(self.monomials.exponents(place));
            if let Some(variable) = lower.iter().position(|&exponent| exponent > 0) {
                lower[variable] -= 1;
                if let Some(before) = self.monomials.position(&lower) {
                    powers[place] = powers[before] * displacement[variable];
                }
            }
        }
        // Small terms first.
        let sum = |output: &[S]| (0..size).rev().fold(S::default(), |sum, k| sum + output[k] * powers[k]);
        Ok(O::build(&self.coefficients.chunks(size).map(sum).collect::<Vec<_>>(), &self.kept))
    }

    /// The derivative of the polynomials by one variable, an expansion to one order less.
    ///
    /// # Errors
    /// [`ErrorKind::NoVariable`] if there is no such variable, [`ErrorKind::MultiIndexOrder`] if the order is 0.
    pub fn derivative(&self, variable: usize) -> Result<Self, Error> {
        let variables = self.monomials.variables();
        let refused = |kind| Error::new(kind).during("derivative", "expansion");
        if variable >= variables {
            return Err(refused(ErrorKind::NoVariable { variables, index: variable }));
        }
        if self.order() == 0 {
            return Err(refused(ErrorKind::MultiIndexOrder { order: 0, found: 1 }));
        }
        let monomials = Monomials::to_order(variables, self.order() - 1).map_err(refused)?;
        let mut coefficients = Vec::with_capacity(self.outputs() * monomials.len());
        for output in self.coefficients.chunks(self.monomials.len()) {
            for place in 0..monomials.len() {
                let mut higher = monomials.exponents(place).to_vec();
                higher[variable] += 1;
                let found = self.monomials.position(&higher).map_or(S::default(), |place| output[place]);
                coefficients.push(found.scale(Base::from_f64(higher[variable] as f64)));
            }
        }
        Ok(Expansion { monomials: Arc::new(monomials), coefficients, kept: self.kept.clone(), numbers: PhantomData })
    }
}

/// α!.
pub(super) fn factorial(multi_index: &[usize]) -> f64 {
    multi_index.iter().map(|&k| (2..=k).fold(1.0, |product, i| product * i as f64)).product()
}

/// The expansion that `taylor_expansion` returns.
pub type ExpansionOf<B, F, X, C> =
    Expansion<<B as ExpansionBackend<F, X, C>>::Output, <B as ExpansionBackend<F, X, C>>::Num, <X as Shape>::Scalar>;

/// What the function returns, with numbers of the point.
type ValueOf<B, F, X, C> = <<B as ExpansionBackend<F, X, C>>::Output as Output<
    <B as ExpansionBackend<F, X, C>>::Num,
>>::With<<X as Shape>::Scalar>;

const OPERATOR: &str = "taylor_expansion";

/// Returns the Taylor expansion of `f` at `x` to the total order `order`: f(x + d) = Σ c_α d^α over |α| ≤ `order`.
///
/// # Errors
/// [`ErrorKind::ExpansionSize`] if the tables of the monomials were too large, and those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn f<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1] + x[1]
/// }
/// // (1 + a)² (2 + b) + 2 + b
/// let expansion = taylor_expansion(&f, &AutoTaylor, &[1.0, 2.0], 3)?;
/// assert_eq!(expansion.coefficient(&[1, 1])?, 2.0);
/// assert_eq!(expansion.partial(&[2, 1])?, 2.0);
/// assert_eq!(expansion.evaluate(&[1.0, -2.0])?, 0.0);
/// assert_eq!(expansion.derivative(0)?.evaluate(&[0.0, 0.0])?, 4.0);
/// # Ok::<(), Error>(())
/// ```
pub fn taylor_expansion<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
    order: usize,
) -> Result<ExpansionOf<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: ExpansionBackend<F, P::Shape, P::Contexts>,
{
    prepare_taylor_expansion(f, backend, x, order)?.0.into_expansion()
}

/// Returns prepared Taylor expansions of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`taylor_expansion`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn f<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] + x[1] }
/// let mut prepared = prepare_taylor_expansion(&f, &AutoTaylor, &[0.0, 0.0], 3)?;
/// let mut expansion = prepared.taylor_expansion(&[1.0, 2.0])?;
/// assert_eq!(expansion.partial(&[1, 0])?, 4.0);
/// prepared.taylor_expansion_into(&mut expansion, &[3.0, 2.0])?;
/// assert_eq!(expansion.partial(&[1, 0])?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_taylor_expansion<H, B, P>(
    f: H,
    backend: &B,
    x: P,
    order: usize,
) -> Result<PreparedTaylorExpansion<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point,
    H: Pointer,
    B: ExpansionBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let make = || Monomials::to_order(at.coordinates().len(), order);
    Polynomials::prepare(OPERATOR, f, backend, at, make).map(PreparedTaylorExpansion)
}

/// A prepared Taylor expansion in several variables, made by [`prepare_taylor_expansion`]: f(x + d) = Σ c_α d^α up to the order of the preparation.
///
/// [`taylor_expansion`](Self::taylor_expansion) returns it, [`taylor_expansion_into`](Self::taylor_expansion_into) overwrites one of an earlier call. One thread at a time; clone it for
/// another thread.
///
/// A struct names it by the pointer to the function, the backend, the shape of the point and the contexts.
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
/// struct Model {
///     taylor: PreparedTaylorExpansion<Arc<Cubic>, AutoTaylor, Slice<f64>, ()>,
/// }
///
/// let mut model = Model { taylor: prepare_taylor_expansion(Arc::new(Cubic), &AutoTaylor, &[0.0; 2], 2)? };
/// let expansion = model.taylor.taylor_expansion(&[1.0, 2.0])?;
/// assert_eq!(expansion.coefficient(&[2, 0])?, 2.0); // (1 + a)² (2 + b)
/// assert_eq!(expansion.partial(&[1, 0])?, 4.0);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedTaylorExpansion<H, B, X, C>(Polynomials<H, B, X, C>)
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>;

impl<H, B, X, C> Clone for PreparedTaylorExpansion<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedTaylorExpansion(self.0.clone())
    }
}

impl<H, B, X, C> PreparedTaylorExpansion<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    /// Returns the expansion at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`taylor_expansion`].
    pub fn taylor_expansion<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<ExpansionOf<B, H::Function, X, C>, Error> {
        self.0.run(OPERATOR, &x)?;
        Ok(self.0.expansion())
    }
    /// Writes the expansion at `x` into an expansion of this preparation, without allocation.
    ///
    /// # Errors
    /// [`ErrorKind::BufferLength`] if the monomials or the number of outputs of `expansion` differ, [`ErrorKind::PreparedLength`], and those of
    /// [`taylor_expansion`].
    pub fn taylor_expansion_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        expansion: &mut ExpansionOf<B, H::Function, X, C>,
        x: P,
    ) -> Result<(), Error> {
        self.0.run(OPERATOR, &x)?;
        self.0.write(OPERATOR, expansion)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of the backend.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn f<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] + x[1] }
    /// let mut prepared = prepare_taylor_expansion(&f, &AutoTaylor, &[0.0, 0.0], 3)?;
    /// assert_eq!(prepared.value(&[3.0, 2.0])?, 20.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<ValueOf<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        self.0.value(OPERATOR, &x)
    }
}

/// What the preparations of `taylor_expansion` and `mixed_partial` hold.
pub(super) struct Polynomials<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    function: H,
    backend: B,
    state: B::State,
    pub(super) monomials: Arc<Monomials>,
    /// Those of the last call.
    pub(super) coefficients: Vec<X::Scalar>,
    /// The result of the last evaluation without derivatives.
    y: Vec<X::Scalar>,
    /// The numbers of a point that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C> Clone for Polynomials<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        Polynomials {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            monomials: Arc::clone(&self.monomials),
            coefficients: self.coefficients.clone(),
            y: self.y.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> Polynomials<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    pub(super) fn prepare<P: Point<Shape = X, Contexts = C>>(
        operator: &'static str,
        f: H,
        backend: &B,
        at: At<'_, P>,
        monomials: impl FnOnce() -> Result<Monomials, ErrorKind>,
    ) -> Result<Self, Error> {
        let monomials = monomials().map_err(|kind| Error::new(kind).during(operator, B::BACKEND))?;
        let mut polynomials = Polynomials {
            function: f,
            backend: backend.clone(),
            state: backend.unprepared(at)?,
            monomials: Arc::new(monomials),
            coefficients: Vec::new(),
            y: Vec::new(),
            memory: Vec::new(),
        };
        polynomials.run(operator, at.point())?;
        Ok(polynomials)
    }

    pub(super) fn run<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        operator: &'static str,
        x: &P,
    ) -> Result<(), Error> {
        let Polynomials { function, backend, state, monomials, coefficients, memory, .. } = self;
        let at = At::new(x, memory);
        let result = fault::watch(|| {
            check_point(monomials.variables(), at)?;
            backend.fill(state, H::function(function), at, monomials, coefficients)
        });
        result.map_err(|error| error.during(operator, B::BACKEND).counting(X::MASKED))
    }

    /// Evaluates the function at plain numbers.
    pub(super) fn value<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        operator: &'static str,
        x: &P,
    ) -> Result<ValueOf<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        let Polynomials { function, backend, state, monomials, y, memory, .. } = self;
        let at = At::new(x, memory);
        let checked = check_point(monomials.variables(), at).map_err(Error::from);
        let result = checked.and_then(|()| backend.evaluate(state, H::function(function), at, y));
        result.map_err(|error| error.during(operator, B::BACKEND).counting(X::MASKED))?;
        Ok(B::Output::build(y, B::kept(state)))
    }

    /// What the last evaluation kept of its output.
    pub(super) fn kept(&self) -> &<B::Output as Output<B::Num>>::Kept {
        B::kept(&self.state)
    }

    fn expansion(&self) -> ExpansionOf<B, H::Function, X, C> {
        Expansion {
            monomials: Arc::clone(&self.monomials),
            coefficients: self.coefficients.clone(),
            kept: self.kept().clone(),
            numbers: PhantomData,
        }
    }

    fn into_expansion(self) -> Result<ExpansionOf<B, H::Function, X, C>, Error> {
        let kept = self.kept().clone();
        Ok(Expansion { monomials: self.monomials, coefficients: self.coefficients, kept, numbers: PhantomData })
    }

    fn write(&self, operator: &'static str, expansion: &mut ExpansionOf<B, H::Function, X, C>) -> Result<(), Error> {
        let (expected, found) = (self.coefficients.len(), expansion.coefficients.len());
        if !Arc::ptr_eq(&self.monomials, &expansion.monomials) || expected != found {
            let kind = ErrorKind::BufferLength { expected, found };
            return Err(Error::new(kind).during(operator, B::BACKEND));
        }
        expansion.coefficients.copy_from_slice(&self.coefficients);
        expansion.kept.clone_from(B::kept(&self.state));
        Ok(())
    }
}
