//! Differential equations of [`diffsol`](https://docs.rs/diffsol), with all derivatives by any backend.
//!
//! Called by users, who pass [`equations`] to `OdeBuilder::build_from_eqn`. `derivatives` prepares the operators, `operators` implements
//! the solver's traits with them.
//!
//! From one [`Ode`], that is f(y, p, t), y₀(p, t) and what else the problem has, the solvers get: Jacobians and their products for implicit methods,
//! derivatives with respect to parameters for `bdf_sens` and its kind, transposed products for adjoint methods.

mod derivatives;
mod operators;

pub use operators::{InitialState, MassProduct, Nonlinear};

use crate::first_error::FirstError;
use ::diffsol::{Context, Matrix, Vector};
use derivatives::{Both, Derivatives};
pub use derivatives::{ByParameters, ByState, Engine, Others};
use differentiation_interface::Real;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A system of differential equations M(t) dy/dt = f(y, p, t), y(t₀) = y₀(p, t₀) with the state y and the parameters p.
///
/// The methods are generic over their numbers, and write every entry of their first argument. Only the first four are required.
pub trait Ode: Sized {
    /// Length of the state.
    fn states(&self) -> usize;
    /// Number of parameters.
    fn parameters(&self) -> usize;
    /// Writes f(y, p, t).
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], t: T);
    /// Writes y₀(p, t).
    fn initial<T: Real>(&self, y: &mut [T], p: &[T], t: T);

    /// Whether there is a mass matrix other than the identity.
    fn has_mass(&self) -> bool {
        false
    }
    /// Writes the product M(t) v; linear in `v`.
    fn mass<T: Real>(&self, product: &mut [T], v: &[T], _t: T) {
        product.copy_from_slice(v);
    }
    /// Number of outputs; 0 if the output is the state.
    fn outputs(&self) -> usize {
        0
    }
    /// Writes the outputs. Adjoint methods differentiate their integrals or their values at given times.
    fn out<T: Real>(&self, _out: &mut [T], _y: &[T], _p: &[T], _t: T) {}
    /// Number of event functions.
    fn roots(&self) -> usize {
        0
    }
    /// Writes the event functions: the solver stops where one changes its sign.
    fn root<T: Real>(&self, _root: &mut [T], _y: &[T], _p: &[T], _t: T) {}
}

/// A part of an [`Ode`] that is differentiated.
pub trait Part: 'static {
    /// Number of outputs.
    fn outputs<O: Ode>(ode: &O) -> usize;
    /// Writes them.
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T);
}

/// f(y, p, t).
pub struct Rhs;
/// y₀(p, t).
pub struct Initial;
/// M(t) y.
pub struct Mass;
/// The outputs.
pub struct Out;
/// The event functions.
pub struct Root;

impl Part for Rhs {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.rhs(out, y, p, t);
    }
}
impl Part for Initial {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], _: &[T], p: &[T], t: T) {
        ode.initial(out, p, t);
    }
}
impl Part for Mass {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], _: &[T], t: T) {
        ode.mass(out, y, t);
    }
}
impl Part for Out {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.outputs()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.out(out, y, p, t);
    }
}
impl Part for Root {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.roots()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.root(out, y, p, t);
    }
}

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
    ode: P,
    rhs: Both<P, B, Rhs>,
    initial: Derivatives<ByParameters<P, Initial>, B>,
    mass: Derivatives<ByState<P, Mass>, B>,
    out: Both<P, B, Out>,
    root: Both<P, B, Root>,
    parameters: M::V,
    context: M::C,
    error: Arc<FirstError>,
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
