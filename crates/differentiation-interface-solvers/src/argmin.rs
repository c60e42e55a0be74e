//! Problems of [`argmin`](https://docs.rs/argmin): `CostFunction`, `Gradient`, `Hessian`, `Operator` and `Jacobian` of a function.
//!
//! Called by users, who pass the problem to `argmin::core::Executor`. Calls [`Objective`] and [`Residuals`].
//!
//! The parameters are a `Vec<f64>`, an `Array1<f64>` of `ndarray` 0.16 (feature `argmin-ndarray`) or a `DVector<f64>` of `nalgebra` 0.34
//! (feature `argmin-nalgebra`), the newest versions that `argmin-math` 0.5 knows; see [`Parameters`]. With the feature `rayon` of
//! `argmin`, several threads evaluate one problem at the same time, each with work memory of its own.

use crate::objective::{Objective, objective};
use crate::residuals::{Residuals, residuals};
use crate::shared::Shared;
use ::argmin::core;
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::{ArrayOutput, NumberOutput};
use differentiation_interface::operators::{
    GradientBackend, HessianBackend, JacobianBackend, PreparedHessian, prepare_hessian,
};
use differentiation_interface::point::Slice;
use differentiation_interface::{DerivativeMatrix, Function};
#[cfg(feature = "argmin-nalgebra")]
pub use nalgebra_0_34 as nalgebra;
#[cfg(feature = "argmin-ndarray")]
pub use ndarray_0_16 as ndarray;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Deref;

/// A vector that `argmin` moves, and the matrix that belongs to it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a vector of parameters for `argmin`",
    note = "take a `Vec<f64>`, or an `Array1<f64>` of ndarray 0.16 with the feature `argmin-ndarray`, or a `DVector<f64>` of nalgebra 0.34 with `argmin-nalgebra`"
)]
pub trait Parameters: Sized {
    /// The type of Hessians and Jacobians.
    type Matrix;
    /// The numbers, one after the other.
    fn numbers(&self) -> Cow<'_, [f64]>;
    /// Makes a vector.
    fn vector(numbers: Vec<f64>) -> Self;
    /// Makes a matrix with the given numbers of rows and columns and the entries `entry(i, j)`.
    fn matrix(size: (usize, usize), entry: impl Fn(usize, usize) -> f64) -> Self::Matrix;
}

impl Parameters for Vec<f64> {
    type Matrix = Vec<Vec<f64>>;
    fn numbers(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self)
    }
    fn vector(numbers: Vec<f64>) -> Self {
        numbers
    }
    fn matrix((rows, columns): (usize, usize), entry: impl Fn(usize, usize) -> f64) -> Self::Matrix {
        (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect()
    }
}

#[cfg(feature = "argmin-ndarray")]
impl Parameters for ndarray::Array1<f64> {
    type Matrix = ndarray::Array2<f64>;
    fn numbers(&self) -> Cow<'_, [f64]> {
        self.as_slice().map_or_else(|| Cow::Owned(self.to_vec()), Cow::Borrowed)
    }
    fn vector(numbers: Vec<f64>) -> Self {
        numbers.into()
    }
    fn matrix(size: (usize, usize), entry: impl Fn(usize, usize) -> f64) -> Self::Matrix {
        ndarray::Array2::from_shape_fn(size, |(i, j)| entry(i, j))
    }
}

#[cfg(feature = "argmin-nalgebra")]
impl Parameters for nalgebra::DVector<f64> {
    type Matrix = nalgebra::DMatrix<f64>;
    fn numbers(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(self.as_slice())
    }
    fn vector(numbers: Vec<f64>) -> Self {
        numbers.into()
    }
    fn matrix((rows, columns): (usize, usize), entry: impl Fn(usize, usize) -> f64) -> Self::Matrix {
        nalgebra::DMatrix::from_fn(rows, columns, entry)
    }
}

/// A matrix of a backend as one of `V`.
fn matrix<V: Parameters>(matrix: &impl DerivativeMatrix<f64>) -> V::Matrix {
    V::matrix(matrix.size(), |i, j| matrix.entry(i, j))
}

/// A function to minimise, made by [`minimization`]: `CostFunction` and `Gradient`, and `Hessian` after
/// [`with_hessian`](Self::with_hessian).
pub struct Minimization<H, B, V, S = ()>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
{
    objective: Objective<H, B>,
    hessian: S,
    vector: PhantomData<fn() -> V>,
}

