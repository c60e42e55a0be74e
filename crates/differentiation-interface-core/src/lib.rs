//! The waist of `differentiation-interface`: scalars, rules, functions, backends and operators, with no backend inside.
pub mod function;
pub mod rules;
pub mod scalar;
pub use function::{
    Const, ContextType, ContextTypes, Function, FunctionInPlace, FunctionInPlaceWith, FunctionWith, Work,
};
pub use scalar::{Base, Core, Num, Real, Scalar};
