//! The shape of the point that a pattern belongs to.
//!
//! Kept by the states of `jacobian` and `hessian`: a container may have another shape with the same number of numbers, for which the
//! pattern of the preparation would give wrong numbers without a word.

use differentiation_interface_core::error::ErrorKind;

/// The lengths that the type of a point does not tell.
#[derive(Clone, Debug, Default)]
pub(super) struct PreparedShape {
    prepared: Vec<usize>,
    called: Vec<usize>,
}

impl PreparedShape {
    /// Keeps the shape of the preparation, which `read` writes.
    pub(super) fn prepare(&mut self, read: impl FnOnce(&mut Vec<usize>)) {
        read(&mut self.prepared);
    }

    /// Refuses a call at a point of another shape.
    pub(super) fn check(&mut self, read: impl FnOnce(&mut Vec<usize>)) -> Result<(), ErrorKind> {
        // The lengths are empty for all points of a type, or for none.
        if self.prepared.is_empty() {
            return Ok(());
        }
        read(&mut self.called);
        if self.called == self.prepared { Ok(()) } else { Err(ErrorKind::PreparedShape) }
    }
}
