//! A matrix of derivatives filled by a recording of an earlier call.
//!
//! Handed out by [`MatrixRoute::recorded`](crate::backend::MatrixRoute::recorded); called by operators before the route itself.

use super::function::Recordable;
use crate::backend::Rows;

/// What a state can fill by the recordings it keeps. For gradients so small that watching for faults shows.
pub trait RecordedMatrix<S> {
    /// Fills the matrix at `x`, and the outputs in `y` if asked for. The function does not run, so no fault is reported. `false` if no
    /// recording serves: what was written then means nothing, and the operator takes the route.
    fn fill(&mut self, f: Option<&dyn Recordable>, x: &[S], y: Option<&mut [S]>, rows: &mut Rows<'_, S>) -> bool;
}
