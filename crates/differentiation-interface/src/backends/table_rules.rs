//! Which rule of the table a rule is, by its type: rules of the user may have any name.
//!
//! Called by numbers that have formulas of their own for some rules.

#[cfg(feature = "taylor")]
use std::any::Any;

/// The rule as one of the table, if it is that. Decided by the compiler.
#[cfg(feature = "taylor")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn as_rule<R: 'static, T: Copy + 'static>(rule: &R) -> Option<T> {
    (rule as &dyn Any).downcast_ref::<T>().copied()
}

/// Whether a rule of type `$R` is the rule `$Known` of the table: known to the compiler, so that it compiles nothing for other rules.
macro_rules! is_rule {
    ($R:ty, $Known:ty) => {
        const { <$R>::IN_TABLE.is() && ::differentiation_interface_core::rules::same_name(<$R>::NAME, <$Known>::NAME) }
    };
}
pub(crate) use is_rule;
