//! Points: what users pass to operators, and the shapes behind them.
//!
//! A [`Point`] is the argument of the call (`&x`, `[1.0, 2.0]`, `0.5`, `(&x, Constant(&k))`); its [`Shape`] is the
//! lifetime-free part that a preparation remembers. Operators turn every point into a flat slice, and pass both on as [`At`].

use crate::backend::Lanes;
use crate::container::Container;
use crate::context::{Context, ContextKind, Contexts};
use crate::error::ErrorKind;
use crate::recordings::Words;
use crate::scalar::{Core, Num, Scalar};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;

/// The shape of a point: the type that the function takes, and the type of a gradient.
///
/// # For authors of points
/// `#[derive(Container)]` gives a struct the shape [`Whole`](crate::container::Whole). For a shape of your own:
/// 1. `show` gets the object that [`Point::hold`] made, [fitted](Point::fit) to the point of this call, and as many numbers as [`Point::flat`] of this point has. What it returns has these
///    numbers; an object that holds those of the last call needs only the `changed` ones, whose range may exceed their number. It gets no
///    numbers and an empty range where an engine has written to [`numbers_mut`](Shape::numbers_mut), which returns all numbers in the order of `flat`, or `None`; it leaves
///    them as they are then.
/// 2. `show` runs in every evaluation and allocates nothing. It does not return an error: report one by [`fault::report`](crate::fault::report).
/// 3. Two objects of equal length and equal [`lengths`](Shape::lengths) have the same pieces. [`constants`](Shape::constants) passes all else that the function may read
///    there, and returns `false` if it cannot.
/// 4. [`OPAQUE`](Shape::OPAQUE) is `false` only if there are no constants: a recording then serves all points of equal lengths.
/// 5. If [`LENGTH`](Shape::LENGTH) is `Some`, implement [`with_entries`](Shape::with_entries), and let [`Lanes`](Shape::Lanes) have at most one lane for each input. A shape whose
///    [`Held`](Shape::Held) has no size can then be differentiated on the stack.
pub trait Shape: 'static {
    /// The numbers a point holds.
    type Scalar: Scalar;
    /// What the function takes, at the number type `N`.
    type Active<N: Scalar>: ?Sized;
    /// An owned object of this shape, the result of `gradient`.
    type Like: Clone + Debug + Container<Scalar = Self::Scalar> + 'static;
    /// The object that a preparation shows to the function, for points that are not the flat numbers themselves.
    type Held<N: Scalar>: Clone + Send + Debug + 'static;
    /// Whether the point has constants beside its numbers.
    const OPAQUE: bool = false;
    /// Whether lengths count some of the numbers of the object alone, those that a mask leaves free. Errors of lengths then say so.
    const MASKED: bool = false;
    /// The length of all points of this shape, if it fixes one.
    const LENGTH: Option<usize>;

    /// Shows flat numbers as the function takes them; `held` has been fitted to the point, and holds the numbers of the last call except
    /// those in `changed`. The length has been checked by the operator.
    fn show<'a, N: Scalar>(flat: &'a [N], held: &'a mut Self::Held<N>, changed: Range<usize>) -> &'a Self::Active<N>;
    /// The numbers of the object, where the function reads them: an engine that writes its numbers there and [shows](Shape::show) an empty change
    /// saves the copy. `None` if there is no such memory in one piece.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn numbers_mut<N: Scalar>(_held: &mut Self::Held<N>) -> Option<&mut [N]> {
        None
    }
    /// Passes the lengths of the object that the type does not determine to `words`. Returns whether they are equal to the known ones.
    fn lengths<N: Scalar>(_held: &Self::Held<N>, _words: &mut Words<'_>) -> bool {
        true
    }
    /// Passes the constants of the object to `words`. Returns whether they are equal to the known ones, and `false` if they do not all
    /// consist of plain data.
    #[inline]
    fn constants<N: Scalar>(_held: &Self::Held<N>, _words: &mut Words<'_>) -> bool {
        !Self::OPAQUE
    }
    /// The lanes that are needed if each input has a lane of its own: `L`, but at most one per input if the shape fixes the length.
    type Lanes<L: Lanes>: Lanes;
    /// Passes the point with the entries `entry(0)`, `entry(1)`, ... to `then`. Called if the shape fixes its length.
    fn with_entries<N: Scalar, R>(_entry: impl FnMut(usize) -> N, _then: impl FnOnce(&Self::Active<N>) -> R) -> R {
        unreachable!("the shape fixes no length")
    }
}

