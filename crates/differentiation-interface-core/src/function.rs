//! Functions that can be differentiated: [`Function`], and its variants for in-place output and for contexts.
//!
//! Closures, generic `fn` items and hand-written models implement these traits; operators use them through
//! [`Evaluate`](crate::evaluate::Evaluate), which flattens all shapes into one.

use crate::error::{Error, ErrorKind};
use crate::fault;
use crate::recordings::EngineScalar;
use crate::scalar::{Base, Core, Num, Scalar};
use num_traits::Float;

/// The error that a function may return.
pub(crate) type Returned = Box<dyn std::error::Error + Send + Sync>;

/// What is in the `Ok` of a function. An `Err` becomes a fault of the operator that runs.
pub(crate) fn succeeded<O, E: Into<Returned>>(result: Result<O, E>) -> Option<O> {
    #[cold]
    fn refuse(error: Returned) {
        fault::report_error(Error::function_failed(error));
    }
    result.map_err(|error| refuse(error.into())).ok()
}

/// A function of a point `X`: `[T]` for a slice, `[T; N]` for an array, `T` for a number.
///
/// # For users
/// Every closure and `fn` item is a `Function` at one number type, which the compiler infers from the backend:
/// `|x: &[_]| energy(x, 3.0)` for slices, `|x: &[_; 3]| ..` for arrays, `|x| g(x)` for numbers. For one object that
/// works with every backend, put [`#[differentiable]`](https://docs.rs/differentiation-interface) on a `fn`, or implement this
/// trait for a struct that carries the data:
///
/// ```
/// use differentiation_interface_core::{Function, Real};
///
/// struct Spring { k: f64 }
///
/// impl<T: Real> Function<[T]> for Spring {
///     type Output = T;
///     fn call(&self, x: &[T]) -> T {
///         x.iter().map(|v| 0.5 * self.k * v * v).sum()
///     }
/// }
/// assert_eq!(Spring { k: 3.0 }.call(&[1.0, 2.0]), 7.5);
/// ```
///
/// The function does not change the point. The output is a number `T`, a `Vec<T>`, an array `[T; M]`, a container, or a `Result` of one of these: operators
/// return the error of the function as [`ErrorKind::FunctionFailed`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of `{X}`",
    note = "a closure or `fn` has one number type, which the first call that takes it decides: write it again for another backend or operator; over plain `f64` it works only with backends that need values (`AutoFiniteDiff`)",
    note = "write it over `T: Real` and call it in a closure `|x: &[_]| f(x)`, or put `#[differentiable]` on the `fn` and pass the object it makes",
    note = "a function that writes its output, `|y: &mut [_], x: &[_]|`, is passed as `in_place(f, output_length)`",
    note = "in code that is generic over `F`, ask for the operator: `where AutoReverseDiff: GradientBackend<F, Slice<f64>, ()>`"
)]
pub trait Function<X: ?Sized> {
    /// What the function returns.
    type Output;
    /// Evaluates the function.
    fn call(&self, x: &X) -> Self::Output;
    /// Evaluates the function into an old output, whose memory may be reused. Override it if `Output` is a `Vec`, so that prepared
    /// calls do not allocate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_into(&self, x: &X, y: &mut Self::Output) {
        *y = self.call(x);
    }
    /// Whether a call only computes its output, from `x` and the contexts alone. Backends that compile a recording of a pure function
    /// do not run it again. Closures are assumed to be pure.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        true
    }
    /// Called before the evaluations of each call of an operator, unless the evaluations are on several threads. An object that keeps something of an evaluation
    /// forgets what is of earlier calls; others do nothing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self) {}
}

/// A function of a point with further arguments `C`, which are not differentiated: a tuple of [`Const`] and [`Work`].
///
/// Closures take them after the point: `|x: &[_], k: &f64, w: &mut Vec<_>| ..`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::Const;
///
/// struct Spring;
/// impl<T: Real> FunctionWith<[T], (Const<f64>,)> for Spring {
///     type Output = T;
///     fn call_with(&self, x: &[T], (k,): (&f64,)) -> T {
///         x.iter().map(|v| *k * *v * *v).sum()
///     }
/// }
/// let point = (&[1.0, 2.0], Constant(&3.0));
/// assert_eq!(gradient(&Spring, &AutoForwardDiff::default(), point)?, [6.0, 12.0]);
/// assert_eq!(gradient(&Spring, &AutoReverseDiff::default(), point)?, [6.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of `{X}` with the contexts `{C}`",
    note = "after the point the function takes one argument for each context of the call, in the same order: `&K` for `Constant(&k)` and `ConstantNumbers(&k)` as they are, `&_` or `&Vec<_>` for `Parameter(&p)` and `&mut Vec<_>` for `Cache(&w)`, whose numbers are those of the point",
    note = "the point is `&[_]` where the call passes `&x`, `&[_; N]` for an array by value, and a number by value"
)]
pub trait FunctionWith<X: ?Sized, C: ContextTypes> {
    /// What the function returns.
    type Output;
    /// Evaluates the function.
    fn call_with(&self, x: &X, contexts: C::Args<'_>) -> Self::Output;
    /// Evaluates the function into an old output, as [`Function::call_into`] does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_with_into(&self, x: &X, contexts: C::Args<'_>, y: &mut Self::Output) {
        *y = self.call_with(x, contexts);
    }
    /// Whether a call only computes its output, as for [`Function::is_pure`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        true
    }
    /// Called before the evaluations of each call of an operator, as [`Function::begin`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self) {}
}

