//! A function that counts how often it is evaluated.
//!
//! Scenarios wrap their function in it; operators treat it like the function itself.

use differentiation_interface_core::{ContextTypes, Function, FunctionWith};
use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// A function whose evaluations are counted on each thread. It is differentiated as the function itself is.
#[derive(Clone, Copy, Debug)]
pub struct Counted<F>(
    /// The function.
    pub F,
);

/// The number of evaluations of [`Counted`] functions on this thread so far.
pub(crate) fn calls() -> usize {
    CALLS.get()
}

impl<X: ?Sized, F: Function<X>> Function<X> for Counted<F> {
    type Output = F::Output;
    #[inline(always)]
    fn call(&self, x: &X) -> F::Output {
        CALLS.set(CALLS.get() + 1);
        self.0.call(x)
    }
    #[inline(always)]
    fn call_into(&self, x: &X, y: &mut F::Output) {
        CALLS.set(CALLS.get() + 1);
        self.0.call_into(x, y);
    }
    fn is_pure(&self) -> bool {
        self.0.is_pure()
    }
    fn begin(&self) {
        self.0.begin();
    }
}

impl<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C>> FunctionWith<X, C> for Counted<F> {
    type Output = F::Output;
    #[inline(always)]
    fn call_with(&self, x: &X, contexts: C::Args<'_>) -> F::Output {
        CALLS.set(CALLS.get() + 1);
        self.0.call_with(x, contexts)
    }
    #[inline(always)]
    fn call_with_into(&self, x: &X, contexts: C::Args<'_>, y: &mut F::Output) {
        CALLS.set(CALLS.get() + 1);
        self.0.call_with_into(x, contexts, y);
    }
    fn is_pure(&self) -> bool {
        self.0.is_pure()
    }
    fn begin(&self) {
        self.0.begin();
    }
}
