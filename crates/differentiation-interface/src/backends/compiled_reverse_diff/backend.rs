//! The backend type and its options.

use compiled_trace::Limits;
#[cfg(doc)]
use differentiation_interface_core::error::ErrorKind;

/// Reverse mode by a compiled recording, made by [`AutoReverseDiff::compiled`](crate::backends::AutoReverseDiff::compiled).
///
/// The preparation runs the function once on recording numbers and compiles the recording: it rerolls loops, derives derivative
/// programs and optimises them. Later calls run these programs and not the function.
///
/// **Threads.** The recording belongs to the thread that calls the operator. A function that computes with its numbers on another
/// thread is refused with [`ErrorKind::OtherThread`]; compute on the calling thread, or use [`AutoForwardDiff`](crate::backends::AutoForwardDiff).
///
/// **Branches.** A recording stores the outcome of every comparison and every value that was passed to plain code, also as text. A
/// call that takes another branch records the function again at its point and returns the right result; several recordings are
/// kept. [`refusing_other_branches`](Self::refusing_other_branches) makes it an error instead.
/// Programs add long sums in a different order than the function, so a comparison that depends on the last bits of a sum may go the
/// other way, as at a neighbouring point.
///
/// **Contexts.** Pass numbers that change in every call as a [`Parameter`](crate::context::Parameter). A
/// [`Constant`](crate::context::Constant) made of numbers is compared with those of earlier calls, and as many different ones are kept as
/// recordings; the function runs for new ones only. With a `Constant` of another type, or if the function is not [pure](crate::Function::is_pure), every call
/// runs the function on recording numbers. A run is compared with the old recording. If only plain numbers have changed, they become parameters
/// of the program, which is compiled again at their first two changes (three for constants made of numbers, where the first change makes a recording of its own), and then
/// accepts any values. Constants that change the
/// operations (a number of steps, a constant exponent of a power) lead to another recording, of which several are kept. State that
/// a closure captures is assumed to be constant.
///
/// **Inside another differentiation.** A recording holds plain constants only: [`lift`](crate::backend::lift) accepts `f64` and `f32`. If
/// the inner function depends on an outer number, use [`AutoForwardDiff`](crate::backends::AutoForwardDiff) or the tape for the inner differentiation.
///
/// **Second order.** Alone or inside [`AutoForwardDiff`](crate::backends::AutoForwardDiff) or [`AutoReverseDiff`](crate::backends::AutoReverseDiff),
/// `hvp` and `hessian` run the pushforward of the gradient program, independent of the outer backend. It can also be the outer or
/// inner backend of any other [`SecondOrder`](crate::backend::SecondOrder).
///
/// **Matrices.** If that is cheaper than seeded products, a Jacobian or Hessian, dense or by
/// [`AutoSparse`](crate::sparse::AutoSparse), is compiled entry by entry: a reverse sweep for each row covers only the operations that
/// the row depends on. Rows that share long computations are computed by products.
///
/// **Value and derivative.** The program of a gradient computes the value too, that of the entries of a Jacobian does not compute the outputs. The 16th
/// call of a preparation that asks for the gradient without the value compiles a program for that, if it is shorter; likewise the 16th that asks
/// for outputs and entries. So these calls allocate. The gradient of a function of more than 4096 instructions, loops counted once, has no second program.
///
/// **Speed.** On x86-64, and with the feature `native` on other processors, programs become machine code where possible, that of `f32`
/// without own functions for exp, sin and the like on several numbers at once. Otherwise an interpreter runs them on blocks of numbers. It takes a small part of the time of the tape for a hundred numbers
/// and more, but as much or up to half more for ten, and more for loops that carry a state: there the default engine may stay with the tape.
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
    #[cfg(feature = "rayon")]
    threads: usize,
}

impl Default for AutoCompiledReverseDiff {
    fn default() -> Self {
        AutoCompiledReverseDiff {
            most_recordings: 8,
            refuse: false,
            limits: Limits::default(),
            #[cfg(feature = "rayon")]
            threads: 0,
        }
    }
}

impl AutoCompiledReverseDiff {
    /// The same with an error of kind [`ErrorKind::OtherBranch`] where a call takes a different branch than the recording of
    /// the preparation, in place of a new recording. If constants may change, any difference from the operations of the
    /// preparation counts as another branch.
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
    /// The operation that exceeds the limit ends the function: it unwinds without a message, and the operator returns the error. This
    /// also ends a function that would record for ever. The limit counts operations, constants, guards, rules and calls, including
    /// reserved memory; the operations of a loop count, though the recording folds it and keeps two iterations. It does not count memory that the function allocates itself, nor that for compiling a recording within the limit, some
    /// ten times as much if no loop is found. If panics abort, the function runs to its end and records nothing beyond the limit.
    /// Without a limit, the recording grows until the system refuses an allocation, which is the same error.
    pub fn with_memory_limit(self, bytes: usize) -> Self {
        AutoCompiledReverseDiff { limits: Limits { bytes }, ..self }
    }

    /// The same whose machine code runs large loops in chunks, on up to `threads` threads of the `rayon` pool in which the call runs; 0,
    /// the default, does not divide loops. Feature `rayon`.
    ///
    /// A loop is divided if its chunks touch different cells, but for sums, of which each chunk has its own: the gradient of a sum over many
    /// terms, the entries of a large sparse Jacobian. The chunks depend on the recording alone, so that every number of threads from 1 on has
    /// the same results, bit for bit. Those with 0 differ from them by rounding where sums are divided. Loops that carry a state, the
    /// interpreter, and everything that takes less than some 50 µs run on the calling thread. Calls allocate nothing, except that `rayon`
    /// allocates a block of its queue once in some dozens of calls. [`AnyBackend`](crate::backends::AnyBackend) has no name for this
    /// setting.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// fn rosenbrock<T: Real>(x: &[T]) -> T {
    ///     x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
    /// }
    /// let x = vec![1.5; 100_000];
    /// let grad = |threads| {
    ///     let backend = AutoReverseDiff::compiled().with_threads(threads);
    ///     prepare_gradient(&rosenbrock, &backend, &x)?.gradient(&x)
    /// };
    /// let one = grad(1)?;
    /// assert_eq!((one[0], one[1], one[99_999]), (451.0, 301.0, -150.0));
    /// assert_eq!(grad(2)?, one);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn with_threads(self, threads: usize) -> Self {
        AutoCompiledReverseDiff { threads, ..self }
    }

    #[cfg(feature = "rayon")]
    pub(super) fn threads(&self) -> usize {
        self.threads
    }
    #[cfg(not(feature = "rayon"))]
    pub(super) fn threads(&self) -> usize {
        0
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
