//! The kernel of `second_derivative`.

use super::evaluations::no_limits;
use super::rig::{Io, Kernel, drive, set};
use super::{Run, Task, Variant};
use crate::candidate::Candidate;
use crate::counted::Counted;
use crate::operator::SecondDerivative;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, SecondOrderOnly};
use differentiation_interface_core::backend::{Backend, SecondOrderBackend};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    PreparedSecondDerivative, SecondDerivativeBackend, prepare_second_derivative, second_derivative,
    second_derivative_into, value_derivative_and_second_derivative, value_derivative_and_second_derivative_into,
};
use differentiation_interface_core::point::NumberShape;

struct SecondDerivativeKernel;

impl<B, F, P> Kernel<B, F, P> for SecondDerivativeKernel
where
    B: Send + SecondDerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedSecondDerivative<&'f Counted<F>, B, P::Shape, P::Contexts>;
    type Held<'f> = ();
    type Matrix = ();

    fn one_shot(
        f: &Counted<F>,
        backend: &B,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        match variant {
            Variant::Into => second_derivative_into(f, &mut io.second, backend, x)?,
            Variant::ValueAndInto => {
                let Io { value, first, second, .. } = io;
                set(value, &value_derivative_and_second_derivative_into(f, first, second, backend, x)?);
            }
            Variant::ValueAnd => {
                let (y, der, der2) = value_derivative_and_second_derivative(f, backend, x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &der);
                set(&mut io.second, &der2);
            }
            _ => set(&mut io.second, &second_derivative(f, backend, x)?),
        }
        Ok(())
    }

    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        _: &Io<NumberOf<P>>,
    ) -> Result<Self::Prepared<'f>, Error> {
        prepare_second_derivative(f, backend, x)
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        match variant {
            Variant::Into => prepared.second_derivative_into(&mut io.second, x)?,
            Variant::ValueAndInto => {
                let Io { value, first, second, .. } = io;
                set(value, &prepared.value_derivative_and_second_derivative_into(first, second, x)?);
            }
            Variant::ValueAnd => {
                let (y, der, der2) = prepared.value_derivative_and_second_derivative(x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &der);
                set(&mut io.second, &der2);
            }
            _ => set(&mut io.second, &prepared.second_derivative(x)?),
        }
        Ok(())
    }
}

/// Passes the driver of a candidate with this backend to the task.
fn second_derivatives<B, F, P>(
    candidate: &dyn Candidate,
    backend: &B,
    scenario: &Scenario<SecondDerivative, F, P>,
    task: &mut dyn Task,
) where
    B: SecondOrderBackend + SecondDerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    drive::<SecondDerivativeKernel, _, _, _, _>(candidate, backend, scenario, no_limits, task);
}

impl<B, F, P> Run<SecondDerivative, F, P> for B
where
    B: Backend + SecondOrderBackend + SecondDerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<SecondDerivative, F, P>, task: &mut dyn Task) {
        second_derivatives(self, self, scenario, task);
    }
}

impl<B, F, P> Run<SecondDerivative, F, P> for SecondOrderOnly<B>
where
    B: SecondOrderBackend + SecondDerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<SecondDerivative, F, P>, task: &mut dyn Task) {
        second_derivatives(self, self.backend(), scenario, task);
    }
}

impl<B, F, P> Run<SecondDerivative, F, P> for AllOperators<B>
where
    B: Send + Sync + SecondDerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<SecondDerivative, F, P>, task: &mut dyn Task) {
        drive::<SecondDerivativeKernel, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
    }
}
