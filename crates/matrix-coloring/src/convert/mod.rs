//! Patterns from the matrices of other crates, and from files.
//!
//! Each file belongs to one feature. Explicitly stored zeros count as entries.

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "matrix-market")]
pub mod market;
#[cfg(feature = "sprs")]
mod sprs;
