//! Scenarios, checks and benchmarks for backends of `differentiation-interface`.

mod allocation;
mod benchmark;
mod candidate;
mod check;
mod counted;
mod driver;
pub mod families;
mod list;
mod operator;
mod outcome;
mod pick;
mod point;
#[cfg(feature = "report")]
pub mod report;
mod scenario;
pub mod table;

pub use allocation::*;
pub use benchmark::{BenchmarkOptions, Progress, benchmark_differentiation};
pub use candidate::*;
pub use check::{Options, test_differentiation};
pub use counted::Counted;
pub use driver::{At, Call, Driver, Facts, Results, Run, Spoiled, Task, Variant};
pub use list::{Backends, Scenarios};
pub use operator::*;
pub use outcome::*;
pub use pick::{Pick, pick_fastest};
pub use point::*;
pub use scenario::*;
