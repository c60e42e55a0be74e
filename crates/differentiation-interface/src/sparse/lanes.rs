//! How many lanes the numbers of the dense part carry: few where the colours are few.
//!
//! Used by `jacobian` and `hessian` at preparation, when the number of colours is known.

use differentiation_interface_core::backend::{Lane, Lanes};

/// The lanes for few colours. A number of the dense part carries all its lanes through every operation, used or not: the
/// Hessian with three colours in `benches/sparse.rs` takes half the time with four lanes that it takes with twelve.
pub(super) type Narrow = Lane<4>;

/// Whether numbers with [`Narrow`] lanes serve `colors` products better than those with the lanes `L` of the dense part.
pub(super) const fn is_narrow<L: Lanes>(colors: usize) -> bool {
    colors > 0 && colors <= Narrow::N && Narrow::N < L::N
}
