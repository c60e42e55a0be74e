//! Contexts: arguments after the point that are not differentiated.
//!
//! The function reads a [`Constant`], which may change from call to call; a [`Parameter`] is the same for numbers that the function
//! takes as numbers of its own type; a [`Cache`] is work memory, made once per preparation with the backend's number type.
//! Operators allocate contexts and bind them to the function, so backends do not handle them.

use crate::container::{Container, Object, Seen, flat};
use crate::function::{Const, ContextType, ContextTypes, Work};
use crate::recordings::{EngineScalar, PlainData, Word, Words};
use crate::scalar::{Base, Scalar};
use std::fmt::Debug;
use std::sync::OnceLock;

/// A constant argument: the function takes `&K`. Its value may differ from call to call.
///
/// It is not differentiated; arithmetic of its plain numbers with active numbers computes no tangents for them.
///
/// A backend that compiles a recording of the function must know whether a constant has changed. It compares numbers with those of its
/// recordings, bit for bit: single numbers, arrays, slices and vectors of them, nested ones, lists of pairs, and the vectors and matrices of other
/// crates that can be points, of the sizes that programs use (arrays up to 64, arrays of arrays up to 8 by 8). A changed constant costs a
/// run of the function. Data of any other type costs it in every call; pass a container as [`ConstantNumbers`] then.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn energy<T: Real>(x: &[T], k: &f64) -> T {
///     x.iter().map(|v| *k * *v * *v).sum()
/// }
/// let x = [1.0, 2.0];
/// let mut prepared = prepare_gradient(&energy, &AutoForwardDiff::default(), (&x, Constant(&1.0)))?;
/// assert_eq!(prepared.gradient((&x, Constant(&1.0)))?, [2.0, 4.0]);
/// assert_eq!(prepared.gradient((&x, Constant(&3.0)))?, [6.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct Constant<'a, K: ?Sized>(
    /// The value.
    pub &'a K,
);

/// A [`Constant`] that is a container of plain numbers, such as a struct with `#[derive(Container)]` or a long array. The function takes
/// `&W`, as for a [`Constant`].
///
/// The type says that the value consists of numbers, so every backend that keeps recordings compares them bit for bit, as it does with a
/// [`Constant`] of the usual types.
///
/// # Example
/// ```
/// use differentiation_interface_core::context::ConstantNumbers;
/// use differentiation_interface_core::{Const, FunctionWith, Real};
///
/// struct Fit;
/// impl<T: Real> FunctionWith<[T], (Const<(Vec<f64>, [f64; 99])>,)> for Fit {
///     type Output = T;
///     fn call_with(&self, x: &[T], (data,): (&(Vec<f64>, [f64; 99]),)) -> T {
///         data.0.iter().map(|y| (x[0] - *y) * data.1[0]).sum()
///     }
/// }
/// let data = (vec![1.0, 2.0], [2.0; 99]);
/// let point = (&[5.0], ConstantNumbers(&data)); // what operators take
/// assert_eq!(Fit.call_with(&point.0[..], (point.1.0,)), 14.0);
/// ```
pub struct ConstantNumbers<'a, W: ?Sized>(
    /// The value.
    pub &'a W,
);

/// Constant numbers that the function takes as numbers of its own type `T`: a slice or `Vec<f64>` as `&Vec<T>`, an array
/// `[f64; K]` as `&[T; K]`, a number as `&T`.
///
/// They carry no derivative, and their values may differ from call to call, like those of a [`Constant`]. A backend that compiles
/// a recording of the function reuses the recording when they change, while it runs the function to find out what a change of a
/// [`Constant`] does. A sparsity pattern holds for all their values: a detector for all points refuses a function that branches on one,
/// while a changed [`Constant`] makes a sparse backend detect again.
///
/// # Example
/// ```
/// use differentiation_interface_core::context::Parameter;
/// use differentiation_interface_core::{Const, FunctionWith, Real};
///
/// struct Spring;
/// impl<T: Real> FunctionWith<[T], (Const<T>,)> for Spring {
///     type Output = T;
///     fn call_with(&self, x: &[T], (k,): (&T,)) -> T {
///         x.iter().map(|&v| 0.5 * *k * v * v).sum()
///     }
/// }
/// let point = (&[1.0, 2.0], Parameter(&3.0)); // what operators take
/// assert_eq!(Spring.call_with(&point.0[..], (point.1.0,)), 7.5);
/// ```
pub struct Parameter<'a, W: ?Sized>(
    /// The values.
    pub &'a W,
);

