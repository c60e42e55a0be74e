//! Points, outputs, seeds and results that are containers: structs, tuples, vectors and matrices of other crates.

#[cfg(feature = "num-complex")]
mod complex;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod matrices;
mod structs;
