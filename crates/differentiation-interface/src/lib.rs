#![cfg_attr(
    all(feature = "any", feature = "compiled", feature = "macros", feature = "sparse"),
    doc = include_str!("../README.md")
)]
#![cfg_attr(
    not(all(feature = "any", feature = "compiled", feature = "macros", feature = "sparse")),
    doc = "A common interface for automatic differentiation: operators × backends × preparation."
)]

pub mod backends;
pub mod checkpoints;
#[cfg(feature = "sparse")]
pub mod sparse;

/// The chapters of the book, whose code runs as tests of this crate. `.ci/book` reports chapters with code that are missing here.
#[cfg(all(doctest, feature = "any", feature = "macros", feature = "sparse", feature = "taylor"))]
mod book {
    #[doc = include_str!("../book/start.md")]
    mod start {}
    #[doc = include_str!("../book/functions.md")]
    mod functions {}
    #[doc = include_str!("../book/your_types.md")]
    mod your_types {}
    #[cfg(feature = "num-complex")]
    #[doc = include_str!("../book/complex.md")]
    mod complex {}
    #[doc = include_str!("../book/operators.md")]
    mod operators {}
    #[doc = include_str!("../book/preparation.md")]
    mod preparation {}
    #[doc = include_str!("../book/backends.md")]
    mod backends {}
    #[doc = include_str!("../book/sparsity.md")]
    mod sparsity {}
    #[doc = include_str!("../book/second_order.md")]
    mod second_order {}
    #[doc = include_str!("../book/taylor.md")]
    mod taylor {}
    #[cfg(all(feature = "faer", feature = "nalgebra", feature = "ndarray"))]
    #[doc = include_str!("../book/linear_algebra.md")]
    mod linear_algebra {}
    #[doc = include_str!("../book/custom_rules.md")]
    mod custom_rules {}
    #[cfg(feature = "faer")]
    #[doc = include_str!("../book/matrix_rules.md")]
    mod matrix_rules {}
    #[doc = include_str!("../book/checkpoints.md")]
    mod checkpoints {}
    #[doc = include_str!("../book/performance.md")]
    mod performance {}
    #[doc = include_str!("../book/compare_backends.md")]
    mod compare_backends {}
    #[doc = include_str!("../book/new_backend.md")]
    mod new_backend {}
}

// The core under the facade's name: the traits and types of every function, and a module for each purpose.
#[cfg(any(feature = "faer", feature = "nalgebra", feature = "ndarray", feature = "num-complex"))]
pub use differentiation_interface_core::algebra;
pub use differentiation_interface_core::{
    Base, Condition, Const, ContextType, ContextTypes, Core, DerivativeMatrix, Function, FunctionInPlace,
    FunctionInPlaceWith, FunctionWith, InPlace, Num, Pointer, Real, Relation, Scalar, Work, in_place,
};
pub use differentiation_interface_core::{
    backend, container, context, custom, differentiate_with, error, evaluate, fault, foreign, function, identity,
    matrix, monomials, operators, point, recordings, rules, scalar, swept_rule,
};
pub use differentiation_interface_core::{forward_backend, native_rules};
// What the macros of this crate and of the core write.
#[cfg(feature = "nalgebra")]
#[doc(hidden)]
pub use differentiation_interface_core::with_feature_nalgebra;
#[cfg(feature = "ndarray")]
#[doc(hidden)]
pub use differentiation_interface_core::with_feature_ndarray;
#[doc(hidden)]
pub use differentiation_interface_core::{in_place_functions, output_of, point_of, receiver, seen_as_itself, whole};
#[cfg(feature = "macros")]
pub use differentiation_interface_macros::{Container, custom_rule, differentiable, differentiable_fn};

/// Everything a program that differentiates needs.
pub mod prelude {
    #[cfg(feature = "any")]
    pub use crate::backends::AnyBackend;
    #[cfg(feature = "taylor")]
    pub use crate::backends::AutoTaylor;
    #[cfg(feature = "rayon")]
    pub use crate::backends::AutoThreaded;
    use crate::backends::beside_their_modules;
    crate::each_backend!(beside_their_modules![]);
    #[cfg(feature = "sparse")]
    pub use crate::sparse::{AutoSparse, MixedMode, SparseMatrix};
    pub use differentiation_interface_core::backend::{Backend, SecondOrder, lift};
    pub use differentiation_interface_core::container::{Args, Layout, Masked, Points, Whole, from_flat, to_flat};
    pub use differentiation_interface_core::context::{Cache, Constant, ConstantNumbers, ConstantOrCache, Parameter};
    pub use differentiation_interface_core::custom::{Custom, CustomRule, Halves, PlainRule};
    pub use differentiation_interface_core::differentiate_with::DifferentiateWith;
    pub use differentiation_interface_core::error::{Error, ErrorKind};
    pub use differentiation_interface_core::matrix::Matrix;
    pub use differentiation_interface_core::operators::{
        Expansion, Order, PreparedDerivative, PreparedGradient, PreparedHessian, PreparedHvp, PreparedHvpSamePoint,
        PreparedJacobian, PreparedJet, PreparedMixedPartial, PreparedNthDerivative, PreparedPullback,
        PreparedPullbackSamePoint, PreparedPushforward, PreparedPushforwardSamePoint, PreparedSecondDerivative,
        PreparedTaylorCoefficients, PreparedTaylorExpansion, WithAux, derivative, derivative_into, gradient,
        gradient_and_hvp, gradient_and_hvp_into, gradient_into, hessian, hessian_into, hvp, hvp_into, jacobian,
        jacobian_into, jet, jet_into, mixed_partial, mixed_partial_into, nth_derivative, nth_derivative_into,
        prepare_derivative, prepare_gradient, prepare_hessian, prepare_hvp, prepare_hvp_same_point, prepare_jacobian,
        prepare_jet, prepare_mixed_partial, prepare_nth_derivative, prepare_pullback, prepare_pullback_same_point,
        prepare_pushforward, prepare_pushforward_same_point, prepare_second_derivative, prepare_taylor_coefficients,
        prepare_taylor_expansion, pullback, pullback_into, pushforward, pushforward_into, second_derivative,
        second_derivative_into, taylor_coefficients, taylor_coefficients_into, taylor_expansion, value_and_derivative,
        value_and_derivative_into, value_and_gradient, value_and_gradient_into, value_and_jacobian,
        value_and_jacobian_into, value_and_nth_derivative, value_and_nth_derivative_into, value_and_pullback,
        value_and_pullback_into, value_and_pushforward, value_and_pushforward_into,
        value_derivative_and_second_derivative, value_derivative_and_second_derivative_into, value_gradient_and_aux,
        value_gradient_and_hessian, value_gradient_and_hessian_into, value_gradient_and_hvp,
        value_gradient_and_hvp_into, value_jacobian_and_aux, with_aux,
    };
    pub use differentiation_interface_core::{Function, FunctionInPlace, FunctionWith, Real, Scalar, in_place};
    #[cfg(feature = "macros")]
    pub use differentiation_interface_macros::{Container, custom_rule, differentiable, differentiable_fn};
}
