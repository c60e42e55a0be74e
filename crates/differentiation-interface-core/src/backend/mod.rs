//! The parts of a backend: a number type, a primitive, and a list of routes.
//!
//! Called by operators. A backend implements [`PushforwardPrimitive`] or [`PullbackPrimitive`] (or both) on flat slices
//! and names, operator by operator, the route to its primitive: [`Native`] or a fallback.

mod columns;
mod constant_entries;
mod contract;
mod entries;
mod lanes;
mod lift;
mod mode;
mod primitive;
mod route;
mod rows;
mod seeds;
mod self_test;

pub use crate::second_order::{
    Compose, ForcedRoute, ForwardOverGradient, HvpRoute, HvpState, HyperDualPrimitive, HyperDualRoute, InnerTwice,
    NestedDerivatives, NestedState, Reevaluate, Request, ReverseOverForward, ReverseOverGradient, SamePointStrategy,
    SecondAdjoint, SecondAdjointPrimitive, SecondAdjointState, SecondDerivativeRoute, SecondDifferencePrimitive,
    SecondDifferenceRoute, SecondOrder, SecondOrderBackend, Twice, ValueAndGradient,
};
pub use columns::MatrixColumns;
pub use constant_entries::ConstantEntries;
pub(crate) use contract::check_nesting;
pub use contract::{Backend, MatrixRoute, PullbackRoute, PushforwardRoute};
pub use entries::EntryRequest;
pub use lanes::{Lane, Lanes};
pub use lift::{Lift, LiftPair, lift};
pub use mode::{Adjoint, Both, Differences, Direction, Forward, HyperDuals, Mode, Nested, Replayed, Reverse};
pub use primitive::{PullbackPrimitive, PushforwardPrimitive};
pub use route::{Native, ViaPullback, ViaPushforward};
pub use rows::{ColumnMemory, Rows};
pub use seeds::Seeds;
pub use self_test::{Tested, TestedState};
