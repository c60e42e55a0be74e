//! Why a program did not run.

use crate::program::GuardFailed;
use differentiation_interface_core::error::{Error, ErrorKind};

/// Why a program did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// A guard failed: the recording is not valid at this point.
    Guard(GuardFailed),
    /// A slice has the wrong length, or there is a wrong number of slices.
    Length {
        /// The required length or number.
        expected: usize,
        /// The length or number found.
        found: usize,
    },
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Guard(guard) => guard.fmt(f),
            RunError::Length { expected, found } => {
                write!(
                    f,
                    "the program takes slices of length {expected} and got {found}; pass slices of the lengths in `inputs()` and `outputs()`"
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

/// Converts the error of a run to the error of an operator.
impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Length { expected, found } => ErrorKind::BufferLength { expected, found }.into(),
            RunError::Guard(GuardFailed { place }) => ErrorKind::OtherBranch { place }.into(),
        }
    }
}
