//! Where the matrices of a product are.
//!
//! Used by `recognise`, which reads it from addresses, and by `kernel`, which reads and writes the cells.

use crate::program::{Memory, Space};
use differentiation_interface_core::scalar::Base;

/// A matrix in a space, as a function of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) space: Space,
    /// The cell where all counters are 0.
    pub(super) base: i64,
    /// Distance of the cells of neighbouring rows.
    pub(super) row: i64,
    /// Distance of the cells of neighbouring columns.
    pub(super) column: i64,
}

/// The sizes of a product: the sum has rows and columns, both factors have the terms in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) terms: usize,
}

/// The slices that a program over doubles works on. Products are found in such programs alone, over which executors are generic.
pub(crate) trait Slices {
    /// The cells of a space.
    fn cells(&self, space: Space) -> &[f64];
    /// The cells of a space that programs write.
    fn cells_mut(&mut self, space: Space) -> &mut [f64];
}

impl<S: Base> Slices for Memory<'_, '_, '_, S> {
    fn cells(&self, space: Space) -> &[f64] {
        S::as_doubles(&[self.slice(space)]).map_or(&[], |slices| slices[0])
    }
    fn cells_mut(&mut self, space: Space) -> &mut [f64] {
        match S::as_doubles_mut(&mut [self.slice_mut(space)]) {
            Some([slice]) => std::mem::take(slice),
            _ => &mut [],
        }
    }
}

impl View {
    /// The cell of an entry.
    #[inline(always)]
    pub(super) fn cell(&self, row: usize, column: usize) -> usize {
        (self.base + row as i64 * self.row + column as i64 * self.column) as usize
    }
}
