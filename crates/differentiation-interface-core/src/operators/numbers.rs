//! The number types of operators.

use crate::backend::Backend;
use crate::point::Shape;

/// The number type that `B` runs functions of shape `X` on, with `L` lanes.
pub type NumOf<B, X, L> = <B as Backend>::Num<<X as Shape>::Scalar, L>;
/// The lanes of `gradient` and `jacobian`: those that `B` chooses, and at most as many as a shape of fixed length has numbers.
pub type GradientLanes<B, X> = <X as Shape>::Lanes<<B as Backend>::Lanes>;
/// The number type of `gradient` and `jacobian` with the backend `B`.
pub type GradientNum<B, X> = NumOf<B, X, GradientLanes<B, X>>;
