//! The kernel of `jacobian`, for plain backends and for those with a matrix of their own.

use super::evaluations::{Limits, limits, no_limits};
use super::rig::{Io, Kernel, Stored, drive, set};
use super::{Run, Task, Variant};
use crate::candidate::Candidate;
use crate::counted::Counted;
use crate::operator::Jacobian;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, ArraysOnly, JacobianOnly, MatricesOnly};
use differentiation_interface_core::backend::Backend;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    JacobianBackend, PreparedJacobian, jacobian, jacobian_into, prepare_jacobian, value_and_jacobian,
    value_and_jacobian_into,
};
use differentiation_interface_core::point::ArrayShape;

struct JacobianKernel;

impl<B, F, P> Kernel<B, F, P> for JacobianKernel
where
    B: Send + JacobianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedJacobian<&'f Counted<F>, B, P::Shape, P::Contexts>;
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
            (Variant::Into, Some(Stored(jac))) => jacobian_into(f, jac, backend, x)?,
            (Variant::ValueAndInto, Some(Stored(jac))) => {
                let y = value_and_jacobian_into(f, jac, backend, x)?;
                set(&mut io.value, &y);
            }
            (Variant::Plain | Variant::Into, _) => io.matrix = Some(Stored(jacobian(f, backend, x)?)),
            _ => {
                let (y, jac) = value_and_jacobian(f, backend, x)?;
                set(&mut io.value, &y);
                io.matrix = Some(Stored(jac));
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
        prepare_jacobian(f, backend, x)
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>, Stored<B::Matrix>>,
    ) -> Result<(), Error> {
        match (variant, &mut io.matrix) {
            (Variant::Into, Some(Stored(jac))) => prepared.jacobian_into(jac, x)?,
            (Variant::ValueAndInto, Some(Stored(jac))) => {
                set(&mut io.value, &prepared.value_and_jacobian_into(jac, x)?);
            }
            (Variant::Plain | Variant::Into, _) => io.matrix = Some(Stored(prepared.jacobian(x)?)),
            _ => {
                let (y, jac) = prepared.value_and_jacobian(x)?;
                set(&mut io.value, &y);
                io.matrix = Some(Stored(jac));
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
fn jacobians<B, F, P>(
    candidate: &dyn Candidate,
    backend: &B,
    scenario: &Scenario<Jacobian, F, P>,
    limits: Limits,
    task: &mut dyn Task,
) where
    B: Send + Sync + JacobianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    drive::<JacobianKernel, _, _, _, _>(candidate, backend, scenario, limits, task);
}

impl<B, F, P> Run<Jacobian, F, P> for B
where
    B: Backend + JacobianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
    P: OwnedPoint<Shape: ArrayShape>,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Jacobian, F, P>, task: &mut dyn Task) {
        jacobians(self, self, scenario, limits::<B>("jacobian"), task);
    }
}

/// Candidates that wrap a backend for Jacobians.
macro_rules! wrapped {
    ($($Wrapper:ident),*) => {$(
        impl<B, F, P> Run<Jacobian, F, P> for $Wrapper<B>
        where
            B: Send + Sync + JacobianBackend<Counted<F>, P::Shape, P::Contexts, Matrix: Send>,
            P: OwnedPoint<Shape: ArrayShape>,
            F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<Jacobian, F, P>, task: &mut dyn Task) {
                jacobians(self, self.backend(), scenario, no_limits, task);
            }
        }
    )*};
}
wrapped!(JacobianOnly, MatricesOnly, AllOperators, ArraysOnly);
