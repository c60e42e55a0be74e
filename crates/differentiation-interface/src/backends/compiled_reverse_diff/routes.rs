//! The routes and primitives of the backend, by which operators reach recordings.
//!
//! Called by operators; calls the state, which finds a valid recording or makes one.

use super::backend::AutoCompiledReverseDiff;
use super::buffers::Direction;
use super::recording::LANES;
use super::state::CompiledState;
use compiled_trace::Recorded;
use differentiation_interface_core::backend::{
    Backend, Both, EntryRequest, Lane, Lanes, Lift, MatrixRoute, Native, PullbackPrimitive, PushforwardPrimitive,
    PushforwardRoute, Replayed, Rows, SecondAdjointPrimitive, Seeds,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::recordings::{EngineScalar, RecordedMatrix, Recordings};
use differentiation_interface_core::scalar::Scalar;

impl Backend for AutoCompiledReverseDiff {
    const NAME: &'static str = "compiled_reverse_diff";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Recorded<S::Base>;
    type Mode = Both<Replayed>;
    type Pushforward = Replay;
    type Pullback = Native;
    type Derivative = Replay;
    type Gradient = Replay;
    type Jacobian = Replay;

    fn recordings(&self) -> Option<Recordings<Self>> {
        Some(Recordings {
            held_to_one_branch: (!self.refuses_other_branches()).then(|| self.refusing_other_branches()),
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> Recorded<S::Base> {
        constant_of(value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &Recorded<S::Base>) -> S {
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

// Over `S::Base`, so that the compiler reports no further error if `S` is refused.
impl<S: PlainConstant> Lift<S, Recorded<S::Base>> for AutoCompiledReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> Recorded<S::Base> {
        Recorded::constant(value.peek())
    }
}

/// Converts a number of an outer differentiation to a constant of a recording, which has plain constants only.
pub(in crate::backends) fn constant_of<S: Scalar>(value: S) -> Recorded<S::Base> {
    if !value.is_constant() {
        fault::report(ErrorKind::ActiveConstant);
        // On a thread started by the user no operator returns the fault, so the outer differentiation does.
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
    fn prepare<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
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
    fn recorded<S: Scalar, L: Lanes>(state: &mut CompiledState<S>) -> Option<&mut dyn RecordedMatrix<S>> {
        Some(state)
    }
}

/// Pushforwards by the recording, and entries of the Jacobian if they are cheaper.
impl PushforwardRoute<AutoCompiledReverseDiff> for Replay {
    const NAME: &'static str = "native";
    type State<S: Scalar, L: Lanes> = CompiledState<S>;

    fn state<S: Scalar, L: Lanes>(
        backend: &AutoCompiledReverseDiff,
        inputs: usize,
        seeds: usize,
    ) -> Result<CompiledState<S>, Error> {
        backend.pushforward_state::<S, L>(inputs, seeds)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        backend.hold::<S, L, F>(state, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward::<S, L, F>(state, f, x, seeds, y, rows)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        backend.pushforward_held::<S, L, F>(state, f, seeds, rows)
    }
    fn seeds_per_pass<L: Lanes>(_backend: &AutoCompiledReverseDiff, _seeds: usize) -> usize {
        LANES
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        backend: &AutoCompiledReverseDiff,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.jacobian_entries(backend, f, x, entries, y)
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
    fn sweep<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        _f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.held_products(Direction::Backward, &seeds, &mut rows)
    }
    #[inline]
    fn at_once<S: Scalar, L: Lanes, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: &mut Vec<S>,
        mut rows: Rows<'_, S>,
    ) -> bool {
        state.pullbacks(self, f, x, &seeds, y, &mut rows)
    }
    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        LANES
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
    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        LANES
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
    fn products_at<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.hessian_products(self, f, x, &seeds, value, gradient, &mut rows)
    }
    fn hessian_entries<S: Scalar, F: Flat<Recorded<S::Base>>>(
        &self,
        state: &mut CompiledState<S>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        state.hessian_entries(self, f, x, entries, value, gradient)
    }
}