/// The shape of `&[S]`, `&Vec<S>` and `&[S; K]`: the function takes `&[T]`, a gradient is a `Vec<S>`.
pub struct Slice<S>(PhantomData<S>);

impl<S: Scalar> Shape for Slice<S> {
    type Scalar = S;
    type Active<N: Scalar> = [N];
    type Like = Vec<S>;
    type Held<N: Scalar> = ();

    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show<'a, N: Scalar>(flat: &'a [N], _: &'a mut (), _: Range<usize>) -> &'a [N] {
        flat
    }
}

/// The shape of an array passed by value: the function takes `&[T; K]`, a gradient is a `[S; K]`.
impl<S: Scalar, const K: usize> Shape for [S; K] {
    type Scalar = S;
    type Active<N: Scalar> = [N; K];
    type Like = [S; K];
    type Held<N: Scalar> = ();
    const LENGTH: Option<usize> = Some(K);
    type Lanes<L: Lanes> = L::AtMost<K>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show<'a, N: Scalar>(flat: &'a [N], _: &'a mut (), _: Range<usize>) -> &'a [N; K] {
        flat.try_into().expect("operators check the length of a point")
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_entries<N: Scalar, R>(entry: impl FnMut(usize) -> N, then: impl FnOnce(&[N; K]) -> R) -> R {
        then(&std::array::from_fn(entry))
    }
}

/// The shape of a number `S`: the function takes a `T`, a gradient is an `S`.
pub struct Number<S>(PhantomData<S>);

impl<S: Scalar> Shape for Number<S> {
    type Scalar = S;
    type Active<N: Scalar> = N;
    type Like = S;
    type Held<N: Scalar> = ();
    const LENGTH: Option<usize> = Some(1);
    type Lanes<L: Lanes> = L::AtMost<1>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show<'a, N: Scalar>(flat: &'a [N], _: &'a mut (), _: Range<usize>) -> &'a N {
        &flat[0]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with_entries<N: Scalar, R>(mut entry: impl FnMut(usize) -> N, then: impl FnOnce(&N) -> R) -> R {
        then(&entry(0))
    }
}

/// The shapes that are one number, as `derivative` and `second_derivative` require.
#[diagnostic::on_unimplemented(
    message = "this operator differentiates by one number, but the point is an array",
    note = "did you mean `gradient` (one number comes out), `jacobian` (several come out), or `hessian` for second order?"
)]
pub trait NumberShape: Shape {}
impl<S: Scalar> NumberShape for Number<S> {}

/// The shapes that show the flat numbers themselves: all but containers.
pub trait FlatShape: Shape {
    /// What a preparation keeps to show a point: nothing.
    fn held<N: Scalar>() -> Self::Held<N>;
}
impl<S: Scalar> FlatShape for Slice<S> {
    fn held<N: Scalar>() {}
}
impl<S: Scalar> FlatShape for Number<S> {
    fn held<N: Scalar>() {}
}
impl<S: Scalar, const K: usize> FlatShape for [S; K] {
    fn held<N: Scalar>() {}
}

/// The shapes that are arrays, as `jacobian` and `hessian` require.
#[diagnostic::on_unimplemented(
    message = "this operator differentiates by an array, but the point is one number",
    note = "did you mean `derivative`, or `second_derivative` for second order?"
)]
pub trait ArrayShape: Shape {}
impl<S: Scalar> ArrayShape for Slice<S> {}
impl<S: Scalar, const K: usize> ArrayShape for [S; K] {}

