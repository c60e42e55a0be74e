//! `jacobian`: chunks of inputs or outputs on several threads.
//!
//! Called by the operator; calls `dense`, or the inner backend where there is one thread.

use super::dense::{Dense, Plan};
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{Backend, MatrixRoute};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{ArrayOutput, Evaluate, KeptBy};
use differentiation_interface_core::matrix::Matrix;
use differentiation_interface_core::operators::{GradientLanes, GradientNum, JacobianBackend};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Base;

/// The state of the inner backend, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedJacobianState<Serial, Shares> {
    serial: Serial,
    shares: Shares,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    /// Whether the shares have the last value.
    is_shared: bool,
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C> JacobianBackend<F, X, C> for AutoThreaded<B>
where
    B: Backend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, GradientNum<B, X>> + Sync,
    F::Output: ArrayOutput<GradientNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type Num = GradientNum<B, X>;
    type Output = F::Output;
    type Matrix = Matrix<X::Scalar>;
    type State = ThreadedJacobianState<
        <B as JacobianBackend<F, X, C>>::State,
        Dense<B, X, C, GradientLanes<B, X>, KeptBy<F, X, C, GradientNum<B, X>>>,
    >;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let serial = JacobianBackend::<F, X, C>::unprepared(self.backend(), x)?;
        Ok(ThreadedJacobianState { serial, shares: Dense::new(), outputs: None, is_shared: false })
    }

    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        JacobianBackend::<F, X, C>::prepare(&self.backend().steady(), &mut state.serial, f, x)?;
        let outputs = <B as JacobianBackend<F, X, C>>::value(&state.serial).len();
        state.outputs = Some(outputs);
        state.is_shared = false;
        match self.jacobian_plan::<X>(x.coordinates().len(), outputs) {
            Some(plan) => state.shares.fill(self.backend(), &plan, f, x, true, None).map_err(named::<B>),
            None => Ok(()),
        }
    }

    #[inline]
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let columns = x.coordinates().len();
        if state.outputs.is_none() && self.may_divide::<X>(columns) {
            // The number of outputs decides how to divide.
            self.prepare(state, f, x)?;
        }
        match state.outputs {
            Some(outputs) if self.jacobian_plan::<X>(columns, outputs).is_some() => {
                let mut jac = Matrix::filled(outputs, columns, X::Scalar::default());
                self.fill(state, f, x, with_value, &mut jac)?;
                Ok(jac)
            }
            _ => {
                state.is_shared = false;
                JacobianBackend::<F, X, C>::matrix(&self.backend().steady(), &mut state.serial, f, x, with_value)
            }
        }
    }

    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut Matrix<X::Scalar>,
    ) -> Result<(), Error> {
        let (columns, found) = (x.coordinates().len(), jac.size());
        let expected = (state.outputs.unwrap_or(found.0), columns);
        // Without a preparation the matrix has as many rows as the function outputs, or it is refused. An error of the size
        // comes from the inner backend.
        let plan = if found == expected { self.jacobian_plan::<X>(columns, found.0) } else { None };
        state.is_shared = plan.is_some();
        let Some(plan) = plan else {
            let backend = &self.backend().steady();
            return JacobianBackend::<F, X, C>::fill(backend, &mut state.serial, f, x, with_value, jac);
        };
        let outputs = state.outputs;
        let filled = state.shares.fill(self.backend(), &plan, f, x, with_value, Some(jac.as_mut_slice()));
        filled.map_err(|error| {
            named::<B>(match error.kind() {
                ErrorKind::OutputLength { found: rows, .. } if outputs.is_none() => {
                    ErrorKind::BufferSize { expected: (rows, columns), found }.into()
                }
                _ => error,
            })
        })
    }

    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        state.is_shared = false;
        JacobianBackend::<F, X, C>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    #[inline]
    fn value(state: &Self::State) -> &[X::Scalar] {
        if state.is_shared { state.shares.y() } else { <B as JacobianBackend<F, X, C>>::value(&state.serial) }
    }
    #[inline]
    fn kept(state: &Self::State) -> &KeptBy<F, X, C, GradientNum<B, X>> {
        match state.shares.kept() {
            Some(kept) if state.is_shared => kept,
            _ => <B as JacobianBackend<F, X, C>>::kept(&state.serial),
        }
    }
}

impl<B: Backend> AutoThreaded<B> {
    fn jacobian_plan<X: Shape>(&self, inputs: usize, outputs: usize) -> Option<Plan> {
        let direction = <B::Jacobian as MatrixRoute<B>>::divides(self.backend());
        Plan::new::<B, X::Scalar, GradientLanes<B, X>>(self, direction, inputs, outputs)
    }

    /// Whether a Jacobian with as many outputs as inputs would be divided.
    fn may_divide<X: Shape>(&self, inputs: usize) -> bool {
        self.jacobian_plan::<X>(inputs, inputs).is_some()
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: Error) -> Error {
    error.during("jacobian", B::NAME)
}
