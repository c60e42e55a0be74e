#![doc = include_str!("../README.md")]

pub mod backends;
pub mod sparse;

/// Pages beside the reference, compiled and run as tests.
pub mod pages {
    #[doc = include_str!("../docs/new_backend.md")]
    pub mod new_backend {}
    #[doc = include_str!("../docs/design.md")]
    pub mod design {}
}

pub use differentiation_interface_core::*;
pub use differentiation_interface_macros::{custom_rule, differentiable, differentiable_fn};

/// Everything a program that differentiates needs.
pub mod prelude {
    pub use crate::backends::{AnyBackend, AutoFiniteDiff, AutoForwardDiff, AutoReverseDiff};
    pub use crate::sparse::{AutoSparse, MixedMode, SparseMatrix};
    pub use differentiation_interface_core::backend::{Backend, SecondOrder, lift};
    pub use differentiation_interface_core::context::{Cache, Constant, ConstantOrCache, Parameter};
    pub use differentiation_interface_core::custom::{Custom, CustomRule, Halves, PlainRule};
    pub use differentiation_interface_core::differentiate_with::DifferentiateWith;
    pub use differentiation_interface_core::error::{Error, ErrorKind};
    pub use differentiation_interface_core::matrix::Matrix;
    pub use differentiation_interface_core::operators::*;
    pub use differentiation_interface_core::{Function, FunctionInPlace, FunctionWith, Real, Scalar, in_place};
    pub use differentiation_interface_macros::{custom_rule, differentiable, differentiable_fn};
}
