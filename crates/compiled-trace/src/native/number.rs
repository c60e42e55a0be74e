//! The numbers that machine code works on.

use crate::recording::rules::Rules;
use cranelift_codegen::ir::Type;
use differentiation_interface_core::scalar::Base;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
}

/// A number that machine code works on: `f64` or `f32`.
pub trait Number: Base + sealed::Sealed {
    /// The type of the number in machine code.
    #[doc(hidden)]
    const TYPE: Type;
    /// Reaches unary rules by number.
    #[doc(hidden)]
    const UNARY: extern "C" fn(*const Rules, u32, Self) -> Self;
    /// Reaches binary rules by number.
    #[doc(hidden)]
    const BINARY: extern "C" fn(*const Rules, u32, Self, Self) -> Self;
    #[doc(hidden)]
    fn direct_unary(number: u16) -> Option<usize>;
    #[doc(hidden)]
    fn direct_binary(number: u16) -> Option<usize>;
}