/// A function that writes its output into a slice, `f!(y, x)`. [`in_place`] makes it an argument of operators.
///
/// It must write every entry of `y` in every call, and must not read an entry before writing it. On entry all entries hold a NaN with a
/// special payload, [`Base::UNWRITTEN`]. If an entry holds it at the end, or the result of arithmetic with it (`y[i] += x`), the operator
/// returns [`ErrorKind::UnwrittenOutput`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// struct Squares;
/// impl<T: Real> FunctionInPlace<T, [T]> for Squares {
///     fn call_in_place(&self, y: &mut [T], x: &[T]) {
///         for (y, x) in y.iter_mut().zip(x) {
///             *y = *x * *x;
///         }
///     }
/// }
/// let f = in_place(Squares, 2);
/// assert_eq!(jacobian(&f, &AutoForwardDiff::default(), &[1.0, 2.0])?, [[2.0, 0.0], [0.0, 4.0]]);
/// assert_eq!(jacobian(&f, &AutoReverseDiff::default(), &[1.0, 2.0])?, [[2.0, 0.0], [0.0, 4.0]]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an in-place function of `{X}`",
    note = "write a closure `|y: &mut [_], x: &[_]| ..` over a generic function"
)]
pub trait FunctionInPlace<N, X: ?Sized> {
    /// Evaluates the function into `y`.
    fn call_in_place(&self, y: &mut [N], x: &X);
}

/// A function that writes its output, with further arguments after the point.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an in-place function of `{X}` with the contexts `{C}`",
    note = "write a closure `|y: &mut [_], x: &[_], k: &K, w: &mut W| ..`: contexts follow the point, in the same order"
)]
pub trait FunctionInPlaceWith<N, X: ?Sized, C: ContextTypes> {
    /// Evaluates the function into `y`.
    fn call_in_place_with(&self, y: &mut [N], x: &X, contexts: C::Args<'_>);
}

/// The type of one further argument, as the function takes it.
pub trait ContextType {
    /// The reference that is passed.
    type Arg<'a>;
}

/// A constant of type `K`: the function takes `&K`.
pub struct Const<K: ?Sized>(std::marker::PhantomData<K>);

impl<K: ?Sized + 'static> ContextType for Const<K> {
    type Arg<'a> = &'a K;
}

/// Work memory of type `W`: the function takes `&mut W`.
pub struct Work<W>(std::marker::PhantomData<W>);

impl<W: 'static> ContextType for Work<W> {
    type Arg<'a> = &'a mut W;
}

/// A tuple of [`ContextType`]s.
pub trait ContextTypes {
    /// The tuple of references that is passed.
    type Args<'a>;
}

/// A function that writes its output, with the length of that output; made by [`in_place`].
#[derive(Clone, Copy, Debug)]
pub struct InPlace<F> {
    function: F,
    outputs: usize,
}

/// Makes a function `f!(y, x)` that writes `outputs` numbers an argument of operators.
///
/// `f` is a closure `|y: &mut [_], x: &[_]|` (contexts follow the point), which may return `Result<(), E>` (operators return the error; [`call`](Function::call) alone drops it), or an object with [`FunctionInPlace`]. It must write every entry of
/// `y`, or operators return [`ErrorKind::UnwrittenOutput`]. Calls do not
/// allocate, unlike those of a function that returns a new `Vec`.
///
/// ```
/// use differentiation_interface_core::{Function, Real, in_place};
///
/// fn differences<T: Real>(y: &mut [T], x: &[T]) {
///     for i in 0..y.len() {
///         y[i] = x[i + 1] - x[i];
///     }
/// }
/// let f = in_place(|y: &mut [_], x: &[_]| differences(y, x), 2);
/// assert_eq!(f.call(&[1.0, 4.0, 9.0][..]), [3.0, 5.0]);
/// ```
pub fn in_place<F>(f: F, outputs: usize) -> InPlace<F> {
    InPlace { function: f, outputs }
}

