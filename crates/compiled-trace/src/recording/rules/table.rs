//! Small numbers for the lines of the rule table that have no parameter.
//!
//! No derivative is listed here: those are [`Template`](crate::Template)s, recorded from the rules themselves.

use differentiation_interface_core::rules::*;
use differentiation_interface_core::scalar::Scalar;

/// Numbers the lines of the rule table that have no parameter.
macro_rules! numbered_rules {
    ($Trait:ident $count:ident $id:ident $apply:ident $block:ident $name:ident $visit:ident
     $method:ident $make:ident $pointer:ident; $($CONST:ident $Rule:ident),*; vectors: $($VECTOR:ident $Simple:ident,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names count the rules")]
        enum $count { $($CONST,)* LENGTH }
        $(#[doc = concat!("Number of the rule [`", stringify!($Rule), "`](differentiation_interface_core::rules::", stringify!($Rule), ").")]
        pub const $CONST: u16 = $count::$CONST as u16;)*

        /// The number of a rule of the table, found by its name: a rule of another crate that has the name of one of the table is not in it.
        pub(super) const fn $id<R: $Trait>() -> Option<u16> {
            if R::IN_TABLE.is() { position(R::NAME, &[$($Rule::NAME,)*]) } else { None }
        }
        /// The value of a rule of the table; a rule of one argument ignores `y`.
        #[inline(always)]
        pub(super) fn $apply<S: Scalar>(rule: u16, x: S, y: S) -> Option<S> {
            let _ = y;
            Some(match rule {
                $($CONST => $make!($Rule, x, y),)*
                _ => return None,
            })
        }
        /// A rule of the table as a function of its value; a rule of one argument ignores the second.
        pub(super) fn $pointer<S: Scalar>(rule: u16) -> Option<fn(S, S) -> S> {
            Some(match rule {
                $($CONST => |x: S, y: S| {
                    let _ = y;
                    $make!($Rule, x, y)
                },)*
                _ => return None,
            })
        }
        /// The values of a rule on a block if processors have an instruction for it or a few; `false` for other rules, of which a loop
        /// would be no vectors but a call for each number.
        #[inline(always)]
        pub(super) fn $block<S: Scalar>(rule: u16, x: impl Fn(usize) -> S, y: impl Fn(usize) -> S, out: &mut [S]) -> bool {
            let _ = &y;
            match rule {
                $($VECTOR => for (i, out) in out.iter_mut().enumerate() {
                    *out = $make!($Simple, x(i), y(i));
                },)*
                _ => return false,
            }
            true
        }
        pub(super) fn $name(rule: u16) -> Option<&'static str> {
            $(if rule == $CONST { return Some($Rule::NAME); })*
            None
        }
        /// Calls a visitor with a rule of the table.
        pub(crate) fn $visit(rule: u16, visitor: &mut impl RuleVisitor) {
            $(if rule == $CONST { return visitor.$method($Rule); })*
        }
    };
}

/// Where a name is in a list.
const fn position(name: &str, names: &[&str]) -> Option<u16> {
    let mut at = 0;
    while at < names.len() {
        if same_name(name, names[at]) {
            return Some(at as u16);
        }
        at += 1;
    }
    None
}

macro_rules! apply_one {
    ($Rule:ident, $x:expr, $y:expr) => {
        $x.apply($Rule)
    };
}
macro_rules! apply_two {
    ($Rule:ident, $x:expr, $y:expr) => {
        $x.apply2($y, $Rule)
    };
}

