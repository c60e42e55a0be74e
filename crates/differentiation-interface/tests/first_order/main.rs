//! Operators of first order and everything that they share: points, contexts, preparations, errors, rules, costs.
//!
//! One binary, so that the engines are compiled and linked once for all of these files.

mod accuracy;
mod complex_cases;
mod contexts;
mod conventions;
mod costs;
mod errors;
mod extremes;
mod fallbacks;
mod foreign_numbers;
mod kinks;
#[path = "../pairs/mod.rs"]
mod pairs;
mod preparations;
#[path = "../programs/mod.rs"]
mod programs;
mod property;
mod random_functions;
mod rules;
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod support_table;
mod tests_of_numbers;
mod threads;
mod values_that_leave;
mod where_engines_differ;

use differentiation_interface_test::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
