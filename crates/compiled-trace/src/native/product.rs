//! The slices of a run of machine code, for products of matrices and for custom rules.
//!
//! Used by `Compiled`, which runs both between its functions. Only programs over `f64` have products.

use super::call::Memory;
use crate::products::Slices;
use crate::program::{Space, Spaces};
use differentiation_interface_core::scalar::Base;

impl<S> Spaces<S> for Memory<'_, '_, '_, S> {
    fn space(&self, space: Space) -> &[S] {
        match space {
            Space::Constant => self.constants,
            Space::Work => self.cells,
            Space::Input(i) => self.inputs[i as usize],
            Space::Output(i) => self.outputs[i as usize],
        }
    }

    fn space_mut(&mut self, space: Space) -> &mut [S] {
        match space {
            Space::Output(i) => self.outputs[i as usize],
            _ => self.cells,
        }
    }
}

impl<S: Base> Slices for Memory<'_, '_, '_, S> {
    fn cells(&self, space: Space) -> &[f64] {
        S::as_doubles(&[self.space(space)]).map_or(&[], |slices| slices[0])
    }

    fn cells_mut(&mut self, space: Space) -> &mut [f64] {
        match S::as_doubles_mut(&mut [self.space_mut(space)]) {
            Some([slice]) => std::mem::take(slice),
            _ => &mut [],
        }
    }
}