/// Work memory: the function takes `&mut W`, where `W` is this prototype with the backend's number type inside.
///
/// The prototype defines the shape only: a slice or `Vec<S>` becomes a `Vec<T>` of that length, an array `[S; K]` a `[T; K]`, a
/// tuple of these a tuple. All of its numbers are 0 at the start of every evaluation, with every backend, so that an evaluation
/// cannot depend on an earlier one; this costs one write per number.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn energy<T: Real>(x: &[T], squares: &mut Vec<T>) -> T {
///     for (square, v) in squares.iter_mut().zip(x) {
///         *square = *v * *v;
///     }
///     squares.iter().sum()
/// }
/// let prototype = vec![0.0; 2]; // the function gets dual numbers in its place
/// let grad = gradient(&energy, &AutoForwardDiff::default(), (&[1.0, 2.0], Cache(&prototype)))?;
/// assert_eq!((grad, prototype), (vec![2.0, 4.0], vec![0.0; 2]));
/// # Ok::<(), Error>(())
/// ```
pub struct Cache<'a, W: ?Sized>(
    /// The prototype.
    pub &'a W,
);

/// Several contexts in one argument: the function takes the tuple of their references.
///
/// The function takes `ConstantOrCache((Constant(&k), Cache(&w)))` as `(&K, &mut W)`.
#[derive(Clone, Copy)]
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
impl<W: ?Sized> Clone for ConstantNumbers<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: ?Sized> Copy for ConstantNumbers<'_, W> {}
impl<W: ?Sized> Clone for Parameter<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: ?Sized> Copy for Parameter<'_, W> {}
impl<W: ?Sized> Clone for Cache<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W: ?Sized> Copy for Cache<'_, W> {}

/// A context in a call: [`Constant`], [`ConstantNumbers`], [`Parameter`], [`Cache`] or [`ConstantOrCache`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context",
    note = "wrap a value as `Constant(&value)` or `ConstantNumbers(&data)`, numbers that change as `Parameter(&p)`, and work memory as `Cache(&prototype)`"
)]
pub trait Context {
    /// The lifetime-free part.
    type Kind: ContextKind;
    /// The context by value.
    fn value(&self) -> <Self::Kind as ContextKind>::Value<'_>;
}

