//! The kernel of `gradient`.

use super::evaluations::{limits, no_limits};
use super::rig::{Io, Kernel, drive, set};
use super::{Run, Task, Variant};
use crate::counted::Counted;
use crate::operator::Gradient;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, ArraysOnly};
use differentiation_interface_core::backend::Backend;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    GradientBackend, PreparedGradient, gradient, gradient_into, prepare_gradient, value_and_gradient,
    value_and_gradient_into,
};

struct GradientKernel;

impl<B, F, P> Kernel<B, F, P> for GradientKernel
where
    B: Send + GradientBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedGradient<&'f Counted<F>, B, P::Shape, P::Contexts>;
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
            Variant::Into => gradient_into(f, &mut io.first, backend, x)?,
            Variant::ValueAndInto => {
                let y = value_and_gradient_into(f, &mut io.first, backend, x)?;
                set(&mut io.value, &y);
            }
            Variant::ValueAnd => {
                let (y, grad) = value_and_gradient(f, backend, x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &grad);
            }
            _ => set(&mut io.first, &gradient(f, backend, x)?),
        }
        Ok(())
    }

    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        _: &Io<NumberOf<P>>,
    ) -> Result<Self::Prepared<'f>, Error> {
        prepare_gradient(f, backend, x)
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        match variant {
            Variant::Into => prepared.gradient_into(&mut io.first, x)?,
            Variant::ValueAndInto => {
                let y = prepared.value_and_gradient_into(&mut io.first, x)?;
                set(&mut io.value, &y);
            }
            Variant::ValueAnd => {
                let (y, grad) = prepared.value_and_gradient(x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &grad);
            }
            _ => set(&mut io.first, &prepared.gradient(x)?),
        }
        Ok(())
    }

    fn prepare_again(prepared: &mut Self::Prepared<'_>, x: P::Lent<'_>, _: &Io<NumberOf<P>>) -> Result<bool, Error> {
        prepared.prepare_again(x).map(|()| true)
    }
}

impl<B, F, P> Run<Gradient, F, P> for B
where
    B: Backend + GradientBackend<Counted<F>, P::Shape, P::Contexts>,
    P: OwnedPoint,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Gradient, F, P>, task: &mut dyn Task) {
        drive::<GradientKernel, _, _, _, _>(self, self, scenario, limits::<B>("gradient"), task);
    }
}

/// Wrappers of backends that have the operator.
macro_rules! wrapped {
    ($($Wrapper:ident),*) => {$(
        impl<B, F, P> Run<Gradient, F, P> for $Wrapper<B>
        where
            B: Send + Sync + GradientBackend<Counted<F>, P::Shape, P::Contexts>,
            P: OwnedPoint,
            F: Sync + 'static,
            Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<Gradient, F, P>, task: &mut dyn Task) {
                drive::<GradientKernel, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
            }
        }
    )*};
}
wrapped!(AllOperators, ArraysOnly);
