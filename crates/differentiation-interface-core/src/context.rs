//! Contexts: arguments after the point that are not differentiated.
//!
//! [`Constant`] is read by the function and may change from call to call; [`Cache`] is work memory, made once per
//! preparation with the backend's number type. Operators allocate and pass them; backends never see them.

use crate::function::{Const, ContextType, ContextTypes, Work};
use crate::scalar::{Core, Num, Scalar};
use std::fmt::Debug;

/// A constant argument: the function takes `&K`, its value may differ in every call.
///
/// Nothing of it is differentiated; plain numbers in it mix freely with active numbers and cost no tangent work.
pub struct Constant<'a, K: ?Sized>(
    /// The value.
    pub &'a K,
);

/// Work memory: the function takes `&mut W`, where `W` is this prototype with the backend's number type inside.
///
/// The prototype gives the shape only: a slice or `Vec<S>` becomes a `Vec<T>` of that length, an array `[S; K]` a
/// `[T; K]`, a tuple of these a tuple. The content at the start of a call is unspecified; the function must write before
/// it reads.
pub struct Cache<'a, W: ?Sized>(
    /// The prototype.
    pub &'a W,
);

/// Several contexts in one argument: the function takes the tuple of their references.
///
/// `ConstantOrCache((Constant(&k), Cache(&w)))` is seen as `(&K, &mut W)`.
pub struct ConstantOrCache<T>(
    /// The tuple.
    pub T,
);

impl<K: ?Sized> Clone for Constant<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: ?Sized> Copy for Constant<'_, K> {}
impl<W: ?Sized> Clone for Cache<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: ?Sized> Copy for Cache<'_, W> {}

/// A context as it stands in a call: [`Constant`], [`Cache`] or [`ConstantOrCache`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context",
    note = "wrap a value as `Constant(&value)` and work memory as `Cache(&prototype)`"
)]
pub trait Context {
    /// The lifetime-free part.
    type Kind: ContextKind;
    /// The context by value.
    fn value(&self) -> <Self::Kind as ContextKind>::Value<'_>;
}

/// The lifetime-free part of a context, which preparations remember.
pub trait ContextKind: 'static {
    /// What the function takes at the number type `N`.
    type Typed<N: Scalar>: ContextType;
    /// What a preparation keeps for it.
    type Storage<N: Scalar>: Clone + Send + Debug;
    /// The context in a call.
    type Value<'a>: Copy;

    /// Makes the storage.
    fn allocate<N: Scalar>(value: Self::Value<'_>) -> Self::Storage<N>;
    /// The argument for the function. A cache whose shape differs from the storage is allocated anew.
    fn argument<'a, N: Scalar>(
        value: &'a Self::Value<'_>,
        storage: &'a mut Self::Storage<N>,
    ) -> <Self::Typed<N> as ContextType>::Arg<'a>;
}

/// Kind of [`Constant`].
pub struct ConstantKind<K: ?Sized>(std::marker::PhantomData<K>);

impl<K: ?Sized + 'static> Context for Constant<'_, K> {
    type Kind = ConstantKind<K>;
    fn value(&self) -> Constant<'_, K> {
        *self
    }
}

impl<K: ?Sized + 'static> ContextKind for ConstantKind<K> {
    type Typed<N: Scalar> = Const<K>;
    type Storage<N: Scalar> = ();
    type Value<'a> = Constant<'a, K>;

    fn allocate<N: Scalar>(_: Constant<'_, K>) {}
    #[inline(always)]
    fn argument<'a, N: Scalar>(value: &'a Constant<'_, K>, _: &'a mut ()) -> &'a K {
        value.0
    }
}

/// Kind of [`Cache`].
pub struct CacheKind<W: ?Sized>(std::marker::PhantomData<W>);

impl<W: CacheShape + ?Sized> Context for Cache<'_, W> {
    type Kind = CacheKind<W>;
    fn value(&self) -> Cache<'_, W> {
        *self
    }
}

