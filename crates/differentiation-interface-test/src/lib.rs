//! Scenarios, checks and benchmarks for backends of `differentiation-interface`.
//!
//! - A [`Scenario`] is an operator, a function, a point and the expected results; [`families`] has several hundred, with answers
//!   worked out by hand.
//! - [`test_differentiation`] runs scenarios with backends in all variants and performs every [`Check`]; for `#[test]`.
//! - [`benchmark_differentiation`] times them; [`pick_fastest`] chooses a backend for one function.
//!
//! Backends are lists of [`Candidate`]s: plain backends themselves, others wrapped by the operators they support ([`second_order_only`],
//! [`jacobian_only`], [`hessian_only`], [`matrices_only`]). The chapter
//! [Comparing backends](https://github.com/differentiation-interface/differentiation-interface/blob/main/docs/book/src/compare_backends.md)
//! of the book starts from an empty crate.
//!
//! Inside, [`Run`] makes a [`Driver`] for each pair of a scenario and a backend, which hides all types; checks and measurements
//! are [`Task`]s on drivers, written once.

mod allocation;
mod arguments;
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
mod survey;
pub mod table;
mod trusted;
mod wrappers;

pub use allocation::{CountingAllocator, allocated_bytes, allocations, counts_allocations};
#[cfg(feature = "num-complex")]
pub use arguments::OwnedComplex;
pub use arguments::{OwnedMasked, OwnedPoints, OwnedView};
pub use benchmark::{BenchmarkOptions, Progress, benchmark_differentiation};
pub use candidate::Candidate;
pub use check::{Options, test_differentiation};
pub use counted::Counted;
pub use driver::{At, Call, Driver, Facts, Results, Run, Task, Variant, WrongLength};
pub use list::{Backends, Scenarios};
pub use operator::{
    Derivative, Gradient, Hessian, Hvp, Jacobian, OPERATORS, Operator, Pullback, Pushforward, SecondDerivative,
};
pub use outcome::{Check, Count, Finding, Outcome};
pub use pick::{Pick, pick_fastest};
pub use point::{
    NumberOf, OwnedCache, OwnedConstant, OwnedConstantNumbers, OwnedConstantOrCache, OwnedContainer, OwnedContext,
    OwnedParameter, OwnedPoint,
};
pub use scenario::{Expected, Place, Scenario};
pub use survey::{Cell, Survey, Verdict, survey};
pub use wrappers::{
    AllOperators, ArraysOnly, FirstOrderOnly, HessianOnly, JacobianOnly, MatricesOnly, Named, SecondOrderOnly,
    WithTolerance, all_operators, arrays_only, first_order_only, hessian_only, jacobian_only, matrices_only, named,
    second_order_only, with_tolerance,
};
