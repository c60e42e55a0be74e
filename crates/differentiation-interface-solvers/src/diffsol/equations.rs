//! The equations that solvers hold: a model with its prepared derivatives, its parameters and the first error.
//!
//! Made by users with [`equations`]. Holds `derivatives`; `operators` implements the solvers' traits for it.

use super::derivatives::{Both, ByParameters, ByState, Derivatives, Engine};
use super::ode::{Initial, Mass, Ode, Out, Part, Rhs, Root};
use crate::first_error::FirstError;
use ::diffsol::{Context, Matrix, Vector};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// The backends that differentiate all parts of an [`Ode`], which `P` points to. Every single backend does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend for the differential equations of `{P}`",
    note = "`P` points to a type that implements `Ode`: `&model` or an `Arc`; backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ..."
)]
pub trait OdeBackend<P>:
    Engine<ByState<P, Rhs>>
    + Engine<ByParameters<P, Rhs>>
    + Engine<ByParameters<P, Initial>>
    + Engine<ByState<P, Mass>>
    + Engine<ByState<P, Out>>
    + Engine<ByParameters<P, Out>>
    + Engine<ByState<P, Root>>
    + Engine<ByParameters<P, Root>>
{
}

impl<P, B> OdeBackend<P> for B where
    B: Engine<ByState<P, Rhs>>
        + Engine<ByParameters<P, Rhs>>
        + Engine<ByParameters<P, Initial>>
        + Engine<ByState<P, Mass>>
        + Engine<ByState<P, Out>>
        + Engine<ByParameters<P, Out>>
        + Engine<ByState<P, Root>>
        + Engine<ByParameters<P, Root>>
{
}

/// The equations of an [`Ode`] as `diffsol` takes them, made by [`equations`].
pub struct Equations<P, B, M>
where
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    pub(super) ode: P,
    pub(super) rhs: Both<P, B, Rhs>,
    pub(super) initial: Derivatives<ByParameters<P, Initial>, B>,
    pub(super) mass: Derivatives<ByState<P, Mass>, B>,
    pub(super) out: Both<P, B, Out>,
    pub(super) root: Both<P, B, Root>,
    pub(super) parameters: M::V,
    pub(super) context: M::C,
    pub(super) error: Arc<FirstError>,
    matrix: PhantomData<fn() -> M>,
}

/// Makes the equations of `ode` for `OdeBuilder::build_from_eqn`, with all derivatives by `backend`.
///
/// `ode` is a pointer to the model: `&model` or an `Arc`. Each derivative is prepared when a solver asks for it for the first time. The
/// matrices `M` are those of the builder.
///
/// # Example
/// ```
/// use diffsol::{MatrixCommon, NalgebraLU, NalgebraMat, OdeBuilder, SensitivitiesOdeSolverMethod};
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_solvers::diffsol::{Ode, equations};
///
/// /// dy/dt = -k y, y(0) = 1: at t = 1, y = exp(-k) and dy/dk = -exp(-k).
/// struct Decay;
/// impl Ode for Decay {
///     fn states(&self) -> usize {
///         1
///     }
///     fn parameters(&self) -> usize {
///         1
///     }
///     fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], _: T) {
///         dy[0] = -p[0] * y[0];
///     }
///     fn initial<T: Real>(&self, y: &mut [T], _: &[T], _: T) {
///         y[0] = T::one();
///     }
/// }
///
/// let builder = OdeBuilder::<NalgebraMat<f64>>::new().p([2.0]).rtol(1e-8).atol([1e-8]).sens_rtol(1e-8).sens_atol([1e-8]);
/// let problem = builder.build_from_eqn(equations(&Decay, &AutoForwardDiff::default()))?;
/// let (y, dy, _) = problem.bdf_sens::<NalgebraLU<f64>>()?.solve_dense_sensitivities(&[1.0])?;
/// assert!((y.inner()[(0, 0)] - (-2_f64).exp()).abs() < 1e-6);
/// assert!((dy[0].inner()[(0, 0)] + (-2_f64).exp()).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equations<P, B, M>(ode: P, backend: &B) -> Equations<P, B, M>
where
    P: Deref<Target: Ode> + Clone,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    let context = M::C::default();
    debug_assert_eq!(context.nbatch(), 1, "the default context of `diffsol` has one batch");
    Equations {
        rhs: Both::new(&ode, backend),
        initial: Derivatives::new(ByParameters::new(ode.clone()), Initial::outputs(&*ode), backend),
        mass: Derivatives::new(ByState::new(ode.clone()), Mass::outputs(&*ode), backend),
        out: Both::new(&ode, backend),
        root: Both::new(&ode, backend),
        parameters: M::V::zeros(ode.parameters(), context.clone()),
        context,
        error: Arc::default(),
        matrix: PhantomData,
        ode,
    }
}

impl<P, B, M> Equations<P, B, M>
where
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    /// The first error of a derivative, which the solver met as a NaN. Keep a clone of the `Arc` before the equations move into
    /// a problem, or ask `problem.eqn`.
    pub fn first_error(&self) -> &Arc<FirstError> {
        &self.error
    }
}
