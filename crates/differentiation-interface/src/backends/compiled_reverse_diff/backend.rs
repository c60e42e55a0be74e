//! The backend as users name it, with its options.

use compiled_trace::Limits;
#[cfg(doc)]
use differentiation_interface_core::error::ErrorKind;

/// Reverse mode by a compiled recording, made by [`AutoReverseDiff::compiled`](crate::backends::AutoReverseDiff::compiled).
///
/// The preparation runs the function once on recording numbers and compiles the recording: loops are found again, derivatives
/// are derived and optimised. Later calls run these programs and not the function.
///
/// **Threads.** The recording belongs to the thread that calls the operator. A function that computes with its numbers on another
/// thread is refused with [`ErrorKind::OtherThread`]; compute on the calling thread, or use [`AutoForwardDiff`](crate::backends::AutoForwardDiff).
///
/// **Branches.** A recording remembers how every comparison came out, and every value that left into plain code, also as text. A call that
/// decides otherwise records the function again at its point and goes on with the right answer; several recordings are
/// kept. [`refusing_other_branches`](Self::refusing_other_branches) makes it an error instead.
/// Programs add long sums in another order than the function, so a comparison that hangs on the last digits of a sum may come
/// out as at a neighbouring point.
///
/// **Contexts.** Numbers that change between calls are best passed as a [`Parameter`](crate::context::Parameter). Where a
/// [`Constant`](crate::context::Constant) is there, or the function is not [pure](crate::Function::is_pure), every call runs
/// the function on recording numbers and compares: if only plain numbers have changed they become parameters of the
/// program, which is compiled anew at their first two changes and serves all others. Constants that change what is done (a
/// number of steps, a constant exponent of a power) lead to another recording, of which several are kept. State that a closure
/// captures is taken to be constant.
///
/// **Inside of another differentiation.** A recording holds plain constants only: [`lift`](crate::backend::lift) takes `f64` and `f32`. Where
/// the inner function depends on an outer number, use [`AutoForwardDiff`](crate::backends::AutoForwardDiff) or the tape for the inner differentiation.
///
/// **Second order.** Alone or inside of [`AutoForwardDiff`](crate::backends::AutoForwardDiff) or [`AutoReverseDiff`](crate::backends::AutoReverseDiff),
/// `hvp` and `hessian` run the pushforward of the program of the gradient, whichever the outer backend. It is outer and inner
/// backend of any other [`SecondOrder`](crate::backend::SecondOrder) too.
///
/// **Matrices.** Where it takes less than products with seeds, a Jacobian or Hessian, dense or by
/// [`AutoSparse`](crate::sparse::AutoSparse), is a program whose outputs are the entries themselves: each row is swept backwards over the
/// operations it depends on. Rows that share long computations are left to products.
///
/// **Speed.** With the feature `native` programs over `f64` become machine code where that is possible; else, and for `f32`,
/// an interpreter runs them, small ones as one list of operations, large ones on blocks of numbers.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// let backend = AutoReverseDiff::compiled();
/// let mut prepared = prepare_gradient(&norm2, &backend, &[1.0, 2.0])?;
/// assert_eq!(prepared.gradient(&[3.0, -1.0])?, [6.0, -2.0]); // `norm2` is not called
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoCompiledReverseDiff {
    most_recordings: usize,
    refuse: bool,
    limits: Limits,
}

impl Default for AutoCompiledReverseDiff {
    fn default() -> Self {
        AutoCompiledReverseDiff { most_recordings: 8, refuse: false, limits: Limits::default() }
    }
}

impl AutoCompiledReverseDiff {
    /// The same with an error of kind [`ErrorKind::OtherBranch`] where a call takes another branch than the recording of
    /// the preparation, in place of a new recording. Where constants may change, doing anything else than at the preparation is another
    /// branch.
    pub fn refusing_other_branches(self) -> Self {
        AutoCompiledReverseDiff { refuse: true, ..self }
    }

    /// The same that keeps up to `recordings` recordings of a function for points that take different branches; 0 counts as
    /// 1.
    pub fn with_most_recordings(self, recordings: usize) -> Self {
        AutoCompiledReverseDiff { most_recordings: recordings.max(1), ..self }
    }

    /// The same with an error of kind [`ErrorKind::TapeOverflow`] for functions whose recording is larger than `bytes`.
    ///
    /// The operation that exceeds the limit ends the function: it unwinds without a message, and the operator returns the error. So a
    /// function that would record for ever ends too. Operations, constants, guards, rules and calls are counted, with the memory taken
    /// ahead for them; what the function allocates itself is not, nor is what compiling a recording within the limit takes, some
    /// ten times as much where no loop is found. Where panics abort, the function runs to its end and records nothing beyond the limit.
    /// Without a limit, the recording takes the memory there is; an allocation that the system refuses is the same error.
    pub fn with_memory_limit(self, bytes: usize) -> Self {
        AutoCompiledReverseDiff { limits: Limits { bytes }, ..self }
    }

    pub(in crate::backends) fn most_recordings(&self) -> usize {
        self.most_recordings
    }
    pub(in crate::backends) fn refuses_other_branches(&self) -> bool {
        self.refuse
    }
    pub(in crate::backends) fn limits(&self) -> Limits {
        self.limits
    }
}
