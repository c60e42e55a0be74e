//! The operators, one file each; code that several of them share is in `call.rs`.
//!
//! An operator checks shapes once, binds the function to its contexts, and passes a flat function to the backend's route.

mod auxiliary;
mod call;
mod derivative;
mod expansion;
mod gradient;
mod hessian;
mod hvp;
mod jacobian;
mod mixed_partial;
mod nth_derivative;
mod pullback;
mod pushforward;
mod second_derivative;
mod swept;
mod taylor;

pub use auxiliary::*;
pub use call::Evaluation;
pub use derivative::*;
pub use expansion::*;
pub use gradient::*;
pub use hessian::*;
pub use hvp::*;
pub use jacobian::*;
pub use mixed_partial::*;
pub use nth_derivative::*;
pub use pullback::*;
pub use pushforward::*;
pub use second_derivative::*;
pub use swept::*;
pub use taylor::*;

use crate::backend::Backend;
use crate::point::Shape;

/// The number type that `B` runs functions of shape `X` on, with `L` lanes.
pub type NumOf<B, X, L> = <B as Backend>::Num<<X as Shape>::Scalar, L>;
/// The lanes of `gradient` and `jacobian`: those that `B` chooses, and at most as many as a shape of fixed length has numbers.
pub type GradientLanes<B, X> = <X as Shape>::Lanes<<B as Backend>::Lanes>;
/// The number type of `gradient` and `jacobian` with the backend `B`.
pub type GradientNum<B, X> = NumOf<B, X, GradientLanes<B, X>>;
