//! One partial derivative of any order in several variables.
//!
//! Called by users; reaches an engine through [`ExpansionBackend`], with the monomials that divide the requested one and no others.

use super::call::check_buffer;
use super::expansion::{ExpansionBackend, Polynomials, factorial};
use crate::container::Buffer;
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::Output;
use crate::monomials::Monomials;
use crate::point::{At, Point, ScalarOf, Shape};
use crate::pointer::Pointer;
use crate::scalar::{Base, Scalar};

const OPERATOR: &str = "mixed_partial";

/// A partial derivative, in the shape of the output.
pub type Partially<B, F, X, C> = <<B as ExpansionBackend<F, X, C>>::Output as Output<
    <B as ExpansionBackend<F, X, C>>::Num,
>>::With<<X as Shape>::Scalar>;

/// Returns the partial derivative ∂^α f at `x` for the multi-index α = `multi_index`, which has one order per input, in the shape of the output.
///
/// Numbers carry Π (αᵢ + 1) coefficients.
///
/// # Errors
/// [`ErrorKind::MultiIndexLength`] if the multi-index is not as long as the point, [`ErrorKind::ExpansionSize`] if the tables of the monomials
/// were too large, and those of the backend.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn f<T: Real>(x: &[T]) -> T {
///     x[0].powi(3) * x[1].powi(2) * x[2]
/// }
/// // ∂⁴f / ∂x₀² ∂x₁ ∂x₂ = 6 x₀ · 2 x₁
/// assert_eq!(mixed_partial(&f, &AutoTaylor, &[2.0, 3.0, 5.0], &[2, 1, 1])?, 72.0);
/// # Ok::<(), Error>(())
/// ```
pub fn mixed_partial<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
    multi_index: &[usize],
) -> Result<Partially<B, F, P::Shape, P::Contexts>, Error>
where
    P: Point,
    B: ExpansionBackend<F, P::Shape, P::Contexts>,
{
    prepare_mixed_partial(f, backend, x, multi_index).map(|prepared| prepared.partial())
}

/// Writes the partial derivative ∂^α f at `x` into `partial`, which is as long as the output.
///
/// # Errors
/// [`ErrorKind::BufferLength`] if `partial` has the wrong length, and those of [`mixed_partial`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn f<T: Real>(x: &[T]) -> [T; 2] {
///     [x[0] * x[1], x[0] * x[1] * x[1]]
/// }
/// let mut partial = [0.0; 2];
/// mixed_partial_into(&f, &mut partial, &AutoTaylor, &[2.0, 3.0], &[1, 1])?;
/// assert_eq!(partial, [1.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn mixed_partial_into<F, B, P>(
    f: &F,
    partial: &mut (impl Buffer<ScalarOf<P>> + ?Sized),
    backend: &B,
    x: P,
    multi_index: &[usize],
) -> Result<(), Error>
where
    P: Point,
    B: ExpansionBackend<F, P::Shape, P::Contexts>,
{
    prepare_mixed_partial(f, backend, x, multi_index)?.write(partial)
}

/// Returns a prepared partial derivative of `f`; see [`prepare_gradient`](super::prepare_gradient) for the calls that it accepts.
///
/// # Errors
/// Those of [`mixed_partial`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn f<T: Real>(x: &[T]) -> T { x[0].powi(3) * x[1].powi(2) * x[2] }
/// let mut prepared = prepare_mixed_partial(&f, &AutoTaylor, &[0.0; 3], &[2, 1, 1])?;
/// assert_eq!(prepared.mixed_partial(&[2.0, 3.0, 5.0])?, 72.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_mixed_partial<H, B, P>(
    f: H,
    backend: &B,
    x: P,
    multi_index: &[usize],
) -> Result<PreparedMixedPartial<H, B, P::Shape, P::Contexts>, Error>
where
    P: Point,
    H: Pointer,
    B: ExpansionBackend<H::Function, P::Shape, P::Contexts>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (expected, found) = (at.coordinates().len(), multi_index.len());
    let make = || match expected == found {
        true => Monomials::dividing(multi_index),
        false => Err(ErrorKind::MultiIndexLength { expected, found }),
    };
    let polynomials = Polynomials::prepare(OPERATOR, f, backend, at, make)?;
    let mut prepared = PreparedMixedPartial {
        polynomials,
        factorial: factorial(multi_index),
        partial: Vec::new(),
        memory: Vec::new(),
    };
    prepared.read();
    let memory = prepared.partial.clone();
    Ok(PreparedMixedPartial { memory, ..prepared })
}

