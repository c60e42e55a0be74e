//! Scenarios, checks, benchmarks and reports for `differentiation-interface`.

pub mod table;
