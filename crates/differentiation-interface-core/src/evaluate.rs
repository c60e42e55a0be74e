//! Flattens the many shapes of functions into the one that backends run.
//!
//! [`Evaluate`] is implemented for every function that an operator accepts; a backend receives a [`Flat`], a function from a flat
//! slice to a flat vector of numbers.

use crate::container::{Container, Numbers};
use crate::context::{Contexts, SomeContexts};
use crate::fault;
use crate::function::{ContextTypes, Function, FunctionWith};
use crate::point::{At, FlatShape, Point, Shape};
use crate::recordings::{Recordable, is_sync};
use crate::scalar::Scalar;
use std::fmt::Debug;
use std::ops::Range;

/// A function as backends call it: from a flat slice to a flat vector of numbers.
///
/// Engines that keep a recording of one call for later calls read in [`recordable`](Flat::recordable) what it depends on.
pub trait Flat<N> {
    /// Evaluates the function at `x` and leaves the outputs in `y`, whose previous content and length do not matter.
    fn call(&mut self, x: &[N], y: &mut Vec<N>);
    /// Declares that `x` of the next call differs from that of the last call, of this or an earlier declaration, in `range` alone. A point
    /// that is copied to an object for the function is then copied in part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, _range: Range<usize>) {}
    /// What a recording of a call depends on; `None` if the function must run in every call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        None
    }

    /// Whether the function uses work memory, a [`Cache`](crate::context::Cache): an engine that differentiates compiled code would have to
    /// differentiate through it.
    fn has_work_memory(&self) -> bool;

    /// Evaluates the function at `x`, writes the outputs into `y` if their number is its length, and returns their number.
    ///
    /// For engines that differentiate compiled code: the copy of the point that a container is shown as, work memory and an output of
    /// unknown length are made in the call and dropped with it, so that such an engine sees where they come from. Memory that lies
    /// in the function, as [`call`](Flat::call) uses it, would be a constant for it. An output that is a number or an array needs no
    /// memory. The outputs are multiplied by `one`, whose value the compiler must not know: a copy of bytes would not tell
    /// such an engine that they are numbers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_apart(&mut self, x: &[N], y: &mut [N], one: N) -> usize
    where
        N: Scalar,
    {
        let mut outputs = Vec::with_capacity(y.len());
        self.call(x, &mut outputs);
        write_apart(&outputs, y, one)
    }

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

/// Writes the outputs of [`Flat::call_apart`] and returns their number.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write_apart<N: Scalar>(outputs: &[N], y: &mut [N], one: N) -> usize {
    if outputs.len() == y.len() {
        for (y, output) in y.iter_mut().zip(outputs) {
            *y = *output * one;
        }
    }
    outputs.len()
}