/// The lifetime-free part of a context, which preparations remember.
///
/// # For authors of contexts
/// 1. `allocate` makes the storage with the value of the first call. Later values may have other lengths: `argument` fits the storage to them, and allocates nothing if they are
///    the same.
/// 2. `argument` is called before each evaluation. The memory is that of an earlier one, the values are not: work memory is zero, parameters are written anew.
/// 3. `argument` makes the numbers of a parameter by [`EngineScalar::parameter`] with the indices `next`, `next + 1`, ..., and advances `next` by their number. `parameters` appends the
///    same numbers in the same order.
/// 4. Two values with equal `lengths` have the same lengths everywhere that the function may look. `constants` passes all else that the function may read as plain
///    data, and returns `false` if it cannot.
/// 5. [`OPAQUE`](ContextKind::OPAQUE) is `false` only if `constants` has nothing to pass: a recording then serves all values of equal lengths.
/// 6. If [`IS_KEPT`](ContextKind::IS_KEPT) is `false`, no call relies on what another one left in the storage: an engine without a state makes it anew in each call.
pub trait ContextKind: 'static {
    /// What the function takes at the number type `N`.
    type Typed<N: Scalar>: ContextType;
    /// What a preparation keeps for it.
    type Storage<N: Scalar>: Clone + Send + Debug;
    /// The context in a call.
    type Value<'a>: Copy;
    /// Whether a recording for equal lengths and parameters may be invalid, because of a constant.
    const OPAQUE: bool;
    /// Whether it is work memory.
    const WORK_MEMORY: bool = false;
    /// Whether it is a [`Parameter`], or has one among its parts.
    const IS_PARAMETER: bool = false;
    /// Whether a call uses the storage of an earlier one, for its memory or for what it says of the type.
    const IS_KEPT: bool = true;

    /// Makes the storage.
    fn allocate<N: Scalar>(value: Self::Value<'_>) -> Self::Storage<N>;
    /// Appends the parameters.
    fn parameters(_value: &Self::Value<'_>, _values: &mut Vec<f64>) {}
    /// Passes the lengths to `words`. Returns whether they are equal to the known ones.
    #[inline]
    fn lengths(_value: &Self::Value<'_>, _words: &mut Words<'_>) -> bool {
        true
    }
    /// Passes what its constants consist of to `words`. Returns whether it is equal to what is known, and `false` if a constant does not
    /// consist of numbers.
    #[inline]
    fn constants<N: Scalar>(_value: &Self::Value<'_>, _storage: &Self::Storage<N>, _words: &mut Words<'_>) -> bool {
        !Self::OPAQUE
    }
    /// The argument for the function. A cache has the shape of the prototype and holds zeros. `next` is the index of the first
    /// parameter, and is advanced past the last one.
    fn argument<'a, N: Scalar>(
        value: &'a Self::Value<'_>,
        storage: &'a mut Self::Storage<N>,
        next: &mut usize,
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
    /// How to read its numbers, once an engine has asked.
    type Storage<N: Scalar> = OnceLock<Option<PlainData<K>>>;
    type Value<'a> = Constant<'a, K>;
    const OPAQUE: bool = true;
    const IS_KEPT: bool = false;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn allocate<N: Scalar>(_: Constant<'_, K>) -> Self::Storage<N> {
        OnceLock::new()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constants<N: Scalar>(value: &Constant<'_, K>, reader: &Self::Storage<N>, words: &mut Words<'_>) -> bool {
        reader.get_or_init(PlainData::of).is_some_and(|reader| reader.read(value.0, words))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn argument<'a, N: Scalar>(value: &'a Constant<'_, K>, _: &'a mut Self::Storage<N>, _: &mut usize) -> &'a K {
        value.0
    }
}

/// Kind of [`ConstantNumbers`].
pub struct ConstantNumbersKind<W: ?Sized>(std::marker::PhantomData<W>);

impl<W: Container<Scalar: Word> + ?Sized + 'static> Context for ConstantNumbers<'_, W> {
    type Kind = ConstantNumbersKind<W>;
    fn value(&self) -> Self {
        *self
    }
}

impl<W: Container<Scalar: Word> + ?Sized + 'static> ContextKind for ConstantNumbersKind<W> {
    type Typed<N: Scalar> = Const<W>;
    type Storage<N: Scalar> = ();
    type Value<'a> = ConstantNumbers<'a, W>;
    const OPAQUE: bool = true;
    const IS_KEPT: bool = false;

    fn allocate<N: Scalar>(_: ConstantNumbers<'_, W>) {}
    fn constants<N: Scalar>(value: &ConstantNumbers<'_, W>, (): &(), words: &mut Words<'_>) -> bool {
        words.container(value.0)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn argument<'a, N: Scalar>(value: &'a ConstantNumbers<'_, W>, (): &'a mut (), _: &mut usize) -> &'a W {
        value.0
    }
}

/// Kind of [`Parameter`].
pub struct ParameterKind<W: ?Sized>(std::marker::PhantomData<W>);

impl<W: Seen<Seen: Container<Scalar: Base> + 'static> + ?Sized> Context for Parameter<'_, W> {
    type Kind = ParameterKind<W::Seen>;
    fn value(&self) -> Parameter<'_, W::Seen> {
        Parameter(self.0.seen())
    }
}

impl<W: Container<Scalar: Base> + ?Sized + 'static> ContextKind for ParameterKind<W> {
    type Typed<N: Scalar> = Const<W::With<N>>;
    /// The numbers of the function's type, and memory for values that do not lie in one piece.
    type Storage<N: Scalar> = (W::With<N>, Vec<W::Scalar>);
    type Value<'a> = Parameter<'a, W>;
    const OPAQUE: bool = W::OPAQUE;
    const IS_PARAMETER: bool = true;

    fn allocate<N: Scalar>(value: Parameter<'_, W>) -> Self::Storage<N> {
        (value.0.with::<N>(), Vec::new())
    }
    fn parameters(value: &Parameter<'_, W>, values: &mut Vec<f64>) {
        value.0.pieces(&mut |piece| values.extend(piece.iter().map(|v| v.as_f64())));
    }
    #[inline]
    fn lengths(value: &Parameter<'_, W>, words: &mut Words<'_>) -> bool {
        value.0.lengths(words)
    }
    #[inline]
    fn constants<N: Scalar>(value: &Parameter<'_, W>, _: &Self::Storage<N>, words: &mut Words<'_>) -> bool {
        value.0.constants(words)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn argument<'a, N: Scalar>(
        value: &'a Parameter<'_, W>,
        (numbers, memory): &'a mut Self::Storage<N>,
        next: &mut usize,
    ) -> &'a W::With<N> {
        value.0.fit::<N>(numbers);
        let mut values = flat(value.0, memory).iter();
        numbers.pieces_mut(&mut |piece| {
            for (number, v) in piece.iter_mut().zip(values.by_ref()) {
                *number = N::parameter(*next, N::Base::from_f64(v.as_f64()));
                *next += 1;
            }
        });
        numbers
    }
}

