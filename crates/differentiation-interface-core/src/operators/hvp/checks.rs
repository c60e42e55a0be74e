//! Errors and buffers of the operator.
//!
//! Called by the operator at varying points and at a fixed one.

use crate::container::Buffer;
use crate::error::{Error, ErrorKind};
use crate::operators::call::{check_shaped, of_point};
use crate::point::{LikeOf, Point, ScalarOf, Shape};

/// An error of this operator at a point of the shape `X`: tangents and products are as long as the point.
pub(super) fn named<X: Shape>(kind: ErrorKind, backend: &'static str) -> Error {
    of_point::<X>(kind, "hvp", backend)
}

/// Refuses buffers whose length or shape differs from that of the point.
#[inline]
pub(super) fn check_buffers<P: Point, O: Buffer<ScalarOf<P>> + ?Sized>(
    point: &P,
    inputs: usize,
    buffers: &[&mut O],
    backend: &'static str,
) -> Result<(), Error> {
    let check = |buffer: &&mut O| check_shaped::<_, LikeOf<P>>(inputs, point.outline(), &**buffer);
    buffers.iter().try_for_each(check).map_err(|kind| named::<P::Shape>(kind, backend))
}
