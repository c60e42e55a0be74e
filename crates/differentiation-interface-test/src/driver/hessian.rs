//! The kernel of `hessian`, for plain backends and for those with a matrix of their own.

use super::evaluations::no_limits;
use super::rig::{Io, Kernel, Stored, drive, set};
use super::{Run, Task, Variant};
use crate::candidate::Candidate;
use crate::counted::Counted;
use crate::operator::Hessian;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, HessianOnly, MatricesOnly, SecondOrderOnly};
use differentiation_interface_core::backend::{Backend, SecondOrderBackend};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    HessianBackend, PreparedHessian, hessian, hessian_into, prepare_hessian, value_gradient_and_hessian,
    value_gradient_and_hessian_into,
};
use differentiation_interface_core::point::ArrayShape;

struct HessianKernel;

impl<B, F, P> Kernel<B, F, P> for HessianKernel
where
    B: Send + HessianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedHessian<&'f Counted<F>, B, P::Shape, P::Contexts>;
    type Held<'f> = ();
    type Matrix = Stored<B::Matrix>;

    fn one_shot(
        f: &Counted<F>,
        backend: &B,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>, Stored<B::Matrix>>,
    ) -> Result<(), Error> {
        match (variant, &mut io.matrix) {
            (Variant::Into, Some(Stored(hess))) => hessian_into(f, hess, backend, x)?,
            (Variant::ValueAndInto, Some(Stored(hess))) => {
                let y = value_gradient_and_hessian_into(f, &mut io.first, hess, backend, x)?;
                set(&mut io.value, &y);
            }
            (Variant::Plain | Variant::Into, _) => io.matrix = Some(Stored(hessian(f, backend, x)?)),
            _ => {
                let (y, grad, hess) = value_gradient_and_hessian(f, backend, x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &grad);
                io.matrix = Some(Stored(hess));
            }
        }
        Ok(())
    }

    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        _: &Io<NumberOf<P>, Stored<B::Matrix>>,
    ) -> Result<Self::Prepared<'f>, Error> {
        prepare_hessian(f, backend, x)
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>, Stored<B::Matrix>>,
    ) -> Result<(), Error> {
        match (variant, &mut io.matrix) {
            (Variant::Into, Some(Stored(hess))) => prepared.hessian_into(hess, x)?,
            (Variant::ValueAndInto, Some(Stored(hess))) => {
                let y = prepared.value_gradient_and_hessian_into(&mut io.first, hess, x)?;
                set(&mut io.value, &y);
            }
            (Variant::Plain | Variant::Into, _) => io.matrix = Some(Stored(prepared.hessian(x)?)),
            _ => {
                let (y, grad, hess) = prepared.value_gradient_and_hessian(x)?;
                set(&mut io.value, &y);
                set(&mut io.first, &grad);
                io.matrix = Some(Stored(hess));
            }
        }
        Ok(())
    }

    fn prepare_again(
        prepared: &mut Self::Prepared<'_>,
        x: P::Lent<'_>,
        _: &Io<NumberOf<P>, Stored<B::Matrix>>,
    ) -> Result<bool, Error> {
        prepared.prepare_again(x).map(|()| true)
    }
}

/// Passes the driver of a candidate with this backend to the task.
fn hessians<B, F, P>(candidate: &dyn Candidate, backend: &B, scenario: &Scenario<Hessian, F, P>, task: &mut dyn Task)
where
    B: Send + Sync + HessianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    drive::<HessianKernel, _, _, _, _>(candidate, backend, scenario, no_limits, task);
}

impl<B, F, P> Run<Hessian, F, P> for B
where
    B: Backend + HessianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Hessian, F, P>, task: &mut dyn Task) {
        hessians(self, self, scenario, task);
    }
}

/// Candidates that wrap a backend for Hessians.
macro_rules! wrapped {
    ($($Wrapper:ident $(: $Bound:ident)?),*) => {$(
        impl<B $(: $Bound)?, F, P> Run<Hessian, F, P> for $Wrapper<B>
        where
            B: Send + Sync + HessianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
            P: OwnedPoint<Shape: ArrayShape>,
            F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<Hessian, F, P>, task: &mut dyn Task) {
                hessians(self, self.backend(), scenario, task);
            }
        }
    )*};
}
wrapped!(HessianOnly, MatricesOnly, AllOperators, SecondOrderOnly: SecondOrderBackend);