impl<F> InPlace<F> {
    /// New memory for the outputs.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn unwritten<N: Scalar>(&self) -> Vec<N> {
        vec![N::constant(N::Base::UNWRITTEN); self.outputs]
    }
    /// Runs an in-place function on outputs that hold [`Base::UNWRITTEN`], so that all engines detect the same unwritten entry.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn write_all<N: Scalar>(&self, y: &mut Vec<N>, function: impl FnOnce(&F, &mut [N])) {
        let unwritten = N::constant(N::Base::UNWRITTEN);
        if y.len() != self.outputs {
            y.resize(self.outputs, unwritten);
        }
        y.fill(unwritten);
        function(&self.function, y);
        // Testing all entries for any NaN is faster than stopping at the first sentinel: usually there is none.
        if y.iter().fold(false, |found, number| found | number.peek().is_nan()) {
            refuse_unwritten(y);
        }
    }
}

/// Makes the operator return an error for outputs that were not written.
#[cold]
#[inline(never)]
fn refuse_unwritten<N: Scalar>(y: &[N]) {
    if let Some(index) = y.iter().position(|number| number.peek().is_unwritten()) {
        fault::report(ErrorKind::UnwrittenOutput { index });
    }
}

/// In-place functions as functions, for each kind of point.
#[doc(hidden)]
#[macro_export]
macro_rules! in_place_functions {
    ($([$($generics:tt)*] $number:ty, $point:ty;)*) => {$(
        impl<__F: $crate::FunctionInPlace<$number, $point>, $($generics)*> $crate::Function<$point> for $crate::InPlace<__F> {
            type Output = ::std::vec::Vec<$number>;
            fn call(&self, x: &$point) -> ::std::vec::Vec<$number> {
                let mut y = self.unwritten();
                $crate::Function::call_into(self, x, &mut y);
                y
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_into(&self, x: &$point, y: &mut ::std::vec::Vec<$number>) {
                self.write_all(y, |f, y| $crate::FunctionInPlace::call_in_place(f, y, x));
            }
        }
        impl<__C, __F, $($generics)*> $crate::FunctionWith<$point, __C> for $crate::InPlace<__F>
        where
            __C: $crate::ContextTypes,
            __F: $crate::FunctionInPlaceWith<$number, $point, __C>,
        {
            type Output = ::std::vec::Vec<$number>;
            fn call_with(&self, x: &$point, contexts: __C::Args<'_>) -> ::std::vec::Vec<$number> {
                let mut y = self.unwritten();
                $crate::FunctionWith::call_with_into(self, x, contexts, &mut y);
                y
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_with_into(&self, x: &$point, contexts: __C::Args<'_>, y: &mut ::std::vec::Vec<$number>) {
                self.write_all(y, |f, y| $crate::FunctionInPlaceWith::call_in_place_with(f, y, x, contexts));
            }
        }
    )*};
}
in_place_functions! {
    [N: Scalar] N, [N];
    [N: Scalar, const K: usize] N, [N; K];
    [C: Core] Num<C>, Num<C>;
    [] f64, f64;
    [] f32, f32;
}

/// A point that closures take by reference: a slice or an array. (Numbers are taken by value.)
#[diagnostic::on_unimplemented(
    message = "this function takes a number by reference",
    note = "a number is taken by value: write `|t| f(t)` instead of `|t: &_| f(*t)`; slices, arrays and containers are taken by reference"
)]
pub trait ByReference {}
impl<T> ByReference for [T] {}
impl<T, const K: usize> ByReference for [T; K] {}

impl<X: ?Sized + ByReference, Y, F: Fn(&X) -> Y> Function<X> for F {
    type Output = Y;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&self, x: &X) -> Y {
        self(x)
    }
}

/// What an in-place function may return: nothing, or `Ok` of nothing.
#[diagnostic::on_unimplemented(
    message = "an in-place function writes its outputs to its first argument, and returns nothing",
    note = "it may return `Result<(), E>`: the operator returns the error"
)]
pub trait Written {
    /// Reports an error.
    fn settle(self);
}

impl Written for () {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle(self) {}
}

impl<E: Into<Returned>> Written for Result<(), E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle(self) {
        succeeded(self);
    }
}

impl<N, R: Written, X: ?Sized + ByReference, F: Fn(&mut [N], &X) -> R> FunctionInPlace<N, X> for F {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_in_place(&self, y: &mut [N], x: &X) {
        self(y, x).settle();
    }
}

