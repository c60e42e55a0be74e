//! Newton's method of [`eqsolver`](https://docs.rs/eqsolver) for systems of equations, with Jacobians by any backend.
//!
//! Called by users. Calls [`Residuals`] in the two closures that the solver takes.

use crate::first_error::FirstError;
use crate::residuals::{Residuals, residuals};
use ::eqsolver::SolverError;
use ::eqsolver::multivariable::MultiVarNewton;
use differentiation_interface::evaluate::ArrayOutput;
use differentiation_interface::operators::JacobianBackend;
use differentiation_interface::point::Slice;
use differentiation_interface::{DerivativeMatrix, Function, error};
use nalgebra_0_35::{DMatrix, DVector};
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

/// Equations f(x) = 0, made by [`root`].
pub struct Root<H, B>
where
    H: Deref<Target: Sized>,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    residuals: Residuals<H, B>,
    tolerance: f64,
    steps: usize,
}

/// Why no root was found.
#[derive(Debug)]
pub enum Error {
    /// A value or a Jacobian could not be computed.
    Derivative(error::Error),
    /// The solver found none.
    Solver(SolverError),
    /// The iteration left the domain of the function: its values are not finite there.
    NotFinite,
    /// As many equations as unknowns are needed.
    Equations {
        /// The number of outputs of the function.
        equations: usize,
        /// The length of the point.
        unknowns: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Derivative(error) => error.fmt(f),
            Error::Solver(error) => error.fmt(f),
            Error::NotFinite => f.write_str(
                "root with eqsolver: Newton's method went to a point that is not finite; start nearer to the root",
            ),
            Error::Equations { equations, unknowns } => write!(
                f,
                "root with eqsolver: {equations} equations for {unknowns} unknowns; return as many numbers as the point has, or minimise the residuals"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Derivative(error) => Some(error),
            Error::Solver(error) => Some(error),
            Error::NotFinite | Error::Equations { .. } => None,
        }
    }
}

/// Makes the equations f(x) = 0 with Jacobians by `backend`, for points of the length of `x`.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. The function is an object that accepts all numbers and returns as many numbers as it
/// takes, as a `Vec<T>`, an array, or a `Result` of one.
///
/// # Errors
/// Those of [`prepare_jacobian`](differentiation_interface::operators::prepare_jacobian).
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::eqsolver::root;
///
/// #[differentiable]
/// fn circle_and_line(x: &[f64]) -> [f64; 2] {
///     [x[0] * x[0] + x[1] * x[1] - 25.0, x[0] - x[1] - 1.0]
/// }
///
/// let x = root(&CircleAndLine, &AutoForwardDiff::default(), &[3.0, 1.0])?.solve(&[3.0, 1.0])?;
/// assert!((x[0] - 4.0).abs() < 1e-12 && (x[1] - 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn root<H, B>(f: H, backend: &B, x: &[f64]) -> Result<Root<H, B>, error::Error>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    Ok(Root { residuals: residuals(f, backend, x)?, tolerance: 1e-10, steps: 50 })
}

impl<H, B> Root<H, B>
where
    H: Deref<Target: Function<[f64], Output: ArrayOutput<f64>> + Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    /// The largest entry of the last step of the iteration; 1e-10 unless set.
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The largest number of steps; 50 unless set.
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Finds a root by Newton's method from `start`.
    ///
    /// # Errors
    /// [`Error::Equations`] if there are not as many equations as unknowns, [`Error::Derivative`] if a value or Jacobian cannot be computed, [`Error::Solver`] if a Jacobian is singular or the steps are used up.
    pub fn solve(&self, start: &[f64]) -> Result<Vec<f64>, Error> {
        let failed = FirstError::default();
        let n = start.len();
        // Of the call whose number of equations is another one.
        let equations = Cell::new(n);
        let is_square = |count| {
            if count != n {
                equations.set(count);
            }
            count == n
        };
        // The solver's closures return no errors; values that are not finite make it stop, or end with a point that is not finite.
        let value = |x: DVector<f64>| {
            let y = failed.keep(self.residuals.value(x.as_slice()));
            let y = y.filter(|y| is_square(y.len()));
            y.map_or_else(|| DVector::from_element(n, f64::NAN), DVector::from_vec)
        };
        let jacobian = |x: DVector<f64>| {
            let jac = failed.keep(self.residuals.jacobian(x.as_slice()));
            let jac = jac.filter(|jac| is_square(jac.size().0));
            jac.map_or_else(|| DMatrix::zeros(n, n), |jac| DMatrix::from_fn(n, n, |i, j| jac.entry(i, j)))
        };
        let mut solver = MultiVarNewton::new(value, jacobian);
        let found = solver.with_tol(self.tolerance).with_itermax(self.steps).solve(DVector::from_column_slice(start));
        if let Some(error) = failed.take() {
            return Err(Error::Derivative(error));
        }
        if equations.get() != n {
            return Err(Error::Equations { equations: equations.get(), unknowns: n });
        }
        let x = found.map_err(Error::Solver)?;
        if x.iter().all(|v| v.is_finite()) { Ok(x.data.into()) } else { Err(Error::NotFinite) }
    }
}