impl<W: CacheShape + ?Sized> ContextKind for CacheKind<W> {
    type Typed<N: Scalar> = Work<W::With<N>>;
    type Storage<N: Scalar> = W::With<N>;
    type Value<'a> = Cache<'a, W>;

    fn allocate<N: Scalar>(value: Cache<'_, W>) -> W::With<N> {
        value.0.allocate()
    }
    #[inline(always)]
    fn argument<'a, N: Scalar>(value: &'a Cache<'_, W>, storage: &'a mut W::With<N>) -> &'a mut W::With<N> {
        value.0.fit(storage);
        storage
    }
}

/// What can be work memory: `[S]`, `Vec<S>`, `[S; K]`, a number, and tuples of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of work memory",
    note = "a cache is a slice, `Vec` or array of numbers, a number, or a tuple of these"
)]
pub trait CacheShape: 'static {
    /// The same shape with numbers `N`.
    type With<N: Scalar>: Clone + Send + Debug + 'static;
    /// Makes work memory of this shape.
    fn allocate<N: Scalar>(&self) -> Self::With<N>;
    /// Gives existing work memory this shape, keeping what it can.
    fn fit<N: Scalar>(&self, memory: &mut Self::With<N>);
}

impl<S: Scalar> CacheShape for [S] {
    type With<N: Scalar> = Vec<N>;
    fn allocate<N: Scalar>(&self) -> Vec<N> {
        vec![N::default(); self.len()]
    }
    #[inline(always)]
    fn fit<N: Scalar>(&self, memory: &mut Vec<N>) {
        if memory.len() != self.len() {
            memory.resize(self.len(), N::default());
        }
    }
}

impl<S: Scalar> CacheShape for Vec<S> {
    type With<N: Scalar> = Vec<N>;
    fn allocate<N: Scalar>(&self) -> Vec<N> {
        self.as_slice().allocate()
    }
    #[inline(always)]
    fn fit<N: Scalar>(&self, memory: &mut Vec<N>) {
        self.as_slice().fit(memory);
    }
}

impl<S: Scalar, const K: usize> CacheShape for [S; K] {
    type With<N: Scalar> = [N; K];
    fn allocate<N: Scalar>(&self) -> [N; K] {
        [N::default(); K]
    }
    #[inline(always)]
    fn fit<N: Scalar>(&self, _: &mut [N; K]) {}
}

/// A number as work memory.
macro_rules! number_cache {
    ($([$($generics:tt)*] $number:ty;)*) => {$(
        impl<$($generics)*> CacheShape for $number {
            type With<N: Scalar> = N;
            fn allocate<N: Scalar>(&self) -> N {
                N::default()
            }
            fn fit<N: Scalar>(&self, _: &mut N) {}
        }
    )*};
}
number_cache! {
    [C: Core] Num<C>;
    [] f64;
    [] f32;
}

