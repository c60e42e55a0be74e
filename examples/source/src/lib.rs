//! Models whose derivatives are emitted as source code, and the files with that code.
//!
//! `cargo run -p derivative-source-examples` writes the files; the test `generated` fails if one of them is stale.

use derivative_source::{Error, Files, Operator, Recording, Source};
use differentiation_interface::prelude::*;

/// Derivatives of [`energy`] and [`links`] for the example `chain`.
pub mod generated {
    /// Emitted: the energy, the links, and the Hessian of the Lagrangian.
    pub mod chain;
}

/// Number of links of the chain.
pub const LINKS: usize = 10;
/// Length of a link.
pub const LENGTH: f64 = 0.15;

/// A pole on a cart that a force pushes: time derivatives of position, angle, velocity and angular velocity. The last entry of `x`
/// is the force. The cart weighs 1, the pole 0.1 at a distance of 0.5 (Florian, Correct equations for the dynamics of the
/// cart-pole system, 2007, without friction).
pub fn cart_pole<T: Real>(x: &[T; 5]) -> [T; 4] {
    const GRAVITY: f64 = 9.81;
    let [_, angle, velocity, rate, force] = *x;
    let (sin, cos) = (angle.sin(), angle.cos());
    let push = (force + 0.05 * rate * rate * sin) / 1.1;
    let turn = (GRAVITY * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 / 1.1 * cos * cos));
    [velocity, rate, push - 0.05 / 1.1 * turn * cos, turn]
}

/// The nodes of a chain that hangs between (0, 0) and (1, 0); `x` has the inner ones.
fn nodes<T: Real>(x: &[T]) -> Vec<[T; 2]> {
    let mut nodes = vec![[T::constant(0.0), T::constant(0.0)]];
    nodes.extend(x.chunks(2).map(|node| [node[0], node[1]]));
    nodes.push([T::constant(1.0), T::constant(0.0)]);
    nodes
}

/// Potential energy of the chain: that of the middles of its links.
pub fn energy<T: Real>(x: &[T]) -> T {
    nodes(x).windows(2).map(|w| 0.5 * (w[0][1] + w[1][1])).sum()
}

/// Squared length of each link, less what it has to be.
pub fn links<T: Real>(x: &[T]) -> Vec<T> {
    let square = |v: T| v * v;
    let link = |w: &[[T; 2]]| square(w[1][0] - w[0][0]) + square(w[1][1] - w[0][1]) - LENGTH * LENGTH;
    nodes(x).windows(2).map(link).collect()
}

/// Energy and links weighted by multipliers.
pub fn lagrangian<T: Real>(x: &[T], multipliers: &[T]) -> T {
    links(x).into_iter().zip(multipliers).fold(energy(x), |sum, (link, multiplier)| sum + *multiplier * link)
}

/// The files with emitted code.
///
/// # Errors
/// Those of [`Source`].
pub fn files() -> Result<Files, Error> {
    let cart_pole = Recording::new("cart_pole", &|x: &[_; 5]| cart_pole(x), &[0.0, 0.1, 0.0, 0.0, 1.0])?;
    let controller = Source::new().with(&cart_pole, Operator::JACOBIAN.and_value())?;

    let point = [0.1; 2 * (LINKS - 1)];
    let ones = vec![1.0; LINKS];
    let energy = Recording::new("energy", &|x: &[_]| energy(x), &&point)?;
    let links = Recording::new("links", &|x: &[_]| links(x), &&point)?;
    let f = |x: &[_], multipliers: &Vec<_>| lagrangian(x, multipliers);
    let lagrangian = Recording::new("lagrangian", &f, &(&point, Parameter(&ones)))?.with_parameters("multipliers")?;
    let chain = Source::new()
        .with(&energy, Operator::GRADIENT.and_value())?
        .with(&links, Operator::SPARSE_JACOBIAN.and_value())?
        .with(&lagrangian, Operator::SPARSE_HESSIAN)?;

    Files::new(env!("CARGO_MANIFEST_DIR"), "cargo run -p derivative-source-examples")
        .rust("../controller/src/cart_pole.rs", &controller)?
        .c("c/cart_pole.c", &controller)?
        .rust("src/generated/chain.rs", &chain)
}
