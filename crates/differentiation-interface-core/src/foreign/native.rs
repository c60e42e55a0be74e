//! The list of a foreign number's own functions.
//!
//! Used in implementations of [`Foreign`](super::Foreign).

/// Writes the methods of [`Foreign`](crate::foreign::Foreign) that apply rules, from a list of the elementary functions that the number has
/// itself: `Rule => expression`, and `Rule as p => expression` where the expression needs the rule's parameter. All other rules are applied by the
/// chain rule.
///
/// The compiler decides by the type of the rule, once for each, and removes the others where it optimises.
#[macro_export]
macro_rules! native_rules {
    (
        unary $x:ident: $($Unary:path $(as $p:ident)? => $unary:expr),* $(,)?;
        binary $a:ident, $b:ident: $($Binary:path => $binary:expr),* $(,)?;
        right $d:ident, $c:ident: $($Right:path => $right:expr),* $(,)?;
        left $k:ident, $e:ident: $($Left:path => $left:expr),* $(,)?;
    ) => {
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn unary<R: $crate::rules::Unary>(self, rule: R) -> Self {
            let $x = self;
            if $crate::foreign::Foreign::computes_with(&$x, &$x) {
                $($crate::native_rules! { @rule rule, $Unary $(, $p)? => $unary })*
            }
            $crate::foreign::by_rule($x, rule)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn binary<R: $crate::rules::Binary>(self, other: Self, rule: R) -> Self {
            let ($a, $b) = (self, other);
            if $crate::foreign::Foreign::computes_with(&$a, &$b) {
                $($crate::native_rules! { @rule rule, $Binary => $binary })*
            }
            $crate::foreign::by_rule_of_two($a, $b, rule)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn binary_right<R: $crate::rules::Binary>(self, other: f64, rule: R) -> Self {
            let ($d, $c) = (self, other);
            if $crate::foreign::Foreign::computes_with(&$d, &$d) {
                $($crate::native_rules! { @rule rule, $Right => $right })*
            }
            $crate::foreign::by_rule_right($d, $c, rule)
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn binary_left<R: $crate::rules::Binary>(first: f64, second: Self, rule: R) -> Self {
            let ($k, $e) = (first, second);
            if $crate::foreign::Foreign::computes_with(&$e, &$e) {
                $($crate::native_rules! { @rule rule, $Left => $left })*
            }
            $crate::foreign::by_rule_left($k, $e, rule)
        }
    };
    (@rule $rule:ident, $Rule:path => $value:expr) => {
        if ::std::any::TypeId::of::<R>() == ::std::any::TypeId::of::<$Rule>() {
            return $value;
        }
    };
    (@rule $rule:ident, $Rule:path, $p:ident => $value:expr) => {
        if let Some($p) = (&$rule as &dyn ::std::any::Any).downcast_ref::<$Rule>() {
            return $value;
        }
    };
}
