//! Patterns from the matrices of other crates, and from files.
//!
//! Each file belongs to one feature. Explicit zeros count as entries: what is stored is structural.

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "matrix-market")]
pub mod market;
#[cfg(feature = "sprs")]
mod sprs;