/// Tuples of caches in one cache, tuples of contexts in one argument, and tuples of contexts after the point.
macro_rules! context_tuples {
    ($($A:ident $a:ident $s:ident),*) => {
        impl<$($A: CacheShape),*> CacheShape for ($($A,)*) {
            type With<N: Scalar> = ($($A::With<N>,)*);
            fn allocate<N: Scalar>(&self) -> Self::With<N> {
                let ($($a,)*) = self;
                ($($a.allocate(),)*)
            }
            #[inline(always)]
            fn fit<N: Scalar>(&self, ($($s,)*): &mut Self::With<N>) {
                let ($($a,)*) = self;
                $($a.fit($s);)*
            }
        }

        impl<$($A: ContextType),*> ContextType for Bundle<($($A,)*)> {
            type Arg<'a> = ($($A::Arg<'a>,)*);
        }

        impl<$($A: Context),*> Context for ConstantOrCache<($($A,)*)> {
            type Kind = ConstantOrCacheKind<($($A::Kind,)*)>;
            fn value(&self) -> ($(<$A::Kind as ContextKind>::Value<'_>,)*) {
                let ($($a,)*) = &self.0;
                ($($a.value(),)*)
            }
        }

        impl<$($A: ContextKind),*> ContextKind for ConstantOrCacheKind<($($A,)*)> {
            type Typed<N: Scalar> = Bundle<($($A::Typed<N>,)*)>;
            type Storage<N: Scalar> = ($($A::Storage<N>,)*);
            type Value<'a> = ($($A::Value<'a>,)*);

            fn allocate<N: Scalar>(value: Self::Value<'_>) -> Self::Storage<N> {
                <($($A,)*) as Contexts>::allocate(value)
            }
            #[inline(always)]
            fn argument<'a, N: Scalar>(
                value: &'a Self::Value<'_>,
                storage: &'a mut Self::Storage<N>,
            ) -> <Self::Typed<N> as ContextType>::Arg<'a> {
                <($($A,)*) as Contexts>::arguments::<N>(value, storage)
            }
        }

        impl<$($A: ContextKind),*> Contexts for ($($A,)*) {
            type Types<N: Scalar> = ($($A::Typed<N>,)*);
            type Storage<N: Scalar> = ($($A::Storage<N>,)*);
            type Values<'a> = ($($A::Value<'a>,)*);

            fn allocate<N: Scalar>(($($a,)*): Self::Values<'_>) -> Self::Storage<N> {
                ($($A::allocate($a),)*)
            }
            #[inline(always)]
            fn arguments<'a, N: Scalar>(
                ($($a,)*): &'a Self::Values<'_>,
                ($($s,)*): &'a mut Self::Storage<N>,
            ) -> <Self::Types<N> as ContextTypes>::Args<'a> {
                ($($A::argument::<N>($a, $s),)*)
            }
        }
        impl<$($A: ContextKind),*> SomeContexts for ($($A,)*) {}
    };
}

/// Kind of [`ConstantOrCache`].
pub struct ConstantOrCacheKind<T>(std::marker::PhantomData<T>);

/// What the function sees of a [`ConstantOrCache`]: the tuple of references.
pub struct Bundle<T>(std::marker::PhantomData<T>);

/// The contexts of a call: a tuple of [`ContextKind`]s, `()` for none.
pub trait Contexts: 'static {
    /// What the function takes at the number type `N`.
    type Types<N: Scalar>: ContextTypes;
    /// What a preparation keeps.
    type Storage<N: Scalar>: Clone + Send + Debug;
    /// The contexts in a call.
    type Values<'a>: Copy;

    /// Makes the storage of all contexts.
    fn allocate<N: Scalar>(values: Self::Values<'_>) -> Self::Storage<N>;
    /// The arguments for the function.
    fn arguments<'a, N: Scalar>(
        values: &'a Self::Values<'_>,
        storage: &'a mut Self::Storage<N>,
    ) -> <Self::Types<N> as ContextTypes>::Args<'a>;
}

/// At least one context.
#[diagnostic::on_unimplemented(
    message = "the function does not fit the point, to which no context belongs",
    note = "if the function takes further arguments, pass them with the point: `(&x, Constant(&k), Cache(&w))`",
    note = "else it is not a function of the point's shape at the backend's number type; write it over `T: Real`"
)]
pub trait SomeContexts: Contexts {}

impl ContextTypes for () {
    type Args<'a> = ();
}

impl Contexts for () {
    type Types<N: Scalar> = ();
    type Storage<N: Scalar> = ();
    type Values<'a> = ();

    fn allocate<N: Scalar>(_: ()) {}
    #[inline(always)]
    fn arguments<'a, N: Scalar>(_: &'a (), _: &'a mut ()) {}
}

context_tuples! { A a sa }
context_tuples! { A a sa, B b sb }
context_tuples! { A a sa, B b sb, C c sc }
context_tuples! { A a sa, B b sb, C c sc, D d sd }
