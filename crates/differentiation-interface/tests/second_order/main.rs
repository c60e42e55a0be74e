//! Operators of second order, and rules of one's own, which are differentiated twice.
//!
//! One binary, so that the pairs of engines are compiled and linked once for all of these files.

mod cases;
mod costs;
mod custom_rule_attribute;
mod custom_rules;
mod differentiate_with;
mod extrapolated_pairs;
mod nested_cases;
mod nesting;
mod one_variable;
mod operators;
#[path = "../pairs/mod.rs"]
mod pairs;
mod powers;
mod singular;
mod stopped;
#[path = "../support/mod.rs"]
mod support;
mod values;
mod varying_outputs;

use differentiation_interface_test::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
