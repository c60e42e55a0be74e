//! A backend chosen at run time, from a string, a configuration file or a value.
//!
//! Reached by operators through the routes below, which call those of the chosen static backend; runs the user's
//! function on [`AnyNum`], or [`AnyPairNum`] for `hvp` and `hessian`.

mod choice;
mod differences;
mod host;
mod number;
mod routes;
mod text;
mod twice_differences;

#[cfg(feature = "serde")]
mod serde;
#[cfg(all(test, feature = "any", feature = "sparse", not(feature = "native")))]
mod tests;

pub use choice::{AnyBackend, FirstOrder, RuntimeForward};
pub use number::{AnyCore, AnyNum, AnyPairCore, AnyPairNum};
pub use routes::AnyRoute;
#[doc(hidden)]
pub use text::closest;
pub use text::{ParseBackendError, ParseBackendErrorKind};

use super::forward_diff::{ChunkSize, RuntimeChunk};
use differentiation_interface_core::backend::{Backend, Lanes, Lift};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::recordings::Recordings;
use differentiation_interface_core::scalar::{Num, Scalar};

impl Backend for AnyBackend {
    const NAME: &'static str = "any";
    type Lanes = <RuntimeChunk as ChunkSize>::Lanes;
    type Num<S: Scalar, L: Lanes> = AnyNum<S, L>;
    type Mode = AnyRoute;
    type Pushforward = AnyRoute;
    type Pullback = AnyRoute;
    type Derivative = AnyRoute;
    type Gradient = AnyRoute;
    type Jacobian = AnyRoute;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn inject<S: Scalar, L: Lanes>(value: S) -> AnyNum<S, L> {
        Num(AnyCore::inert(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn project<S: Scalar, L: Lanes>(number: &AnyNum<S, L>) -> S {
        number.0.value()
    }

    fn is_exact(&self) -> bool {
        match self {
            AnyBackend::FirstOrder(choice) => choice.is_exact(),
            AnyBackend::SecondOrder(outer, inner) => outer.is_exact() && inner.is_exact(),
        }
    }
    fn recordings(&self) -> Option<Recordings<Self>> {
        let keeps = |choice: &FirstOrder| matches!(choice, FirstOrder::CompiledReverseDiff(_));
        let held = |choice: &FirstOrder| match choice {
            FirstOrder::CompiledReverseDiff(backend) => {
                backend.recordings().and_then(|kept| kept.held_to_one_branch).map(FirstOrder::CompiledReverseDiff)
            }
            _ => None,
        };
        let (keeps, held_to_one_branch) = match self {
            AnyBackend::FirstOrder(choice) => (keeps(choice), held(choice).map(AnyBackend::FirstOrder)),
            AnyBackend::SecondOrder(outer, inner) => {
                let held = match (held(outer), held(inner)) {
                    (None, None) => None,
                    (o, i) => Some(AnyBackend::SecondOrder(o.unwrap_or(*outer), i.unwrap_or(*inner))),
                };
                (keeps(outer) || keeps(inner), held)
            }
        };
        keeps.then_some(Recordings { held_to_one_branch })
    }
    fn steady(&self) -> Self {
        match self {
            AnyBackend::FirstOrder(choice) => AnyBackend::FirstOrder(choice.steady()),
            AnyBackend::SecondOrder(outer, inner) => AnyBackend::SecondOrder(outer.steady(), inner.steady()),
        }
    }
    fn for_nested_differences(&self) -> Self {
        let nested = |choice: &FirstOrder| match choice {
            FirstOrder::FiniteDiff(backend) => FirstOrder::FiniteDiff(backend.for_nested_differences()),
            other => *other,
        };
        match self {
            AnyBackend::FirstOrder(choice) => AnyBackend::FirstOrder(nested(choice)),
            AnyBackend::SecondOrder(outer, inner) => AnyBackend::SecondOrder(nested(outer), nested(inner)),
        }
    }
    fn nth_from_values<S: Scalar>(
        &self,
        order: usize,
        f: &mut dyn FnMut(S, &mut Vec<S>),
        x: S,
        y: &mut Vec<S>,
    ) -> Option<Result<(), Error>> {
        match self {
            AnyBackend::FirstOrder(FirstOrder::FiniteDifferences(backend)) => backend.nth_from_values(order, f, x, y),
            _ => None,
        }
    }
    fn outer_and_inner(&self) -> (Self, Self) {
        match *self {
            AnyBackend::FirstOrder(_) => (*self, *self),
            AnyBackend::SecondOrder(outer, inner) => (AnyBackend::FirstOrder(outer), AnyBackend::FirstOrder(inner)),
        }
    }
}

impl<S: Scalar, L: Lanes> Lift<S, AnyNum<S, L>> for AnyBackend {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> AnyNum<S, L> {
        Num(AnyCore::inert(value))
    }
}
