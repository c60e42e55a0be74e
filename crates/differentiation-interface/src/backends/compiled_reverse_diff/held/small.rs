//! Small programs with memory of their own: for ten inputs, finding program and memory takes longer than the computation.
//!
//! Kept by [`Held`](super::Held) after a first run; called by `state` before anything else of a call.

use super::second::Second;
use crate::backends::compiled_reverse_diff::recording::{Filling, Kind, Made, ProgramKey, Recording};
use compiled_trace::native::Single;
use differentiation_interface_core::backend::ConstantEntries;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// Machine code of point and parameters.
type Program<B, const OUTPUTS: usize> = Single<B, 2, OUTPUTS>;
/// The same with a seed.
type SeededProgram<B, const OUTPUTS: usize> = Single<B, 3, OUTPUTS>;

/// The machine code of a recording whose program has run, if later calls may run it: not that of a recording for one call, which checks no
/// comparison.
fn code<B: Base, const INPUTS: usize, const OUTPUTS: usize>(
    recording: &Recording,
    which: ProgramKey,
) -> Option<Made<Single<B, INPUTS, OUTPUTS>>> {
    if recording.once {
        return None;
    }
    let made = recording.programs(which).code::<B>(which)??;
    Some(Made { code: made.code.single()?, is_doubtful: made.is_doubtful })
}

impl<B: Base, const OUTPUTS: usize> Made<Program<B, OUTPUTS>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill<S: Scalar<Base = B>>(
        &mut self,
        kind: Kind,
        x: &[S],
        parameters: &[B],
        outputs: &mut [&mut [S]; OUTPUTS],
        constants: &mut ConstantEntries,
    ) -> bool {
        let is_again = constants.take().are_of(self.code.number());
        let (Some(&[x]), Some(outputs)) = (S::as_plain(&[x]), S::as_plain_mut(outputs)) else { return false };
        let Ok(outputs) = <&mut [&mut [B]; OUTPUTS]>::try_from(outputs) else { return false };
        let has_run = match is_again {
            true => self.code.run_again(&[x, parameters], outputs),
            false => self.code.run(&[x, parameters], outputs),
        };
        let is_result = has_run && !(self.is_doubtful && ProgramKey::of(kind, 0).is_spoilt(outputs));
        if is_result {
            *constants = ConstantEntries::of(self.code.number());
        }
        is_result
    }
}

/// The machine code that fills the derivative matrix, of a recording whose program has run.
#[derive(Clone, Debug)]
pub(in super::super) struct Small<B> {
    filling: Filling,
    /// Of the matrix alone.
    alone: Option<Made<Program<B, 1>>>,
    /// Of the outputs and the matrix.
    with_value: Option<Made<Program<B, 2>>>,
    /// Whether it tracks absent derivatives.
    tracks: bool,
}

impl<B: Base> Small<B> {
    /// `None` if a run needs more than slices and memory of its own.
    pub(super) fn of(recording: &Recording, filling: Filling, tracks: bool) -> Option<Small<B>> {
        let key = |kind| ProgramKey { kind, tangents: 0, tracks };
        let alone = code(recording, key(filling.alone()));
        let with_value = code(recording, key(filling.with_value()));
        let is_one = alone.is_some() || with_value.is_some();
        is_one.then_some(Small { filling, alone, with_value, tracks })
    }

    /// Whether it fills this by programs that track absent derivatives, or by others.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_for(&self, filling: Filling, tracks: bool) -> bool {
        self.fills(filling) && self.tracks == tracks
    }
    /// Whether it fills this.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn fills(&self, filling: Filling) -> bool {
        self.filling == filling
    }

    /// Fills the matrix, and the value if there is room for it; returns whether there is a result. If not, the buffers are undefined,
    /// and the programs of the recording return the result or the error. The caller has compared the lengths of the contexts, and need
    /// not check more. `scratch` takes a value that is not asked for; it is taken only while `second` does not wait for this call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in super::super) fn fill<S: Scalar<Base = B>>(
        &mut self,
        x: &[S],
        parameters: &[B],
        value: Option<&mut [S]>,
        scratch: &mut [S],
        (matrix, constants): (&mut [S], &mut ConstantEntries),
        second: &mut Second,
    ) -> bool {
        let with_value = self.filling.with_value();
        match (value, &mut self.alone, &mut self.with_value) {
            (None, Some(made), _) => made.fill(self.filling.alone(), x, parameters, &mut [matrix], constants),
            (None, None, Some(made)) => {
                second.passes() && made.fill(with_value, x, parameters, &mut [scratch, matrix], constants)
            }
            (Some(value), _, Some(made)) => made.fill(with_value, x, parameters, &mut [value, matrix], constants),
            (Some(_), _, None) | (None, None, None) => false,
        }
    }
}

/// The machine code of products with one seed, of a recording whose program has run.
#[derive(Clone, Debug)]
pub(super) struct SmallProduct<B> {
    /// The program, with what it tracks.
    which: ProgramKey,
    program: Either<B>,
}

#[derive(Clone, Debug)]
enum Either<B> {
    /// Of the product alone.
    Alone(Made<SeededProgram<B, 1>>),
    /// Of the outputs and the product.
    WithValue(Made<SeededProgram<B, 2>>),
}

impl<B: Base> SmallProduct<B> {
    /// `None` if a run needs more than slices and memory of its own.
    pub(super) fn of(recording: &Recording, which: ProgramKey, results: usize) -> Option<SmallProduct<B>> {
        let program = match results {
            1 => Either::Alone(code(recording, which)?),
            2 => Either::WithValue(code(recording, which)?),
            _ => return None,
        };
        Some(SmallProduct { which, program })
    }

    /// Whether it is this program.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is(&self, which: ProgramKey) -> bool {
        self.which == which
    }

    /// Runs the program; returns whether there is a result, as [`Small::fill`] does.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn run<S: Scalar<Base = B>>(
        &mut self,
        x: &[S],
        parameters: &[B],
        seed: &[S],
        outputs: &mut [&mut [S]],
    ) -> bool {
        let given = [x, seed];
        let Some(&[x, seed]) = S::as_plain(&given) else { return false };
        let Some(outputs) = S::as_plain_mut(outputs) else { return false };
        let inputs = &[x, parameters, seed];
        let (has_run, is_doubtful) = match &mut self.program {
            Either::Alone(made) => {
                let Ok(outputs) = (&mut *outputs).try_into() else { return false };
                (made.code.run(inputs, outputs), made.is_doubtful)
            }
            Either::WithValue(made) => {
                let Ok(outputs) = (&mut *outputs).try_into() else { return false };
                (made.code.run(inputs, outputs), made.is_doubtful)
            }
        };
        has_run && !(is_doubtful && self.which.is_spoilt(outputs))
    }
}
