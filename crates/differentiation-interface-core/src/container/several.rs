//! Several arguments as one point: [`Points`].
//!
//! The function takes the arguments one by one. They live in [`Args`] in the preparation; [`Seen`] says how a closure takes each.

use super::seen::Seen;
use super::{Buffer, Container, Object, place};
use crate::backend::Lanes;
use crate::function::{ContextType, Function, FunctionWith};
use crate::point::{ArrayShape, Point, Shape};
use crate::recordings::Words;
use crate::scalar::{Core, Num, Scalar};
use std::marker::PhantomData;
use std::ops::Range;

/// Several arguments as one point: `Points((&a, &m))`. The function takes them one by one, and a gradient is the tuple of their gradients.
///
/// Each argument is a reference to what owns its numbers: a `Vec`, an array, a number (`&2.0`), a container; a view is a point alone and not in here.
/// Contexts follow as behind any point: `(Points((&a, &m)), Constant(&k))`. Jacobians and Hessians have the columns of the first argument,
/// then those of the second, and so on.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn residual<T: Real>(a: &[T], shift: &[T; 2], k: f64) -> T {
///     a.iter().map(|v| v * v).sum::<T>() * shift[0] + k * shift[1]
/// }
/// let f = |a: &[_], shift: &[_; 2], k: &f64| residual(a, shift, *k);
/// let (a, shift) = (vec![1.0, 2.0], [3.0, 4.0]);
/// let (da, dshift) = gradient(&f, &AutoReverseDiff::default(), (Points((&a, &shift)), Constant(&10.0)))?;
/// assert_eq!((da, dshift), (vec![6.0, 12.0], [5.0, 10.0]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Points<T>(
    /// The tuple of references.
    pub T,
);

/// The arguments that a function of [`Points`] takes, as a preparation holds them. An object with its own `Function` implementation
/// implements it for `Args<(Vec<T>, DMatrix<T>)>`.
#[derive(Clone, Debug)]
pub struct Args<T>(
    /// The tuple of objects.
    pub T,
);

/// The shape of [`Points`] with gradients of the type `T`, a tuple.
pub struct Several<T>(PhantomData<T>);

/// What is seen as itself: `seen_as_itself! { [generics] Type; }`.
#[doc(hidden)]
#[macro_export]
macro_rules! seen_as_itself {
    ($([$($generics:tt)*] $container:ty;)*) => {$(
        impl<$($generics)*> $crate::container::Seen for $container {
            type Seen = $container;
            #[inline]
            fn seen(&self) -> &$container {
                self
            }
        }
    )*};
}
// Numbers one by one: an implementation for all scalars would make a foreign type a wrong number instead of no container.
seen_as_itself! {
    [C: Core] Num<C>;
    [] f64;
    [] f32;
    [C: Container] [C];
    [C: Container] Option<C>;
    [C: Container, const K: usize] [C; K];
}
impl<C: Container> Seen for Vec<C> {
    type Seen = [C];
    #[inline]
    fn seen(&self) -> &[C] {
        self
    }
}

impl<W: Object> Shape for Several<W> {
    type Scalar = W::Scalar;
    type Active<N: Scalar> = Args<W::With<N>>;
    type Like = W;
    type Held<N: Scalar> = Args<W::With<N>>;
    const OPAQUE: bool = W::OPAQUE;
    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L;

    #[inline]
    fn show<'a, N: Scalar>(
        flat: &'a [N],
        held: &'a mut Args<W::With<N>>,
        changed: Range<usize>,
    ) -> &'a Args<W::With<N>> {
        place(&mut held.0, flat, changed);
        held
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lengths<N: Scalar>(held: &Args<W::With<N>>, words: &mut Words<'_>) -> bool {
        held.0.lengths(words)
    }
    fn constants<N: Scalar>(held: &Args<W::With<N>>, words: &mut Words<'_>) -> bool {
        held.0.constants(words)
    }
}

impl<W: Object> ArrayShape for Several<W> {}

