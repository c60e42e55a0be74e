//! Small programs with memory of their own: for ten inputs, finding program and memory takes longer than the computation.
//!
//! Kept by [`Held`](super::Held) after a first run; called by `state` before anything else of a call.

use crate::backends::compiled_reverse_diff::recording::{Kind, Made, ProgramKey, Recording};
use compiled_trace::{Single, native};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// A program of point and parameters on plain numbers.
#[derive(Clone, Debug)]
enum Program<B: Base, const OUTPUTS: usize> {
    Code(native::Single<f64, 2, OUTPUTS>),
    /// With memory for parameters that are not doubles.
    List(Single<B, 2, OUTPUTS>, Vec<B>),
}

impl<B: Base, const OUTPUTS: usize> Program<B, OUTPUTS> {
    /// Makes it from a recording whose program has run.
    fn of(recording: &Recording, which: ProgramKey) -> Option<Made<Self>> {
        let programs = recording.programs(which);
        if B::as_doubles(&[]).is_some()
            && let Some(Some(made)) = programs.code(which)
        {
            let code = Program::Code(made.code.single()?);
            return Some(Made { code, is_doubtful: made.is_doubtful });
        }
        let made = programs.executable(which)?;
        let parameters = Vec::with_capacity(made.code.inputs()[1]);
        Some(Made { code: Program::List(made.code.single()?, parameters), is_doubtful: made.is_doubtful })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(&mut self, x: &[B], parameters: &[f64], outputs: &mut [&mut [B]; OUTPUTS]) -> bool {
        match self {
            Program::Code(code) => {
                let (Some(&[x]), Some(outputs)) = (B::as_doubles(&[x]), B::as_doubles_mut(outputs)) else {
                    return false;
                };
                outputs.try_into().is_ok_and(|outputs| code.run(&[x, parameters], outputs))
            }
            Program::List(list, memory) => {
                memory.clear();
                memory.extend(parameters.iter().map(|v| B::from_f64(*v)));
                list.run(&[x, memory], outputs)
            }
        }
    }
}

impl<B: Base, const OUTPUTS: usize> Made<Program<B, OUTPUTS>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill<S: Scalar<Base = B>>(
        &mut self,
        kind: Kind,
        x: &[S],
        parameters: &[f64],
        outputs: &mut [&mut [S]; OUTPUTS],
    ) -> bool {
        let (Some(&[x]), Some(outputs)) = (S::as_plain(&[x]), S::as_plain_mut(outputs)) else { return false };
        let Ok(outputs) = <&mut [&mut [B]; OUTPUTS]>::try_from(outputs) else { return false };
        self.code.run(x, parameters, outputs) && !(self.is_doubtful && ProgramKey::of(kind, 0).is_spoilt(outputs))
    }
}

/// The program that fills the derivative matrix, of a recording whose program has run on plain numbers.
#[derive(Clone, Debug)]
pub(in super::super) struct Small<B: Base> {
    program: Either<B>,
    /// Whether it tracks absent derivatives.
    pub(super) tracks: bool,
}

#[derive(Clone, Debug)]
enum Either<B: Base> {
    /// Of the one output and its gradient.
    Gradient(Made<Program<B, 2>>),
    /// Of the entries of the matrix.
    Entries(Made<Program<B, 1>>),
}

impl<B: Base> Small<B> {
    /// `None` if a run needs more than slices and memory of its own.
    pub(super) fn of(recording: &Recording, kind: Kind, tracks: bool) -> Option<Small<B>> {
        let which = ProgramKey { kind, tangents: 0, tracks };
        let program = match kind {
            Kind::Gradient => Either::Gradient(Program::of(recording, which)?),
            Kind::Entries => Either::Entries(Program::of(recording, which)?),
            _ => return None,
        };
        Some(Small { program, tracks })
    }

    /// Fills the matrix, and the value if there is room for it; returns whether there is a result. If not, the buffers are undefined,
    /// and the programs of the recording return the result or the error. The caller has compared the lengths of the contexts, and need
    /// not check more. `scratch` takes a value that is not asked for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn fill<S: Scalar<Base = B>>(
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
    pub(super) fn run<S: Scalar<Base = B>>(
        &mut self,
        kind: Kind,
        inputs: &[&[S]; 2],
        outputs: &mut [&mut [S]],
    ) -> bool {
        let Some(Some(&[_, parameters])) = S::as_plain(inputs).map(B::as_doubles) else { return false };
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
