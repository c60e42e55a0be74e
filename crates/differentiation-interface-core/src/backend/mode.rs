//! What a backend does natively, and how it is differentiated twice, as types.
//!
//! Named by backends as their `type Mode`; read by the tables of [`Compose`](super::Compose).

use std::marker::PhantomData;

/// The primitives that a backend has natively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Pushforwards.
    Forward,
    /// Pullbacks.
    Reverse,
    /// Pushforwards and pullbacks.
    Both,
}

/// A direction and a way to be differentiated twice: [`Forward`], [`Reverse`] or [`Both`], of [`Nested`], [`HyperDuals`],
/// [`Adjoint`] or [`Replayed`].
pub trait Mode {
    /// Name in tables, which is that of the direction.
    const NAME: &'static str;
    /// The native primitives.
    const DIRECTION: Direction;
}

/// The backend has a native pushforward.
#[derive(Clone, Copy, Debug)]
pub struct Forward<T = Nested>(PhantomData<T>);
/// The backend has a native pullback.
#[derive(Clone, Copy, Debug)]
pub struct Reverse<T = Nested>(PhantomData<T>);
/// The backend has both primitives.
#[derive(Clone, Copy, Debug)]
pub struct Both<T = Nested>(PhantomData<T>);

/// Twice by nesting: the backend runs on the numbers of another one, or of itself.
#[derive(Clone, Copy, Debug)]
pub struct Nested;
/// Beside itself the backend has a number for two differentiations at once: it is a
/// [`HyperDualPrimitive`](super::HyperDualPrimitive). Beside others it nests.
#[derive(Clone, Copy, Debug)]
pub struct HyperDuals;
/// Beside itself the backend has products with a Hessian from one recording: it is a
/// [`SecondAdjointPrimitive`](super::SecondAdjointPrimitive). Beside others it nests.
#[derive(Clone, Copy, Debug)]
pub struct Adjoint;
/// The same by compiled programs, which are faster than whatever differentiates them: inside of a [`HyperDuals`] or [`Adjoint`]
/// backend, too, the recording makes the products alone.
#[derive(Clone, Copy, Debug)]
pub struct Replayed;

impl<T> Mode for Forward<T> {
    const NAME: &'static str = "forward";
    const DIRECTION: Direction = Direction::Forward;
}
impl<T> Mode for Reverse<T> {
    const NAME: &'static str = "reverse";
    const DIRECTION: Direction = Direction::Reverse;
}
impl<T> Mode for Both<T> {
    const NAME: &'static str = "both";
    const DIRECTION: Direction = Direction::Both;
}
