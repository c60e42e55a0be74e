//! Reverse mode: a tape of binary operations, recorded anew in each call, and programs where calls repeat.
//!
//! Reached by operators through the routes below; runs the user's function on [`Var`]. Gradients, Jacobians and derivatives go through
//! `tiered.rs`, where `tiers.rs` decides by counts whether the tape or a program computes a call; all other operators run the tape.
//! Products with a Hessian by this backend alone are in `twice.rs`, which runs it on [`TwiceVar`].

mod along;
#[cfg(feature = "compiled")]
mod recorded;
#[cfg(feature = "compiled")]
mod report;
mod tape;
#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;
#[cfg(feature = "compiled")]
mod tiered;
#[cfg(feature = "compiled")]
mod tiers;
#[cfg(all(test, feature = "compiled"))]
mod tiers_tests;
mod twice;
mod twice_tape;
mod twice_var;
mod var;

#[cfg(feature = "compiled")]
pub use report::{Form, Reason, Report};
#[cfg(feature = "compiled")]
pub use tiered::{Tiered, TieredState};
pub use twice::TwiceState;
pub use twice_var::{TwiceVar, TwiceVarCore};
pub use var::{Var, VarCore};

#[cfg(feature = "compiled")]
use super::AutoCompiledReverseDiff;
use differentiation_interface_core::backend::{
    Adjoint, Backend, Lane, Lanes, Lift, Native, PullbackPrimitive, Reverse, Rows, Seeds, ViaPullback,
};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use num_traits::Float;
use tape::{Call, Node, Recorder, Spare};

/// Reverse mode, by a tape at first and by a compiled program where calls repeat.
///
/// Exact derivatives at a cost proportional to the number of outputs: best for gradients. The tape is recorded anew in each call, so
/// that branches and loops may depend on values. Functions of one argument and
/// operations with constants record nothing: a number carries its derivative with respect to one entry of the tape, and only
/// operations that combine numbers of different entries are recorded.
///
/// **Programs.** With the feature `compiled`, which is on by default, a prepared `gradient`, `jacobian` or `derivative` over `f64`
/// counts its calls, and no time is measured, so that the same calls have the same results, bit for bit, in every run of a program:
///
/// 1. Call 24 is recorded, then calls 48, 96, 192 and so on, unless there is a program. A recording is compiled if the function took the same
///    path before: the same operations with the same outcomes of comparisons. So a function without branches becomes a program at call 48, which
///    takes as long as some hundred calls, and allocates; a function that branches at every call stays a tape.
/// 2. Programs check their comparisons. Where none is valid, the tape computes the call. At the 8th, 16th, 32nd .. such call the function
///    is recorded, and compiled if it took this path before, for up to 4 paths.
///    If more than 8 calls and a quarter of all are such calls, the programs are given up and counting goes on as in 1.
/// 3. The preparation stays with the tape for good if the program would have more to do than the tape (an estimate by instructions and
///    iterations, for the interpreter alone), if the recording is larger than [`with_memory_limit`](Self::with_memory_limit),
///    if the function cannot be recorded, or if what it reads may change. That is assumed of functions that are not
///    [pure](crate::Function::is_pure), that have contexts which a recording cannot see, or that are not `Sync`
///    (they may capture a `Cell`); and of those whose constants were different in two recordings of one path. State that changes behind a lock, an atomic or a
///    `static` is noticed by the last alone: use [`tape`](Self::tape), or prepare again after a change, as for
///    [`compiled`](Self::compiled).
///
/// A program adds long sums in another order than the tape: results differ by rounding. `report()` of the prepared object says what has
/// been done and why. [`tape`](Self::tape), [`recording_from`](Self::recording_from) and [`compiled`](Self::compiled) set the tier. Other operators, second order, numbers of
/// another differentiation, `f32`, calls without preparation, [`AnyBackend`](crate::backends::AnyBackend), and Jacobians by
/// `AutoThreaded` are computed by the tape.
///
/// **Threads.** The tape belongs to the thread that calls the operator. A function that combines its numbers on another thread
/// (`std::thread::scope`, `rayon`, a worker behind a channel) is refused with
/// [`ErrorKind::OtherThread`](crate::error::ErrorKind::OtherThread); compute on the calling thread, or use [`AutoForwardDiff`](super::AutoForwardDiff). Several threads may each call operators, and a function may call one on a worker.
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
/// # #[cfg(feature = "compiled")] {
/// let report = prepared.report();
/// assert_eq!((report.by_tape, report.by_program), (47, 53));
/// # }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoReverseDiff {
    #[cfg(feature = "compiled")]
    schedule: tiers::Schedule,
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
            schedule: tiers::Schedule::NEVER,
        }
    }
}

#[cfg(feature = "compiled")]
impl AutoReverseDiff {
    /// The same that records call `call` of a preparation first, counted from 1, in place of call 24. With 1, the preparation
    /// records and compiles, although nothing has shown that the path repeats; 0 is as [`tape`](Self::tape).
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
    /// assert_ne!(prepared.report().form, Form::Tape); // calls 3 and 6 were recorded
    /// # Ok::<(), Error>(())
    /// ```
    pub fn recording_from(self, call: u64) -> AutoReverseDiff {
        AutoReverseDiff { schedule: tiers::Schedule { first: call, ..self.schedule } }
    }

    /// The same that stays with the tape if a recording would be larger than `bytes`; 512 MiB by default.
    pub fn with_memory_limit(self, bytes: usize) -> AutoReverseDiff {
        AutoReverseDiff { schedule: tiers::Schedule { bytes, ..self.schedule } }
    }

