//! What the programs of a recording cost, for an engine that compares them with a tape.
//!
//! Called by `reverse_diff`.

use super::{Kind, LANES, ProgramKey, Recording};

/// The program that fills the derivative matrix.
#[derive(Clone, Copy, Debug)]
pub(in crate::backends) struct Measure {
    /// Loops in the program.
    pub(in crate::backends) loops: usize,
    /// Instructions of the program.
    pub(in crate::backends) instructions: usize,
    /// Estimated time of filling the matrix by the portable executor, in that of an operation.
    pub(in crate::backends) time: f64,
}

impl Recording {
    /// The program that fills the derivative matrix, and how often it runs for that.
    fn of_matrix(&self) -> (ProgramKey, usize) {
        let (kind, runs) = match (self.has_entries(), self.inputs, self.outputs) {
            (true, ..) => (Kind::Entries, 1),
            (_, inputs, 1) if inputs > 0 => (Kind::Gradient, 1),
            (_, inputs, outputs) if inputs < outputs => (Kind::pushforward_of(inputs).0, inputs.div_ceil(LANES)),
            (_, _, outputs) => (Kind::pullback_of(outputs).0, outputs.div_ceil(LANES)),
        };
        (ProgramKey::of(kind, 0), runs)
    }

    /// Whether that program is machine code.
    pub(in super::super) fn has_code(&self) -> bool {
        #[cfg(feature = "native")]
        if let Ok(Some(_)) = self.code(self.of_matrix().0) {
            return true;
        }
        false
    }

    /// The size of that program, and how long the portable executor needs for it; `None` if it cannot be made.
    pub(in super::super) fn measure(&self) -> Option<Measure> {
        let (which, runs) = self.of_matrix();
        let work = self.executable(which).ok()?.code.work();
        Some(Measure { loops: work.loops, instructions: work.instructions, time: work.time * runs as f64 })
    }
}
