//! What operators need to know of a backend that keeps recordings.
//!
//! Returned by [`Backend::recordings`](crate::backend::Backend::recordings).

/// A backend `B` whose states keep recordings of the function for later calls.
///
/// Preparing such a backend again makes a new state, while other backends keep their memory.
#[derive(Clone, Copy, Debug)]
pub struct Recordings<B> {
    /// A backend that returns an error if the function takes a different branch than at the first point of a state,
    /// of kind [`ErrorKind::OtherBranch`](crate::error::ErrorKind::OtherBranch). `None` if the backend cannot detect that, or always returns the error.
    pub held_to_one_branch: Option<B>,
}
