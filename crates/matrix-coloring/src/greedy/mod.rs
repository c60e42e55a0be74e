//! Greedy colouring: visits the vertices in an order and gives each the smallest colour that keeps the colouring valid.
//!
//! [`GreedyColoring`] is the algorithm users pass to [`coloring`](crate::coloring). It computes orders (`order`), runs the
//! algorithm of the problem (`distance2`, `star`, `acyclic`), and keeps the result with the fewest colours.

mod acyclic;
mod distance2;
mod one_order;
mod options;
mod portfolio;
mod rules;
mod star;

#[cfg(test)]
mod tests;

pub(crate) use acyclic::Sets;
pub(crate) use one_order::distance2;
pub use options::{GreedyColoring, Palette};
