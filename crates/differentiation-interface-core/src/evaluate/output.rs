//! What functions may return: [`Output`].
//!
//! Read by operators, which give results the shape of the output.

use crate::container::{Container, Numbers};
use crate::function::{ContextTypes, Function, FunctionWith};
use crate::recordings::OutputShape;
use crate::scalar::Scalar;
use std::fmt::Debug;

/// What a function may return at the number type `N`: `N`, `Vec<N>`, `[N; M]`, a container, a `Result` of one of these.
///
/// # For users
/// `#[derive(Container)]` implements it for a struct or enum. An `Err` becomes the error of the operator.
///
/// # For authors
/// 1. The numbers have one order: [`build`](Output::build) and [`borrow`](Output::borrow) place them where [`evaluate`](Output::evaluate), [`keep`](Output::keep) and
///    [`read`](Output::read) found them.
/// 2. [`Kept`](Output::Kept) holds the shape and the constants of a result if its length does not determine them. A type that needs nothing has `()`, which costs nothing.
/// 3. Each call of an operator calls [`begin`](Output::begin) first. From then on [`is_told`](Output::is_told) returns `false` until an evaluation ends, or
///    [`show`](Output::show) names a shape that is kept; after a panic of the function it is `false` too. A type with `Kept = ()` leaves all of this to the defaults.
/// 4. `build`, `borrow` and [`outline`](Output::outline) are called after a call in which the shape was told, and may panic before the first one.
/// 5. `evaluate` accepts a `y` of any content and length, leaves exactly the numbers of this output there, and reuses memory where it can, by
///    [`Function::call_into`].
/// 6. If [`FIXED`](Output::FIXED), every output has as many numbers as [`fixed`](Output::fixed), and [`owned`](Output::owned) returns `Some`.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` cannot be differentiated with numbers `{N}`",
    note = "return a number, a `Vec`, an array or a container of the numbers the function gets, or a `Result` of one"
)]
pub trait Output<N: Scalar>: Sized {
    /// The outputs as an array, if this type fixes their number; else empty.
    type Fixed<S: Scalar>: Copy + Debug + Send + AsRef<[S]> + AsMut<[S]>;
    /// Whether this type fixes the number of outputs.
    const FIXED: bool;
    /// Makes [`Fixed`](Output::Fixed) outputs of unspecified content.
    fn fixed<S: Scalar>() -> Self::Fixed<S>;
    /// The same shape with numbers `S`.
    type With<S: Scalar>: Clone + Debug + Container<Scalar = S> + 'static;
    /// The same shape, borrowed instead of allocated: `&[S]` for a `Vec`.
    type Borrowed<'a, S: Scalar>: Debug + Numbers<S>;
    /// What a result is made of beside its numbers: outputs of earlier runs, if they tell a shape or have constants. Without size if not.
    type Kept: Clone + Send + Default + Debug;
    /// Evaluates `f` at `x` and leaves the numbers in `y`, reusing its memory where the output is a `Vec`.
    fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, kept: &mut Self::Kept, y: &mut Vec<N>);
    /// The same for a function with contexts.
    fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
        f: &F,
        x: &X,
        contexts: C::Args<'_>,
        kept: &mut Self::Kept,
        y: &mut Vec<N>,
    );
    /// Leaves the numbers of this output in `y`, as [`evaluate`](Output::evaluate) does.
    fn keep(self, kept: &mut Self::Kept, y: &mut Vec<N>);
    /// Passes the outputs to `read`.
    fn read<R>(self, read: impl FnOnce(&[N]) -> R) -> R;
    /// Makes an object of this shape from flat numbers, with what an evaluation kept.
    fn build<S: Scalar>(flat: &[S], kept: &Self::Kept) -> Self::With<S>;
    /// Views flat numbers in this shape, without allocation where numbers are all that there is.
    fn borrow<'a, S: Scalar>(flat: &'a [S], kept: &Self::Kept) -> Self::Borrowed<'a, S>;
    /// The [outline](crate::container::outline) of the last output, if the number of its numbers does not tell all of its shape.
    #[inline]
    fn outline(_kept: &Self::Kept) -> Option<u64> {
        None
    }
    /// Begins a call, whose output may differ in shape from the last one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(_kept: &mut Self::Kept) {}
    /// Whether the shape of the output of this call is known: from a run of the function, or from [`show`](Output::show).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_told(_kept: &Self::Kept) -> bool {
        true
    }
    /// Names the shape of the output of this call, and keeps it; see [`Flat::remember_shape`](super::Flat::remember_shape).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn remember(_kept: &mut Self::Kept) -> Option<OutputShape> {
        None
    }
    /// The output of this call has the shape of this name.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn show(_kept: &Self::Kept, _shape: OutputShape) {}
    /// Keeps the output of a run that was made because a name which was [shown](Output::show) is not known: under this name.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn keep_asked(_kept: &mut Self::Kept) {}
    /// Names the shape of the output of this call for a caller that will not [show](Output::show) it: no output is kept for it. `None` where
    /// constants do not consist of plain data.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn name(_kept: &mut Self::Kept) -> Option<OutputShape> {
        None
    }
    /// Converts outputs of fixed number to what [`borrow`](Output::borrow) makes of flat numbers.
    fn owned<'a, S: Scalar>(fixed: Self::Fixed<S>) -> Option<Self::Borrowed<'a, S>>;
}

