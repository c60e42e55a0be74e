//! The number of lanes of the numbers of the dense part: few lanes for few colours.
//!
//! Used by `jacobian` and `hessian` at preparation, when the number of colours is known.

use differentiation_interface_core::backend::{Lane, Lanes};

/// The lanes for few colours. Every operation computes all lanes of a number, used or not: the
/// Hessian with three colours in `benches/sparse.rs` takes half the time with four lanes that it takes with twelve.
pub(super) type Narrow = Lane<4>;

/// Whether [`Narrow`] lanes are faster for `colors` products than the lanes `L` of the dense part.
pub(super) const fn is_narrow<L: Lanes>(colors: usize) -> bool {
    colors > 0 && colors <= Narrow::N && Narrow::N < L::N
}
