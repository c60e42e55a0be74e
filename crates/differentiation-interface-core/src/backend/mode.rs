//! What a backend does natively, as a type.

/// Forward, reverse, or both. The table of second-order modes is made from it.
pub trait Mode {
    /// Name in tables.
    const NAME: &'static str;
}

/// The backend has a native pushforward.
#[derive(Clone, Copy, Debug)]
pub struct Forward;
/// The backend has a native pushforward, and a number for two differentiations at once: it is a
/// [`HyperDualPrimitive`](super::HyperDualPrimitive). Everywhere else it counts as [`Forward`], and bears its name.
#[derive(Clone, Copy, Debug)]
pub struct ForwardTwice;
/// The backend has a native pullback.
#[derive(Clone, Copy, Debug)]
pub struct Reverse;
/// The backend has a native pullback, and products with a Hessian from one recording: it is a
/// [`SecondAdjointPrimitive`](super::SecondAdjointPrimitive). Everywhere else it counts as [`Reverse`], and bears its name.
#[derive(Clone, Copy, Debug)]
pub struct ReverseTwice;
/// The backend has both primitives.
#[derive(Clone, Copy, Debug)]
pub struct Both;
/// The backend has both primitives, and products with a Hessian from one recording: it is a
/// [`SecondAdjointPrimitive`](super::SecondAdjointPrimitive). Everywhere else it counts as [`Both`], and bears its name.
#[derive(Clone, Copy, Debug)]
pub struct BothTwice;

impl Mode for Forward {
    const NAME: &'static str = "forward";
}
impl Mode for ForwardTwice {
    const NAME: &'static str = Forward::NAME;
}
impl Mode for Reverse {
    const NAME: &'static str = "reverse";
}
impl Mode for ReverseTwice {
    const NAME: &'static str = Reverse::NAME;
}
impl Mode for Both {
    const NAME: &'static str = "both";
}
impl Mode for BothTwice {
    const NAME: &'static str = Both::NAME;
}
