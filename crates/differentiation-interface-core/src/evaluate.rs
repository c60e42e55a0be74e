//! Flattens the many shapes of functions into the one that backends run.
//!
//! [`Evaluate`] is implemented for every function that an operator accepts; a backend receives a [`Flat`], a function from a flat
//! slice to a flat vector of numbers.

use crate::context::{Contexts, SomeContexts};
use crate::function::{ContextTypes, Function, FunctionWith};
use crate::numbers::Numbers;
use crate::point::Shape;
use crate::recordings::Recordable;
use crate::scalar::Scalar;
use std::fmt::Debug;

/// A function as backends call it: from a flat slice to a flat vector of numbers.
///
/// Engines that keep a recording of one call for later calls read in [`recordable`](Flat::recordable) what it depends on.
pub trait Flat<N> {
    /// Evaluates the function at `x` and leaves the outputs in `y`, whose previous content and length do not matter.
    fn call(&mut self, x: &[N], y: &mut Vec<N>);
    /// What a recording of a call depends on; `None` if the function must run in every call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        None
    }

    /// Whether the function uses work memory, a [`Cache`](crate::context::Cache): an engine that differentiates compiled code would have to
    /// differentiate through it.
    fn has_work_memory(&self) -> bool;

    /// The number of inputs, if the types fix the numbers of inputs and outputs, as for numbers and arrays. Such a function can also
    /// be called by [`call_fixed`](Flat::call_fixed).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        None
    }
    /// Whether the function captures data or has contexts, through which numbers of another differentiation may enter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        true
    }

    /// Evaluates the function at the point with the entries `x(0)`, `x(1)`, ... and passes its outputs to `read`. If
    /// [`fixed`](Flat::fixed) is `Some`, nothing is allocated: point and outputs are on the stack or in registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_fixed<R>(&mut self, x: impl FnMut(usize) -> N, read: impl FnOnce(&[N]) -> R) -> R
    where
        Self: Sized,
    {
        let x: Vec<N> = (0..self.fixed().unwrap_or(0)).map(x).collect();
        let mut y = Vec::new();
        self.call(&x, &mut y);
        read(&y)
    }
}

/// A reference to a function forwards every method.
impl<N, F: Flat<N> + ?Sized> Flat<N> for &mut F {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        (**self).call(x, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_work_memory(&self) -> bool {
        (**self).has_work_memory()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        (**self).recordable()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        (**self).fixed()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        (**self).captures()
    }
}

/// The function as operators pass it to a backend: the function itself, so that the backend's loops are compiled around it.
#[cfg(not(debug_assertions))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn handed<F>(f: &mut F) -> &mut F {
    f
}

/// The function as operators pass it to a backend. In debug builds this is a trait object: calls are not inlined there anyway, and
/// the code of a backend is compiled once per number type instead of once per function.
#[cfg(debug_assertions)]
pub(crate) fn handed<'a, N, F: Flat<N> + 'a>(f: &'a mut F) -> &'a mut (dyn Flat<N> + 'a) {
    f
}

/// What a function may return at the number type `N`: `N`, `Vec<N>`, `[N; M]`.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` cannot be differentiated with numbers `{N}`",
    note = "return a number, a `Vec` or an array of the numbers the function gets"
)]
pub trait Output<N: Scalar>: Numbers<N> {
    /// The outputs as an array, if this type fixes their number; else empty.
    type Fixed<S: Scalar>: Copy + Debug + Send + AsRef<[S]> + AsMut<[S]>;
    /// Whether this type fixes the number of outputs.
    const FIXED: bool;
    /// Makes [`Fixed`](Output::Fixed) outputs of unspecified content.
    fn fixed<S: Scalar>() -> Self::Fixed<S>;
    /// The same shape with numbers `S`.
    type With<S: Scalar>: Clone + Debug + Numbers<S>;
    /// The same shape, borrowed instead of allocated: `&[S]` for a `Vec`.
    type Borrowed<'a, S: Scalar>: Debug + Numbers<S>;
    /// Evaluates `f` at `x` and leaves the numbers in `y`, reusing its memory where the output is a `Vec`.
    fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, y: &mut Vec<N>);
    /// The same for a function with contexts.
    fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
        f: &F,
        x: &X,
        contexts: C::Args<'_>,
        y: &mut Vec<N>,
    );
    /// Makes an object of this shape from flat numbers.
    fn build<S: Scalar>(flat: &[S]) -> Self::With<S>;
    /// Views flat numbers in this shape, without allocation.
    fn borrow<S: Scalar>(flat: &[S]) -> Self::Borrowed<'_, S>;
    /// Converts outputs of fixed number to what [`borrow`](Output::borrow) makes of flat numbers.
    fn owned<'a, S: Scalar>(fixed: Self::Fixed<S>) -> Option<Self::Borrowed<'a, S>>;
}

