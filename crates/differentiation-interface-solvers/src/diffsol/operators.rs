//! The traits of `diffsol` for [`Equations`] and its parts.
//!
//! Called by the solvers. Calls [`Derivatives`]; the solvers' methods return no errors, so these are kept in
//! [`Equations::first_error`] and the result is NaN.

use super::derivatives::{At, Both, ByParameters, ByState, Derivatives, Engine};
use super::equations::{Equations, OdeBackend};
use super::ode::{Initial, Mass, Ode, Out, Part, Rhs, Root};
use crate::first_error::FirstError;
use ::diffsol::{
    ConstantOp, ConstantOpSens, ConstantOpSensAdjoint, LinearOp, LinearOpTranspose, Matrix, NonLinearOp,
    NonLinearOpAdjoint, NonLinearOpJacobian, NonLinearOpSens, NonLinearOpSensAdjoint, OdeEquations, OdeEquationsRef,
    Op, ParameterisedOp, UnitCallable, Vector,
};
use differentiation_interface::context::Parameter;
use differentiation_interface::{DerivativeMatrix, error::Error};
use std::ops::Deref;

/// A function of state, parameters and time, and its derivatives: the right-hand side, the outputs, the event functions.
pub struct Nonlinear<'a, P, B, M, K>
where
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
{
    equations: &'a Equations<P, B, M>,
    derivatives: &'a Both<P, B, K>,
}

/// The initial state, a function of parameters and time.
pub struct InitialState<'a, P, B: OdeBackend<P>, M: Matrix<T = f64>>(&'a Equations<P, B, M>);

/// The product with the mass matrix.
pub struct MassProduct<'a, P, B: OdeBackend<P>, M: Matrix<T = f64>>(&'a Equations<P, B, M>);

/// Sizes of an operator with all states: its type, where its equations are, its number of outputs.
macro_rules! sizes {
    ($operator:ty, $equations:ident => $at:expr, $outputs:expr) => {
        impl<P, B, M> Op for $operator
        where
            P: Deref<Target: Ode>,
            B: OdeBackend<P>,
            M: Matrix<T = f64>,
        {
            type T = f64;
            type V = M::V;
            type M = M;
            type C = M::C;
            fn context(&self) -> &M::C {
                let $equations = self;
                &$at.context
            }
            fn nstates(&self) -> usize {
                let $equations = self;
                $at.ode.states()
            }
            fn nout(&self) -> usize {
                let $equations = self;
                $outputs(&*$at.ode)
            }
            fn nparams(&self) -> usize {
                let $equations = self;
                $at.ode.parameters()
            }
        }
    };
}
sizes! { InitialState<'_, P, B, M>, op => op.0, Initial::outputs }
sizes! { MassProduct<'_, P, B, M>, op => op.0, Mass::outputs }
sizes! { Equations<P, B, M>, op => op, outputs_or_states }

/// Number of outputs of the equations: the state if there is no output function.
fn outputs_or_states<O: Ode>(ode: &O) -> usize {
    if ode.outputs() == 0 { ode.states() } else { ode.outputs() }
}

impl<P, B, M, K> Op for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    type T = f64;
    type V = M::V;
    type M = M;
    type C = M::C;
    fn context(&self) -> &M::C {
        &self.equations.context
    }
    fn nstates(&self) -> usize {
        self.equations.ode.states()
    }
    fn nout(&self) -> usize {
        K::outputs(&*self.equations.ode)
    }
    fn nparams(&self) -> usize {
        self.equations.ode.parameters()
    }
}

/// Fills `out`; with NaN after an error, which is kept.
fn fill(error: &FirstError, out: &mut [f64], result: Result<(), Error>) {
    if error.keep(result).is_none() {
        out.fill(f64::NAN);
    }
}

/// Writes a Jacobian column by column; NaN after an error, which is kept.
fn columns<M: Matrix<T = f64>>(
    error: &FirstError,
    target: &mut M,
    (rows, columns): (usize, usize),
    context: &M::C,
    result: Result<impl DerivativeMatrix<f64>, Error>,
) {
    let jac = error.keep(result);
    let mut column = M::V::zeros(rows, context.clone());
    for j in 0..columns {
        column.for_each_batch_host([], |column, [], _| {
            for (i, entry) in column.iter_mut().enumerate() {
                *entry = jac.as_ref().map_or(f64::NAN, |jac| jac.entry(i, j));
            }
        });
        target.set_column(j, &column);
    }
}

/// The numbers of a vector, for a call that has no lane to run in.
fn numbers<V: Vector<T = f64>>(v: &V) -> Vec<f64> {
    v.clone_as_vec()
}

impl<P, B, M, K> NonLinearOp for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    fn call_inplace(&self, x: &M::V, t: f64, y: &mut M::V) {
        let equations = self.equations;
        y.for_each_batch_host([x, &equations.parameters], |out, [y, p], _| {
            // What the function does not write must not look like a result.
            out.fill(f64::NAN);
            K::write(&*equations.ode, out, y, p, t);
        });
    }
}

