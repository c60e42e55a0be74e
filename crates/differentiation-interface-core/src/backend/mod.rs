//! What a backend is: a number type, one primitive, and a list of routes.
//!
//! Called by operators. A backend implements [`PushforwardPrimitive`] or [`PullbackPrimitive`] (or both) on flat slices
//! and names, operator by operator, the route, [`Native`] or assembled, from the operator to its primitive. Everything else is assembled.

mod entries;
mod lanes;
mod mode;
mod primitive;
mod route;
mod rows;
mod seeds;

pub use crate::second_order::{
    Again, AtPoint, ByInner, Compose, ForwardOverGradient, HvpRoute, HvpState, HyperDualPrimitive, HyperDualRoute,
    ReverseOverForward, ReverseOverGradient, Routed, SecondAdjoint, SecondAdjointPrimitive, SecondAdjointState,
    SecondOrder, SecondOrderBackend, Twice, ValueAndGradient, Want,
};
pub use entries::Entries;
pub use lanes::{Lane, Lanes};
pub use mode::{Adjoint, Both, Direction, Forward, HyperDuals, Mode, Nested, Replayed, Reverse};
pub use primitive::{PullbackPrimitive, PushforwardPrimitive};
pub use route::{MatrixRoute, Native, PullbackRoute, PushforwardRoute, ViaPullback, ViaPushforward};
pub use rows::Rows;
pub use seeds::Seeds;

use crate::scalar::Scalar;

/// A way to differentiate.
///
/// # For users
/// Pass one to an operator; changing it is one line. A generic function over backends needs one bound beside `B: Backend`:
/// that the function can be evaluated at [`Num`](Backend::Num).
///
/// # For backend authors
/// 1. `Num<S, L>` is the number type the user's function runs on, over any scalar `S`, with `L` lanes of tangents if the
///    backend has lanes (else `L` is ignored). Nesting `Num<Num<S>>` must work: derive nothing from `S` being `f64`.
/// 2. The six routes say how each operator is reached. [`Native`] asks for the primitive of the same name;
///    [`ViaPushforward`] and [`ViaPullback`] are assembled. The compiler checks that the primitive exists.
/// 3. A backend is plain data: what a call needs lives in the state that the primitive makes.
///
/// The page `docs/new_backend.md` builds one from nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a first-order backend",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only"
)]
pub trait Backend: Clone + Send + Sync + 'static {
    /// Name in errors, features and tables.
    const NAME: &'static str;
    /// The number of tangents carried at once where the operator leaves the choice to the backend.
    type Lanes: Lanes;
    /// What the function runs on.
    type Num<S: Scalar, L: Lanes>: Scalar<Base = S::Base>;
    /// What the backend does natively, which decides the mode of second-order combinations.
    type Mode: Mode;

    /// Route of `pushforward`.
    type Pushforward: PushforwardRoute<Self>;
    /// Route of `pullback`.
    type Pullback: PullbackRoute<Self>;
    /// Route of `derivative`.
    type Derivative: MatrixRoute<Self>;
    /// Route of `gradient`.
    type Gradient: MatrixRoute<Self>;
    /// Route of `jacobian`.
    type Jacobian: MatrixRoute<Self>;

    /// The number `value`, of the scalar below, as a constant of this backend's number type. Users call [`lift`].
    fn raise<S: Scalar, L: Lanes>(value: S) -> Self::Num<S, L>;

    /// The value of a number of this backend, of the scalar below. The derivative by this backend is dropped, derivatives of
    /// the scalar below stay.
    fn lower<S: Scalar, L: Lanes>(number: &Self::Num<S, L>) -> S;

    /// Whether derivatives are exact up to rounding. Differences are not.
    const EXACT: bool = true;

    /// The same for this value of the backend, where that depends on what was chosen at run time.
    fn is_exact(&self) -> bool {
        Self::EXACT
    }

    /// Whether states keep what the function did for later calls, so that preparing again begins with a new state. Others keep
    /// their memory.
    fn keeps_recordings(&self) -> bool {
        false
    }

    /// The backend that reports a point at which the function takes another branch than at the first point of a state, as an error of kind
    /// [`ErrorKind::OtherBranch`](crate::error::ErrorKind::OtherBranch). `None` if it cannot see that, or reports it anyway.
    fn held_to_one_branch(&self) -> Option<Self> {
        None
    }

    /// The backends that differentiate outside and inside in second order: itself twice, unless it holds two.
    fn outer_and_inner(&self) -> (Self, Self) {
        (self.clone(), self.clone())
    }

    /// The backend for differentiating its own derivatives or those of another inexact backend: differences of differences
    /// need wider steps.
    fn for_nested_differences(&self) -> Self {
        self.clone()
    }
}

/// Takes a number of an outer differentiation into an inner one by `backend`, where it is a constant.
///
/// Nested differentiations have different number types, so that their derivatives cannot be confused; an outer number
/// enters the inner function through this function, and the inner point is a number of the outer type. The inner function of
/// a [`SecondOrder`] takes it as `lift(&SecondOrder(outer, inner), value)`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn product<T: Real>(x: T, y: T) -> T {
///     x * y
/// }
/// // x · d/dy (x·y) at y = 2, which is x².
/// fn outer<T: Real>(x: T) -> T {
///     let backend = AutoForwardDiff::default();
///     x * derivative(&|y| product(lift(&backend, x), y), &backend, &T::constant(2.0)).unwrap()
/// }
/// assert_eq!(derivative(&outer, &AutoForwardDiff::default(), 3.0)?, 6.0);
/// assert_eq!(derivative(&outer, &AutoReverseDiff::default(), 3.0)?, 6.0);
/// # Ok::<(), Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn lift<B: Lift<S, N>, S: Scalar, N>(_backend: &B, value: S) -> N {
    B::lift(value)
}

/// A backend whose number type over the scalar `S` is `N`, and how it takes numbers `S` in as constants; see [`lift`].
///
/// Apart from [`Backend`] so that the compiler finds `N` from the backend where `N` does not name the lanes. Every backend
/// implements it once, for all `S` and lanes; one whose numbers hold plain constants only, for `f64` and `f32` alone.
#[diagnostic::on_unimplemented(
    message = "a number `{S}` cannot be lifted to `{N}` with `{Self}`",
    note = "`lift(&backend, value)` takes a number of the outer differentiation to the number type of `backend` over it"
)]
pub trait Lift<S, N> {
    /// The number `value` as a constant of the backend's number type.
    fn lift(value: S) -> N;
}

/// An inner backend whose number type over the scalar `S` is `N` where the outer backend is `O`; see [`lift`].
///
/// Numbers of a pair whose engines nest can also be lifted through one backend after the other.
#[diagnostic::on_unimplemented(
    message = "a number `{S}` cannot be lifted to `{N}` with `SecondOrder` of `{O}` and `{Self}`",
    note = "two backends whose numbers nest take it one after the other, `lift(&inner, lift(&outer, value))`"
)]
pub trait LiftPair<O, S, N>: Backend {
    /// The number `value` as a constant of the pair's number type.
    fn lift_pair(value: S) -> N;
}

impl<O: Backend, I: LiftPair<O, S, N>, S: Scalar, N> Lift<S, N> for SecondOrder<O, I> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift(value: S) -> N {
        I::lift_pair(value)
    }
}
