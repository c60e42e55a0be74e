//! The core of `differentiation-interface`: scalars, rules, functions, the traits of backends and the operators, without any backend.
#[cfg(any(feature = "faer", feature = "nalgebra", feature = "ndarray", feature = "num-complex"))]
pub mod algebra;
mod arithmetic;
pub mod backend;
pub mod container;
pub mod context;
pub mod custom;
pub mod differentiate_with;
pub mod error;
pub mod evaluate;
pub mod fault;
pub mod foreign;
pub mod function;
pub mod identity;
pub mod matrix;
pub mod monomials;
pub mod operators;
pub mod point;
mod pointer;
#[doc(hidden)]
pub mod receiver;
pub mod recordings;
mod relation;
pub mod rules;
pub mod scalar;
mod second_order;
pub mod swept_rule;
/// What `#[differentiable(nalgebra)]` writes. Without the feature the error of the compiler has this name.
#[cfg(feature = "nalgebra")]
#[doc(hidden)]
pub mod with_feature_nalgebra {
    pub use crate::algebra::{LuOfReal, MatrixOfReal, NalgebraReal};
}
/// The same of `#[differentiable(ndarray)]`.
#[cfg(feature = "ndarray")]
#[doc(hidden)]
pub mod with_feature_ndarray {
    pub use crate::algebra::NdarrayReal;
}
pub use function::{
    Const, ContextType, ContextTypes, Function, FunctionInPlace, FunctionInPlaceWith, FunctionWith, InPlace, Work,
    in_place,
};
pub use matrix::DerivativeMatrix;
pub use pointer::Pointer;
pub use scalar::{Base, Condition, Core, Num, Real, Relation, Scalar};
