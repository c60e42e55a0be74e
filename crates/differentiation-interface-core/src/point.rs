//! Points: what users pass to operators, and the shapes behind them.
//!
//! A [`Point`] is the argument of the call (`&x`, `[1.0, 2.0]`, `0.5`, `(&x, Constant(&k))`); its [`Shape`] is the
//! lifetime-free part that a preparation remembers. Operators turn every point into a flat slice.

use crate::backend::Lanes;
use crate::context::{Context, ContextKind, Contexts};
use crate::numbers::Numbers;
use crate::scalar::{Core, Num, Scalar};
use std::fmt::Debug;
use std::marker::PhantomData;

/// The shape of a point: the type that the function takes, and the type of a gradient.
pub trait Shape: 'static {
    /// The numbers a point holds.
    type Scalar: Scalar;
    /// What the function takes, at the number type `N`.
    type Active<N: Scalar>: ?Sized;
    /// An owned object of this shape, the result of `gradient`.
    type Like: Clone + Debug + Numbers<Self::Scalar>;

    /// Views flat numbers as the function takes them. The length has been checked by the operator.
    fn view<N: Scalar>(flat: &[N]) -> &Self::Active<N>;
    /// The length of all points of this shape, if it fixes one.
    const LENGTH: Option<usize>;
    /// The lanes that are needed if each input has a lane of its own: `L`, but at most one per input if the shape fixes the length.
    type Lanes<L: Lanes>: Lanes;
    /// Passes the point with the entries `entry(0)`, `entry(1)`, ... to `then`; without entries if the shape fixes no length.
    fn with_entries<N: Scalar, R>(entry: impl FnMut(usize) -> N, then: impl FnOnce(&Self::Active<N>) -> R) -> R;
    /// Makes an owned object from flat numbers. The length has been checked by the operator.
    fn like(flat: &[Self::Scalar]) -> Self::Like;
    /// Makes an owned object of `len` numbers that `fill` writes, without other memory.
    fn filled<E>(len: usize, fill: impl FnOnce(&mut [Self::Scalar]) -> Result<(), E>) -> Result<Self::Like, E>;
}

/// The shape of `&[S]`, `&Vec<S>` and `&[S; K]`: the function takes `&[T]`, a gradient is a `Vec<S>`.
pub struct Slice<S>(PhantomData<S>);