    /// Reverse mode by a recording that is compiled at the preparation.
    pub fn compiled() -> AutoCompiledReverseDiff {
        AutoCompiledReverseDiff::default()
    }
}

/// The route of derivative matrices.
#[cfg(feature = "compiled")]
type Matrices = Tiered;
#[cfg(not(feature = "compiled"))]
type Matrices = ViaPullback;

impl Backend for AutoReverseDiff {
    const NAME: &'static str = "reverse_diff";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Var<S>;
    type Mode = Reverse<Adjoint>;
    type Pushforward = ViaPullback;
    type Pullback = Native;
    type Derivative = Matrices;
    type Gradient = Matrices;
    type Jacobian = Matrices;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> Var<S> {
        Num(VarCore::inert(value))
    }
    fn steady(&self) -> Self {
        AutoReverseDiff::tape()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &Var<S>) -> S {
        number.0.value()
    }
}

impl<S: Scalar> Lift<S, Var<S>> for AutoReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> Var<S> {
        Num(VarCore::inert(value))
    }
}

/// A tape with its inputs and outputs, and adjoints; all memory is reused.
#[derive(Clone, Debug)]
pub struct ReverseState<S: Scalar> {
    x: Vec<Var<S>>,
    y: Vec<Var<S>>,
    nodes: Vec<Node<S>>,
    calls: Vec<Call<S>>,
    spare: Spare<Node<S>>,
    /// Per output, the entry of the tape that it depends on and its derivative with respect to the entry.
    outputs: Vec<Option<(u32, S)>>,
    adjoints: Vec<S>,
}

impl PullbackPrimitive for AutoReverseDiff {
    type PullbackState<S: Scalar, L: Lanes> = ReverseState<S>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _inputs: usize) -> Result<ReverseState<S>, Error> {
        Ok(ReverseState {
            x: Vec::new(),
            y: Vec::new(),
            nodes: Vec::new(),
            calls: Vec::new(),
            spare: Spare::default(),
            outputs: Vec::new(),
            adjoints: Vec::new(),
        })
    }

    #[inline]
    fn record<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        &self,
        state: &mut ReverseState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let mut recorder = Recorder::begin(&mut state.nodes, &mut state.calls, &mut state.spare, x.len())?;
        state.x.clear();
        state.x.extend(x.iter().enumerate().map(|(i, &v)| Num(recorder.input(i, v))));
        f.call(&state.x, &mut state.y);
        y.clear();
        y.extend(state.y.iter().map(|v| v.0.value()));
        state.outputs.clear();
        state.outputs.extend(state.y.iter().map(|v| recorder.output(&v.0)));
        recorder.finish()
    }

    #[inline]
    fn sweep<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        &self,
        state: &mut ReverseState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.sweep_all(&seeds, &mut rows)
    }

    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        // The largest number of lanes of a sweep.
        8
    }
}

/// A recording with sweeps for several seeds at once.
trait InLanes<S: Scalar> {
    /// Sweeps for up to `K` seeds from seed `first` on and fills their rows; returns their number.
    fn sweep_lanes<const K: usize>(&mut self, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize;

    /// Sweeps for all seeds and fills one row for each.
    #[inline]
    fn sweep_all(&mut self, seeds: &Seeds<'_, S>, rows: &mut Rows<'_, S>) -> Result<(), Error> {
        let total = seeds.count();
        rows.set_rows(total)?;
        let mut first = 0;
        while first < total {
            // Nested numbers carry several lanes themselves; more lanes here would only compile to more code.
            first += if const { S::DEPTH > 0 } {
                self.sweep_lanes::<1>(seeds, first, rows)
            } else {
                match total - first {
                    1 => self.sweep_lanes::<1>(seeds, first, rows),
                    2..=5 => self.sweep_lanes::<4>(seeds, first, rows),
                    _ => self.sweep_lanes::<8>(seeds, first, rows),
                }
            };
        }
        Ok(())
    }
}

impl<S: Scalar> InLanes<S> for ReverseState<S> {
    /// Propagates cotangents back to the inputs.
    #[inline]
    fn sweep_lanes<const K: usize>(&mut self, seeds: &Seeds<'_, S>, first: usize, rows: &mut Rows<'_, S>) -> usize {
        let zero = S::constant(S::Base::ZERO);
        let count = K.min(seeds.count() - first);
        let inputs = self.x.len();
        self.adjoints.clear();
        self.adjoints.resize((inputs + self.nodes.len()) * K, zero);
        let (adjoints, _) = self.adjoints.as_chunks_mut::<K>();

        // No output depends on entries of the tape after this one.
        let mut end = 0;
        for (i, output) in self.outputs.iter().enumerate() {
            let Some((entry, derivative)) = *output else { continue };
            for (lane, adjoint) in adjoints[entry as usize][..count].iter_mut().enumerate() {
                let weight = seeds.entry(first + lane, i);
                if !weight.is_inert_zero() {
                    *adjoint += weight * derivative;
                    end = end.max(entry as usize + 1);
                }
            }
        }
        tape::propagate_with_calls(&self.nodes[..end.saturating_sub(inputs)], &self.calls, adjoints, inputs);

        // Where a derivative on the tape is infinite, a lane with a zero adjoint gets 0 · ∞, which a sweep of this lane alone skips.
        if K > 1 && adjoints[..inputs].iter().flatten().any(|a| a.peek().is_nan()) {
            for k in first..first + count {
                self.sweep_lanes::<1>(seeds, k, rows);
            }
            return count;
        }
        for lane in 0..count {
            for (x, adjoint) in rows.part(first + lane, 0, inputs).iter_mut().zip(&adjoints[..inputs]) {
                *x = adjoint[lane];
            }
        }
        count
    }
}