/// A prepared partial derivative, made by [`prepare_mixed_partial`]: ∂^α f for the multi-index α of the preparation, in the shape of the output.
///
/// [`mixed_partial`](Self::mixed_partial) returns it, [`mixed_partial_into`](Self::mixed_partial_into) writes it into a buffer. One thread at a time; clone it for another thread.
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
/// struct Term {
///     partial: PreparedMixedPartial<Arc<Cubic>, AutoTaylor, Slice<f64>, ()>,
/// }
///
/// // ∂²/∂x₀∂x₁ is 2 x₀.
/// let mut term = Term { partial: prepare_mixed_partial(Arc::new(Cubic), &AutoTaylor, &[0.0; 2], &[1, 1])? };
/// assert_eq!(term.partial.mixed_partial(&[3.0, 5.0])?, 6.0);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedMixedPartial<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    polynomials: Polynomials<H, B, X, C>,
    factorial: f64,
    /// The result of the last call.
    partial: Vec<X::Scalar>,
    /// The numbers of a buffer that do not lie in one piece.
    memory: Vec<X::Scalar>,
}

impl<H, B, X, C> Clone for PreparedMixedPartial<H, B, X, C>
where
    H: Pointer + Clone,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    fn clone(&self) -> Self {
        PreparedMixedPartial {
            polynomials: self.polynomials.clone(),
            factorial: self.factorial,
            partial: self.partial.clone(),
            memory: self.memory.clone(),
        }
    }
}

impl<H, B, X, C> PreparedMixedPartial<H, B, X, C>
where
    H: Pointer,
    X: Shape,
    C: Contexts,
    B: ExpansionBackend<H::Function, X, C>,
{
    /// Returns the partial derivative at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`mixed_partial`].
    pub fn mixed_partial<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<Partially<B, H::Function, X, C>, Error> {
        self.polynomials.run(OPERATOR, &x)?;
        self.read();
        Ok(self.partial())
    }
    /// Writes the partial derivative at `x` into `partial`, without allocation.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of [`mixed_partial_into`].
    pub fn mixed_partial_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        partial: &mut (impl Buffer<X::Scalar> + ?Sized),
        x: P,
    ) -> Result<(), Error> {
        self.polynomials.run(OPERATOR, &x)?;
        self.read();
        self.write(partial)
    }

    /// Returns `f(x)`, without derivatives: the function runs on constants.
    ///
    /// # Errors
    /// [`ErrorKind::PreparedLength`], and those of the backend.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # fn f<T: Real>(x: &[T]) -> T { x[0].powi(3) * x[1].powi(2) * x[2] }
    /// let mut prepared = prepare_mixed_partial(&f, &AutoTaylor, &[0.0; 3], &[2, 1, 1])?;
    /// assert_eq!(prepared.value(&[2.0, 3.0, 5.0])?, 360.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value<P: Point<Shape = X, Contexts = C>>(&mut self, x: P) -> Result<Partially<B, H::Function, X, C>, Error>
    where
        X::Scalar: Base,
    {
        self.polynomials.value(OPERATOR, &x)
    }

    /// Takes the last coefficient of each output: the requested monomial is a multiple of all others.
    fn read(&mut self) {
        let factorial = Base::from_f64(self.factorial);
        self.partial.clear();
        let outputs = self.polynomials.coefficients.chunks(self.polynomials.monomials.len());
        self.partial.extend(outputs.filter_map(|output| output.last()).map(|c| c.scale(factorial)));
    }

    fn partial(&self) -> Partially<B, H::Function, X, C> {
        B::Output::build(&self.partial, self.polynomials.kept())
    }

    fn write(&mut self, buffer: &mut (impl Buffer<X::Scalar> + ?Sized)) -> Result<(), Error> {
        let partial = &self.partial;
        buffer.write(&mut self.memory, |buffer| {
            check_buffer(partial.len(), buffer.len()).map_err(|kind| Error::new(kind).during(OPERATOR, B::BACKEND))?;
            buffer.copy_from_slice(partial);
            Ok(())
        })
    }
}
