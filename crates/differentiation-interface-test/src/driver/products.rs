//! The kernels of `pushforward` and `pullback`.

use super::evaluations::{limits, no_limits};
use super::rig::{Io, Kernel, cut, drive, set, set_products, slices};
use super::{Run, Task, Variant};
use crate::counted::Counted;
use crate::operator::{Pullback, Pushforward};
use crate::point::{NumberOf, OwnedPoint};
use crate::scenario::Scenario;
use crate::wrappers::{AllOperators, ArraysOnly};
use differentiation_interface_core::backend::Backend;
use differentiation_interface_core::container::Numbers;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::{
    PreparedPullback, PreparedPullbackSamePoint, PreparedPushforward, PreparedPushforwardSamePoint, PullbackBackend,
    PushforwardBackend, prepare_pullback, prepare_pullback_same_point, prepare_pushforward,
    prepare_pushforward_same_point, pullback, pullback_into, pushforward, pushforward_into, value_and_pullback,
    value_and_pullback_into, value_and_pushforward, value_and_pushforward_into,
};

/// The two products, which differ in names and in the number type only.
macro_rules! products {
    ($($Operator:ident $Kernel:ident $name:literal: $plain:ident $into:ident $value_and:ident $value_and_into:ident,
       $prepare:ident $Prepared:ident, $hold:ident $Held:ident,
       backend $Needed:ident<$($tangents:ident)?>, other $other:ident $Other:ident<$($one:literal)?>;)*) => {$(
        #[doc = concat!("The kernel of `", $name, "`.")]
        struct $Kernel<const T: usize>;

        impl<B, F, P, const T: usize> Kernel<B, F, P> for $Kernel<T>
        where
            B: Send
                + $Needed<Counted<F>, P::Shape, P::Contexts $(, $tangents)?>
                + $Other<Counted<F>, P::Shape, P::Contexts $(, $one)?>,
            P: OwnedPoint,
            F: Sync + 'static,
        {
            type Prepared<'f> = $Prepared<&'f Counted<F>, B, P::Shape, T, P::Contexts>;
            type Held<'f> = $Held<&'f Counted<F>, B, P::Lent<'f>, T>;
            type Matrix = ();

            fn one_shot(
                f: &Counted<F>,
                backend: &B,
                variant: Variant,
                x: P::Lent<'_>,
                io: &mut Io<NumberOf<P>>,
            ) -> Result<(), Error> {
                let Io { seeds, value, first, .. } = io;
                let seeds: [&[NumberOf<P>]; T] = slices(seeds);
                match variant {
                    Variant::Into => $into(f, cut(first), backend, x, seeds)?,
                    Variant::ValueAndInto => set(value, &$value_and_into(f, cut(first), backend, x, seeds)?),
                    Variant::ValueAnd => {
                        let (y, products) = $value_and(f, backend, x, seeds)?;
                        set(value, &y);
                        set_products(first, &products);
                    }
                    _ => set_products(first, &$plain(f, backend, x, seeds)?),
                }
                Ok(())
            }

            fn prepare<'f>(
                f: &'f Counted<F>,
                backend: &B,
                x: P::Lent<'_>,
                io: &Io<NumberOf<P>>,
            ) -> Result<Self::Prepared<'f>, Error> {
                $prepare(f, backend, x, io.seeds::<T>())
            }

            #[inline]
            fn prepared(
                prepared: &mut Self::Prepared<'_>,
                variant: Variant,
                x: P::Lent<'_>,
                io: &mut Io<NumberOf<P>>,
            ) -> Result<(), Error> {
                let Io { seeds, value, first, .. } = io;
                let seeds: [&[NumberOf<P>]; T] = slices(seeds);
                match variant {
                    Variant::Into => prepared.$into(cut(first), x, seeds)?,
                    Variant::ValueAndInto => set(value, &prepared.$value_and_into(cut(first), x, seeds)?),
                    Variant::ValueAnd => {
                        let (y, products) = prepared.$value_and(x, seeds)?;
                        set(value, &y);
                        set_products(first, &products);
                    }
                    _ => set_products(first, &prepared.$plain(x, seeds)?),
                }
                Ok(())
            }

            fn prepare_again(
                prepared: &mut Self::Prepared<'_>,
                x: P::Lent<'_>,
                io: &Io<NumberOf<P>>,
            ) -> Result<bool, Error> {
                prepared.prepare_again(x, io.seeds::<T>()).map(|()| true)
            }

            fn hold<'f>(
                f: &'f Counted<F>,
                backend: &B,
                x: P::Lent<'f>,
                io: &Io<NumberOf<P>>,
            ) -> Result<Option<Self::Held<'f>>, Error> {
                $hold(f, backend, x, io.seeds::<T>()).map(Some)
            }

            fn held(held: &mut Self::Held<'_>, variant: Variant, io: &mut Io<NumberOf<P>>) -> Result<(), Error> {
                let Io { seeds, value, first, .. } = io;
                let seeds: [&[NumberOf<P>]; T] = slices(seeds);
                if variant.is_into() {
                    held.$into(cut(first), seeds)?;
                } else {
                    set_products(first, &held.$plain(seeds)?);
                }
                set(value, &held.value());
                Ok(())
            }

            fn other_kind(
                f: &Counted<F>,
                backend: &B,
                x: P::Lent<'_>,
                seed: &[NumberOf<P>],
            ) -> Option<Result<Vec<NumberOf<P>>, Error>> {
                Some($other(f, backend, x, [seed]).map(|[product]| {
                    let mut numbers = Vec::new();
                    product.append_to(&mut numbers);
                    numbers
                }))
            }
        }

        impl<B, F, P, const T: usize> Run<$Operator<T>, F, P> for B
        where
            B: Backend
                + $Needed<Counted<F>, P::Shape, P::Contexts $(, $tangents)?>
                + $Other<Counted<F>, P::Shape, P::Contexts $(, $one)?>,
            P: OwnedPoint,
            F: Sync + 'static,
            Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<$Operator<T>, F, P>, task: &mut dyn Task) {
                drive::<$Kernel<T>, _, _, _, _>(self, self, scenario, limits::<B>($name), task);
            }
        }

        impl<B, F, P, const T: usize> Run<$Operator<T>, F, P> for AllOperators<B>
        where
            B: Send
                + Sync
                + $Needed<Counted<F>, P::Shape, P::Contexts $(, $tangents)?>
                + $Other<Counted<F>, P::Shape, P::Contexts $(, $one)?>,
            P: OwnedPoint,
            F: Sync + 'static,
            Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<$Operator<T>, F, P>, task: &mut dyn Task) {
                drive::<$Kernel<T>, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
            }
        }

        impl<B, F, P, const T: usize> Run<$Operator<T>, F, P> for ArraysOnly<B>
        where
            B: Send
                + Sync
                + $Needed<Counted<F>, P::Shape, P::Contexts $(, $tangents)?>
                + $Other<Counted<F>, P::Shape, P::Contexts $(, $one)?>,
            P: OwnedPoint,
            F: Sync + 'static,
            Counted<F>: Evaluate<P::Shape, P::Contexts, NumberOf<P>>,
        {
            fn run(&self, scenario: &Scenario<$Operator<T>, F, P>, task: &mut dyn Task) {
                drive::<$Kernel<T>, _, _, _, _>(self, self.backend(), scenario, no_limits, task);
            }
        }
    )*};
}
products! {
    Pushforward PushforwardKernel "pushforward":
        pushforward pushforward_into value_and_pushforward value_and_pushforward_into,
        prepare_pushforward PreparedPushforward, prepare_pushforward_same_point PreparedPushforwardSamePoint,
        backend PushforwardBackend<T>, other pullback PullbackBackend<>;
    Pullback PullbackKernel "pullback":
        pullback pullback_into value_and_pullback value_and_pullback_into,
        prepare_pullback PreparedPullback, prepare_pullback_same_point PreparedPullbackSamePoint,
        backend PullbackBackend<>, other pushforward PushforwardBackend<1>;
}