numbered_rules! { Unary UnaryCount unary_id unary_value unary_block unary_name visit_unary unary apply_one unary_function;
    NEGATE Negate, RECIP Recip, ABS Abs, SIGNUM Signum, FLOOR Floor, CEIL Ceil, ROUND Round, TRUNC Trunc, FRACT Fract,
    DEGREES Degrees, RADIANS Radians, SQRT Sqrt, CBRT Cbrt, EXP Exp, EXP2 Exp2, EXP_M1 ExpM1, LN Ln, LOG2 Log2,
    LOG10 Log10, LN_1P Ln1p, SIN Sin, COS Cos, TAN Tan, ASIN Asin, ACOS Acos, ATAN Atan, SINH Sinh, COSH Cosh,
    TANH Tanh, SECH_SQUARED SechSquared, ASINH Asinh, HYPOT_ONE HypotOne, ACOSH Acosh, ATANH Atanh, ERF Erf, ERFC Erfc,
    LN_GAMMA LnGamma, LOGISTIC Logistic, SOFTPLUS Softplus, CBRT_SLOPE CbrtSlope, ONE_MINUS_SQUARE OneMinusSquare,
    ASIN_SLOPE AsinSlope, ATAN_SLOPE AtanSlope, ACOSH_SLOPE AcoshSlope, GAUSS Gauss, LOGISTIC_SLOPE LogisticSlope;
    vectors:
    NEGATE Negate, RECIP Recip, ABS Abs, SIGNUM Signum, FLOOR Floor, CEIL Ceil, ROUND Round, TRUNC Trunc, FRACT Fract,
    DEGREES Degrees, RADIANS Radians, SQRT Sqrt, ONE_MINUS_SQUARE OneMinusSquare, ASIN_SLOPE AsinSlope, ATAN_SLOPE AtanSlope,
}
numbered_rules! { Binary BinaryCount binary_id binary_value binary_block binary_name visit_binary binary apply_two binary_function;
    PLUS Plus, MINUS Minus, TIMES Times, OVER Over, MODULO Modulo, POWF Powf, ATAN2 Atan2, HYPOT Hypot, MAX Max, MIN Min,
    AT_LEAST AtLeast, AT_MOST AtMost, COPYSIGN Copysign, ABS_SUB AbsSub, DIRECTION Direction, HYPOT_BEND HypotBend,
    HYPOT_CROSS HypotCross, ANGULAR Angular, ANGULAR_BEND AngularBend, ANGULAR_CROSS AngularCross,
    POWF_BY_BASE PowfByBase, POWF_BY_EXPONENT PowfByExponent, POWF_BY_BASE_TWICE PowfByBaseTwice, POWF_BY_BASE_THRICE PowfByBaseThrice, POWF_MIXED PowfMixed,
    POWF_BY_EXPONENT_TWICE PowfByExponentTwice, TOGETHER Together, PRODUCT_ERROR ProductError, SUM_ERROR SumError,
    ODD_SUM OddSum;
    vectors:
    PLUS Plus, MINUS Minus, TIMES Times, OVER Over, MAX Max, MIN Min, AT_LEAST AtLeast, AT_MOST AtMost, COPYSIGN Copysign,
    ABS_SUB AbsSub, TOGETHER Together, PRODUCT_ERROR ProductError, SUM_ERROR SumError, ODD_SUM OddSum,
}

/// Rules of the table without a parameter come first; the numbers of the others depend on the recording.
pub(super) const UNARY_TABLE: u16 = UnaryCount::LENGTH as u16;
pub(super) const BINARY_TABLE: u16 = BinaryCount::LENGTH as u16;

#[cfg(test)]
mod tests {
    use super::*;
    use differentiation_interface_core::scalar::Base;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct OtherExp;
    impl Unary for OtherExp {
        const NAME: &'static str = Exp::NAME;
        fn value<B: Base>(self, x: B) -> B {
            x
        }
        fn derivative<S: Scalar>(self, _: S, _: S) -> Partial<S> {
            Partial::One
        }
    }

    struct Count(u16);
    impl RuleVisitor for Count {
        fn unary<R: Unary>(&mut self, _: R) {
            assert_eq!(unary_id::<R>(), Some(self.0), "{}", R::NAME);
        }
        fn binary<R: Binary>(&mut self, _: R) {
            assert_eq!(binary_id::<R>(), Some(self.0), "{}", R::NAME);
        }
    }

    #[test]
    fn rules_have_the_numbers_of_the_table() {
        (0..UNARY_TABLE).for_each(|rule| visit_unary(rule, &mut Count(rule)));
        (0..BINARY_TABLE).for_each(|rule| visit_binary(rule, &mut Count(rule)));
    }

    #[test]
    fn another_rule_of_the_same_name_is_not_in_the_table() {
        assert_eq!((unary_id::<Exp>(), unary_id::<OtherExp>()), (Some(EXP), None));
    }
}