/// Kind of [`Cache`].
pub struct CacheKind<W: ?Sized>(std::marker::PhantomData<W>);

impl<W: Seen<Seen: Container + 'static> + ?Sized> Context for Cache<'_, W> {
    type Kind = CacheKind<W::Seen>;
    fn value(&self) -> Cache<'_, W::Seen> {
        Cache(self.0.seen())
    }
}

impl<W: Container + ?Sized + 'static> ContextKind for CacheKind<W> {
    type Typed<N: Scalar> = Work<W::With<N>>;
    type Storage<N: Scalar> = W::With<N>;
    type Value<'a> = Cache<'a, W>;
    const OPAQUE: bool = W::OPAQUE;
    const WORK_MEMORY: bool = true;

    fn allocate<N: Scalar>(value: Cache<'_, W>) -> W::With<N> {
        value.0.with::<N>()
    }
    #[inline]
    fn lengths(value: &Cache<'_, W>, words: &mut Words<'_>) -> bool {
        value.0.lengths(words)
    }
    #[inline]
    fn constants<N: Scalar>(value: &Cache<'_, W>, _: &Self::Storage<N>, words: &mut Words<'_>) -> bool {
        value.0.constants(words)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn argument<'a, N: Scalar>(
        value: &'a Cache<'_, W>,
        storage: &'a mut W::With<N>,
        _: &mut usize,
    ) -> &'a mut W::With<N> {
        value.0.fit::<N>(storage);
        storage.pieces_mut(&mut |piece| piece.fill(N::default()));
        storage
    }
}

/// Tuples of contexts in one argument, and tuples of contexts after the point.
macro_rules! context_tuples {
    ($($A:ident $a:ident $s:ident),*) => {
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
            const OPAQUE: bool = $($A::OPAQUE)||*;
            const WORK_MEMORY: bool = $($A::WORK_MEMORY)||*;
            const IS_PARAMETER: bool = $($A::IS_PARAMETER)||*;
            const IS_KEPT: bool = $($A::IS_KEPT)||*;

            fn allocate<N: Scalar>(value: Self::Value<'_>) -> Self::Storage<N> {
                <($($A,)*) as Contexts>::allocate(value)
            }
            fn parameters(value: &Self::Value<'_>, values: &mut Vec<f64>) {
                <($($A,)*) as Contexts>::parameters(value, values);
            }
            #[inline]
            fn lengths(value: &Self::Value<'_>, words: &mut Words<'_>) -> bool {
                <($($A,)*) as Contexts>::lengths(value, words)
            }
            #[inline]
            fn constants<N: Scalar>(value: &Self::Value<'_>, storage: &Self::Storage<N>, words: &mut Words<'_>) -> bool {
                <($($A,)*) as Contexts>::constants(value, storage, words)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn argument<'a, N: Scalar>(
                ($($a,)*): &'a Self::Value<'_>,
                ($($s,)*): &'a mut Self::Storage<N>,
                next: &mut usize,
            ) -> <Self::Typed<N> as ContextType>::Arg<'a> {
                ($($A::argument::<N>($a, $s, next),)*)
            }
        }

        impl<$($A: ContextKind),*> Contexts for ($($A,)*) {
            type Types<N: Scalar> = ($($A::Typed<N>,)*);
            type Storage<N: Scalar> = ($($A::Storage<N>,)*);
            type Values<'a> = ($($A::Value<'a>,)*);
            const OPAQUE: bool = $($A::OPAQUE)||*;
            const WORK_MEMORY: bool = $($A::WORK_MEMORY)||*;
            const HAS_PARAMETERS: bool = $($A::IS_PARAMETER)||*;
            const IS_KEPT: bool = $($A::IS_KEPT)||*;

            fn allocate<N: Scalar>(($($a,)*): Self::Values<'_>) -> Self::Storage<N> {
                ($($A::allocate($a),)*)
            }
            fn parameters(($($a,)*): &Self::Values<'_>, values: &mut Vec<f64>) {
                $($A::parameters($a, values);)*
            }
            #[inline]
            fn lengths(($($a,)*): &Self::Values<'_>, words: &mut Words<'_>) -> bool {
                $($A::lengths($a, words))&&*
            }
            #[inline]
            fn constants<N: Scalar>(
                ($($a,)*): &Self::Values<'_>,
                ($($s,)*): &Self::Storage<N>,
                words: &mut Words<'_>,
            ) -> bool {
                $($A::constants::<N>($a, $s, words))&&*
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn arguments<'a, N: Scalar>(
                ($($a,)*): &'a Self::Values<'_>,
                ($($s,)*): &'a mut Self::Storage<N>,
            ) -> <Self::Types<N> as ContextTypes>::Args<'a> {
                let mut next = 0;
                ($($A::argument::<N>($a, $s, &mut next),)*)
            }
        }
        impl<$($A: ContextKind),*> SomeContexts for ($($A,)*) {}
    };
}