/// Outputs of fixed shape are made anew in each call.
macro_rules! fixed_output {
    ($([$($generics:tt)*] $output:ty => $with:ty, $count:expr, $y:ident.$store:ident($numbers:expr), $flat:ident: $build:expr;)*) => {$(
        impl<N: Scalar, $($generics)*> Output<N> for $output {
            type Fixed<S: Scalar> = [S; $count];
            const FIXED: bool = true;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn fixed<S: Scalar>() -> [S; $count] {
                [S::default(); $count]
            }
            type With<S: Scalar> = $with;
            type Borrowed<'a, S: Scalar> = $with;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, y: &mut Vec<N>) {
                let $y = f.call(x);
                y.clear();
                y.$store($numbers);
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
                f: &F,
                x: &X,
                contexts: C::Args<'_>,
                y: &mut Vec<N>,
            ) {
                let $y = f.call_with(x, contexts);
                y.clear();
                y.$store($numbers);
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn build<S: Scalar>($flat: &[S]) -> $with {
                $build
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn borrow<S: Scalar>(flat: &[S]) -> $with {
                <Self as Output<N>>::build(flat)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn owned<'a, S: Scalar>(fixed: [S; $count]) -> Option<Self::Borrowed<'a, S>> {
                Some(<Self as Output<N>>::build(&fixed))
            }
        }
    )*};
}
fixed_output! {
    [] N => S, 1, output.push(output), flat: flat[0];
    [const M: usize] [N; M] => [S; M], M, output.extend_from_slice(&output), flat: std::array::from_fn(|i| flat[i]);
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
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate<X: ?Sized, F: Function<X, Output = Self>>(f: &F, x: &X, y: &mut Vec<N>) {
        f.call_into(x, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_with<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C, Output = Self>>(
        f: &F,
        x: &X,
        contexts: C::Args<'_>,
        y: &mut Vec<N>,
    ) {
        f.call_with_into(x, contexts, y);
    }
    fn build<S: Scalar>(flat: &[S]) -> Vec<S> {
        flat.to_vec()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn borrow<S: Scalar>(flat: &[S]) -> &[S] {
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

/// Every function that operators accept: a function of a point of shape `X` with contexts `C`, at the number type `N`.
///
/// Implemented for every [`Function`], every [`FunctionWith`], in-place functions made functions by [`in_place`](crate::in_place) among them. Users do not
/// implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be differentiated here with numbers `{N}`",
    note = "a closure or `fn` has one number type: a function over plain `f64` works only with backends that need values (`AutoFiniteDiff`)",
    note = "write it over `T: Real` and call it in a closure `|x: &[_]| f(x)`, or put `#[differentiable]` on the `fn` and pass the object it makes",
    note = "a function that writes its output, `|y: &mut [_], x: &[_]|`, is passed as `in_place(f, output_length)`"
)]
pub trait Evaluate<X: Shape, C: Contexts, N: Scalar> {
    /// The output of the function.
    type Output: Output<N>;
    /// The number of inputs, if the types fix the numbers of inputs and outputs; see [`Flat::fixed`].
    const FIXED: Option<usize> = if <Self::Output as Output<N>>::FIXED { X::LENGTH } else { None };
    /// Evaluates into `y`.
    fn evaluate<'a>(&self, x: &[N], contexts: &'a C::Values<'_>, storage: &'a mut C::Storage<N>, y: &mut Vec<N>);
    /// Evaluates at the point with the entries `x(0)`, `x(1)`, ... and passes the outputs to `read`; for shapes of fixed length.
    fn evaluate_fixed<'a, R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &'a C::Values<'_>,
        storage: &'a mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R;
    /// Whether a call only computes its output, from `x` and the contexts alone.
    fn is_pure(&self) -> bool;
}

impl<X: Shape, N: Scalar, F> Evaluate<X, (), N> for F
where
    F: Function<X::Active<N>>,
    F::Output: Output<N>,
{
    type Output = F::Output;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate(&self, x: &[N], _: &(), _: &mut (), y: &mut Vec<N>) {
        F::Output::evaluate(self, X::view(x), y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<R>(&self, x: impl FnMut(usize) -> N, _: &(), _: &mut (), read: impl FnOnce(&[N]) -> R) -> R {
        X::with_entries(x, |x| read(self.call(x).numbers()))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        Function::is_pure(self)
    }
}

impl<X: Shape, C: SomeContexts, N: Scalar, F> Evaluate<X, C, N> for F
where
    F: FunctionWith<X::Active<N>, C::Types<N>>,
    F::Output: Output<N>,
{
    type Output = F::Output;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate<'a>(&self, x: &[N], contexts: &'a C::Values<'_>, storage: &'a mut C::Storage<N>, y: &mut Vec<N>) {
        F::Output::evaluate_with(self, X::view(x), C::arguments(contexts, storage), y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<'a, R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &'a C::Values<'_>,
        storage: &'a mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R {
        X::with_entries(x, |x| read(self.call_with(x, C::arguments(contexts, storage)).numbers()))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        FunctionWith::is_pure(self)
    }
}

/// A user's function bound to its contexts for one call: the [`Flat`] that operators pass to backends.
pub struct Bound<'a, F, X: Shape, C: Contexts, N: Scalar> {
    function: &'a F,
    contexts: C::Values<'a>,
    storage: &'a mut C::Storage<N>,
    shape: std::marker::PhantomData<X>,
}

impl<'a, F, X: Shape, C: Contexts, N: Scalar> Bound<'a, F, X, C, N> {
    /// Binds `function` to the contexts of a call.
    pub fn new(function: &'a F, contexts: C::Values<'a>, storage: &'a mut C::Storage<N>) -> Self {
        Bound { function, contexts, storage, shape: std::marker::PhantomData }
    }
}

impl<F: Evaluate<X, C, N>, X: Shape, C: Contexts, N: Scalar> Flat<N> for Bound<'_, F, X, C, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_work_memory(&self) -> bool {
        C::WORK_MEMORY
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        F::FIXED
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        size_of::<F>() > 0 || size_of::<C::Values<'static>>() > 0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_fixed<R>(&mut self, x: impl FnMut(usize) -> N, read: impl FnOnce(&[N]) -> R) -> R {
        self.function.evaluate_fixed(x, &self.contexts, self.storage, read)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        self.function.evaluate(x, &self.contexts, self.storage, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        Some(self)
    }
}

impl<F: Evaluate<X, C, N>, X: Shape, C: Contexts, N: Scalar> Recordable for Bound<'_, F, X, C, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        !C::OPAQUE && self.function.is_pure()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameters(&self, values: &mut Vec<f64>) {
        C::parameters(&self.contexts, values);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lengths(&self, lengths: &mut Vec<usize>) {
        C::lengths(&self.contexts, lengths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Cache, Constant};
    use crate::point::Point;

    /// Calls `has_work_memory` as a backend does, on a function of a point with contexts.
    fn has_work_memory<P: Point, F: Evaluate<P::Shape, P::Contexts, f64>>(f: &F, point: &P) -> bool {
        let mut storage = P::Contexts::allocate(point.contexts());
        Bound::<_, P::Shape, P::Contexts, f64>::new(f, point.contexts(), &mut storage).has_work_memory()
    }

    #[test]
    fn work_memory_is_seen() {
        let plain = |x: &[f64]| x[0];
        let scaled = |x: &[f64], k: &f64| k * x[0];
        let buffered = |x: &[f64], k: &f64, work: &mut Vec<f64>| {
            work[0] = k * x[0];
            work[0]
        };
        let x = [1.0];
        assert!(!has_work_memory(&plain, &&x[..]));
        assert!(!has_work_memory(&scaled, &(&x[..], Constant(&2.0))));
        assert!(has_work_memory(&buffered, &(&x[..], Constant(&2.0), Cache(&[0.0][..]))));
    }
}
