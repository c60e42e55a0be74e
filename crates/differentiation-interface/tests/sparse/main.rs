//! `AutoSparse`: matrices, entries without products, patterns of recordings, costs.
//!
//! One binary, so that the engines are compiled and linked once for all of these files.

mod constants;
mod costs;
mod entries;
mod filled_again;
mod matrices;
mod outputs;
mod patterns;
mod recorded;
mod reports;
mod shapes;

use differentiation_interface_test::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
