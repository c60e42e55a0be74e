//! Which rule of the table a rule is, by its type: rules of the user may have any name.
//!
//! Called by numbers that have formulas of their own for some rules.

use std::any::Any;

/// The rule as one of the table, if it is that. Decided by the compiler.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn as_rule<R: 'static, T: Copy + 'static>(rule: &R) -> Option<T> {
    (rule as &dyn Any).downcast_ref::<T>().copied()
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is<R: 'static, T: Copy + 'static>(rule: &R) -> bool {
    as_rule::<R, T>(rule).is_some()
}

/// Whether two names are equal, known when a rule is compiled, so that no other recurrence is compiled for it.
pub(crate) const fn named(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut k = 0;
    while k < a.len() && k < b.len() && a[k] == b[k] {
        k += 1;
    }
    k == a.len() && k == b.len()
}

/// Whether `$rule` of type `$R` is the rule `$Known` of the table: by its name first, which the compiler knows.
macro_rules! is_rule {
    ($R:ty, $Known:ty, $rule:expr) => {
        const { $crate::backends::which::named(<$R>::NAME, <$Known>::NAME) }
        &&$crate::backends::which::is::<$R, $Known>($rule)
    };
}
pub(crate) use is_rule;
