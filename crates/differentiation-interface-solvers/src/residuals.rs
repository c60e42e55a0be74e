//! A function from a vector to a vector, with its Jacobian, behind `&self`.
//!
//! Used by the adapters for least squares and root finders. Calls a prepared Jacobian.

use crate::shared::Shared;
use crate::value::value;
use differentiation_interface::Function;
use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::evaluate::ArrayOutput;
use differentiation_interface::operators::{JacobianBackend, PreparedJacobian, prepare_jacobian};
use differentiation_interface::point::Slice;
use std::ops::Deref;
use std::sync::OnceLock;

/// A function from a vector to a vector and its Jacobian, made by [`residuals`]. All methods take `&self`; several threads can call
/// them at the same time.
pub struct Residuals<H, B>
where
    H: Deref<Target: Sized>,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    function: H,
    inputs: usize,
    /// The number of outputs of the first value.
    outputs: OnceLock<usize>,
    jacobian: Shared<PreparedJacobian<H, B, Slice<f64>>>,
}

/// Prepares the Jacobian of `f` at points of the length of `x`.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. The function is an object that accepts all numbers and returns a `Vec<T>`, an
/// array or a `Result` of one, or `in_place(object, length)`.
///
/// # Errors
/// Those of [`prepare_jacobian`].
pub fn residuals<H, B>(f: H, backend: &B, x: &[f64]) -> Result<Residuals<H, B>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    let jacobian = Shared::new(prepare_jacobian(f.clone(), backend, x)?);
    Ok(Residuals { function: f, inputs: x.len(), outputs: OnceLock::new(), jacobian })
}

impl<H, B> Residuals<H, B>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    /// Returns the value at `x`.
    ///
    /// # Errors
    /// If `x` differs in length from the prepared point, or the function returns `Err` or a different number of outputs than in the first
    /// value.
    pub fn value(&self, x: &[f64]) -> Result<Vec<f64>, Error>
    where
        H::Target: Function<[f64], Output: ArrayOutput<f64>>,
    {
        let numbers = value(&*self.function, self.inputs, x, <[f64]>::to_vec)?;
        let (expected, found) = (*self.outputs.get_or_init(|| numbers.len()), numbers.len());
        if found == expected {
            return Ok(numbers);
        }
        // The Jacobian says it in its own words.
        Err(self.jacobian(x).err().unwrap_or_else(|| Error::new(ErrorKind::OutputLength { expected, found })))
    }

    /// Returns the Jacobian at `x`: a matrix of the backend's type.
    ///
    /// # Errors
    /// Those of [`PreparedJacobian::jacobian`].
    pub fn jacobian(&self, x: &[f64]) -> Result<B::Matrix, Error> {
        self.jacobian.with(|prepared| prepared.jacobian(x))
    }
}
