//! Points, outputs, seeds and results that are containers: structs, tuples, vectors and matrices of other crates.

use differentiation_interface_test::CountingAllocator;

mod boxes_and_maps;
#[cfg(feature = "num-complex")]
mod complex;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod costs;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod dense;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod matrices;
mod recordings;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer", feature = "num-complex"))]
mod scenarios;
mod shapes;
mod structs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