/// Kind of [`ConstantOrCache`].
pub struct ConstantOrCacheKind<T>(std::marker::PhantomData<T>);

/// What the function takes for a [`ConstantOrCache`]: the tuple of references.
pub struct Bundle<T>(std::marker::PhantomData<T>);

/// The contexts of a call: a tuple of [`ContextKind`]s, `()` for none.
///
/// # For engines of one operator
/// Implemented for `()` and for tuples of up to four kinds; [`Bound`](crate::evaluate::Bound) calls it. An engine may rely on the following:
/// 1. The order is that of the tuple: of the arguments, the lengths, the constants, and the indices of parameters, which begin at 0 in each evaluation.
/// 2. `allocate` makes the storage once for each state, or call without one; `arguments` fits it to the values of each call.
/// 3. A storage can be cloned for another thread. One thread at a time uses it.
/// 4. `lengths`, `constants` and the constants of this trait combine those of the kinds: both methods return `true` if all kinds do, and a constant is `true` if that of one kind is.
pub trait Contexts: 'static {
    /// What the function takes at the number type `N`.
    type Types<N: Scalar>: ContextTypes;
    /// What a preparation keeps.
    type Storage<N: Scalar>: Clone + Send + Debug;
    /// The contexts in a call.
    type Values<'a>: Copy;
    /// Whether one of them is a [`Constant`], which may change.
    const OPAQUE: bool;
    /// Whether one of them is work memory: a [`Cache`].
    const WORK_MEMORY: bool;
    /// Whether one of them is a [`Parameter`].
    const HAS_PARAMETERS: bool;
    /// Whether a call needs what an earlier one left in the storage of one of them.
    const IS_KEPT: bool;

    /// Makes the storage of all contexts.
    fn allocate<N: Scalar>(values: Self::Values<'_>) -> Self::Storage<N>;
    /// Appends the values of all [`Parameter`]s.
    fn parameters(values: &Self::Values<'_>, numbers: &mut Vec<f64>);
    /// Passes the lengths of all contexts to `words`. Returns whether they are equal to the known ones.
    fn lengths(values: &Self::Values<'_>, words: &mut Words<'_>) -> bool;
    /// Passes what all constants consist of to `words`; see [`ContextKind::constants`].
    fn constants<N: Scalar>(values: &Self::Values<'_>, storage: &Self::Storage<N>, words: &mut Words<'_>) -> bool;
    /// The arguments for the function.
    fn arguments<'a, N: Scalar>(
        values: &'a Self::Values<'_>,
        storage: &'a mut Self::Storage<N>,
    ) -> <Self::Types<N> as ContextTypes>::Args<'a>;
}

/// At least one context.
#[diagnostic::on_unimplemented(
    message = "the function does not match the point, which has no contexts",
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
    const OPAQUE: bool = false;
    const WORK_MEMORY: bool = false;
    const HAS_PARAMETERS: bool = false;
    const IS_KEPT: bool = false;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn allocate<N: Scalar>(_: ()) {}
    fn parameters(_: &(), _: &mut Vec<f64>) {}
    #[inline]
    fn lengths(_: &(), _: &mut Words<'_>) -> bool {
        true
    }
    fn constants<N: Scalar>(_: &(), _: &(), _: &mut Words<'_>) -> bool {
        true
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arguments<'a, N: Scalar>(_: &'a (), _: &'a mut ()) {}
}

context_tuples! { A a sa }
context_tuples! { A a sa, B b sb }
context_tuples! { A a sa, B b sb, C c sc }
context_tuples! { A a sa, B b sb, C c sc, D d sd }
