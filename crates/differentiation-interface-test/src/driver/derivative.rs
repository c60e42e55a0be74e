//! The kernel of `derivative`.

use super::evaluations::{limits, no_limits};
use super::rig::{Io, Kernel, drive, set};
use super::{Run, Task, Variant};
use crate::counted::Counted;
use crate::operator::Derivative;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::AllOperators;
use differentiation_interface_core::backend::Backend;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    DerivativeBackend, PreparedDerivative, derivative, derivative_into, prepare_derivative, value_and_derivative,
    value_and_derivative_into,
};
use differentiation_interface_core::point::NumberShape;

struct DerivativeKernel;

impl<B, F, P> Kernel<B, F, P> for DerivativeKernel
where
    B: Send + DerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedDerivative<&'f Counted<F>, B, P::Shape, P::Contexts>;
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
            Variant::Into => derivative_into(f, &mut io.first, backend, x)?,
            Variant::ValueAndInto => {
                let y = value_and_derivative_into(f, &mut io.first, backend, x)?;
                set(&mut io.value, &y);
            }
            Variant::ValueAnd => {
                let (y, der) = value_and_derivative(f, backend, x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &der);
            }
            _ => set(&mut io.first, &derivative(f, backend, x)?),
        }
        Ok(())
    }

    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        _: &Io<NumberOf<P>>,
    ) -> Result<Self::Prepared<'f>, Error> {
        prepare_derivative(f, backend, x)
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        match variant {
            Variant::Into => prepared.derivative_into(&mut io.first, x)?,
            Variant::ValueAndInto => {
                let Io { value, first, .. } = io;
                let y = prepared.value_and_derivative_into(first, x)?;
                set(value, &y);
            }
            Variant::ValueAnd => {
                let (y, der) = prepared.value_and_derivative(x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &der);
            }
            _ => set(&mut io.first, &prepared.derivative(x)?),
        }
        Ok(())
    }
}

impl<B, F, P> Run<Derivative, F, P> for B
where
    B: Backend + DerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Derivative, F, P>, task: &mut dyn Task) {
        drive::<DerivativeKernel, _, _, _, _>(self, self, scenario, limits::<B>("derivative"), task);
    }
}

impl<B, F, P> Run<Derivative, F, P> for AllOperators<B>
where
    B: Send + Sync + DerivativeBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint<Shape: NumberShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Derivative, F, P>, task: &mut dyn Task) {
        drive::<DerivativeKernel, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
    }
}