/// What an operator takes as its point: a slice, an array, a number, a container, or a tuple of one of these and contexts.
///
/// # For users
/// | you pass | the function takes | a gradient is |
/// |---|---|---|
/// | `&x` of a `Vec<f64>` or an array, or of a reference to one; `x` or `&x` of a slice | `&[T]` | `Vec<f64>` |
/// | `x`, an array `[f64; K]` | `&[T; K]` | `[f64; K]` |
/// | `x`, a number (`&x` of an `f32`) | `T` | `f64` |
/// | `&x` of a [`Container`]: a `#[derive(Container)]` struct, a tuple of containers, a vector or matrix of another crate | `&Params<T>` | `Params<f64>` |
/// | `(point, Constant(&k), Cache(&w))` | the point, `&K`, `&mut W` | as for the point |
///
/// # For authors of points
/// 1. `flat` returns the differentiated numbers in an order that depends on the shape alone. Operators pass them on as [`At`].
/// 2. `hold` makes the object for the function. `fit` gives the object of an earlier call the shape and the constants of this point, and allocates nothing if the shape is the same. Numbers are
///    written by [`Shape::show`].
/// 3. `filled` passes exactly as many numbers as `flat` returns to `fill`, whose content does not matter, and returns an object that has what `fill` wrote.
/// 4. Two points of one type, equal length and equal [`outline`](Point::outline)s have the same shape. `None`: the length determines the shape.
/// 5. [`check`](Point::check) is called in every prepared call, but not in all others: [`Shape::show`] refuses a point that is wrong in itself too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a point to differentiate at",
    note = "pass `&x` for a vector, a slice or an `f32`, an array or an `f64` by value, or a tuple of one of these and up to four contexts such as `(&x, Constant(&k))`; where the point is taken by reference, as by `Recording::new`, `&&x` or `&(&x, Constant(&k))`",
    note = "the arguments in `Points((&a, &m))` are references to what owns its numbers: `&2.0` for a number, no view",
    note = "a struct of numbers becomes a point `&x` by `#[derive(Container)]`, and a `Vec` or array of such structs, or of arrays, is one in a tuple: `&(x,)`"
)]
pub trait Point {
    /// The shape of the point.
    type Shape: Shape;
    /// The contexts that come with it.
    type Contexts: Contexts;

    /// The numbers of the point, one after the other: its own memory if they lie so, else copied to `memory`.
    fn flat<'a>(&'a self, memory: &'a mut Vec<ScalarOf<Self>>) -> &'a [ScalarOf<Self>];
    /// The [outline](crate::container::outline) of the point, if the number of its numbers does not tell all of its shape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn outline(&self) -> Option<u64> {
        None
    }
    /// Refuses a point that is wrong in itself: a mask whose length is not that of its container. Called in every call of a preparation, since
    /// an engine that replays a recording shows the point to nothing.
    ///
    /// # Errors
    /// If the point is wrong in itself.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn check(&self) -> Result<(), ErrorKind> {
        Ok(())
    }
    /// The contexts.
    fn contexts(&self) -> <Self::Contexts as Contexts>::Values<'_>;
    /// Makes the object that the function sees; its numbers are zero.
    fn hold<N: Scalar>(&self) -> <Self::Shape as Shape>::Held<N>;
    /// Fits an old object to this point; its numbers do not matter.
    fn fit<N: Scalar>(&self, held: &mut <Self::Shape as Shape>::Held<N>);
    /// Makes an owned object of the shape of this point whose numbers `fill` writes; in `memory` if they do not lie in one piece.
    #[expect(clippy::missing_errors_doc, reason = "the error is that of `fill`")]
    fn filled<E>(
        &self,
        memory: &mut Vec<ScalarOf<Self>>,
        fill: impl FnOnce(&mut [ScalarOf<Self>]) -> Result<(), E>,
    ) -> Result<LikeOf<Self>, E>;
}

/// The numbers that a point holds.
pub type ScalarOf<P> = <<P as Point>::Shape as Shape>::Scalar;
/// The owned object of the shape of a point, as `gradient` returns it.
pub type LikeOf<P> = <<P as Point>::Shape as Shape>::Like;

