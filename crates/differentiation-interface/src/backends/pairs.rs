//! Constants of the nested numbers of two backends, which involve both.
//!
//! Called by [`lift`](differentiation_interface_core::backend::lift()) with a pair of backends. A module of its own, so that neither
//! backend imports the other.

use super::forward_diff::{AutoForwardDiff, ChunkSize, Dual};
use super::reverse_diff::{AutoReverseDiff, TwiceVar, Var};
use differentiation_interface_core::backend::{Lanes, Lift, LiftPair};
use differentiation_interface_core::scalar::Scalar;

impl<C: ChunkSize, S: Scalar, L: Lanes> LiftPair<AutoReverseDiff, S, Dual<Var<S>, L>> for AutoForwardDiff<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift_pair(value: S) -> Dual<Var<S>, L> {
        Self::lift(AutoReverseDiff::lift(value))
    }
}

impl<C: ChunkSize, S: Scalar> LiftPair<AutoForwardDiff<C>, S, TwiceVar<S>> for AutoReverseDiff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift_pair(value: S) -> TwiceVar<S> {
        <Self as LiftPair<Self, S, TwiceVar<S>>>::lift_pair(value)
    }
}
