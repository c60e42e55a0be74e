//! The rules of symmetric matrices: eigenvalues, with vectors, and functions of a matrix.
//!
//! Called by [`decomposition`](super::decomposition) on matrices of `nalgebra` and by [`dense`](super::dense) on those of `faer`, which decompose the plain values.

mod blocks;
pub(super) mod columns;
mod eigen;
mod function;

pub(super) use blocks::Decomposer;
#[cfg(feature = "nalgebra")]
pub(super) use eigen::are_distinct;
pub(super) use eigen::{Eigen, Eigenvalues};
pub(super) use function::SymmetricFunction;