/// Closures of a number, by value. `[C: Core] Num<C>` lists the generic parameters and the number type.
macro_rules! number_closures {
    ($([$($generics:tt)*] $number:ty;)*) => {$(
        impl<Y, F: Fn($number) -> Y, $($generics)*> Function<$number> for F {
            type Output = Y;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call(&self, x: &$number) -> Y {
                self(*x)
            }
        }
        impl<N, R: Written, F: Fn(&mut [N], $number) -> R, $($generics)*> FunctionInPlace<N, $number> for F {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_in_place(&self, y: &mut [N], x: &$number) {
                self(y, *x).settle();
            }
        }
    )*};
}
number_closures! {
    [C: Core] Num<C>;
    [] f64;
    [] f32;
}

/// Closures with contexts, for one number of contexts.
macro_rules! context_closures {
    ($($A:ident $a:ident),*) => {
        impl<$($A: ContextType),*> ContextTypes for ($($A,)*) {
            type Args<'a> = ($($A::Arg<'a>,)*);
        }
        impl<X: ?Sized + ByReference, Y, F, $($A: ContextType),*> FunctionWith<X, ($($A,)*)> for F
        where
            F: for<'x, 'a> Fn(&'x X, $($A::Arg<'a>),*) -> Y,
        {
            type Output = Y;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_with<'a>(&self, x: &X, ($($a,)*): ($($A::Arg<'a>,)*)) -> Y {
                self(x, $($a),*)
            }
        }
        impl<N, R: Written, X: ?Sized + ByReference, F, $($A: ContextType),*> FunctionInPlaceWith<N, X, ($($A,)*)> for F
        where
            F: for<'y, 'x, 'a> Fn(&'y mut [N], &'x X, $($A::Arg<'a>),*) -> R,
        {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_in_place_with<'a>(&self, y: &mut [N], x: &X, ($($a,)*): ($($A::Arg<'a>,)*)) {
                self(y, x, $($a),*).settle();
            }
        }
        context_closures_of_numbers! { $($A $a),*; [C: Core] Num<C>, }
        context_closures_of_numbers! { $($A $a),*; [] f64, }
        context_closures_of_numbers! { $($A $a),*; [] f32, }
    };
}

/// Closures of a number with contexts.
macro_rules! context_closures_of_numbers {
    ($($A:ident $a:ident),*; [$($generics:tt)*] $number:ty,) => {
        impl<Y, F, $($A: ContextType,)* $($generics)*> FunctionWith<$number, ($($A,)*)> for F
        where
            F: for<'a> Fn($number, $($A::Arg<'a>),*) -> Y,
        {
            type Output = Y;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_with<'a>(&self, x: &$number, ($($a,)*): ($($A::Arg<'a>,)*)) -> Y {
                self(*x, $($a),*)
            }
        }
        impl<N, R: Written, F, $($A: ContextType,)* $($generics)*> FunctionInPlaceWith<N, $number, ($($A,)*)> for F
        where
            F: for<'y, 'a> Fn(&'y mut [N], $number, $($A::Arg<'a>),*) -> R,
        {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn call_in_place_with<'a>(&self, y: &mut [N], x: &$number, ($($a,)*): ($($A::Arg<'a>,)*)) {
                self(y, *x, $($a),*).settle();
            }
        }
    };
}
context_closures! { C1 c1 }
context_closures! { C1 c1, C2 c2 }
context_closures! { C1 c1, C2 c2, C3 c3 }
context_closures! { C1 c1, C2 c2, C3 c3, C4 c4 }

/// A tuple of contexts that no function takes. No type implements it.
///
/// The implementations below are for the messages of the compiler alone. With one candidate for a closure the compiler reports how the closure
/// differs from what `Fn` asks, in types of this crate. With a second one, which no call can take, it reports the trait, with the note that tells
/// how contexts are passed. The one for in-place functions has another effect: from an in-place closure without contexts the compiler no longer infers that the
/// call has none.
#[doc(hidden)]
pub trait NotContexts: ContextTypes {
    /// What a call would return.
    fn absurd<R>() -> R;
}

#[doc(hidden)]
#[diagnostic::do_not_recommend]
impl<X: ?Sized + ByReference, Y, F: Fn(&X) -> Y, C: NotContexts> FunctionWith<X, C> for F {
    // No output of operators: where the contexts are not known yet, this candidate is out.
    type Output = ();
    fn call_with(&self, _: &X, _: C::Args<'_>) {
        C::absurd()
    }
}

#[doc(hidden)]
#[diagnostic::do_not_recommend]
impl<N, X: ?Sized + ByReference, Y, F: Fn(&mut [N], &X) -> Y, C: NotContexts> FunctionInPlaceWith<N, X, C> for F {
    fn call_in_place_with(&self, _: &mut [N], _: &X, _: C::Args<'_>) {
        C::absurd()
    }
}