/// Points whose shape is the flat numbers: what they pass to the function, a result, and the numbers of the result, which `fill` writes.
macro_rules! flat_points {
    ($([$($generics:tt)*] $point:ty: $shape:ty, $this:ident => $flat:expr, $like:expr, $numbers:expr;)*) => {$(
        impl<$($generics)*> Point for $point {
            type Shape = $shape;
            type Contexts = ();
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn flat<'a>(&'a self, _: &'a mut Vec<ScalarOf<Self>>) -> &'a [ScalarOf<Self>] {
                let $this = self;
                $flat
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn contexts(&self) {}
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn hold<N: Scalar>(&self) {}
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn fit<N: Scalar>(&self, (): &mut ()) {}
            // The length of a local number or array is a constant here, which that of a piece of an `Object` is not.
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn filled<E>(
                &self,
                _: &mut Vec<ScalarOf<Self>>,
                fill: impl FnOnce(&mut [ScalarOf<Self>]) -> Result<(), E>,
            ) -> Result<LikeOf<Self>, E> {
                let like = |$this: &Self| {
                    let _ = $this;
                    $like
                };
                let mut $this: LikeOf<Self> = like(self);
                fill($numbers)?;
                Ok($this)
            }
        }
    )*};
}
// Numbers by value. Not `f32`, so that the compiler infers `f64` for a literal `2.0`; pass `&x` of an `f32`.
flat_points! {
    [S: Scalar] &S: Number<S>, x => std::slice::from_ref(*x), S::default(), std::slice::from_mut(&mut x);
    [C: Core] Num<C>: Number<Num<C>>, x => std::slice::from_ref(x), Num::default(), std::slice::from_mut(&mut x);
    [] f64: Number<f64>, x => std::slice::from_ref(x), 0.0, std::slice::from_mut(&mut x);
    [S: Scalar] &[S]: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar] &Vec<S>: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar, const K: usize] &[S; K]: Slice<S>, x => *x, vec![S::default(); x.len()], &mut x;
    [S: Scalar] &mut [S]: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar] &mut Vec<S>: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    // `&x` where `x` is a reference already.
    [S: Scalar] &&[S]: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar] &&mut [S]: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar] &&Vec<S>: Slice<S>, x => x, vec![S::default(); x.len()], &mut x;
    [S: Scalar, const K: usize] &&[S; K]: Slice<S>, x => &***x, vec![S::default(); x.len()], &mut x;
    [S: Scalar, const K: usize] [S; K]: [S; K], x => x, [S::default(); K], &mut x;
}

/// A point with its contexts and its flat numbers, as operators pass it to backends.
pub struct At<'a, P: Point> {
    point: &'a P,
    coordinates: &'a [ScalarOf<P>],
}

impl<P: Point> Clone for At<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Point> Copy for At<'_, P> {}

impl<'a, P: Point> At<'a, P> {
    /// Reads the numbers of a point, in `memory` if they do not lie one after the other.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(point: &'a P, memory: &'a mut Vec<ScalarOf<P>>) -> Self {
        At { point, coordinates: point.flat(memory) }
    }
    /// The point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn point(self) -> &'a P {
        self.point
    }
    /// The numbers, one after the other.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn coordinates(self) -> &'a [ScalarOf<P>] {
        self.coordinates
    }
    /// The contexts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn contexts(self) -> <P::Contexts as Contexts>::Values<'a> {
        self.point.contexts()
    }
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
            fn flat<'a>(&'a self, memory: &'a mut Vec<ScalarOf<P>>) -> &'a [ScalarOf<P>] {
                self.0.flat(memory)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn outline(&self) -> Option<u64> {
                self.0.outline()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn check(&self) -> Result<(), ErrorKind> {
                self.0.check()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn contexts(&self) -> <Self::Contexts as Contexts>::Values<'_> {
                let (_, $($a),*) = self;
                ($($a.value(),)*)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn hold<N: Scalar>(&self) -> <P::Shape as Shape>::Held<N> {
                self.0.hold::<N>()
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn fit<N: Scalar>(&self, held: &mut <P::Shape as Shape>::Held<N>) {
                self.0.fit::<N>(held);
            }
            #[inline]
            fn filled<E>(
                &self,
                memory: &mut Vec<ScalarOf<P>>,
                fill: impl FnOnce(&mut [ScalarOf<P>]) -> Result<(), E>,
            ) -> Result<LikeOf<P>, E> {
                self.0.filled(memory, fill)
            }
        }
    };
}
context_points! { A a }
context_points! { A a, B b }
context_points! { A a, B b, C c }
context_points! { A a, B b, C c, D d }
