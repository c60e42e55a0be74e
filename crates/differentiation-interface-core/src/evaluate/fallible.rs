//! Functions that return a `Result`: an operator returns their error.
//!
//! Called as any other [`Output`]. An `Err` becomes a [fault](crate::fault) of the operator that runs.

use super::output::{ArrayOutput, NumberOutput, Output};
use crate::function::{ContextTypes, Function, FunctionWith, Returned, succeeded};
use crate::recordings::OutputShape;
use crate::scalar::{Base, Scalar};

/// NaN for an output that there is not, where its type fixes the number of its numbers: what a call without an operator returns.
fn nothing<N: Scalar, O: Output<N>>() -> O::Fixed<N> {
    let mut fixed = O::fixed::<N>();
    fixed.as_mut().fill(N::constant(N::Base::from_f64(f64::NAN)));
    fixed
}

/// Leaves the numbers of an output in `y`; [`nothing`] if there is none.
#[inline]
fn keep<N: Scalar, O: Output<N>, E: Into<Returned>>(result: Result<O, E>, kept: &mut O::Kept, y: &mut Vec<N>) {
    match succeeded(result) {
        Some(output) => output.keep(kept, y),
        None => {
            y.clear();
            y.extend_from_slice(nothing::<N, O>().as_ref());
        }
    }
}

/// A function that returns `Ok` of its output, or an error: `Err` of what converts to a boxed error. Its outputs are kept and built as those
/// without a `Result`, but for one thing: they are not differentiated on the stack.
impl<N: Scalar, O: Output<N>, E: Into<Returned>> Output<N> for Result<O, E> {
    type Fixed<S: Scalar> = [S; 0];
    const FIXED: bool = false;
    fn fixed<S: Scalar>() -> [S; 0] {
        []
    }
    type With<S: Scalar> = O::With<S>;
    type Borrowed<'a, S: Scalar> = O::Borrowed<'a, S>;
    type Kept = O::Kept;
    #[inline]
    fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, kept: &mut O::Kept, y: &mut Vec<N>) {
        keep(f.call(x), kept, y);
    }
    #[inline]
    fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
        f: &F,
        x: &X,
        contexts: C::Args<'_>,
        kept: &mut O::Kept,
        y: &mut Vec<N>,
    ) {
        keep(f.call_with(x, contexts), kept, y);
    }
    #[inline]
    fn keep(self, kept: &mut O::Kept, y: &mut Vec<N>) {
        keep(self, kept, y);
    }
    fn read<R>(self, read: impl FnOnce(&[N]) -> R) -> R {
        match succeeded(self) {
            Some(output) => output.read(read),
            None => read(nothing::<N, O>().as_ref()),
        }
    }
    fn build<S: Scalar>(flat: &[S], kept: &O::Kept) -> O::With<S> {
        O::build(flat, kept)
    }
    #[inline]
    fn borrow<'a, S: Scalar>(flat: &'a [S], kept: &O::Kept) -> O::Borrowed<'a, S> {
        O::borrow(flat, kept)
    }
    #[inline]
    fn outline(kept: &O::Kept) -> Option<u64> {
        O::outline(kept)
    }
    #[inline]
    fn begin(kept: &mut O::Kept) {
        O::begin(kept);
    }
    #[inline]
    fn is_told(kept: &O::Kept) -> bool {
        O::is_told(kept)
    }
    #[inline]
    fn remember(kept: &mut O::Kept) -> Option<OutputShape> {
        O::remember(kept)
    }
    #[inline]
    fn show(kept: &O::Kept, shape: OutputShape) {
        O::show(kept, shape);
    }
    #[inline]
    fn keep_asked(kept: &mut O::Kept) {
        O::keep_asked(kept);
    }
    #[inline]
    fn name(kept: &mut O::Kept) -> Option<OutputShape> {
        O::name(kept)
    }
    fn owned<'a, S: Scalar>(_: [S; 0]) -> Option<O::Borrowed<'a, S>> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<N: Scalar, O: NumberOutput<N>, E: Into<Returned>> NumberOutput<N> for Result<O, E> {}
#[diagnostic::do_not_recommend]
impl<N: Scalar, O: ArrayOutput<N>, E: Into<Returned>> ArrayOutput<N> for Result<O, E> {}
