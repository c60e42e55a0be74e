//! A function to minimise or sample from, with its gradient, behind `&self`.
//!
//! Used by the adapters for `argmin` and `nuts-rs`, and by users as a closure for optimisers that take one. Calls a prepared gradient.

use crate::first_error::FirstError;
use crate::shared::Shared;
use crate::value::value;
use differentiation_interface::Function;
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::NumberOutput;
use differentiation_interface::operators::{GradientBackend, PreparedGradient, prepare_gradient};
use differentiation_interface::point::Slice;
use std::ops::Deref;

/// A function from a vector to a number and its gradient, made by [`objective`]. All methods take `&self`; several threads can call
/// them at the same time.
pub struct Objective<H, B>
where
    H: Deref<Target: Sized>,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    pub(crate) function: H,
    inputs: usize,
    gradient: Shared<PreparedGradient<H, B, Slice<f64>>>,
    error: FirstError,
}

/// Prepares the gradient of `f` at points of the length of `x`, for optimisers that take closures.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. The function is an object that accepts all numbers: a struct with
/// `impl<T: Real> Function<[T]>`, or what `#[differentiable]` makes. It returns a number, or a `Result` of one.
///
/// # Errors
/// Those of [`prepare_gradient`].
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::objective;
///
/// #[differentiable]
/// fn cubic(x: &[f64]) -> f64 {
///     x[0] * x[0] * x[1]
/// }
///
/// // What `nlopt` takes: the value, and the gradient if it is wanted.
/// let f = objective(&Cubic, &AutoReverseDiff::default(), &[0.0; 2])?;
/// let mut grad = [0.0; 2];
/// assert_eq!(f.call(&[2.0, 5.0], Some(&mut grad)), 20.0);
/// assert_eq!(grad, [20.0, 4.0]);
/// assert_eq!(f.call(&[1.0, 3.0], None), 3.0);
/// # Ok::<(), Error>(())
/// ```
pub fn objective<H, B>(f: H, backend: &B, x: &[f64]) -> Result<Objective<H, B>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    let gradient = Shared::new(prepare_gradient(f.clone(), backend, x)?);
    Ok(Objective { function: f, inputs: x.len(), gradient, error: FirstError::default() })
}

impl<H, B> Objective<H, B>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the value at `x`.
    ///
    /// # Errors
    /// If `x` differs in length from the prepared point, and what the function returns in `Err`.
    pub fn value(&self, x: &[f64]) -> Result<f64, Error>
    where
        H::Target: Function<[f64], Output: NumberOutput<f64>>,
    {
        value(&*self.function, self.inputs, x, |y| y.first().copied().unwrap_or(f64::NAN))
    }

    /// Returns the gradient at `x`.
    ///
    /// # Errors
    /// Those of [`PreparedGradient::gradient`].
    pub fn gradient(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        self.gradient.with(|prepared| prepared.gradient(x))
    }

    /// Returns the value at `x` and writes the gradient into `grad`.
    ///
    /// # Errors
    /// Those of [`PreparedGradient::value_and_gradient_into`].
    pub fn value_and_gradient_into(&self, grad: &mut [f64], x: &[f64]) -> Result<f64, Error> {
        self.gradient.with(|prepared| prepared.value_and_gradient_into(grad, x))
    }

    /// Returns the value at `x`, and writes the gradient if there is a place for it: the form of `nlopt`, also that of others (`OpEn`:
    /// one closure calls with `None`, the other with `Some`).
    ///
    /// Such closures cannot return our [`Error`]. After one, the value and the gradient are NaN, and [`first_error`](Self::first_error)
    /// holds it.
    pub fn call(&self, x: &[f64], grad: Option<&mut [f64]>) -> f64
    where
        H::Target: Function<[f64], Output: NumberOutput<f64>>,
    {
        let Some(grad) = grad else {
            return self.error.keep(self.value(x)).unwrap_or(f64::NAN);
        };
        self.error.keep(self.value_and_gradient_into(grad, x)).unwrap_or_else(|| {
            grad.fill(f64::NAN);
            f64::NAN
        })
    }

    /// [`call`](Self::call) as a closure.
    pub fn into_fn(self) -> impl Fn(&[f64], Option<&mut [f64]>) -> f64
    where
        H::Target: Function<[f64], Output: NumberOutput<f64>>,
    {
        move |x, grad| self.call(x, grad)
    }

    /// The first error of [`call`](Self::call).
    pub fn first_error(&self) -> &FirstError {
        &self.error
    }
}