impl<P, B, M, K> NonLinearOpJacobian for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    fn jac_mul_inplace(&self, x: &M::V, t: f64, v: &M::V, y: &mut M::V) {
        let equations = self.equations;
        y.for_each_batch_host([x, &equations.parameters, v], |out, [y, p, v], _| {
            let at = (y, Parameter(p), Parameter(&t));
            let result = self.derivatives.by_state.pushforward_into(out, at, v);
            fill(&equations.error, out, result);
        });
    }
    fn jacobian_inplace(&self, x: &M::V, t: f64, target: &mut M) {
        let (equations, y) = (self.equations, numbers(x));
        let p = numbers(&equations.parameters);
        let jac = self.derivatives.by_state.jacobian((&y, Parameter(&p), Parameter(&t)));
        columns(&equations.error, target, (self.nout(), self.nstates()), &equations.context, jac);
    }
}

impl<P, B, M, K> NonLinearOpAdjoint for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    /// The convention of `diffsol`: minus the transposed product.
    fn jac_transpose_mul_inplace(&self, x: &M::V, t: f64, v: &M::V, y: &mut M::V) {
        let equations = self.equations;
        y.for_each_batch_host([x, &equations.parameters, v], |out, [y, p, v], _| {
            let at = (y, Parameter(p), Parameter(&t));
            let result = self.derivatives.by_state.pullback_into(out, at, v);
            fill(&equations.error, out, result);
            out.iter_mut().for_each(|entry| *entry = -*entry);
        });
    }
}

impl<P, B, M, K> NonLinearOpSens for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    fn sens_mul_inplace(&self, x: &M::V, t: f64, v: &M::V, y: &mut M::V) {
        let equations = self.equations;
        y.for_each_batch_host([x, &equations.parameters, v], |out, [y, p, v], _| {
            let at = (p, Parameter(y), Parameter(&t));
            let result = self.derivatives.by_parameters.pushforward_into(out, at, v);
            fill(&equations.error, out, result);
        });
    }
    fn sens_inplace(&self, x: &M::V, t: f64, target: &mut M) {
        let (equations, y) = (self.equations, numbers(x));
        let p = numbers(&equations.parameters);
        let jac = self.derivatives.by_parameters.jacobian((&p, Parameter(&y), Parameter(&t)));
        columns(&equations.error, target, (self.nout(), self.nparams()), &equations.context, jac);
    }
}

impl<P, B, M, K> NonLinearOpSensAdjoint for Nonlinear<'_, P, B, M, K>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P> + Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    M: Matrix<T = f64>,
    K: Part,
{
    /// The convention of `diffsol`: minus the transposed product.
    fn sens_transpose_mul_inplace(&self, x: &M::V, t: f64, v: &M::V, y: &mut M::V) {
        let equations = self.equations;
        y.for_each_batch_host([x, &equations.parameters, v], |out, [y, p, v], _| {
            let at = (p, Parameter(y), Parameter(&t));
            let result = self.derivatives.by_parameters.pullback_into(out, at, v);
            fill(&equations.error, out, result);
            out.iter_mut().for_each(|entry| *entry = -*entry);
        });
    }
}

impl<P, B, M> ConstantOp for InitialState<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    fn call_inplace(&self, t: f64, y: &mut M::V) {
        y.for_each_batch_host([&self.0.parameters], |out, [p], _| {
            out.fill(f64::NAN);
            self.0.ode.initial(out, p, t);
        });
    }
}

