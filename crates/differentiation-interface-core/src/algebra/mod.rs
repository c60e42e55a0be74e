//! Linear algebra of other crates on our numbers: each feature makes [`Num`](crate::Num) a number of one crate.
//!
//! - `nalgebra`: `Num` is a `RealField`, so vectors, matrices, rotations and decompositions of `nalgebra` run on it. [`rotation`] and
//!   [`decomposition`] replace functions of `nalgebra` that have wrong derivatives at special points.
//! - `ndarray`: `Num` is a `ScalarOperand`; `LinalgScalar` follows.
//! - `faer`: `Num` is a `RealField` of `faer`, for its dense products, factorisations and decompositions. [`dense`] has products, eigenvalues,
//!   solutions and determinants that enter a derivative as one rule, [`implicit`] the solutions of equations.
//! - `faer-sparse`: [`sparse`] has solutions of sparse systems as one rule.
//! - `num-complex`: [`complex`] has roots, powers and inverse functions in place of methods that have wrong derivatives on the axes.
//!
//! User code calls the other crates, which call these implementations; every method is a rule of [`rules`](crate::rules) or a
//! comparison of [`Core`](crate::Core), so that engines see what they see of arithmetic on plain functions.

#[cfg(feature = "nalgebra")]
mod angles;
#[cfg(feature = "num-complex")]
pub mod complex;
#[cfg(feature = "nalgebra")]
mod decomposed;
#[cfg(feature = "nalgebra")]
pub mod decomposition;
#[cfg(feature = "faer")]
pub mod dense;
#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "faer")]
pub mod implicit;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "nalgebra")]
pub mod rotation;
#[cfg(feature = "faer-sparse")]
pub mod sparse;
#[cfg(feature = "nalgebra")]
mod square;
#[cfg(any(feature = "nalgebra", feature = "faer"))]
mod symmetric;
#[cfg(feature = "faer")]
mod vector_state;
#[cfg(feature = "nalgebra")]
mod vectors;
#[cfg(feature = "ndarray")]
pub use ndarray::NdarrayReal;
#[cfg(feature = "nalgebra")]
pub use {decomposed::LuOfReal, square::MatrixOfReal, vectors::NalgebraReal};
