//! The numbers that machine code works on.

use crate::recording::rules::Rules;
use std::any::TypeId;

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

/// The type of the numbers that code works on. The functions that write code are the same for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    /// `f64`.
    Double,
    /// `f32`.
    Single,
}

impl Format {
    /// The format of a type; `None` of one that is neither. What a type says of itself does not count: code writes to memory as it is told here.
    #[inline(always)]
    pub(super) fn of<S: 'static>() -> Option<Format> {
        let number = TypeId::of::<S>();
        if number == TypeId::of::<f64>() {
            Some(Format::Double)
        } else {
            (number == TypeId::of::<f32>()).then_some(Format::Single)
        }
    }

    /// Bytes of a number.
    pub(super) fn bytes(self) -> u32 {
        match self {
            Format::Double => 8,
            Format::Single => 4,
        }
    }
}
