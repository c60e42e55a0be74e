//! Least-squares problems of [`levenberg-marquardt`](https://docs.rs/levenberg-marquardt), with Jacobians by any backend.
//!
//! Called by users, who pass the problem to `LevenbergMarquardt::minimize`. Calls [`Residuals`].
//!
//! The solver uses `nalgebra` 0.34, re-exported as [`nalgebra`]; residuals and Jacobians are copied into its vectors and matrices.

use crate::first_error::FirstError;
use crate::residuals::{Residuals, residuals};
use ::levenberg_marquardt::LeastSquaresProblem;
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::ArrayOutput;
use differentiation_interface::operators::JacobianBackend;
use differentiation_interface::point::Slice;
use differentiation_interface::{DerivativeMatrix, Function};
use nalgebra::{DMatrix, DVector, Dyn, VecStorage};
pub use nalgebra_0_34 as nalgebra;
use std::ops::Deref;

/// A vector of residuals whose sum of squares is to be minimised, made by [`least_squares`].
pub struct LeastSquares<H, B>
where
    H: Deref<Target: Sized>,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    residuals: Residuals<H, B>,
    parameters: DVector<f64>,
    error: FirstError,
}

/// Makes a problem of `levenberg-marquardt` of the residuals `f`, with Jacobians by `backend`. The solver starts at `x`.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. The function is an object that accepts all numbers and returns a `Vec<T>`, an
/// array or a `Result` of one, or `in_place(object, length)`.
///
/// # Errors
/// Those of [`prepare_jacobian`](differentiation_interface::operators::prepare_jacobian).
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::levenberg_marquardt::least_squares;
/// use levenberg_marquardt::LevenbergMarquardt;
///
/// #[differentiable]
/// fn circle_and_line(x: &[f64]) -> [f64; 2] {
///     [x[0] * x[0] + x[1] * x[1] - 25.0, x[0] - x[1] - 1.0]
/// }
///
/// let problem = least_squares(&CircleAndLine, &AutoForwardDiff::default(), &[3.0, 1.0])?;
/// let (problem, report) = LevenbergMarquardt::new().minimize(problem);
/// assert!(report.termination.was_successful());
/// let x = problem.parameters();
/// assert!((x[0] - 4.0).abs() < 1e-12 && (x[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
pub fn least_squares<H, B>(f: H, backend: &B, x: &[f64]) -> Result<LeastSquares<H, B>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    Ok(LeastSquares {
        residuals: residuals(f, backend, x)?,
        parameters: DVector::from_column_slice(x),
        error: FirstError::default(),
    })
}

impl<H, B> LeastSquares<H, B>
where
    H: Deref<Target: Sized>,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    /// The parameters: where the solver starts, after `minimize` where it has ended.
    pub fn parameters(&self) -> &[f64] {
        self.parameters.as_slice()
    }

    /// The first error of a value or a Jacobian. The solver ends with `TerminationReason::User` after one.
    pub fn first_error(&self) -> &FirstError {
        &self.error
    }
}

impl<H, B> LeastSquaresProblem<f64, Dyn, Dyn> for LeastSquares<H, B>
where
    H: Deref<Target: Function<[f64], Output: ArrayOutput<f64>> + Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    type ResidualStorage = VecStorage<f64, Dyn, nalgebra::U1>;
    type JacobianStorage = VecStorage<f64, Dyn, Dyn>;
    type ParameterStorage = VecStorage<f64, Dyn, nalgebra::U1>;

    fn set_params(&mut self, x: &DVector<f64>) {
        // Of another length too: the next evaluation returns the error.
        self.parameters.clone_from(x);
    }
    fn params(&self) -> DVector<f64> {
        self.parameters.clone()
    }
    fn residuals(&self) -> Option<DVector<f64>> {
        self.error.keep(self.residuals.value(self.parameters())).map(DVector::from_vec)
    }
    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let jac = self.error.keep(self.residuals.jacobian(self.parameters()))?;
        let (rows, columns) = jac.size();
        Some(DMatrix::from_fn(rows, columns, |i, j| jac.entry(i, j)))
    }
}
