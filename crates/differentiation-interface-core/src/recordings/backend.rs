//! What operators must know of a backend that keeps recordings.
//!
//! Handed out by [`Backend::recordings`](crate::backend::Backend::recordings).

/// A backend `B` whose states keep what the function did, for later calls.
///
/// Preparing such a backend again begins with a new state, where other backends keep their memory.
#[derive(Clone, Copy, Debug)]
pub struct Recordings<B> {
    /// The backend that reports a point at which the function takes another branch than at the first point of a state, as an error
    /// of kind [`ErrorKind::OtherBranch`](crate::error::ErrorKind::OtherBranch). `None` if it cannot see that, or reports it anyway.
    pub held_to_one_branch: Option<B>,
}
