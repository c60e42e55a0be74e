//! Modes: the native primitives of a backend and its way to be differentiated twice, as types.
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
/// [`Adjoint`], [`Replayed`] or [`Differences`].
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

/// Second order by nesting: the numbers of the backend run over those of another backend, or over its own.
#[derive(Clone, Copy, Debug)]
pub struct Nested;
/// Paired with itself, the backend has a number for two differentiations at once: it is a
/// [`HyperDualPrimitive`](super::HyperDualPrimitive). Paired with others it nests.
#[derive(Clone, Copy, Debug)]
pub struct HyperDuals;
/// Paired with itself, the backend computes products with a Hessian from one recording: it is a
/// [`SecondAdjointPrimitive`](super::SecondAdjointPrimitive). The same recording serves it as the inner backend of a [`HyperDuals`] one, whose
/// tangents it propagates. Paired with others it nests.
#[derive(Clone, Copy, Debug)]
pub struct Adjoint;
/// As [`Adjoint`], by compiled programs. Its recording also serves it as the inner backend of an [`Adjoint`] one, since its programs are
/// faster than what differentiates them.
#[derive(Clone, Copy, Debug)]
pub struct Replayed;

/// Paired with itself, the backend has formulas for second derivatives: it is a
/// [`SecondDifferencePrimitive`](super::SecondDifferencePrimitive). Paired with others it nests.
#[derive(Clone, Copy, Debug)]
pub struct Differences;

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
