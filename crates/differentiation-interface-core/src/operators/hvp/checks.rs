//! Errors and buffers of the operator.
//!
//! Called by the operator at varying points and at a fixed one.

use crate::container::Buffer;
use crate::error::{Error, ErrorKind};
use crate::operators::call::check_shaped;
use crate::point::{LikeOf, Point, ScalarOf};

/// An error of this operator.
pub(super) fn error(kind: ErrorKind, backend: &'static str) -> Error {
    Error::new(kind).during("hvp", backend)
}

/// Refuses buffers of another length or shape than the point.
#[inline]
pub(super) fn check_buffers<P: Point, O: Buffer<ScalarOf<P>> + ?Sized>(
    point: &P,
    inputs: usize,
    buffers: &[&mut O],
    backend: &'static str,
) -> Result<(), Error> {
    let check = |buffer: &&mut O| check_shaped::<_, LikeOf<P>>(inputs, point.outline(), &**buffer);
    buffers.iter().try_for_each(check).map_err(|kind| error(kind, backend))
}