/// A reference to a function forwards every method.
impl<N, F: Flat<N> + ?Sized> Flat<N> for &mut F {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        (**self).call(x, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, range: Range<usize>) {
        (**self).changed(range);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_apart(&mut self, x: &[N], y: &mut [N], one: N) -> usize
    where
        N: Scalar,
    {
        (**self).call_apart(x, y, one)
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
    note = "return a number, a `Vec`, an array or a container of the numbers the function gets"
)]
pub trait Output<N: Scalar>: Sized {
    /// The outputs as an array, if this type fixes their number; else empty.
    type Fixed<S: Scalar>: Copy + Debug + Send + AsRef<[S]> + AsMut<[S]>;
    /// Whether this type fixes the number of outputs.
    const FIXED: bool;
    /// Makes [`Fixed`](Output::Fixed) outputs of unspecified content.
    fn fixed<S: Scalar>() -> Self::Fixed<S>;
    /// The same shape with numbers `S`.
    type With<S: Scalar>: Clone + Debug + Container<Scalar = S>;
    /// The same shape, borrowed instead of allocated: `&[S]` for a `Vec`.
    type Borrowed<'a, S: Scalar>: Debug + Numbers<S>;
    /// What a result is made of beside its numbers: the last output, if it tells a shape.
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
    /// Passes the outputs to `read`.
    fn read<R>(self, read: impl FnOnce(&[N]) -> R) -> R;
    /// Makes an object of this shape from flat numbers, with what an evaluation kept.
    fn build<S: Scalar>(flat: &[S], kept: &Self::Kept) -> Self::With<S>;
    /// Views flat numbers in this shape, without allocation where numbers are all that there is.
    fn borrow<'a, S: Scalar>(flat: &'a [S], kept: &Self::Kept) -> Self::Borrowed<'a, S>;
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

/// Every function that operators accept: a function of a point of shape `X` with contexts `C`, at the number type `N`.
///
/// Implemented for every [`Function`], every [`FunctionWith`], in-place functions made functions by [`in_place`](crate::in_place) among them. Users do not
/// implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be differentiated here with numbers `{N}`",
    note = "a closure or `fn` has one number type: a function over plain `f64` works only with backends that need values (`AutoFiniteDiff`)",
    note = "write it over `T: Real` and call it in a closure `|x: &[_]| f(x)`, or put `#[differentiable]` on the `fn` and pass the object it makes",
    note = "a function that writes its output, `|y: &mut [_], x: &[_]|`, is passed as `in_place(f, output_length)`",
    note = "a struct of numbers becomes a point by `#[derive(Container)]`"
)]
pub trait Evaluate<X: Shape, C: Contexts, N: Scalar> {
    /// The output of the function.
    type Output: Output<N>;
    /// The number of inputs, if the types fix the numbers of inputs and outputs; see [`Flat::fixed`].
    const FIXED: Option<usize> = if <Self::Output as Output<N>>::FIXED { X::LENGTH } else { None };
    /// Evaluates at the point that is shown, into `y`.
    fn evaluate(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        kept: &mut KeptBy<Self, X, C, N>,
        y: &mut Vec<N>,
    );
    /// Evaluates at the point with the entries `x(0)`, `x(1)`, ... and passes the outputs to `read`; for shapes of fixed length.
    fn evaluate_fixed<R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R;
    /// Evaluates at the point that is shown, makes a new output, and passes its numbers to `read`.
    fn evaluate_apart<R>(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R;
    /// Whether a call only computes its output, from `x` and the contexts alone.
    fn is_pure(&self) -> bool;
}

/// What an evaluation of `F` keeps beside the numbers of its output, see [`Output::Kept`].
pub type KeptBy<F, X, C, N> = <<F as Evaluate<X, C, N>>::Output as Output<N>>::Kept;

impl<X: Shape, N: Scalar, F> Evaluate<X, (), N> for F
where
    F: Function<X::Active<N>>,
    F::Output: Output<N>,
{
    type Output = F::Output;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate(&self, x: &X::Active<N>, _: &(), _: &mut (), kept: &mut KeptBy<F, X, (), N>, y: &mut Vec<N>) {
        F::Output::evaluate(self, x, kept, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<R>(&self, x: impl FnMut(usize) -> N, _: &(), _: &mut (), read: impl FnOnce(&[N]) -> R) -> R {
        X::with_entries(x, |x| self.call(x).read(read))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_apart<R>(&self, x: &X::Active<N>, _: &(), _: &mut (), read: impl FnOnce(&[N]) -> R) -> R {
        self.call(x).read(read)
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
    fn evaluate(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        kept: &mut KeptBy<F, X, C, N>,
        y: &mut Vec<N>,
    ) {
        F::Output::evaluate_with(self, x, C::arguments(contexts, storage), kept, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R {
        X::with_entries(x, |x| self.call_with(x, C::arguments(contexts, storage)).read(read))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_apart<R>(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R {
        self.call_with(x, C::arguments(contexts, storage)).read(read)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        FunctionWith::is_pure(self)
    }
}

/// What a preparation keeps for the arguments of the function: the object that shows a point of shape `X`, and work memory.
pub struct Storage<X: Shape, C: Contexts, N: Scalar> {
    held: X::Held<N>,
    contexts: C::Storage<N>,
    /// The lengths of point and contexts of this and the last call, if outputs tell a shape, which follows from them.
    lengths: [Vec<usize>; 2],
}

impl<X: Shape, C: Contexts, N: Scalar> Clone for Storage<X, C, N> {
    fn clone(&self) -> Self {
        Storage { held: self.held.clone(), contexts: self.contexts.clone(), lengths: self.lengths.clone() }
    }
}

impl<X: Shape, C: Contexts, N: Scalar> Storage<X, C, N> {
    /// Storage for a point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<P: Point<Shape = X, Contexts = C>>(at: At<'_, P>) -> Self {
        Storage { held: at.point().hold::<N>(), contexts: C::allocate(at.contexts()), lengths: Default::default() }
    }
}

impl<X: Shape, C: Contexts, N: Scalar> Storage<X, C, N> {
    /// Fits the object that is shown to a point, for [`Bound::fitted`].
    pub fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, at: At<'_, P>) {
        at.point().fit::<N>(&mut self.held);
    }

    /// Writes the lengths of a point that its type does not tell, for what is valid at points of one shape only.
    pub fn lengths<P: Point<Shape = X, Contexts = C>>(&mut self, at: At<'_, P>, lengths: &mut Vec<usize>) {
        at.point().fit::<N>(&mut self.held);
        lengths.clear();
        X::lengths::<N>(&self.held, lengths);
    }
}

impl<X: FlatShape, N: Scalar> Storage<X, (), N> {
    /// Storage for flat numbers.
    pub(crate) fn flat() -> Self {
        Storage { held: X::held::<N>(), contexts: (), lengths: Default::default() }
    }
}

/// A user's function bound to point and contexts of one call: the [`Flat`] that operators pass to backends.
pub struct Bound<'a, 'c, F, X: Shape, C: Contexts, N: Scalar, K> {
    function: &'a F,
    contexts: C::Values<'c>,
    storage: &'a mut Storage<X, C, N>,
    kept: &'a mut K,
    /// Where the point of the next call differs from the object that is shown.
    changed: Range<usize>,
}

impl<'a, 'c, F, X: Shape, C: Contexts, N: Scalar, K> Bound<'a, 'c, F, X, C, N, K> {
    /// Binds `function` for one call. `kept` is what an earlier call of the same function left, or the default.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<P: Point<Shape = X, Contexts = C>>(
        function: &'a F,
        at: At<'c, P>,
        storage: &'a mut Storage<X, C, N>,
        kept: &'a mut K,
    ) -> Self
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    {
        at.point().fit::<N>(&mut storage.held);
        let mut bound = Bound { function, contexts: at.contexts(), storage, kept, changed: 0..usize::MAX };
        if const { size_of::<K>() > 0 && size_of::<X::Held<N>>() > 0 } {
            bound.follow_shape(at);
        }
        bound
    }

    /// Binds `function` on a thread that has the contexts and a storage, [fitted](Storage::fit) to the point, but not the point itself,
    /// which need not be `Sync`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn fitted(
        function: &'a F,
        contexts: C::Values<'c>,
        storage: &'a mut Storage<X, C, N>,
        kept: &'a mut K,
    ) -> Self {
        Bound { function, contexts, storage, kept, changed: 0..usize::MAX }
    }

    /// Evaluates at zeros if the shape has changed since the last call: an engine that has a recording for this shape does not run the
    /// function, and what the output keeps would be that of the last shape.
    fn follow_shape<P: Point<Shape = X, Contexts = C>>(&mut self, at: At<'_, P>)
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    {
        self.storage.lengths.swap(0, 1);
        let mut lengths = std::mem::take(&mut self.storage.lengths[0]);
        lengths.clear();
        Recordable::lengths(self, &mut lengths);
        self.storage.lengths[0] = lengths;
        let [this, last] = &mut self.storage.lengths;
        if last.capacity() < this.len() {
            // The preparation sizes both: the first prepared call allocates nothing.
            last.reserve_exact(this.len());
        }
        if !last.is_empty() && this != last {
            let Storage { held, contexts, .. } = &mut *self.storage;
            // The old object may hold numbers of a differentiation that has ended.
            *held = at.point().hold::<N>();
            // An error is found again, and reported, when the engine runs the function.
            let _ = fault::watch(|| {
                let x = X::show(&[], held, 0..0);
                self.function.evaluate(x, &self.contexts, contexts, self.kept, &mut Vec::new());
                Ok(())
            });
        }
    }
}

impl<'a, F, X: FlatShape, N: Scalar, K> Bound<'a, '_, F, X, (), N, K> {
    /// Binds a function of flat numbers, without contexts.
    pub(crate) fn flat(function: &'a F, storage: &'a mut Storage<X, (), N>, kept: &'a mut K) -> Self {
        Bound { function, contexts: (), storage, kept, changed: 0..usize::MAX }
    }
}

impl<F, X, C, N, K> Flat<N> for Bound<'_, '_, F, X, C, N, K>
where
    F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    X: Shape,
    C: Contexts,
    N: Scalar,
{
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
        self.function.evaluate_fixed(x, &self.contexts, &mut self.storage.contexts, read)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        let Storage { held, contexts, .. } = &mut *self.storage;
        let x = X::show(x, held, std::mem::replace(&mut self.changed, 0..usize::MAX));
        self.function.evaluate(x, &self.contexts, contexts, self.kept, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_apart(&mut self, x: &[N], y: &mut [N], one: N) -> usize {
        let (mut held, mut contexts) = (self.storage.held.clone(), self.storage.contexts.clone());
        let x = X::show(x, &mut held, 0..usize::MAX);
        self.function.evaluate_apart(x, &self.contexts, &mut contexts, |outputs| write_apart(outputs, y, one))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, range: Range<usize>) {
        self.changed = range;
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        Some(self)
    }
}

impl<F, X, C, N, K> Recordable for Bound<'_, '_, F, X, C, N, K>
where
    F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    X: Shape,
    C: Contexts,
    N: Scalar,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        !X::OPAQUE && !C::OPAQUE && self.function.is_pure()
    }
    fn may_change(&self) -> bool {
        !is_sync::<F>()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameters(&self, values: &mut Vec<f64>) {
        C::parameters(&self.contexts, values);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lengths(&self, lengths: &mut Vec<usize>) {
        X::lengths(&self.storage.held, lengths);
        C::lengths(&self.contexts, lengths);
    }
}

#[cfg(test)]
mod tests;
