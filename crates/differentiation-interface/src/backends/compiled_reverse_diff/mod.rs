//! Reverse mode by a compiled recording: the function is run once, later calls run its compiled derivative.
//!
//! Reached by operators through the routes below. Runs the user's function on the recording number of `compiled-trace` when
//! there is no recording that holds, and the programs made of the recording otherwise.

mod asked;
mod buffers;
pub(crate) mod fresh;
mod recording;
mod state;
#[cfg(all(test, feature = "any", feature = "sparse"))]
mod tests;

pub use state::CompiledState;

use buffers::Direction;
use compiled_trace::{Limits, Recorded};
use differentiation_interface_core::backend::{
    Backend, Both, Entries, Lane, Lanes, Lift, MatrixRoute, Native, PullbackPrimitive, PushforwardPrimitive, Replayed,
    Rows, SecondAdjointPrimitive, Seeds,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::scalar::Scalar;

/// Reverse mode by a compiled recording, made by [`AutoReverseDiff::compiled`](super::AutoReverseDiff::compiled).
///
/// The preparation runs the function once on recording numbers and compiles the recording: loops are found again, derivatives
/// are derived and optimised. Later calls run these programs and not the function.
///
/// **Threads.** The recording belongs to the thread that calls the operator. A function that computes with its numbers on another
/// thread is refused with [`ErrorKind::OtherThread`]; compute on the calling thread, or use [`AutoForwardDiff`](super::AutoForwardDiff).
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
/// the inner function depends on an outer number, use [`AutoForwardDiff`](super::AutoForwardDiff) or the tape for the inner differentiation.
///
/// **Second order.** Alone or inside of [`AutoForwardDiff`](super::AutoForwardDiff) or [`AutoReverseDiff`](super::AutoReverseDiff),
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

impl Backend for AutoCompiledReverseDiff {
    const NAME: &'static str = "compiled_reverse_diff";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Recorded<S::Base>;
    type Mode = Both<Replayed>;
    type Pushforward = Native;
    type Pullback = Native;
    type Derivative = Replay;
    type Gradient = Replay;
    type Jacobian = Replay;

    fn keeps_recordings(&self) -> bool {
        true
    }
    fn held_to_one_branch(&self) -> Option<Self> {
        (!self.refuse).then(|| self.refusing_other_branches())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn raise<S: Scalar, L: Lanes>(value: S) -> Recorded<S::Base> {
        constant_of(value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lower<S: Scalar, L: Lanes>(number: &Recorded<S::Base>) -> S {
        S::constant(number.peek())
    }
}

/// A number that a recording can hold as a constant: `f64` and `f32`.
#[diagnostic::on_unimplemented(
    message = "a number `{Self}` of an outer differentiation cannot be lifted into a compiled recording",
    label = "a recording holds plain constants only",
    note = "use `AutoForwardDiff::default()` or `AutoReverseDiff::default()` for the inner differentiation; `AutoReverseDiff::compiled()` lifts `f64` and `f32`"
)]
pub trait PlainConstant: Scalar {}
impl PlainConstant for f64 {}
impl PlainConstant for f32 {}

// Over `S::Base`, so that the compiler says nothing more where `S` is refused.
impl<S: PlainConstant> Lift<S, Recorded<S::Base>> for AutoCompiledReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> Recorded<S::Base> {
        Recorded::constant(value.peek())
    }
}

/// A number of an outer differentiation in a recording, which has plain constants only.
pub(in crate::backends) fn constant_of<S: Scalar>(value: S) -> Recorded<S::Base> {
    if !value.is_constant() {
        fault::raise(ErrorKind::ActiveConstant);
        // On a thread of the user's no operator returns the fault, so the outer differentiation does.
        if !fault::is_watched() {
            value.spoil(ErrorKind::ActiveConstant);
        }
    }
    Recorded::constant(value.peek())
}

/// Runs the derivative program of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Replay;

impl MatrixRoute<AutoCompiledReverseDiff> for Replay {
    const NAME: &'static str = "replay";
    type State<S: Scalar, L: Lanes> = CompiledState<S>;

    fn state<S: Scalar, L: Lanes>(
        backend: &AutoCompiledReverseDiff,
        _inputs: usize,
    ) -> Result<CompiledState<S>, Error> {
        Ok(CompiledState::of_matrix(backend))
    }
    fn warm<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let mut matrix = Vec::new();
        state.matrix(backend, f, x, Some(y), &mut Rows::growing(&mut matrix, x.len()))
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.matrix(backend, f, x, y, &mut rows)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn again<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        state: &mut CompiledState<S>,
        f: &F,
        x: &[S],
        y: Option<&mut [S]>,
        rows: &mut Rows<'_, S>,
    ) -> bool {
        state.small_gradient(f, x, y, rows)
    }
}

impl PullbackPrimitive for AutoCompiledReverseDiff {
    type PullbackState<S: Scalar, L: Lanes> = CompiledState<S>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, _inputs: usize) -> Result<CompiledState<S>, Error> {
        Ok(CompiledState::default())
    }
    fn record<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.value(self, f, x)?;
        y.clear();
        y.extend_from_slice(state.outputs());
        Ok(())
    }
    fn sweep<S: Scalar, L: Lanes>(
        &self,
        state: &mut CompiledState<S>,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.held_products(Direction::Backward, &seeds, &mut rows)
    }
}

impl PushforwardPrimitive for AutoCompiledReverseDiff {
    type PushforwardState<S: Scalar, L: Lanes> = CompiledState<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _inputs: usize, _seeds: usize) -> Result<CompiledState<S>, Error> {
        Ok(CompiledState::default())
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        self.record::<S, L, F>(state, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.products(self, f, x, Direction::Forward, &seeds, &mut rows)?;
        if let Some(y) = y {
            y.clear();
            y.extend_from_slice(state.outputs());
        }
        Ok(())
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.held_products(Direction::Forward, &seeds, &mut rows)
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        entries: Entries<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.jacobian_entries(self, f, x, entries, y)
    }
}

impl SecondAdjointPrimitive for AutoCompiledReverseDiff {
    type NumTwice<S: Scalar> = Recorded<S::Base>;
    type StateTwice<S: Scalar> = CompiledState<S>;

    fn state_twice<S: Scalar>(&self, _inputs: usize) -> Result<CompiledState<S>, Error> {
        Ok(CompiledState::default())
    }
    fn record_twice<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
    ) -> Result<S, Error> {
        state.value(self, f, x)?;
        match state.outputs() {
            [value] => Ok(*value),
            outputs => Err(ErrorKind::OutputLength { expected: 1, found: outputs.len() }.into()),
        }
    }
    fn products<S: Scalar>(
        &self,
        state: &mut CompiledState<S>,
        seeds: Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.held_hessian_products(&seeds, gradient, &mut rows)
    }
    fn hessian_entries<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        entries: Entries<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.hessian_entries(self, f, x, entries, value, gradient)
    }
}
