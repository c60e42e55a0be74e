//! The route of gradients, Jacobians and derivatives: a tape at first, and programs where they pay.
//!
//! Called by operators; asks `tiers` what each call does. Over other numbers than `f64`, and where nothing is to be recorded, it is
//! the route by pullbacks of the tape.

use super::as_recorded::AsRecorded;
use super::backend::AutoReverseDiff;
use super::recorded::Writing;
use super::report::Report;
use super::tiers::{Step, Tiers};
use super::var::Var;
use crate::backends::doubles::{doubles, doubles_mut, is_double};
use differentiation_interface_core::backend::{Direction, EntryRequest, Lanes, MatrixRoute, Rows, ViaPullback};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{Recordable, RecordedMatrix, Reports};
use differentiation_interface_core::scalar::{Base, Scalar};

/// A tape that becomes a program.
#[derive(Clone, Copy, Debug)]
pub struct Tiered;

/// The state of the route by the tape.
type TapeState<S, L> = <ViaPullback as MatrixRoute<AutoReverseDiff>>::State<S, L>;

/// A tape, and the programs made of recordings.
#[derive(Clone)]
pub struct TieredState<S: Scalar, L: Lanes> {
    tape: TapeState<S, L>,
    tiers: Tiers,
}

/// Fills requested entries by a small program, if there is one that is valid at `x`, and counts the call. `rows` are those of the matrix.
#[inline]
pub(super) fn fill_requested<S: Scalar>(
    tiers: &mut Tiers,
    f: Option<&dyn Recordable>,
    x: &[f64],
    entries: &mut EntryRequest<'_, S>,
    rows: usize,
) -> bool {
    let rows = if entries.pattern.is_some() { 1 } else { rows };
    if !tiers.has_programs() || entries.values.set_rows(rows).is_err() {
        return false;
    }
    let (data, constants) = entries.values.data_and_constants();
    let mut slices = [data];
    let Some([data]) = doubles_mut(&mut slices) else { return false };
    tiers.fill_entries(f, x, (data, constants))
}

