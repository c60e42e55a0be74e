//! The state for an engine that decides itself when to record, when to compile, and when to do neither: `reverse_diff`.
//!
//! Over `f64` alone and without generic functions, so that this is compiled here and not in every crate that uses that engine.

use super::{CompiledState, Held, Recording};
use crate::backends::compiled_reverse_diff::recording::{Failure, Measure};
use crate::backends::compiled_reverse_diff::requested::RequestedEntries;
use compiled_trace::{Fingerprint, Limits, Recorded, RunError};
use differentiation_interface_core::backend::Rows;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use std::sync::Arc;

/// A recording that is not compiled.
#[derive(Clone, Copy, Debug)]
pub(in crate::backends) struct Trial {
    pub(in crate::backends) fingerprint: Fingerprint,
    pub(in crate::backends) operations: usize,
    /// The time that its functions take beyond that of additions, in that of an operation.
    pub(in crate::backends) functions: f64,
}

impl CompiledState<f64> {
    /// For dense derivative matrices.
    pub(in crate::backends) fn of_matrices(limits: Limits) -> Self {
        CompiledState { requested: RequestedEntries::jacobian(limits), ..CompiledState::default() }
    }

    /// Records the function at `x`, to compare the recording with earlier ones.
    pub(in crate::backends) fn try_out(
        &mut self,
        limits: Limits,
        mut f: &mut dyn Flat<Recorded>,
        x: &[f64],
    ) -> Result<Trial, Error> {
        self.buffers.read_contexts(f.recordable(), &mut self.plain, &mut self.lengths);
        let graph = self.fresh.record(limits, &mut f, x, &self.plain)?;
        Ok(Trial {
            fingerprint: graph.fingerprint(),
            operations: graph.nodes().len(),
            functions: graph.time_of_functions(),
        })
    }

    /// Records the function once more with its outermost loop folded, which makes a shorter program with its constants in rows, compiles that
    /// and makes it the current one. Call it after [`try_out`](Self::try_out) at the same point.
    pub(in crate::backends) fn adopt(
        &mut self,
        limits: Limits,
        mut f: &mut dyn Flat<Recorded>,
        x: &[f64],
    ) -> Result<(), Error> {
        let recorder = self.fresh.record_for_program(limits, &mut f, x, &self.plain, true)?;
        let recording = Recording::new(recorder, &self.lengths, &self.requested)?;
        self.current = self.recordings.len();
        self.recordings.push(Held::new(Arc::new(recording)));
        Ok(())
    }

    /// The number of compiled recordings.
    pub(in crate::backends) fn count(&self) -> usize {
        self.recordings.len()
    }

    /// The number of outputs of the current recording.
    #[inline]
    pub(in crate::backends) fn count_of_outputs(&self) -> Option<usize> {
        self.recordings.get(self.current).map(|held| held.recording.outputs)
    }

    /// The program of the current recording that fills the derivative matrix.
    pub(in crate::backends) fn measure(&self) -> Option<Measure> {
        self.recordings.get(self.current)?.recording.measure()
    }

    /// Whether that program is machine code.
    pub(in crate::backends) fn has_code(&self) -> bool {
        self.recordings.get(self.current).is_some_and(|held| held.recording.has_code())
    }

    /// Drops the last recording and the memory for further ones.
    pub(in crate::backends) fn forget_trial(&mut self) {
        self.fresh = Default::default();
    }

    /// Fills the derivative matrix by a recording that is valid at `x` and has this many outputs, and leaves the outputs if `with_value`.
    /// Returns `false` if there is none; nothing is recorded.
    pub(in crate::backends) fn matrix_by_kept(
        &mut self,
        f: Option<&dyn Recordable>,
        x: &[f64],
        with_value: bool,
        rows: &mut Rows<'_, f64>,
    ) -> Result<bool, Error> {
        self.buffers.read_contexts(f, &mut self.plain, &mut self.lengths);
        let known = self.recordings.len();
        for k in 0..known {
            let index = if self.current + k < known { self.current + k } else { self.current + k - known };
            let held = &mut self.recordings[index];
            if !held.recording.fits(x.len(), self.plain.len(), &self.lengths) {
                continue;
            }
            match self.buffers.matrix(held, x, with_value, rows) {
                Ok(()) => {
                    self.current = index;
                    return Ok(true);
                }
                Err(Failure::Invalid(RunError::Guard(_)) | Failure::Size(_)) => {}
                Err(failure) => return Err(super::final_error(failure)),
            }
        }
        Ok(false)
    }
}
