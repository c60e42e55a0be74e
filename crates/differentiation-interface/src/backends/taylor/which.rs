//! Which rule of the table a rule is, by its type: rules of the user may have any name.
//!
//! Called by `unary`, `planar` and the numbers.

use std::any::Any;

/// The rule as one of the table, if it is that. Decided by the compiler.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn as_rule<R: 'static, T: Copy + 'static>(rule: &R) -> Option<T> {
    (rule as &dyn Any).downcast_ref::<T>().copied()
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn is<R: 'static, T: Copy + 'static>(rule: &R) -> bool {
    as_rule::<R, T>(rule).is_some()
}
