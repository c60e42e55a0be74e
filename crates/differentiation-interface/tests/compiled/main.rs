//! What depends on features: compiled recordings, and the cases of the counterpart with every backend. `.ci/features` runs these with machine
//! code too.

mod behaviour;
mod cases;
mod constants;
mod nested_parameters;
mod one_run;
mod own_guards;
#[path = "../support/mod.rs"]
mod support;

use differentiation_interface_test::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
