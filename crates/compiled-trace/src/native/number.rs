//! The numbers that machine code works on.

use crate::recording::rules::Rules;
use differentiation_interface_core::scalar::Base;

/// Hands the calling convention of machine code to a macro.
#[cfg(target_arch = "x86_64")]
macro_rules! with_convention {
    ($to:ident $($rest:tt)*) => { $to! { "sysv64" $($rest)* } };
}
/// Hands the calling convention of machine code to a macro.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! with_convention {
    ($to:ident $($rest:tt)*) => { $to! { "C" $($rest)* } };
}
pub(super) use with_convention;

macro_rules! functions {
    ($abi:literal) => {
        /// A function of machine code: takes pointers to the slices and counters of enclosing loops; returns 0, or the number of a failed guard plus 1.
        pub(super) type Entry = unsafe extern $abi fn(*const *mut u8, *const u64) -> u32;
        /// A function of all unary rules, which machine code calls.
        pub(super) type UnaryFunction<S> = extern $abi fn(*const Rules, u32, S) -> S;
        /// A function of all binary rules.
        pub(super) type BinaryFunction<S> = extern $abi fn(*const Rules, u32, S, S) -> S;
    };
}
with_convention! { functions }

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
