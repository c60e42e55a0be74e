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
/// **Programs.** With the feature `compiled`, which is on by default, a prepared `gradient`, `jacobian`, `derivative`, `pullback`,
/// `pushforward`, `hvp`, `hessian` or `second_derivative` over `f64`, and a sparse Jacobian or Hessian, counts its calls, and no time is measured, so that the same calls have the same results, bit for bit, in every run of a program:
///
/// 1. Call 24 is recorded, then calls 48, 96, 192 and so on, unless there is a program; the call 8 calls later where a second, third or fourth
///    path was met. A recording is compiled if the function took the same path before: the same operations with the same outcomes of
///    comparisons. So a function without branches becomes a program at call 48, which takes as long as some hundred calls, runs it up to twice more, and allocates; a
///    function that branches at every call stays a tape. Hessians and their products take longer to compile: where that is expected to take
///    more than some 4 ms, all paths together, they are compiled when all calls have taken as long as all that is compiled for them. That is products
///    first, whose program is shorter, and hundreds of calls later the entries of a Hessian, unless products are as fast
///    ([`compiles_from`](super::Report::compiles_from)).
/// 2. Programs check their comparisons. Where none is valid, the tape computes the call. The 8th such call is recorded, and compiled if it
///    took this path before, for up to 8 paths; then the 8th after a new program, or after a path that is among the first 8, else
///    after twice as many as before. If such calls are at least 8 since the last program, and lose the time of 4 calls of the tape and more than the others gain (the programs
///    run in vain, each at most for its time by estimate), and for second order also what compiling took, they are given up and
///    counting goes on as in 1.
/// 3. A path is left to the tape if it cannot be recorded within `with_memory_limit`, or if a program of it would take longer by estimate than the
///    tape: 1.5 times as long for machine code, 0.75 times for that of a Hessian and 0.55 times for its products with several tangents, for which the estimate is too low. The
///    estimate is from counts of operations, iterations, sweeps and entries, and from chains of operations that wait for each other; it
///    concerns Jacobians and Hessians of recurrences in dozens of inputs, which the tape computes by several sweeps at once. Recordings of
///    more than 3000 calls of custom rules, with fewer than 64 operations for each, count as slow. Where no other path was seen, the
///    preparation stays with the tape; after a slow one, a call is recorded again after 64 times as many calls, for a path that was not met.
///
///    It also stays if what the function reads may change. That is assumed of functions that are not [pure](crate::Function::is_pure), that have
///    contexts which a recording cannot see, or that are not `Sync` (they may capture a `Cell`); and of those whose captured data were
///    different in two recordings of one path. State that changes behind a lock, an atomic or a `static` is noticed by the last alone:
///    use [`tape`](Self::tape), or prepare again after a change, as for `compiled`.
/// 4. A [`Parameter`](crate::context::Parameter) is an input of the program. A [`Constant`](crate::context::Constant) made of numbers is
///    compared in each call with those for which the programs are right, up to 8 different ones each. The tape computes a call with other
///    constants, and the function is recorded when 8 such calls had the same ones, or 2 where programs have computed 64 calls since the last recording; from the third change on at the latest constants are
///    parameters of the program, so that a recording is all that a change costs (and a call of the tape, where the program is one of entries). Where the constants of a recorded call are not those of
///    the recording before it, nothing is compiled unless they are still the same 8 calls later. Programs are given up as in 2, where
///    calls with new constants count, or after 16 changes if they last for fewer than 32 calls on average; given up
///    twice, they are not made again.
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
