//! Runs a small program on slots, which are borrowed or its own.

use super::code::Unrolled;
use super::kernel;
use super::slots::Slots;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};
use pulp::Arch;
use std::sync::Arc;

impl Unrolled {
    /// Number of operations.
    #[cfg(test)]
    pub(in crate::execute) fn length(&self) -> usize {
        self.steps.len()
    }

    /// Allocates the slots for its runs.
    pub(in crate::execute) fn workspace<S: Scalar>(&self) -> Slots<S> {
        let mut slots = vec![S::default(); self.slots];
        for (slot, constant) in slots.iter_mut().zip(&self.constants) {
            *slot = S::constant(S::Base::from_f64(*constant));
        }
        Slots::new(&slots)
    }

    /// Runs it on doubles; returns whether all guards held. Not generic and out of line, so that it is compiled once, in this crate.
    #[inline(never)]
    fn holds_for_doubles(&self, slots: &mut [f64], inputs: &[&[f64]], outputs: &mut [&mut [f64]]) -> bool {
        self.run(slots, inputs, outputs).is_ok()
    }

    /// Runs it on slices of the right lengths; returns the number of the guard that failed, if one did.
    #[inline(always)]
    pub(in crate::execute) fn run<S: Scalar>(
        &self,
        slots: &mut [S],
        inputs: &[&[S]],
        outputs: &mut [&mut [S]],
    ) -> Result<(), u16> {
        match self.is_short {
            true => dispatch(kernel::Run::<_, true> { unrolled: self, slots, inputs, outputs }),
            false => dispatch(kernel::Run::<_, false> { unrolled: self, slots, inputs, outputs }),
        }
    }
}

#[inline(always)]
fn dispatch<S: Scalar, const SHORT: bool>(run: kernel::Run<'_, '_, '_, S, SHORT>) -> Result<(), u16> {
    match run.unrolled.arch {
        Arch::Scalar => without_vectors(run),
        arch => arch.dispatch(run),
    }
}

/// For machines without wide vectors. Out of line, as its stack frame is large.
#[inline(never)]
fn without_vectors<S: Scalar, const SHORT: bool>(run: kernel::Run<'_, '_, '_, S, SHORT>) -> Result<(), u16> {
    Arch::Scalar.dispatch(run)
}

/// A small program with slots of its own: a call compares the lengths of the slices and runs. Made by
/// [`Executable::single`](crate::Executable::single).
#[derive(Clone, Debug)]
pub struct Single<S, const INPUTS: usize, const OUTPUTS: usize> {
    unrolled: Arc<Unrolled>,
    slots: Slots<S>,
    inputs: [usize; INPUTS],
    outputs: [usize; OUTPUTS],
}

impl<S: Scalar, const INPUTS: usize, const OUTPUTS: usize> Single<S, INPUTS, OUTPUTS> {
    /// `None` if the program has another number of slices.
    pub(in crate::execute) fn new(unrolled: &Arc<Unrolled>, inputs: &[usize], outputs: &[usize]) -> Option<Self> {
        let (inputs, outputs) = (inputs.try_into().ok()?, outputs.try_into().ok()?);
        Some(Single { slots: unrolled.workspace(), unrolled: Arc::clone(unrolled), inputs, outputs })
    }

    /// Returns whether the slices have the right lengths and all guards held. Otherwise the outputs are meaningless, and
    /// [`Executable::run`](crate::Executable::run) tells why.
    #[inline(always)]
    pub fn run(&mut self, inputs: &[&[S]; INPUTS], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        let mut fits = true;
        for (input, length) in inputs.iter().zip(self.inputs) {
            fits &= input.len() == length;
        }
        for (output, length) in outputs.iter().zip(self.outputs) {
            fits &= output.len() == length;
        }
        if !fits {
            return false;
        }
        // The condition is constant, so that a crate that runs programs on doubles compiles no kernel.
        if const { S::DEPTH == 0 && S::Base::IS_DOUBLE } {
            let slots = &mut [self.slots.numbers()];
            let slots = S::as_plain_mut(slots).and_then(S::Base::as_doubles_mut);
            let inputs = S::as_plain(inputs).and_then(S::Base::as_doubles);
            let outputs = S::as_plain_mut(outputs).and_then(S::Base::as_doubles_mut);
            match (slots, inputs, outputs) {
                (Some([slots]), Some(inputs), Some(outputs)) => self.unrolled.holds_for_doubles(slots, inputs, outputs),
                _ => false,
            }
        } else {
            self.unrolled.run(self.slots.numbers(), inputs, outputs).is_ok()
        }
    }
}
