//! Why a program did not run.

use crate::program::GuardFailed;
use differentiation_interface_core::error::{Error, ErrorKind};

/// Why a program did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The recording does not hold at this point.
    Guard(GuardFailed),
    /// A slice has the wrong length, or there is a wrong number of slices.
    Length {
        /// The length or number it must have.
        expected: usize,
        /// The one it has.
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
                    "the program takes slices of length {expected} where it got {found}; pass slices as `inputs()` and `outputs()` say"
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

/// The error of a run as the error of an operator.
impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        match error {
            RunError::Length { expected, found } => ErrorKind::BufferLength { expected, found }.into(),
            RunError::Guard(GuardFailed { place }) => ErrorKind::OtherBranch { place }.into(),
        }
    }
}