impl<S: Scalar, L: Lanes> TieredState<S, L> {
    /// Computes a call by a program if there is one, or records it. Returns whether the matrix is filled; if not, the tape has to
    /// compute the call.
    fn by_program<F: Flat<Var<S>>>(
        &mut self,
        backend: &AutoReverseDiff,
        f: &mut F,
        x: &[S],
        mut y: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> bool {
        let schedule = backend.schedule;
        let mut step = self.tiers.step(schedule);
        if step == Step::Tape {
            return false;
        }
        let slices = [x];
        let Some(&[point]) = doubles(&slices) else { return false };
        if step == Step::Program {
            match self.fill(f.recordable(), point, y.as_deref_mut(), rows) {
                Ok(()) => return true,
                Err(instead) => step = instead,
            }
        }
        if step == Step::Record {
            self.record(backend, f, x);
            if self.fill(f.recordable(), point, y, rows).is_ok() {
                self.release_tape(backend, x.len());
                return true;
            }
            self.tiers.descend_if_many();
        }
        false
    }

    /// Records the function at `x`, and compiles the recording if it is of use.
    fn record<F: Flat<Var<S>>>(&mut self, backend: &AutoReverseDiff, f: &mut F, x: &[S]) {
        if let Some(&[point]) = doubles(&[x]) {
            self.tiers.record(backend.schedule, &mut AsRecorded::<Var<S>, _>::new(f), point);
        }
    }

    /// Frees the memory of a large tape, which grows again if calls come back to it.
    fn release_tape(&mut self, backend: &AutoReverseDiff, inputs: usize) {
        if self.tiers.has_large_recording()
            && let Ok(tape) = <ViaPullback as MatrixRoute<AutoReverseDiff>>::state::<S, L>(backend, inputs)
        {
            self.tape = tape;
        }
    }

    /// Fills the matrix by a program.
    fn fill(
        &mut self,
        f: Option<&dyn Recordable>,
        point: &[f64],
        y: Option<&mut Vec<S>>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Step> {
        let Some(outputs) = self.tiers.outputs() else { return Err(Step::Tape) };
        // A function with another number of outputs than before is an error, which the tape finds again.
        rows.set_rows(outputs).map_err(|_| Step::Tape)?;
        let (data, constants) = rows.data_and_constants();
        let mut slices = [data];
        let Some([data]) = doubles_mut(&mut slices) else { return Err(Step::Tape) };
        self.tiers.fill(f, point, y.is_some(), &mut Rows::fixed(data, point.len()).with_constants(constants))?;
        if let Some(y) = y {
            y.clear();
            y.extend(self.tiers.values().iter().map(|&v| S::constant(S::Base::from_f64(v))));
        }
        Ok(())
    }
}

impl MatrixRoute<AutoReverseDiff> for Tiered {
    const NAME: &'static str = "via pullback, then replay";
    type State<S: Scalar, L: Lanes> = TieredState<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &AutoReverseDiff, inputs: usize) -> Result<TieredState<S, L>, Error> {
        let tape = <ViaPullback as MatrixRoute<AutoReverseDiff>>::state::<S, L>(backend, inputs)?;
        Ok(TieredState { tape, tiers: Tiers::default() })
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.tiers.restart();
        ViaPullback::prepare::<S, L, F>(backend, &mut state.tape, f, x, y)?;
        if backend.schedule.first == 1 {
            state.record(backend, f, x);
            if let (Some(&[point]), Some(programs)) = (doubles(&[x]), state.tiers.programs()) {
                // Sizes the memory of the program, so that later calls allocate nothing. An error is found again by the first of them.
                let mut memory = Vec::new();
                let rows = &mut Rows::growing(&mut memory, point.len());
                let _ = programs.matrix_by_kept(f.recordable(), point, true, rows);
            }
        }
        Ok(())
    }
    #[inline]
    fn matrix<S: Scalar, L: Lanes, F: Flat<Var<S>>>(
        backend: &AutoReverseDiff,
        state: &mut TieredState<S, L>,
        f: &mut F,
        x: &[S],
        mut y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if const { is_double::<S>() } {
            if state.by_program(backend, f, x, y.as_deref_mut(), &mut rows) {
                return Ok(());
            }
            let _writing = Writing::begin(false);
            return ViaPullback::matrix::<S, L, F>(backend, &mut state.tape, f, x, y, rows);
        }
        ViaPullback::matrix::<S, L, F>(backend, &mut state.tape, f, x, y, rows)
    }
    fn restart<S: Scalar, L: Lanes>(state: &mut TieredState<S, L>) {
        state.tiers.restart();
    }
    fn divides(backend: &AutoReverseDiff) -> Option<Direction> {
        <ViaPullback as MatrixRoute<AutoReverseDiff>>::divides(backend)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recorded<S: Scalar, L: Lanes>(state: &mut TieredState<S, L>) -> Option<&mut dyn RecordedMatrix<S>> {
        if state.tiers.has_programs() { Some(state) } else { None }
    }
}

/// The gradient and its value by a small program.
impl<S: Scalar, L: Lanes> RecordedMatrix<S> for TieredState<S, L> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill(&mut self, f: Option<&dyn Recordable>, x: &[S], y: Option<&mut [S]>, rows: &mut Rows<'_, S>) -> bool {
        let (data, constants) = rows.data_and_constants();
        let (slices, mut data) = ([x], [data]);
        let (Some(&[x]), Some([data])) = (doubles(&slices), doubles_mut(&mut data)) else { return false };
        match y {
            None => self.tiers.fill_small(f, x, None, (data, constants)),
            Some(y) => match doubles_mut(&mut [y]) {
                Some([y]) => self.tiers.fill_small(f, x, Some(y), (data, constants)),
                _ => false,
            },
        }
    }
}

impl<S: Scalar, L: Lanes> Reports for TieredState<S, L> {
    type Report = Report;
    fn report(&self) -> Report {
        self.tiers.report().over::<S>()
    }
}
