//! Second order: the routes from `hvp`, `hessian` and `second_derivative` to the primitives of two backends.
//!
//! ```text
//! outer     inner     route by the directions
//! forward   reverse   ForwardOverGradient   pushforward (outer) of the gradient (inner)
//! forward   forward   ForwardOverGradient
//! reverse   forward   ReverseOverForward    pullback (outer) of the pushforwards (inner), batched over tangents
//! reverse   reverse   ReverseOverGradient   pullback (outer) of the gradient (inner)
//! ```
//! A backend with both primitives counts as a forward one outside and as a reverse one inside where that helps. A backend paired
//! with itself, or with one that its way leaves nothing to do, may have a better way than nesting numbers, which the type parameter of its mode
//! names:
//! ```text
//! outer                         inner       route
//! HyperDuals                     HyperDuals   HyperDualRoute   numbers for both differentiations; `AutoForwardDiff`
//! HyperDuals, Adjoint            Adjoint     SecondAdjoint    one recording, swept forwards and back; `AutoReverseDiff`
//! HyperDuals, Adjoint, Replayed  Replayed    SecondAdjoint    the same by compiled programs; `AutoReverseDiff::compiled()`
//! Differences                   Differences SecondDifferenceRoute  formulas for second derivatives; `AutoFiniteDifferences`
//! ```
//! `second_derivative` takes `NestedDerivatives`, and under `HyperDualRoute` a number for both differentiations along one variable.
//!
//! In every mode the inner differentiation keeps its state between calls, several tangents are propagated at once, and value and
//! gradient come from the same evaluations.

mod compose;
mod contract;
mod derivative;
mod hyper_dual;
mod inner;
mod over_gradient;
mod over_pushforwards;
mod second_adjoint;
mod second_differences;

pub use compose::{Compose, Twice};
pub use contract::{ForcedRoute, HvpRoute, HvpState, Request, SecondOrder, SecondOrderBackend};
pub use derivative::{NestedDerivatives, NestedState, SecondDerivativeRoute};
pub use hyper_dual::{HyperDualPrimitive, HyperDualRoute, ValueAndGradient};
pub use over_gradient::{ForwardOverGradient, InnerTwice, Reevaluate, ReverseOverGradient, SamePointStrategy};
pub use over_pushforwards::ReverseOverForward;
pub use second_adjoint::{SecondAdjoint, SecondAdjointPrimitive, SecondAdjointState};
pub use second_differences::{SecondDifferencePrimitive, SecondDifferenceRoute};
