//! Points, outputs, seeds and results that are containers: structs, tuples, vectors and matrices of other crates.

use differentiation_interface_test::CountingAllocator;

/// Runs a block with each of the engines that differentiate exactly.
macro_rules! every_engine {
    ($backend:ident => $body:block) => {{
        {
            let $backend = AutoForwardDiff::default();
            $body
        }
        {
            let $backend = AutoReverseDiff::default();
            $body
        }
        {
            let $backend = AutoReverseDiff::compiled();
            $body
        }
    }};
}

mod boxes_and_maps;
#[cfg(feature = "num-complex")]
mod complex;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod costs;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod dense;
mod fallible;
mod masks;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer"))]
mod matrices;
mod outputs;
mod own_memory;
mod recordings;
mod shapes;
#[cfg(all(feature = "nalgebra", feature = "ndarray", feature = "faer", feature = "num-complex"))]
mod single_precision;
mod structs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
