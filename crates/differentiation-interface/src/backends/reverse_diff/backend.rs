//! The backend type and its options.
//!
//! Named by users; its routes are in `mod.rs`.

#[cfg(feature = "compiled")]
use super::schedule::Schedule;
#[cfg(feature = "compiled")]
use crate::backends::AutoCompiledReverseDiff;

/// Reverse mode, by a tape at first and by a compiled program where calls repeat.
///
/// Exact derivatives at a cost proportional to the number of outputs: best for gradients. The tape is recorded anew in each call, so
/// that branches and loops may depend on values. Functions of one argument and
/// operations with constants record nothing: a number carries its derivative with respect to one entry of the tape, and only
/// operations that combine numbers of different entries are recorded.
///
/// **Programs.** With the feature `compiled`, which is on by default, a prepared operator over `f64` counts its calls, those of sparse Jacobians and
/// Hessians included. Call 24 is recorded, and some later ones. When the function has taken the same path twice, the recording is compiled, and
/// the program computes the calls in which its comparisons hold. The tape computes the others, and all calls of functions that branch differently at
/// every call, that are not [pure](crate::Function::is_pure) or not `Sync`, or whose program would take longer. No time is measured, so the same calls
/// have the same results, bit for bit, in every run. The rules are in the book's chapter
/// [Performance](https://github.com/differentiation-interface/differentiation-interface/blob/main/docs/book/src/performance.md#the-rules-of-the-default-engine).
///
/// State that changes behind a lock, an atomic or a `static` is not noticed by programs: use [`tape`](Self::tape), or prepare again after a change, as for
/// `compiled`. A [`Parameter`](crate::context::Parameter) is an input of the program; a [`Constant`](crate::context::Constant) made of numbers is compared in each call.
///
/// A program adds long sums in a different order than the tape: results differ by rounding. `report()` of the prepared object says what has
/// been done and why. [`tape`](Self::tape), `recording_from` and `compiled` set the tier. The tape computes
/// numbers of another differentiation (the inner derivatives of [`SecondOrder`](crate::backend::SecondOrder) with another engine outside; `hvp` and
/// `hessian` with forward mode outside are those of this engine alone),
/// `f32`, calls without preparation, products at a fixed point, and everything but gradients and derivatives by
/// `AutoThreaded`. The value that `value_derivative_and_second_derivative` returns takes a run of the function on a tape.
///
/// **Threads.** The tape belongs to the thread that calls the operator. A function that combines its numbers on another thread
/// (`std::thread::scope`, `rayon`, a worker behind a channel) is refused with
/// [`ErrorKind::OtherThread`](crate::error::ErrorKind::OtherThread); compute on the calling thread, or use [`AutoForwardDiff`](crate::backends::forward_diff::AutoForwardDiff). Several threads may each call operators, and a function may call one on a worker.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// assert_eq!(gradient(&norm2, &AutoReverseDiff::default(), &[1.0, 2.0])?, [2.0, 4.0]);
///
/// let mut prepared = prepare_gradient(&norm2, &AutoReverseDiff::default(), &[0.0, 0.0])?;
/// for k in 1..=100 {
///     let k = f64::from(k);
///     assert_eq!(prepared.gradient(&[k, 0.5])?, [2.0 * k, 1.0]);
/// }
/// # #[cfg(all(feature = "compiled", target_arch = "x86_64", any(unix, windows)))] {
/// let report = prepared.report(); // where programs are machine code
/// assert_eq!((report.by_tape, report.by_program), (47, 53));
/// # }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoReverseDiff {
    #[cfg(feature = "compiled")]
    pub(super) schedule: Schedule,
}

impl AutoReverseDiff {
    /// Reverse mode by a tape in every call: for functions whose side effects count, or whose captured state changes between calls.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// use std::sync::Mutex;
    ///
    /// let factor = Mutex::new(1.0);
    /// let f = |x: &[_]| x[0] * x[0] * *factor.lock().unwrap();
    /// let mut prepared = prepare_gradient(&f, &AutoReverseDiff::tape(), &[0.0])?;
    /// for k in 0..100 {
    ///     *factor.lock().unwrap() = if k < 90 { 1.0 } else { 2.0 };
    ///     assert_eq!(prepared.gradient(&[3.0])?, [if k < 90 { 6.0 } else { 12.0 }]);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub const fn tape() -> AutoReverseDiff {
        AutoReverseDiff {
            #[cfg(feature = "compiled")]
            schedule: Schedule::NEVER,
        }
    }
}

#[cfg(feature = "compiled")]
impl AutoReverseDiff {
    /// The same that records call `call` of a preparation first, counted from 1, in place of call 24. With 1, the preparation of a gradient,
    /// Jacobian or derivative records and compiles, although nothing has shown that the path repeats, and other operators record
    /// call 24; 0 is as [`tape`](Self::tape).
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// use differentiation_interface::backends::reverse_diff::Form;
    ///
    /// let f = |x: &[_]| x[0] * x[1];
    /// let mut prepared = prepare_gradient(&f, &AutoReverseDiff::default().recording_from(3), &[0.0, 0.0])?;
    /// for call in 1..=6 {
    ///     assert_eq!(prepared.report().form, Form::Tape);
    ///     assert_eq!(prepared.gradient(&[2.0, 5.0])?, [5.0, 2.0]);
    /// }
    /// # #[cfg(all(target_arch = "x86_64", any(unix, windows)))]
    /// assert_ne!(prepared.report().form, Form::Tape); // calls 3 and 6 were recorded
    /// # Ok::<(), Error>(())
    /// ```
    pub fn recording_from(self, call: u64) -> AutoReverseDiff {
        AutoReverseDiff { schedule: Schedule { first: call, ..self.schedule } }
    }

    /// Its options in the strings of `AnyBackend`.
    #[cfg(feature = "any")]
    pub(in crate::backends) fn print_options(&self, options: &mut Vec<String>) {
        let (Schedule { first, bytes }, standard) = (self.schedule, Schedule::default());
        match first {
            0 => options.push("tape=true".to_owned()),
            first if first != standard.first => options.push(format!("recording_from={first}")),
            _ => {}
        }
        if bytes != standard.bytes {
            options.push(format!("memory_limit={bytes}"));
        }
    }

    /// The same that stays with the tape if a recording would be larger than `bytes`; 512 MiB by default.
    pub fn with_memory_limit(self, bytes: usize) -> AutoReverseDiff {
        AutoReverseDiff { schedule: Schedule { bytes, ..self.schedule } }
    }

    /// Reverse mode by a recording that is compiled at the preparation.
    pub fn compiled() -> AutoCompiledReverseDiff {
        AutoCompiledReverseDiff::default()
    }
}