/// Makes a problem of `argmin` of the function `f`, with gradients by `backend` at points of the length of `x`.
///
/// `f` is a pointer to the function: `&f` or an `Arc`. The function is an object that accepts all numbers: a struct with
/// `impl<T: Real> Function<[T]>`, or what `#[differentiable]` makes. It returns a number, or a `Result` of one.
///
/// # Errors
/// Those of [`prepare_gradient`](differentiation_interface::operators::prepare_gradient).
///
/// # Example
/// ```
/// use argmin::core::{Executor, State};
/// use argmin::solver::linesearch::MoreThuenteLineSearch;
/// use argmin::solver::quasinewton::LBFGS;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::argmin::minimization;
///
/// #[differentiable]
/// fn bowl(x: &[f64]) -> f64 {
///     (x[0] - 1.0).powi(2) + 3.0 * (x[1] + 2.0).powi(2)
/// }
///
/// let start = vec![0.0; 2];
/// let problem = minimization(&Bowl, &AutoReverseDiff::default(), &start)?;
/// let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5);
/// let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(50)).run()?;
/// let x = result.state().get_best_param().unwrap();
/// assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] + 2.0).abs() < 1e-6);
/// # Ok::<(), argmin::core::Error>(())
/// ```
pub fn minimization<H, B, V>(f: H, backend: &B, x: &V) -> Result<Minimization<H, B, V>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    Ok(Minimization { objective: objective(f, backend, &x.numbers())?, hessian: (), vector: PhantomData })
}

impl<H, B, V> Minimization<H, B, V>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    /// Adds the Hessian by `backend`, a single backend, a [`SecondOrder`](differentiation_interface::backend::SecondOrder) pair or
    /// `AutoSparse` of one.
    ///
    /// # Errors
    /// Those of [`prepare_hessian`].
    pub fn with_hessian<B2>(self, backend: &B2, x: &V) -> Result<Minimization<H, B, V, PreparedCurvature<H, B2>>, Error>
    where
        B2: HessianBackend<H::Target, Slice<f64>, ()>,
    {
        let hessian = Shared::new(prepare_hessian(self.objective.function.clone(), backend, &*x.numbers())?);
        Ok(Minimization { objective: self.objective, hessian: PreparedCurvature(hessian), vector: PhantomData })
    }
}

/// The prepared Hessian of a [`Minimization`].
pub struct PreparedCurvature<H, B>(Shared<PreparedHessian<H, B, Slice<f64>>>)
where
    H: Deref<Target: Sized> + Clone,
    B: HessianBackend<H::Target, Slice<f64>, ()>;

impl<H, B, V, S> core::CostFunction for Minimization<H, B, V, S>
where
    H: Deref<Target: Function<[f64], Output: NumberOutput<f64>> + Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Output = f64;
    fn cost(&self, x: &V) -> Result<f64, core::Error> {
        Ok(self.objective.value(&x.numbers())?)
    }
}

impl<H, B, V, S> core::Gradient for Minimization<H, B, V, S>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Gradient = V;
    fn gradient(&self, x: &V) -> Result<V, core::Error> {
        Ok(V::vector(self.objective.gradient(&x.numbers())?))
    }
}

impl<H, B, V, B2> core::Hessian for Minimization<H, B, V, PreparedCurvature<H, B2>>
where
    H: Deref<Target: Sized> + Clone,
    B: GradientBackend<H::Target, Slice<f64>, ()>,
    B2: HessianBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Hessian = V::Matrix;
    fn hessian(&self, x: &V) -> Result<V::Matrix, core::Error> {
        let hessian = self.hessian.0.with(|prepared| prepared.hessian(&*x.numbers()))?;
        Ok(matrix::<V>(&hessian))
    }
}

/// A vector of residuals, made by [`equations`]: `Operator` and `Jacobian`, and `CostFunction` as half the sum of squares.
pub struct Equations<H, B, V>
where
    H: Deref<Target: Sized>,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
{
    residuals: Residuals<H, B>,
    vector: PhantomData<fn() -> V>,
}

/// Makes a problem of `argmin` of the residuals `f`, with Jacobians by `backend` at points of the length of `x`, for `GaussNewton` and
/// solvers of its kind.
///
/// # Errors
/// Those of [`prepare_jacobian`](differentiation_interface::operators::prepare_jacobian).
pub fn equations<H, B, V>(f: H, backend: &B, x: &V) -> Result<Equations<H, B, V>, Error>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    Ok(Equations { residuals: residuals(f, backend, &x.numbers())?, vector: PhantomData })
}

impl<H, B, V> core::Operator for Equations<H, B, V>
where
    H: Deref<Target: Function<[f64], Output: ArrayOutput<f64>> + Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Output = V;
    fn apply(&self, x: &V) -> Result<V, core::Error> {
        Ok(V::vector(self.residuals.value(&x.numbers())?))
    }
}

impl<H, B, V> core::CostFunction for Equations<H, B, V>
where
    H: Deref<Target: Function<[f64], Output: ArrayOutput<f64>> + Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Output = f64;
    fn cost(&self, x: &V) -> Result<f64, core::Error> {
        Ok(0.5 * self.residuals.value(&x.numbers())?.iter().map(|r| r * r).sum::<f64>())
    }
}

impl<H, B, V> core::Jacobian for Equations<H, B, V>
where
    H: Deref<Target: Sized> + Clone,
    B: JacobianBackend<H::Target, Slice<f64>, ()>,
    V: Parameters,
{
    type Param = V;
    type Jacobian = V::Matrix;
    fn jacobian(&self, x: &V) -> Result<V::Matrix, core::Error> {
        Ok(matrix::<V>(&self.residuals.jacobian(&x.numbers())?))
    }
}
