//! The slices that a run of a program works on, for both executors.

use super::Space;

/// The slices of a run.
pub(crate) struct Memory<'a, 'i, 'o, S> {
    pub(crate) constants: &'a [S],
    pub(crate) cells: &'a mut [S],
    pub(crate) inputs: &'a [&'i [S]],
    pub(crate) outputs: &'a mut [&'o mut [S]],
}

impl<S> Memory<'_, '_, '_, S> {
    /// The cells of a space.
    #[inline(always)]
    pub(crate) fn slice(&self, space: Space) -> &[S] {
        match space {
            Space::Constant => self.constants,
            Space::Input(i) => self.inputs[i as usize],
            Space::Work => self.cells,
            Space::Output(i) => self.outputs[i as usize],
        }
    }

    /// The cells of a space that programs write.
    #[inline(always)]
    pub(crate) fn slice_mut(&mut self, space: Space) -> &mut [S] {
        match space {
            Space::Output(i) => self.outputs[i as usize],
            _ => self.cells,
        }
    }
}
