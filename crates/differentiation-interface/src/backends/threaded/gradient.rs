//! `gradient`: chunks of inputs on several threads.
//!
//! Called by the operator; calls `dense`, or the inner backend where there is one thread.

use super::dense::{Dense, Plan};
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{Backend, MatrixRoute};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, KeptBy, NumberOutput};
use differentiation_interface_core::operators::{GradientBackend, GradientLanes, GradientNum};
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Base;

/// The state of the inner backend, and the shares of the threads.
#[derive(Clone)]
pub struct ThreadedGradientState<Serial, Shares> {
    serial: Serial,
    shares: Shares,
    /// Whether the shares have the last value.
    is_shared: bool,
}

#[diagnostic::do_not_recommend]
impl<B, F, X, C> GradientBackend<F, X, C> for AutoThreaded<B>
where
    B: Backend,
    X: Shape,
    C: for<'v> Contexts<Values<'v>: Send + Sync>,
    F: Evaluate<X, C, GradientNum<B, X>> + Sync,
    F::Output: NumberOutput<GradientNum<B, X>>,
{
    const BACKEND: &'static str = B::NAME;
    type State = ThreadedGradientState<
        <B as GradientBackend<F, X, C>>::State,
        Dense<B, X, C, GradientLanes<B, X>, KeptBy<F, X, C, GradientNum<B, X>>>,
    >;

    #[inline]
    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let serial = GradientBackend::<F, X, C>::unprepared(self.backend(), x)?;
        Ok(ThreadedGradientState { serial, shares: Dense::new(), is_shared: false })
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        GradientBackend::<F, X, C>::prepare(self.backend(), &mut state.serial, f, x)?;
        match self.gradient_plan::<X>(x.coordinates().len()) {
            Some(plan) => state.shares.fill(self.backend(), &plan, f, x, true, None).map_err(named::<B>),
            None => Ok(()),
        }
    }
    #[inline]
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        grad: &mut [X::Scalar],
    ) -> Result<(), Error> {
        let plan = self.gradient_plan::<X>(grad.len());
        state.is_shared = plan.is_some();
        match plan {
            Some(plan) => state.shares.fill(self.backend(), &plan, f, x, with_value, Some(grad)).map_err(named::<B>),
            None => GradientBackend::<F, X, C>::fill(self.backend(), &mut state.serial, f, x, with_value, grad),
        }
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
        GradientBackend::<F, X, C>::evaluate(self.backend(), &mut state.serial, f, x, y)
    }
    #[inline]
    fn value(state: &Self::State) -> X::Scalar {
        match state.shares.y() {
            [y] if state.is_shared => *y,
            _ => <B as GradientBackend<F, X, C>>::value(&state.serial),
        }
    }
    #[inline]
    fn stateless<P: Point<Shape = X, Contexts = C>>(
        &self,
        f: &F,
        x: At<'_, P>,
        value: Option<&mut X::Scalar>,
        grad: &mut [X::Scalar],
    ) -> bool {
        GradientBackend::<F, X, C>::stateless(self.backend(), f, x, value, grad)
    }
}

impl<B: Backend> AutoThreaded<B> {
    fn gradient_plan<X: Shape>(&self, inputs: usize) -> Option<Plan> {
        // A matrix of one row is divided by columns only: the division of a row gives one part.
        let direction = <B::Gradient as MatrixRoute<B>>::divides(self.backend());
        Plan::new::<B, X::Scalar, GradientLanes<B, X>>(self, direction, inputs, 1)
    }
}

/// Names the operator in an error.
fn named<B: Backend>(error: Error) -> Error {
    error.during("gradient", B::NAME)
}
