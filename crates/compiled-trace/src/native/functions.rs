//! Addresses of elementary functions for machine code.
//!
//! Called by `operation` when code is emitted. Each function is the value of the rule table itself, so that numbers are those of
//! the portable executor. Functions that are not listed are called through [`Rules`](crate::recording::rules::Rules) by number, one jump later.

use super::call::{binary_f32, binary_f64, unary_f32, unary_f64};
use super::number::{BinaryFunction, Number, UnaryFunction};
use crate::recording::rules;
use differentiation_interface_core::rules::*;

macro_rules! direct_functions {
    ($abi:literal $Float:ty; $($UNARY:ident $Unary:ident,)*; $($BINARY:ident $Binary:ident,)*) => {
        fn direct_unary(number: u16) -> Option<usize> {
            Some(match number {
                $(rules::$UNARY => {
                    extern $abi fn value(x: $Float) -> $Float {
                        $Unary.value(x)
                    }
                    value as extern $abi fn($Float) -> $Float as usize
                })*
                _ => return None,
            })
        }
        fn direct_binary(number: u16) -> Option<usize> {
            Some(match number {
                $(rules::$BINARY => {
                    extern $abi fn value(x: $Float, y: $Float) -> $Float {
                        $Binary.value(x, y)
                    }
                    value as extern $abi fn($Float, $Float) -> $Float as usize
                })*
                _ => return None,
            })
        }
    };
}

macro_rules! number {
    ($abi:literal $Float:ident $unary:ident $binary:ident) => {
        impl Number for $Float {
            const BYTES: u32 = size_of::<$Float>() as u32;
            const UNARY: UnaryFunction<$Float> = $unary;
            const BINARY: BinaryFunction<$Float> = $binary;
            direct_functions! { $abi $Float;
                EXP Exp, EXP2 Exp2, EXP_M1 ExpM1, LN Ln, LOG2 Log2, LOG10 Log10, LN_1P Ln1p, CBRT Cbrt,
                SIN Sin, COS Cos, TAN Tan, ASIN Asin, ACOS Acos, ATAN Atan, SINH Sinh, COSH Cosh, TANH Tanh,
                SECH_SQUARED SechSquared, HYPOT_ONE HypotOne, ERF Erf, ERFC Erfc, LOGISTIC Logistic, SOFTPLUS Softplus,
                CBRT_SLOPE CbrtSlope, ONE_MINUS_SQUARE OneMinusSquare, ASIN_SLOPE AsinSlope, ATAN_SLOPE AtanSlope,
                ACOSH_SLOPE AcoshSlope, GAUSS Gauss, LOGISTIC_SLOPE LogisticSlope,;
                POWF Powf, ATAN2 Atan2, HYPOT Hypot, MODULO Modulo, DIRECTION Direction, HYPOT_BEND HypotBend,
                HYPOT_CROSS HypotCross, ANGULAR Angular, ANGULAR_BEND AngularBend, ANGULAR_CROSS AngularCross,
                POWF_BY_BASE PowfByBase, POWF_BY_EXPONENT PowfByExponent, PRODUCT_ERROR ProductError, SUM_ERROR SumError,
                ODD_SUM OddSum,
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
number! { "sysv64" f64 unary_f64 binary_f64 }
#[cfg(target_arch = "x86_64")]
number! { "sysv64" f32 unary_f32 binary_f32 }
#[cfg(not(target_arch = "x86_64"))]
number! { "C" f64 unary_f64 binary_f64 }
#[cfg(not(target_arch = "x86_64"))]
number! { "C" f32 unary_f32 binary_f32 }

/// The address of a unary rule, if it is listed.
pub(super) fn unary<S: Number>(number: u16) -> Option<usize> {
    S::direct_unary(number)
}

/// The address of a binary rule, if it is listed.
pub(super) fn binary<S: Number>(number: u16) -> Option<usize> {
    S::direct_binary(number)
}
