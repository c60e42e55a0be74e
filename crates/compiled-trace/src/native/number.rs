//! The numbers that machine code works on.

use crate::recording::rules::Rules;
use differentiation_interface_core::scalar::Base;

/// A function of all unary rules, with the calling convention of the code that calls it.
#[cfg(target_arch = "x86_64")]
pub(super) type UnaryFunction<S> = extern "sysv64" fn(*const Rules, u32, S) -> S;
/// A function of all unary rules, with the calling convention of the code that calls it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type UnaryFunction<S> = extern "C" fn(*const Rules, u32, S) -> S;
/// A function of all binary rules.
#[cfg(target_arch = "x86_64")]
pub(super) type BinaryFunction<S> = extern "sysv64" fn(*const Rules, u32, S, S) -> S;
/// A function of all binary rules.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type BinaryFunction<S> = extern "C" fn(*const Rules, u32, S, S) -> S;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
}

/// A number that machine code works on: `f64` or `f32`.
pub trait Number: Base + sealed::Sealed {
    /// Bytes of the number.
    #[doc(hidden)]
    const BYTES: u32;
    /// Reaches unary rules by number.
    #[doc(hidden)]
    const UNARY: UnaryFunction<Self>;
    /// Reaches binary rules by number.
    #[doc(hidden)]
    const BINARY: BinaryFunction<Self>;
    #[doc(hidden)]
    fn direct_unary(number: u16) -> Option<usize>;
    #[doc(hidden)]
    fn direct_binary(number: u16) -> Option<usize>;
}
