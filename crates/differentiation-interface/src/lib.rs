#![cfg_attr(
    all(feature = "any", feature = "compiled", feature = "macros", feature = "sparse"),
    doc = include_str!("../README.md")
)]
#![cfg_attr(
    not(all(feature = "any", feature = "compiled", feature = "macros", feature = "sparse")),
    doc = "A common interface for automatic differentiation: operators × backends × preparation."
)]

pub mod backends;
#[cfg(feature = "sparse")]
pub mod sparse;

/// Pages beside the reference, compiled and run as tests.
#[cfg(all(feature = "any", feature = "macros", feature = "sparse"))]
pub mod pages {
    #[doc = include_str!("../docs/new_backend.md")]
    pub mod new_backend {}
    #[doc = include_str!("../docs/design.md")]
    pub mod design {}
}

pub use differentiation_interface_core::*;
#[cfg(feature = "macros")]
pub use differentiation_interface_macros::{custom_rule, differentiable, differentiable_fn};

/// Everything a program that differentiates needs.
pub mod prelude {
    #[cfg(feature = "any")]
    pub use crate::backends::AnyBackend;
    #[cfg(feature = "compiled")]
    pub use crate::backends::AutoCompiledReverseDiff;
    pub use crate::backends::{AutoFiniteDiff, AutoForwardDiff, AutoReverseDiff};
    #[cfg(feature = "sparse")]
    pub use crate::sparse::{AutoSparse, MixedMode, SparseMatrix};
    pub use differentiation_interface_core::backend::{Backend, SecondOrder, lift};
    pub use differentiation_interface_core::context::{Cache, Constant, ConstantOrCache, Parameter};
    pub use differentiation_interface_core::custom::{Custom, CustomRule, Halves, PlainRule};
    pub use differentiation_interface_core::differentiate_with::DifferentiateWith;
    pub use differentiation_interface_core::error::{Error, ErrorKind};
    pub use differentiation_interface_core::matrix::Matrix;
    pub use differentiation_interface_core::operators::*;
    pub use differentiation_interface_core::{Function, FunctionInPlace, FunctionWith, Real, Scalar, in_place};
    #[cfg(feature = "macros")]
    pub use differentiation_interface_macros::{custom_rule, differentiable, differentiable_fn};
}