/// Points and closures of several arguments.
macro_rules! several {
    ($First:ident $first:ident, $($A:ident $a:ident),+) => {
        impl<$First: Object, $($A: Object<Scalar = $First::Scalar>),+> Point for Points<(&$First, $(&$A),+)> {
            type Shape = Several<($First, $($A),+)>;
            type Contexts = ();
            fn flat<'a>(&'a self, memory: &'a mut Vec<$First::Scalar>) -> &'a [$First::Scalar] {
                memory.clear();
                let ($first, $($a),+) = self.0;
                $first.pieces(&mut |piece| memory.extend_from_slice(piece));
                $($a.pieces(&mut |piece| memory.extend_from_slice(piece));)+
                memory
            }
            fn outline(&self) -> Option<u64> {
                let ($first, $($a),+) = self.0;
                let mut outline = 0;
                let words = &mut Words::Fold(&mut outline);
                $first.lengths(words);
                $($a.lengths(words);)+
                Some(outline)
            }
            fn contexts(&self) {}
            fn hold<N: Scalar>(&self) -> Args<($First::With<N>, $($A::With<N>),+)> {
                let ($first, $($a),+) = self.0;
                Args(($first.with::<N>(), $($a.with::<N>()),+))
            }
            fn fit<N: Scalar>(&self, held: &mut Args<($First::With<N>, $($A::With<N>),+)>) {
                let ($first, $($a),+) = self.0;
                let object = &mut held.0;
                several!(@fit object; 0 $first, 1 $($a),+);
            }
            fn filled<E>(
                &self,
                memory: &mut Vec<$First::Scalar>,
                fill: impl FnOnce(&mut [$First::Scalar]) -> Result<(), E>,
            ) -> Result<($First, $($A),+), E> {
                let ($first, $($a),+) = self.0;
                let mut like = ($first.with::<$First::Scalar>(), $($a.with::<$First::Scalar>()),+);
                like.write(memory, fill)?;
                Ok(like)
            }
        }

        impl<$First: Seen, $($A: Seen,)+ Y, F> Function<Args<($First, $($A),+)>> for F
        where
            F: Fn(&$First::Seen, $(&$A::Seen),+) -> Y,
        {
            type Output = Y;
            #[inline]
            fn call(&self, Args(($first, $($a),+)): &Args<($First, $($A),+)>) -> Y {
                self($first.seen(), $($a.seen()),+)
            }
        }
        several!(@contexts [$First $first, $($A $a),+] [C1 c1]);
        several!(@contexts [$First $first, $($A $a),+] [C1 c1, C2 c2]);
        several!(@contexts [$First $first, $($A $a),+] [C1 c1, C2 c2, C3 c3]);
    };
    (@contexts [$($A:ident $a:ident),+] [$($C:ident $c:ident),+]) => {
        impl<$($A: Seen,)+ $($C: ContextType,)+ Y, F> FunctionWith<Args<($($A),+)>, ($($C,)+)> for F
        where
            F: for<'c> Fn($(&$A::Seen,)+ $($C::Arg<'c>),+) -> Y,
        {
            type Output = Y;
            #[inline]
            fn call_with<'c>(&self, Args(($($a),+)): &Args<($($A),+)>, ($($c,)+): ($($C::Arg<'c>,)+)) -> Y {
                self($($a.seen(),)+ $($c),+)
            }
        }
    };
    (@fit $object:ident; 0 $first:ident, 1 $a:ident) => {
        $first.fit::<N>(&mut $object.0);
        $a.fit::<N>(&mut $object.1);
    };
    (@fit $object:ident; 0 $first:ident, 1 $a:ident, $b:ident) => {
        several!(@fit $object; 0 $first, 1 $a);
        $b.fit::<N>(&mut $object.2);
    };
    (@fit $object:ident; 0 $first:ident, 1 $a:ident, $b:ident, $d:ident) => {
        several!(@fit $object; 0 $first, 1 $a, $b);
        $d.fit::<N>(&mut $object.3);
    };
}
several! { A a, B b }
several! { A a, B b, D d }
several! { A a, B b, D d, G g }
