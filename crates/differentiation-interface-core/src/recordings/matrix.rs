//! Fills a derivative matrix by a recording of an earlier call.
//!
//! Returned by [`MatrixRoute::recorded`](crate::backend::MatrixRoute::recorded); called by operators before the route itself.

use super::function::Recordable;
use crate::backend::Rows;

/// Fills a matrix by the recordings in a state. A fast path for gradients so small that watching for faults takes a noticeable share of the time.
pub trait RecordedMatrix<S> {
    /// Fills the matrix at `x`, and the outputs in `y` if given. The function does not run, so no fault is reported. Returns `false` if
    /// no recording is valid; the buffers are then undefined and the operator takes the route.
    fn fill(&mut self, f: Option<&dyn Recordable>, x: &[S], y: Option<&mut [S]>, rows: &mut Rows<'_, S>) -> bool;
}
