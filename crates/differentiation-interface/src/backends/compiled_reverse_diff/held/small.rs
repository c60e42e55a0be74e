//! Small programs with memory of their own: for ten inputs, finding program and memory takes longer than the computation.
//!
//! Kept by [`Held`](super::Held) after a first run; called by `state` before anything else of a call.

use crate::backends::compiled_reverse_diff::recording::{Kind, Made, ProgramKey, Recording};
use compiled_trace::native::Single;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// Machine code of point and parameters, on doubles.
type Program<const OUTPUTS: usize> = Single<f64, 2, OUTPUTS>;

/// The machine code of a recording whose program has run.
fn code<const OUTPUTS: usize>(recording: &Recording, which: ProgramKey) -> Option<Made<Program<OUTPUTS>>> {
    let made = recording.programs(which).code(which)?.as_ref()?;
    Some(Made { code: made.code.single()?, is_doubtful: made.is_doubtful })
}

impl<const OUTPUTS: usize> Made<Program<OUTPUTS>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill<S: Scalar>(&mut self, kind: Kind, x: &[S], parameters: &[f64], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        let (Some(&[x]), Some(outputs)) = (S::as_plain(&[x]), S::as_plain_mut(outputs)) else { return false };
        let Ok(outputs) = <&mut [&mut [S::Base]; OUTPUTS]>::try_from(outputs) else { return false };
        let has_run = match (S::Base::as_doubles(&[x]), S::Base::as_doubles_mut(outputs).map(TryInto::try_into)) {
            (Some(&[x]), Some(Ok(outputs))) => self.code.run(&[x, parameters], outputs),
            _ => false,
        };
        has_run && !(self.is_doubtful && ProgramKey::of(kind, 0).is_spoilt(outputs))
    }
}

/// The machine code that fills the derivative matrix, of a recording whose program has run on doubles.
#[derive(Clone, Debug)]
pub(in super::super) struct Small {
    program: Either,
    /// Whether it tracks absent derivatives.
    pub(super) tracks: bool,
}

#[derive(Clone, Debug)]
enum Either {
    /// Of the one output and its gradient.
    Gradient(Made<Program<2>>),
    /// Of the entries of the matrix.
    Entries(Made<Program<1>>),
}

impl Small {
    /// `None` if a run needs more than slices and memory of its own.
    pub(super) fn of(recording: &Recording, kind: Kind, tracks: bool) -> Option<Small> {
        let which = ProgramKey { kind, tangents: 0, tracks };
        let program = match kind {
            Kind::Gradient => Either::Gradient(code(recording, which)?),
            Kind::Entries => Either::Entries(code(recording, which)?),
            _ => return None,
        };
        Some(Small { program, tracks })
    }

    /// Fills the matrix, and the value if there is room for it; returns whether there is a result. If not, the buffers are undefined,
    /// and the programs of the recording return the result or the error. The caller has compared the lengths of the contexts, and need
    /// not check more. `scratch` takes a value that is not asked for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn fill<S: Scalar>(
        &mut self,
        x: &[S],
        parameters: &[f64],
        value: Option<&mut [S]>,
        scratch: &mut [S],
        matrix: &mut [S],
    ) -> bool {
        match (&mut self.program, value) {
            (Either::Gradient(made), value) => {
                made.fill(Kind::Gradient, x, parameters, &mut [value.unwrap_or(scratch), matrix])
            }
            (Either::Entries(made), None) => made.fill(Kind::Entries, x, parameters, &mut [matrix]),
            // The entries are computed without the outputs.
            (Either::Entries(_), Some(_)) => false,
        }
    }

    /// Runs the program on its slices, if it is of this kind; returns whether there is a result.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run<S: Scalar>(&mut self, kind: Kind, inputs: &[&[S]; 2], outputs: &mut [&mut [S]]) -> bool {
        let Some(Some(&[_, parameters])) = S::as_plain(inputs).map(S::Base::as_doubles) else { return false };
        let x = inputs[0];
        match (&mut self.program, kind) {
            (Either::Gradient(made), Kind::Gradient) => {
                outputs.try_into().is_ok_and(|outputs| made.fill(kind, x, parameters, outputs))
            }
            (Either::Entries(made), Kind::Entries) => {
                outputs.try_into().is_ok_and(|outputs| made.fill(kind, x, parameters, outputs))
            }
            _ => false,
        }
    }
}
