//! Dual numbers with a tangent along an entry of the tape, for second derivatives of rules.
//!
//! Used by the variable of second order and by custom rules on its tape.

use crate::backends::forward_diff::{Dual, DualCore};
use differentiation_interface_core::backend::Lane;
use differentiation_interface_core::scalar::{Num, Scalar};

/// A number and its derivative along an entry.
pub(super) type Along<S> = Dual<S, Lane<1>>;

/// The number `value` whose derivative is `tangent`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn along<S: Scalar>(value: S, tangent: S) -> Along<S> {
    Num(DualCore::along(value, tangent))
}

/// The number `value` whose derivative is `tangent`, fixed where that is zero: a zero must not be multiplied by an infinite derivative.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn moving<S: Scalar>(value: S, tangent: S) -> Along<S> {
    if tangent.is_inert_zero() { fixed(value) } else { along(value, tangent) }
}

/// The number `value`, which does not depend on the entry.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn fixed<S: Scalar>(value: S) -> Along<S> {
    Num(DualCore::inert(value))
}