impl<S: Scalar> Shape for Slice<S> {
    type Scalar = S;
    type Active<N: Scalar> = [N];
    type Like = Vec<S>;

    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn view<N: Scalar>(flat: &[N]) -> &[N] {
        flat
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_entries<N: Scalar, R>(_: impl FnMut(usize) -> N, then: impl FnOnce(&[N]) -> R) -> R {
        then(&[])
    }
    #[inline]
    fn like(flat: &[S]) -> Vec<S> {
        flat.to_vec()
    }
    #[inline]
    fn filled<E>(len: usize, fill: impl FnOnce(&mut [S]) -> Result<(), E>) -> Result<Vec<S>, E> {
        let mut like = vec![S::default(); len];
        fill(&mut like)?;
        Ok(like)
    }
}

/// The shape of an array passed by value: the function takes `&[T; K]`, a gradient is a `[S; K]`.
impl<S: Scalar, const K: usize> Shape for [S; K] {
    type Scalar = S;
    type Active<N: Scalar> = [N; K];
    type Like = [S; K];
    const LENGTH: Option<usize> = Some(K);
    type Lanes<L: Lanes> = L::AtMost<K>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn view<N: Scalar>(flat: &[N]) -> &[N; K] {
        flat.try_into().expect("operators check the length of a point")
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_entries<N: Scalar, R>(entry: impl FnMut(usize) -> N, then: impl FnOnce(&[N; K]) -> R) -> R {
        then(&std::array::from_fn(entry))
    }
    #[inline]
    fn like(flat: &[S]) -> [S; K] {
        std::array::from_fn(|i| flat[i])
    }
    #[inline]
    fn filled<E>(_: usize, fill: impl FnOnce(&mut [S]) -> Result<(), E>) -> Result<[S; K], E> {
        let mut like = [S::default(); K];
        fill(&mut like)?;
        Ok(like)
    }
}

/// The shape of a number `S`: the function takes a `T`, a gradient is an `S`.
pub struct Number<S>(PhantomData<S>);

impl<S: Scalar> Shape for Number<S> {
    type Scalar = S;
    type Active<N: Scalar> = N;
    type Like = S;
    const LENGTH: Option<usize> = Some(1);
    type Lanes<L: Lanes> = L::AtMost<1>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn view<N: Scalar>(flat: &[N]) -> &N {
        &flat[0]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_entries<N: Scalar, R>(mut entry: impl FnMut(usize) -> N, then: impl FnOnce(&N) -> R) -> R {
        then(&entry(0))
    }
    #[inline]
    fn like(flat: &[S]) -> S {
        flat[0]
    }
    #[inline]
    fn filled<E>(_: usize, fill: impl FnOnce(&mut [S]) -> Result<(), E>) -> Result<S, E> {
        let mut like = S::default();
        fill(std::slice::from_mut(&mut like))?;
        Ok(like)
    }
}

impl<S: Scalar> Point for &S {
    type Shape = Number<S>;
    type Contexts = ();
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn coordinates(&self) -> &[S] {
        std::slice::from_ref(self)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn contexts(&self) {}
}

/// Numbers by value. Not `f32`, so that the compiler infers `f64` for a literal `2.0`; pass `&x` of an `f32`.
macro_rules! number_point {
    ($([$($generics:tt)*] $number:ty;)*) => {$(
        impl<$($generics)*> Point for $number {
            type Shape = Number<$number>;
            type Contexts = ();
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn coordinates(&self) -> &[$number] {
                std::slice::from_ref(self)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn contexts(&self) {}
        }
    )*};
}
number_point! {
    [C: Core] Num<C>;
    [] f64;
}

/// The shapes that are one number, as `derivative` and `second_derivative` require.
#[diagnostic::on_unimplemented(
    message = "this operator differentiates by one number, but the point is an array",
    note = "did you mean `gradient` (one number comes out), `jacobian` (several come out), or `hessian` for second order?"
)]
pub trait NumberShape: Shape {}
impl<S: Scalar> NumberShape for Number<S> {}

/// The shapes that are arrays, as `jacobian` and `hessian` require.
#[diagnostic::on_unimplemented(
    message = "this operator differentiates by an array, but the point is one number",
    note = "did you mean `derivative`, or `second_derivative` for second order?"
)]
pub trait ArrayShape: Shape {}
impl<S: Scalar> ArrayShape for Slice<S> {}
impl<S: Scalar, const K: usize> ArrayShape for [S; K] {}

/// What an operator takes as its point: a slice, an array, a number, or a tuple of one of these and contexts.
///
/// # For users
/// | you pass | the function takes | a gradient is |
/// |---|---|---|
/// | `&x` of a `Vec<f64>`, `&[f64]`, `&[f64; K]` | `&[T]` | `Vec<f64>` |
/// | `x`, an array `[f64; K]` | `&[T; K]` | `[f64; K]` |
/// | `x`, a number (`&x` of an `f32`) | `T` | `f64` |
/// | `(point, Constant(&k), Cache(&w))` | the point, `&K`, `&mut W` | as for the point |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a point to differentiate at",
    note = "pass `&x` for a vector or slice, an array or number by value, or a tuple of one of these and contexts such as `(&x, Constant(&k))`"
)]
pub trait Point {
    /// The shape of the point.
    type Shape: Shape;
    /// The contexts that come with it.
    type Contexts: Contexts;

    /// The numbers of the point, one after the other.
    fn coordinates(&self) -> &[ScalarOf<Self>];
    /// The contexts.
    fn contexts(&self) -> <Self::Contexts as Contexts>::Values<'_>;
}

/// The numbers that a point holds.
pub type ScalarOf<P> = <<P as Point>::Shape as Shape>::Scalar;

/// Points by reference: the function takes a slice for all of them.
macro_rules! slice_points {
    ($([$($generics:tt)*] $point:ty;)*) => {$(
        impl<S: Scalar, $($generics)*> Point for $point {
            type Shape = Slice<S>;
            type Contexts = ();
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn coordinates(&self) -> &[S] {
                &self[..]
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn contexts(&self) {}
        }
    )*};
}
slice_points! {
    [] &[S];
    [] &Vec<S>;
    [const K: usize] &[S; K];
    [] &mut [S];
    [] &mut Vec<S>;
}

impl<S: Scalar, const K: usize> Point for [S; K] {
    type Shape = [S; K];
    type Contexts = ();
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn coordinates(&self) -> &[S] {
        self
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn contexts(&self) {}
}

/// A point with contexts, for one number of contexts.
macro_rules! context_points {
    ($($A:ident $a:ident),*) => {
        impl<P: Point<Contexts = ()>, $($A: Context),*> Point for (P, $($A),*)
        where
            ($($A::Kind,)*): for<'a> Contexts<Values<'a> = ($(<$A::Kind as ContextKind>::Value<'a>,)*)>,
        {
            type Shape = P::Shape;
            type Contexts = ($($A::Kind,)*);
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn coordinates(&self) -> &[ScalarOf<P>] {
                self.0.coordinates()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn contexts(&self) -> <Self::Contexts as Contexts>::Values<'_> {
                let (_, $($a),*) = self;
                ($($a.value(),)*)
            }
        }
    };
}
context_points! { A a }
context_points! { A a, B b }
context_points! { A a, B b, C c }
context_points! { A a, B b, C c, D d }