/// Outputs of fixed shape are made anew in each call.
macro_rules! fixed_output {
    ($([$($generics:tt)*] $output:ty => $with:ty, $count:expr, $y:ident.$store:ident($numbers:expr), $slice:expr, $flat:ident: $build:expr;)*) => {$(
        impl<N: Scalar, $($generics)*> Output<N> for $output {
            type Fixed<S: Scalar> = [S; $count];
            const FIXED: bool = true;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn fixed<S: Scalar>() -> [S; $count] {
                [S::default(); $count]
            }
            type With<S: Scalar> = $with;
            type Borrowed<'a, S: Scalar> = $with;
            type Kept = ();
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, (): &mut (), y: &mut Vec<N>) {
                let $y = f.call(x);
                y.clear();
                y.$store($numbers);
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
                f: &F,
                x: &X,
                contexts: C::Args<'_>,
                (): &mut (),
                y: &mut Vec<N>,
            ) {
                let $y = f.call_with(x, contexts);
                y.clear();
                y.$store($numbers);
            }
            #[inline]
            fn keep(self, (): &mut (), y: &mut Vec<N>) {
                let $y = self;
                y.clear();
                y.$store($numbers);
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn read<R>(self, read: impl FnOnce(&[N]) -> R) -> R {
                let $y = self;
                read($slice)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn build<S: Scalar>($flat: &[S], (): &()) -> $with {
                $build
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn borrow<S: Scalar>(flat: &[S], (): &()) -> $with {
                <Self as Output<N>>::build(flat, &())
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn owned<'a, S: Scalar>(fixed: [S; $count]) -> Option<Self::Borrowed<'a, S>> {
                Some(<Self as Output<N>>::build(&fixed, &()))
            }
        }
    )*};
}
fixed_output! {
    [] N => S, 1, output.push(output), std::slice::from_ref(&output), flat: flat[0];
    [const M: usize] [N; M] => [S; M], M, output.extend_from_slice(&output), &output, flat: std::array::from_fn(|i| flat[i]);
}

impl<N: Scalar> Output<N> for Vec<N> {
    type Fixed<S: Scalar> = [S; 0];
    const FIXED: bool = false;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed<S: Scalar>() -> [S; 0] {
        []
    }
    type With<S: Scalar> = Vec<S>;
    type Borrowed<'a, S: Scalar> = &'a [S];
    type Kept = ();
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, (): &mut (), y: &mut Vec<N>) {
        f.call_into(x, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
        f: &F,
        x: &X,
        contexts: C::Args<'_>,
        (): &mut (),
        y: &mut Vec<N>,
    ) {
        f.call_with_into(x, contexts, y);
    }
    fn keep(self, (): &mut (), y: &mut Vec<N>) {
        *y = self;
    }
    fn read<R>(self, read: impl FnOnce(&[N]) -> R) -> R {
        read(&self)
    }
    fn build<S: Scalar>(flat: &[S], (): &()) -> Vec<S> {
        flat.to_vec()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn borrow<'a, S: Scalar>(flat: &'a [S], (): &()) -> &'a [S] {
        flat
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn owned<'a, S: Scalar>(_: [S; 0]) -> Option<&'a [S]> {
        None
    }
}

/// The output is one number, as `gradient` requires.
#[diagnostic::on_unimplemented(
    message = "this operator expects a function that returns one number, this one returns `{Self}`",
    note = "did you mean `jacobian`?"
)]
pub trait NumberOutput<N: Scalar>: Output<N> {}
impl<N: Scalar> NumberOutput<N> for N {}

/// The output is an array, as `jacobian` requires.
#[diagnostic::on_unimplemented(
    message = "`jacobian` expects a function that returns an array, this one returns one number",
    note = "did you mean `gradient`?"
)]
pub trait ArrayOutput<N: Scalar>: Output<N> {}
impl<N: Scalar> ArrayOutput<N> for Vec<N> {}
impl<N: Scalar, const M: usize> ArrayOutput<N> for [N; M] {}
