//! Scenarios, checks, benchmarks and reports for `differentiation-interface`.

#[cfg(feature = "report")]
pub mod report;
pub mod table;
