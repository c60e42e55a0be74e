//! The slices of a run of machine code, for products of matrices.
//!
//! Used by `Compiled`, which runs products between its functions. Only programs over `f64` have any.

use super::call::Memory;
use crate::products::Slices;
use crate::program::Space;
use differentiation_interface_core::scalar::Base;

impl<S: Base> Slices for Memory<'_, '_, '_, S> {
    fn cells(&self, space: Space) -> &[f64] {
        let slice = match space {
            Space::Constant => self.constants,
            Space::Work => &*self.cells,
            Space::Input(i) => self.inputs[i as usize],
            Space::Output(i) => &*self.outputs[i as usize],
        };
        S::as_doubles(&[slice]).map_or(&[], |slices| slices[0])
    }

    fn cells_mut(&mut self, space: Space) -> &mut [f64] {
        let slice = match space {
            Space::Output(i) => &mut *self.outputs[i as usize],
            _ => &mut *self.cells,
        };
        match S::as_doubles_mut(&mut [slice]) {
            Some([slice]) => std::mem::take(slice),
            _ => &mut [],
        }
    }
}
