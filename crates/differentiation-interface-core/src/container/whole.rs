//! A container as a point and as an output: the shape [`Whole`], and the macro that implements [`Point`](crate::point::Point) and
//! [`Output`](crate::evaluate::Output) for a container.

use super::{Container, Object, joined, place, show_pieces, show_pieces_mut};
use crate::backend::Lanes;
use crate::point::{ArrayShape, Shape};
use crate::recordings::Words;
use crate::scalar::Scalar;
use std::marker::PhantomData;
use std::ops::Range;

/// The shape of `&W` for a container `W`: the function takes `&W` with active numbers, a gradient is a `W`.
///
/// A preparation is named with it: `PreparedGradient<Arc<Model>, AutoForwardDiff, Whole<Params>>`.
pub struct Whole<W>(PhantomData<W>);

impl<W: Object> Shape for Whole<W> {
    type Scalar = W::Scalar;
    type Active<N: Scalar> = W::With<N>;
    type Like = W;
    type Held<N: Scalar> = W::With<N>;
    const OPAQUE: bool = W::OPAQUE;
    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L;

    #[inline]
    fn show<'a, N: Scalar>(flat: &'a [N], held: &'a mut W::With<N>, changed: Range<usize>) -> &'a W::With<N> {
        match joined::shown(flat, held, show_pieces, show_pieces_mut) {
            Some(object) => object,
            None if changed.is_empty() => held,
            None => {
                place(held, flat, changed);
                held
            }
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers_mut<N: Scalar>(held: &mut W::With<N>) -> Option<&mut [N]> {
        held.own_memory()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lengths<N: Scalar>(held: &W::With<N>, words: &mut Words<'_>) -> bool {
        W::IS_LIST || held.lengths(words)
    }
    fn constants<N: Scalar>(held: &W::With<N>, words: &mut Words<'_>) -> bool {
        held.constants(words)
    }
}

impl<W: Object> ArrayShape for Whole<W> {}

/// Makes containers points and outputs: `whole! { [generics] Container; }`. `#[derive(Container)]` calls it.
#[doc(hidden)]
#[macro_export]
macro_rules! whole {
    ($([$($generics:tt)*] $container:ty;)*) => {
        $crate::point_of! { $([$($generics)*] $container;)* }
        $(impl<$($generics)*> $crate::function::ByReference for $container {})*
        $crate::seen_as_itself! { $([$($generics)*] $container;)* }
        $crate::in_place_functions! { $([$($generics)*] <$container as $crate::container::Container>::Scalar, $container;)* }
        $crate::output_of! { $([$($generics)*] $container;)* }
    };
}

/// Makes containers, views among them, points: the results have the type of the owned object.
#[doc(hidden)]
#[macro_export]
macro_rules! point_of {
    ($([$($generics:tt)*] $container:ty;)*) => {$(
        impl<$($generics)*> $crate::point::Point for &$container {
            type Shape = $crate::container::Whole<<$container as $crate::container::Container>::With<<$container as $crate::container::Container>::Scalar>>;
            type Contexts = ();
            #[inline]
            fn flat<'a>(
                &'a self,
                memory: &'a mut ::std::vec::Vec<<$container as $crate::container::Container>::Scalar>,
            ) -> &'a [<$container as $crate::container::Container>::Scalar] {
                $crate::container::flat(*self, memory)
            }
            #[inline]
            fn outline(&self) -> ::std::option::Option<u64> {
                $crate::container::outline_beside_count(*self)
            }
            #[inline]
            fn contexts(&self) {}
            #[inline]
            fn hold<__N: $crate::Scalar>(&self) -> <$container as $crate::container::Container>::With<__N> {
                $crate::container::Container::with::<__N>(*self)
            }
            #[inline]
            fn fit<__N: $crate::Scalar>(&self, held: &mut <$container as $crate::container::Container>::With<__N>) {
                $crate::container::Container::fit::<__N>(*self, held);
            }
            #[inline]
            fn filled<__E>(
                &self,
                memory: &mut ::std::vec::Vec<<$container as $crate::container::Container>::Scalar>,
                fill: impl ::std::ops::FnOnce(&mut [<$container as $crate::container::Container>::Scalar]) -> ::std::result::Result<(), __E>,
            ) -> ::std::result::Result<<Self::Shape as $crate::point::Shape>::Like, __E> {
                let mut object = $crate::container::Container::with::<<$container as $crate::container::Container>::Scalar>(*self);
                $crate::container::Buffer::write(&mut object, memory, fill)?;
                ::std::result::Result::Ok(object)
            }
        }
    )*};
}

/// Makes owned containers outputs.
#[doc(hidden)]
#[macro_export]
macro_rules! output_of {
    ($([$($generics:tt)*] $container:ty;)*) => {$(
        impl<$($generics)*> $crate::evaluate::Output<<$container as $crate::container::Container>::Scalar> for $container {
            type Fixed<__S: $crate::Scalar> = [__S; 0];
            const FIXED: bool = false;
            fn fixed<__S: $crate::Scalar>() -> [__S; 0] {
                []
            }
            type With<__S: $crate::Scalar> = <$container as $crate::container::Container>::With<__S>;
            type Borrowed<'a, __S: $crate::Scalar> = <$container as $crate::container::Container>::With<__S>;
            type Kept = $crate::container::KeptOutput<$container>;
            #[inline]
            fn evaluate<__X: ?Sized, __F: $crate::Function<__X, Output = Self>>(
                f: &__F,
                x: &__X,
                kept: &mut $crate::container::KeptOutput<$container>,
                y: &mut ::std::vec::Vec<<$container as $crate::container::Container>::Scalar>,
            ) {
                kept.renew(y, |last| match last {
                    ::std::option::Option::Some(old) => $crate::Function::call_into(f, x, old),
                    ::std::option::Option::None => *last = ::std::option::Option::Some($crate::Function::call(f, x)),
                });
            }
            #[inline]
            fn evaluate_with<__X: ?Sized, __C: $crate::ContextTypes, __F: $crate::FunctionWith<__X, __C, Output = Self>>(
                f: &__F,
                x: &__X,
                contexts: __C::Args<'_>,
                kept: &mut $crate::container::KeptOutput<$container>,
                y: &mut ::std::vec::Vec<<$container as $crate::container::Container>::Scalar>,
            ) {
                kept.renew(y, |last| match last {
                    ::std::option::Option::Some(old) => $crate::FunctionWith::call_with_into(f, x, contexts, old),
                    ::std::option::Option::None => {
                        *last = ::std::option::Option::Some($crate::FunctionWith::call_with(f, x, contexts));
                    }
                });
            }
            fn keep(
                self,
                kept: &mut $crate::container::KeptOutput<$container>,
                y: &mut ::std::vec::Vec<<$container as $crate::container::Container>::Scalar>,
            ) {
                kept.renew(y, |last| *last = ::std::option::Option::Some(self));
            }
            fn read<__R>(self, read: impl ::std::ops::FnOnce(&[<$container as $crate::container::Container>::Scalar]) -> __R) -> __R {
                let mut y = ::std::vec::Vec::new();
                $crate::container::gather(::std::option::Option::Some(&self), &mut y);
                read(&y)
            }
            #[inline]
            fn build<__S: $crate::Scalar>(flat: &[__S], kept: &$crate::container::KeptOutput<$container>) -> Self::With<__S> {
                $crate::container::built::<$container, __S>(kept, flat)
            }
            #[inline]
            fn borrow<'a, __S: $crate::Scalar>(flat: &'a [__S], kept: &$crate::container::KeptOutput<$container>) -> Self::Borrowed<'a, __S> {
                $crate::container::built::<$container, __S>(kept, flat)
            }
            #[inline]
            fn outline(kept: &$crate::container::KeptOutput<$container>) -> ::std::option::Option<u64> {
                kept.outline()
            }
            #[inline]
            fn begin(kept: &mut $crate::container::KeptOutput<$container>) {
                kept.begin();
            }
            #[inline]
            fn is_told(kept: &$crate::container::KeptOutput<$container>) -> bool {
                kept.is_told()
            }
            #[inline]
            fn remember(kept: &mut $crate::container::KeptOutput<$container>) -> ::std::option::Option<$crate::recordings::OutputShape> {
                kept.remember()
            }
            #[inline]
            fn show(kept: &$crate::container::KeptOutput<$container>, shape: $crate::recordings::OutputShape) {
                kept.show(shape);
            }
            #[inline]
            fn keep_asked(kept: &mut $crate::container::KeptOutput<$container>) {
                kept.keep_asked();
            }
            #[inline]
            fn name(kept: &mut $crate::container::KeptOutput<$container>) -> ::std::option::Option<$crate::recordings::OutputShape> {
                kept.name()
            }
            #[inline]
            fn owned<'a, __S: $crate::Scalar>(_: [__S; 0]) -> ::std::option::Option<Self::Borrowed<'a, __S>> {
                ::std::option::Option::None
            }
        }

        impl<$($generics)*> $crate::evaluate::ArrayOutput<<$container as $crate::container::Container>::Scalar> for $container {}
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_numbers_are_shown_as_an_object_or_copied_to_it() {
        let flat = [1.0, 2.0, 3.0, 4.0];
        let mut held = [[0.0; 2]; 2];
        let shown = Whole::<[[f64; 2]; 2]>::show(&flat, &mut held, 0..4);
        assert_eq!(shown, &[[1.0, 2.0], [3.0, 4.0]]);
        assert!(std::ptr::eq(shown.as_flattened(), &raw const flat[..]));

        let mut held = (vec![0.0; 3], 0.0);
        assert_eq!(Whole::<(Vec<f64>, f64)>::show(&flat, &mut held, 0..4), &(vec![1.0, 2.0, 3.0], 4.0));
        let one_changed = Whole::<(Vec<f64>, f64)>::show(&[5.0, 6.0, 7.0, 8.0], &mut held, 1..2);
        assert_eq!(one_changed, &(vec![1.0, 6.0, 3.0], 4.0));
    }
}
