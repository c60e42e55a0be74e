//! The route of a pair of backends, by their modes.
//!
//! Resolved by the compiler for every pair; selects routes and calls nothing.

use super::contract::{HvpRoute, SecondOrder, SecondOrderBackend};
use super::hyper_dual::HyperDualRoute;
use super::over_gradient::{ForwardOverGradient, InnerTwice, Reevaluate, ReverseOverGradient};
use super::over_pushforwards::ReverseOverForward;
use super::second_adjoint::SecondAdjoint;
use super::second_differences::SecondDifferenceRoute;
use crate::backend::{Adjoint, Backend, Both, Differences, Forward, HyperDuals, Nested, Replayed, Reverse};

impl<B: Backend> SecondOrderBackend for B
where
    B::Mode: Compose<B::Mode, Route: HvpRoute<B, B>>,
{
    type Outer = B;
    type Inner = B;
    type Hvp = <B::Mode as Compose<B::Mode>>::Route;
    const NAME: &'static str = B::NAME;

    fn pair(&self) -> (B, B) {
        let (outer, inner) = self.outer_and_inner();
        pair_of(&outer, &inner)
    }
}

impl<O: Backend, I: Backend> SecondOrderBackend for SecondOrder<O, I>
where
    O::Mode: Compose<I::Mode, Route: HvpRoute<O, I>>,
{
    type Outer = O;
    type Inner = I;
    type Hvp = <O::Mode as Compose<I::Mode>>::Route;
    const NAME: &'static str = "second_order";

    fn pair(&self) -> (O, I) {
        pair_of(&self.0, &self.1)
    }
}

/// The two backends as a pair. If both are inexact, they use wider steps.
fn pair_of<O: Backend, I: Backend>(outer: &O, inner: &I) -> (O, I) {
    if outer.is_exact() || inner.is_exact() {
        (outer.clone(), inner.clone())
    } else {
        (outer.for_nested_differences(), inner.for_nested_differences())
    }
}

/// The table of modes: the route of an outer mode over the inner mode `I`.
#[diagnostic::on_unimplemented(
    message = "there is no second-order route for the mode `{Self}` over the mode `{I}`",
    note = "the `Mode` of a backend must be `Forward`, `Reverse` or `Both` for second order, of `Nested`, `HyperDuals`, `Adjoint`, `Replayed` or `Differences`"
)]
pub trait Compose<I> {
    /// The route.
    type Route;
}

/// The route by directions, one line per pair: outer, inner, route. `T`, the way in which the inner backend is differentiated twice,
/// may select another route first.
macro_rules! directions {
    ($($outer:ident, $inner:ident => $route:ty;)*) => {$(
        impl<O: Twice, T: Twice> Compose<$inner<T>> for $outer<O> {
            type Route = T::Under<O, $route>;
        }
    )*};
}
directions! {
    Forward, Forward => ForwardOverGradient<Reevaluate>;
    Forward, Reverse => ForwardOverGradient<InnerTwice<T::SamePointRoute>>;
    Forward, Both => ForwardOverGradient<InnerTwice<T::SamePointRoute>>;
    Reverse, Forward => ReverseOverForward;
    Reverse, Reverse => ReverseOverGradient;
    Reverse, Both => ReverseOverForward;
    Both, Forward => ReverseOverForward;
    Both, Reverse => ForwardOverGradient<InnerTwice<T::SamePointRoute>>;
    Both, Both => ForwardOverGradient<InnerTwice<T::SamePointRoute>>;
}

/// A way to be differentiated twice, the type parameter of a mode. A way without a special route uses the given one, chosen by the
/// directions.
pub trait Twice {
    /// The route under an outer backend of the way `O`.
    type Under<O: Twice, Given>;
    /// The route over an inner backend of the way [`HyperDuals`].
    type OverHyperDual<Given>;
    /// The route over an inner backend of the way [`Adjoint`].
    type OverAdjoint<Given>;
    /// The route over an inner backend of the way [`Replayed`].
    type OverReplayed<Given>;
    /// The route over an inner backend of the way [`Differences`].
    type OverDifferences<Given>;
    /// The route of this backend paired with itself, for products at a fixed point if the backend is a reverse one.
    type SamePointRoute;
}

impl Twice for Nested {
    type Under<O: Twice, Given> = Given;
    type OverHyperDual<Given> = Given;
    type OverAdjoint<Given> = Given;
    type OverReplayed<Given> = Given;
    type OverDifferences<Given> = Given;
    type SamePointRoute = ReverseOverGradient;
}
impl Twice for HyperDuals {
    type Under<O: Twice, Given> = O::OverHyperDual<Given>;
    type OverHyperDual<Given> = HyperDualRoute;
    type OverAdjoint<Given> = SecondAdjoint;
    type OverReplayed<Given> = SecondAdjoint;
    type OverDifferences<Given> = Given;
    type SamePointRoute = ReverseOverGradient;
}
impl Twice for Adjoint {
    type Under<O: Twice, Given> = O::OverAdjoint<Given>;
    type OverHyperDual<Given> = Given;
    type OverAdjoint<Given> = SecondAdjoint;
    type OverReplayed<Given> = SecondAdjoint;
    type OverDifferences<Given> = Given;
    type SamePointRoute = SecondAdjoint;
}
impl Twice for Replayed {
    type Under<O: Twice, Given> = O::OverReplayed<Given>;
    type OverHyperDual<Given> = Given;
    type OverAdjoint<Given> = Given;
    type OverReplayed<Given> = SecondAdjoint;
    type OverDifferences<Given> = Given;
    type SamePointRoute = SecondAdjoint;
}
impl Twice for Differences {
    type Under<O: Twice, Given> = O::OverDifferences<Given>;
    type OverHyperDual<Given> = Given;
    type OverAdjoint<Given> = Given;
    type OverReplayed<Given> = Given;
    type OverDifferences<Given> = SecondDifferenceRoute;
    type SamePointRoute = ReverseOverGradient;
}
