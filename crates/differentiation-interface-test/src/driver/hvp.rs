//! The kernel of `hvp`.

use super::evaluations::no_limits;
use super::rig::{Io, Kernel, cut, drive, set, set_products, slices};
use super::{Run, Task, Variant};
use crate::candidate::Candidate;
use crate::counted::Counted;
use crate::operator::Hvp;
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, SecondOrderOnly};
use differentiation_interface_core::backend::{Backend, SecondOrderBackend};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    HvpBackend, HvpSamePointBackend, PreparedHvp, PreparedHvpSamePoint, gradient_and_hvp, gradient_and_hvp_into, hvp,
    hvp_into, prepare_hvp, prepare_hvp_same_point, value_gradient_and_hvp, value_gradient_and_hvp_into,
};

struct HvpKernel<const T: usize>;

impl<B, F, P, const T: usize> Kernel<B, F, P> for HvpKernel<T>
where
    B: Send
        + HvpBackend<Counted<F>, P::Shape, P::Contexts, T>
        + HvpSamePointBackend<Counted<F>, P::Shape, P::Contexts, T>,
    P: OwnedPoint,
    F: Sync + 'static,
{
    type Prepared<'f> = PreparedHvp<&'f Counted<F>, B, P::Shape, T, P::Contexts>;
    type Held<'f> = PreparedHvpSamePoint<&'f Counted<F>, B, P::Lent<'f>, T>;
    type Matrix = ();

    const VARIANTS: &'static [Variant] = &Variant::OF_HVP;

    fn one_shot(
        f: &Counted<F>,
        backend: &B,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        let Io { seeds, value, first, second, .. } = io;
        let seeds: [&[NumberOf<P>]; T] = slices(seeds);
        match variant {
            Variant::Plain => set_products(second, &hvp(f, backend, x, seeds)?),
            Variant::Into => hvp_into(f, cut(second), backend, x, seeds)?,
            Variant::GradientAnd => {
                let (grad, products) = gradient_and_hvp(f, backend, x, seeds)?;
                set(first, &grad);
                set_products(second, &products);
            }
            Variant::GradientAndInto => gradient_and_hvp_into(f, first, cut(second), backend, x, seeds)?,
            Variant::ValueAnd => {
                let (y, grad, products) = value_gradient_and_hvp(f, backend, x, seeds)?;
                set(value, &y);
                set(first, &grad);
                set_products(second, &products);
            }
            Variant::ValueAndInto => {
                set(value, &value_gradient_and_hvp_into(f, first, cut(second), backend, x, seeds)?);
            }
        }
        Ok(())
    }

    fn prepare<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'_>,
        io: &Io<NumberOf<P>>,
    ) -> Result<Self::Prepared<'f>, Error> {
        prepare_hvp(f, backend, x, io.seeds::<T>())
    }

    #[inline]
    fn prepared(
        prepared: &mut Self::Prepared<'_>,
        variant: Variant,
        x: P::Lent<'_>,
        io: &mut Io<NumberOf<P>>,
    ) -> Result<(), Error> {
        let Io { seeds, value, first, second, .. } = io;
        let seeds: [&[NumberOf<P>]; T] = slices(seeds);
        match variant {
            Variant::Plain => set_products(second, &prepared.hvp(x, seeds)?),
            Variant::Into => prepared.hvp_into(cut(second), x, seeds)?,
            Variant::GradientAnd => {
                let (grad, products) = prepared.gradient_and_hvp(x, seeds)?;
                set(first, &grad);
                set_products(second, &products);
            }
            Variant::GradientAndInto => prepared.gradient_and_hvp_into(first, cut(second), x, seeds)?,
            Variant::ValueAnd => {
                let (y, grad, products) = prepared.value_gradient_and_hvp(x, seeds)?;
                set(value, &y);
                set(first, &grad);
                set_products(second, &products);
            }
            Variant::ValueAndInto => {
                set(value, &prepared.value_gradient_and_hvp_into(first, cut(second), x, seeds)?);
            }
        }
        Ok(())
    }

    fn prepare_again(prepared: &mut Self::Prepared<'_>, x: P::Lent<'_>, io: &Io<NumberOf<P>>) -> Result<bool, Error> {
        prepared.prepare_again(x, io.seeds::<T>()).map(|()| true)
    }

    fn hold<'f>(
        f: &'f Counted<F>,
        backend: &B,
        x: P::Lent<'f>,
        io: &Io<NumberOf<P>>,
    ) -> Result<Option<Self::Held<'f>>, Error> {
        prepare_hvp_same_point(f, backend, x, io.seeds::<T>()).map(Some)
    }

    fn held(held: &mut Self::Held<'_>, variant: Variant, io: &mut Io<NumberOf<P>>) -> Result<(), Error> {
        let Io { seeds, value, first, second, .. } = io;
        let seeds: [&[NumberOf<P>]; T] = slices(seeds);
        if variant.is_into() {
            held.hvp_into(cut(second), seeds)?;
        } else {
            set_products(second, &held.hvp(seeds)?);
        }
        set(value, &held.value());
        set(first, &held.gradient());
        Ok(())
    }
}

/// Passes the driver of a candidate with this backend to the task.
fn hvps<B, F, P, const T: usize>(
    candidate: &dyn Candidate,
    backend: &B,
    scenario: &Scenario<Hvp<T>, F, P>,
    task: &mut dyn Task,
) where
    B: SecondOrderBackend
        + HvpBackend<Counted<F>, P::Shape, P::Contexts, T>
        + HvpSamePointBackend<Counted<F>, P::Shape, P::Contexts, T>,
    P: OwnedPoint,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    drive::<HvpKernel<T>, _, _, _, _>(candidate, backend, scenario, no_limits, task);
}

impl<B, F, P, const T: usize> Run<Hvp<T>, F, P> for B
where
    B: Backend
        + SecondOrderBackend
        + HvpBackend<Counted<F>, P::Shape, P::Contexts, T>
        + HvpSamePointBackend<Counted<F>, P::Shape, P::Contexts, T>,
    P: OwnedPoint,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Hvp<T>, F, P>, task: &mut dyn Task) {
        hvps(self, self, scenario, task);
    }
}

impl<B, F, P, const T: usize> Run<Hvp<T>, F, P> for SecondOrderOnly<B>
where
    B: SecondOrderBackend
        + HvpBackend<Counted<F>, P::Shape, P::Contexts, T>
        + HvpSamePointBackend<Counted<F>, P::Shape, P::Contexts, T>,
    P: OwnedPoint,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Hvp<T>, F, P>, task: &mut dyn Task) {
        hvps(self, self.backend(), scenario, task);
    }
}

impl<B, F, P, const T: usize> Run<Hvp<T>, F, P> for AllOperators<B>
where
    B: Send
        + Sync
        + HvpBackend<Counted<F>, P::Shape, P::Contexts, T>
        + HvpSamePointBackend<Counted<F>, P::Shape, P::Contexts, T>,
    P: OwnedPoint,
    F: Sync + 'static,
    Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
{
    fn run(&self, scenario: &Scenario<Hvp<T>, F, P>, task: &mut dyn Task) {
        drive::<HvpKernel<T>, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
    }
}