impl<P, B, M> InitialState<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    /// Runs `product` with the derivatives by the parameters, for each lane.
    fn products(
        &self,
        t: f64,
        v: &M::V,
        y: &mut M::V,
        product: impl Fn(&Derivatives<ByParameters<P, Initial>, B>, &mut [f64], At<'_>, &[f64]) -> Result<(), Error>,
    ) {
        y.for_each_batch_host([&self.0.parameters, v], |out, [p, v], _| {
            let result = product(&self.0.initial, out, (p, Parameter(&[]), Parameter(&t)), v);
            fill(&self.0.error, out, result);
        });
    }
}

impl<P, B, M> ConstantOpSens for InitialState<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    fn sens_mul_inplace(&self, t: f64, v: &M::V, y: &mut M::V) {
        self.products(t, v, y, Derivatives::pushforward_into);
    }
}

impl<P, B, M> ConstantOpSensAdjoint for InitialState<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    /// The convention of `diffsol`: minus the transposed product.
    fn sens_transpose_mul_inplace(&self, t: f64, v: &M::V, y: &mut M::V) {
        self.products(t, v, y, |derivatives, out, at, v| {
            derivatives.pullback_into(out, at, v)?;
            out.iter_mut().for_each(|entry| *entry = -*entry);
            Ok(())
        });
    }
}

/// Adds `beta` times the old content to `product`, and writes the sum over it.
fn gemv(y: &mut [f64], beta: f64, product: &[f64]) {
    for (y, product) in y.iter_mut().zip(product) {
        // The old content does not count for `beta` 0, not even if it is NaN.
        *y = if beta == 0.0 { *product } else { product + beta * *y };
    }
}

impl<P, B, M> LinearOp for MassProduct<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    fn gemv_inplace(&self, x: &M::V, t: f64, beta: f64, y: &mut M::V) {
        let mut product = vec![f64::NAN; self.nout()];
        y.for_each_batch_host([x], |y, [x], _| {
            self.0.ode.mass(&mut product, x, t);
            gemv(y, beta, &product);
        });
    }
}

impl<P, B, M> LinearOpTranspose for MassProduct<'_, P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    fn gemv_transpose_inplace(&self, x: &M::V, t: f64, beta: f64, y: &mut M::V) {
        let mut product = vec![f64::NAN; self.nstates()];
        y.for_each_batch_host([x], |y, [x], _| {
            // Linear, so the point does not matter.
            let at = (x, Parameter(&[][..]), Parameter(&t));
            let result = self.0.mass.pullback_into(&mut product, at, x);
            fill(&self.0.error, &mut product, result);
            gemv(y, beta, &product);
        });
    }
}

impl<'a, P, B, M> OdeEquationsRef<'a> for Equations<P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    type Mass = MassProduct<'a, P, B, M>;
    type Rhs = Nonlinear<'a, P, B, M, Rhs>;
    type Root = Nonlinear<'a, P, B, M, Root>;
    type Init = InitialState<'a, P, B, M>;
    type Out = Nonlinear<'a, P, B, M, Out>;
    type Reset = ParameterisedOp<'a, UnitCallable<M>>;
}

impl<P, B, M> OdeEquations for Equations<P, B, M>
where
    P: Deref<Target: Ode>,
    B: OdeBackend<P>,
    M: Matrix<T = f64>,
{
    fn rhs(&self) -> Nonlinear<'_, P, B, M, Rhs> {
        Nonlinear { equations: self, derivatives: &self.rhs }
    }
    fn mass(&self) -> Option<MassProduct<'_, P, B, M>> {
        self.ode.has_mass().then_some(MassProduct(self))
    }
    fn root(&self) -> Option<Nonlinear<'_, P, B, M, Root>> {
        (self.ode.roots() > 0).then_some(Nonlinear { equations: self, derivatives: &self.root })
    }
    fn out(&self) -> Option<Nonlinear<'_, P, B, M, Out>> {
        (self.ode.outputs() > 0).then_some(Nonlinear { equations: self, derivatives: &self.out })
    }
    fn init(&self) -> InitialState<'_, P, B, M> {
        InitialState(self)
    }
    fn set_params(&mut self, p: &M::V) {
        self.parameters.copy_from(p);
    }
    fn get_params(&self, p: &mut M::V) {
        p.copy_from(&self.parameters);
    }
}
