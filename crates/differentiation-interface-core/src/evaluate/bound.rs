//! A function bound to the arguments of one call.
//!
//! Made by operators; called by backends as a [`Flat`].

use super::accepted::Evaluate;
use super::flat::{Flat, apart_by_call, write_apart};
use super::output::Output;
use crate::context::Contexts;
use crate::error::Error;
use crate::fault;
use crate::point::{At, FlatShape, Point, Shape};
use crate::recordings::{EngineScalar, OutputShape, Recordable, Words, is_sync};
use crate::scalar::Scalar;
use std::ops::Range;

/// What a preparation keeps for the arguments of the function: the object that shows a point of shape `X`, and work memory.
pub struct Storage<X: Shape, C: Contexts, N: Scalar> {
    held: X::Held<N>,
    contexts: C::Storage<N>,
}

impl<X: Shape, C: Contexts, N: Scalar> Clone for Storage<X, C, N> {
    fn clone(&self) -> Self {
        Storage { held: self.held.clone(), contexts: self.contexts.clone() }
    }
}

impl<X: Shape, C: Contexts, N: Scalar> Storage<X, C, N> {
    /// Storage for a point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new<P: Point<Shape = X, Contexts = C>>(at: At<'_, P>) -> Self {
        Storage { held: at.point().hold::<N>(), contexts: C::allocate(at.contexts()) }
    }
}

impl<X: Shape, C: Contexts, N: Scalar> Storage<X, C, N> {
    /// Fits the object that is shown to a point, for [`Bound::fitted`].
    pub fn fit<P: Point<Shape = X, Contexts = C>>(&mut self, at: At<'_, P>) {
        at.point().fit::<N>(&mut self.held);
    }

    /// [Fits](Self::fit) the object and passes the lengths of the point that its type does not tell to `words`, for what is valid at points
    /// of one shape only. Returns whether they are equal to the known ones.
    pub fn lengths<P: Point<Shape = X, Contexts = C>>(&mut self, at: At<'_, P>, words: &mut Words<'_>) -> bool {
        at.point().fit::<N>(&mut self.held);
        X::lengths::<N>(&self.held, words)
    }

    /// Passes the constants of the point that has been fitted, and those of the contexts, to `words`. Returns whether they are equal to the
    /// known ones, and `false` if they do not all consist of plain data.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constants(&self, contexts: &C::Values<'_>, words: &mut Words<'_>) -> bool {
        X::constants::<N>(&self.held, words) && C::constants(contexts, &self.contexts, words)
    }

    /// Passes to `words` all that the function may read beside the numbers of a point and the parameters: the lengths of the contexts, and
    /// the constants, of the contexts and of the point that has been fitted. Returns whether they are equal to the known ones, and `false` if
    /// they do not all consist of plain data.
    pub fn beside(&self, contexts: &C::Values<'_>, words: &mut Words<'_>) -> bool {
        C::lengths(contexts, words) && self.constants(contexts, words)
    }
}

impl<X: FlatShape, N: Scalar> Storage<X, (), N> {
    /// Storage for flat numbers.
    pub(crate) fn flat() -> Self {
        Storage { held: X::held::<N>(), contexts: () }
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
    /// Binds `function` for one call, which begins. `kept` is what an earlier call of the same function left, or the default. The operator
    /// [settles](Bound::settle) the shape of the output at the end of the call if it returns outputs.
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
        F::Output::begin(kept);
        let bound = Bound::again(function, at, storage, kept);
        function.begin();
        bound
    }

    /// Binds `function` once more for a call that has evaluated it, or one at the same point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn again<P: Point<Shape = X, Contexts = C>>(
        function: &'a F,
        at: At<'c, P>,
        storage: &'a mut Storage<X, C, N>,
        kept: &'a mut K,
    ) -> Self
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    {
        at.point().fit::<N>(&mut storage.held);
        Bound { function, contexts: at.contexts(), storage, kept, changed: 0..usize::MAX }
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

    /// Begins a call of a function that has been bound by [`fitted`](Self::fitted).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn begin(&mut self)
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
    {
        F::Output::begin(self.kept);
    }

    /// Ends a call at `x` that returns outputs. If they tell a shape and the engine has neither run the function nor told the shape of the recording
    /// that it has used, the function runs once on plain numbers.
    ///
    /// # Errors
    /// If the function meets numbers of another differentiation.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn settle(&mut self, x: &[X::Scalar]) -> Result<(), Error>
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
        X::Scalar: Scalar<Base = N::Base>,
    {
        if const { size_of::<K>() == 0 } || F::Output::is_told(self.kept) {
            return Ok(());
        }
        self.find_shape(x)
    }

    #[cold]
    #[inline(never)]
    fn find_shape(&mut self, x: &[X::Scalar]) -> Result<(), Error>
    where
        F: Evaluate<X, C, N, Output: Output<N, Kept = K>>,
        X::Scalar: Scalar<Base = N::Base>,
    {
        let constants: Vec<N> = x.iter().map(|v| N::constant(v.peek())).collect();
        self.changed = 0..usize::MAX;
        fault::watch(|| {
            self.call(&constants, &mut Vec::new());
            Ok(())
        })?;
        F::Output::keep_asked(self.kept);
        Ok(())
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
        // Engines that differentiate compiled code have plain numbers; for others nothing more is compiled.
        if const { N::DEPTH > 0 } {
            return apart_by_call(self, x, y, one);
        }
        let (mut held, mut contexts) = (self.storage.held.clone(), self.storage.contexts.clone());
        let x = X::show(x, &mut held, 0..usize::MAX);
        self.function.evaluate_apart(x, &self.contexts, &mut contexts, |outputs| write_apart(outputs, y, one))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, range: Range<usize>) {
        self.changed = range;
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn point_mut(&mut self) -> Option<&mut [N]> {
        X::numbers_mut(&mut self.storage.held)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn remember_shape(&mut self) -> Option<OutputShape> {
        F::Output::remember(self.kept)
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
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        X::lengths(&self.storage.held, words) && C::lengths(&self.contexts, words)
    }
    fn constants(&self, words: &mut Vec<u64>) -> bool {
        let words = &mut Words::Keep(words);
        self.function.is_pure() && self.storage.constants(&self.contexts, words)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constants_are(&self, words: &[u64]) -> bool {
        let mut words = Words::Compare(words);
        self.function.is_pure() && self.storage.constants(&self.contexts, &mut words) && words.is_complete()
    }
    fn show_shape(&self, shape: OutputShape) {
        F::Output::show(self.kept, shape);
    }
}
