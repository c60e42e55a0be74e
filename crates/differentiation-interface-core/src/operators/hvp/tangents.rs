//! The check of the tangents, and errors with the name of the operator.
//!
//! Called by the operator at varying points and at a fixed one.

use crate::backend::Seeds;
use crate::error::{Error, ErrorKind};
use crate::scalar::Scalar;

/// An error of this operator.
pub(super) fn error(kind: ErrorKind, backend: &'static str) -> Error {
    Error::new(kind).during("hvp", backend)
}

/// Refuses tangents of another length than the point.
pub(super) fn check_seeds<S: Scalar, const T: usize>(
    tangents: &[&[S]; T],
    inputs: usize,
    backend: &'static str,
) -> Result<(), Error> {
    Seeds::Vectors(tangents).check(inputs).map_err(|kind| error(kind, backend))
}
