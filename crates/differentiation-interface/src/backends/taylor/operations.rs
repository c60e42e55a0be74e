//! The operations of a polynomial. Those over `f64` by the rules that functions call most are compiled once, in this crate, and not again in each
//! program that expands a function.
//!
//! Called by the user's function through [`Num`]; calls `number`.

use super::number::{self, Member};
use super::polynomial::{Polynomial, PolynomialCore};
use crate::backends::doubles::is_double;
use crate::backends::forwarding::answered_below;
use crate::backends::table_rules::is_rule;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::fault;
use differentiation_interface_core::identity;
use differentiation_interface_core::recordings::{EngineScalar, Internals};
use differentiation_interface_core::rules::{
    Binary, Cos, Cosh, Exp, Exp2, ExpM1, Ln, Ln1p, Log2, Log10, Logistic, LogisticSlope, Minus, Negate, Over, Plus,
    Powc, Powf, PowfByBase, PowfByBaseThrice, PowfByBaseTwice, PowfByExponent, PowfByExponentTwice, PowfMixed, Powi,
    Recip, SechSquared, Sin, Sinh, Softplus, Sqrt, Tan, Tanh, Times, Unary, same_name,
};
use differentiation_interface_core::scalar::{Core, Num, Scalar};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;

/// A rule of one argument, which is behind the pointer.
type UnaryOver<S> = fn(PolynomialCore<S>, &dyn Any) -> PolynomialCore<S>;
/// A rule of two arguments, with its value.
type BinaryOver<S> = fn(PolynomialCore<S>, PolynomialCore<S>, S, &dyn Any) -> PolynomialCore<S>;

/// Rules over the scalar `S`.
struct Rules<S: Scalar> {
    unary: [UnaryOver<S>; UNARY.len()],
    binary: [BinaryOver<S>; BINARY.len()],
}

/// Names of the rules, and the rules in the same order.
macro_rules! rules {
    ([$($Unary:ident)*] [$($Binary:ident)*]) => {
        const UNARY: &[&str] = &[$(<$Unary as Unary>::NAME),*];
        const BINARY: &[&str] = &[$(<$Binary as Binary>::NAME),*];
        impl<S: Scalar> Rules<S> {
            const fn new() -> Self {
                Rules {
                    unary: [$(|x, rule| match rule.downcast_ref::<$Unary>() {
                        Some(rule) => number::unary(x, *rule),
                        None => refuse(x, <$Unary as Unary>::NAME),
                    }),*],
                    binary: [$(|x, y, r, rule| match rule.downcast_ref::<$Binary>() {
                        Some(rule) => number::with_value(x, y, r, *rule),
                        None => refuse(x, <$Binary as Binary>::NAME),
                    }),*],
                }
            }
        }
    };
}
// Other rules are compiled where they are called: here they would lengthen the build of programs without them.
rules! {
    [Negate Recip Exp Exp2 ExpM1 Ln Ln1p Log2 Log10 Sqrt Powi Powc Sin Cos Tan Sinh Cosh Tanh SechSquared Logistic LogisticSlope
     Softplus]
    [Plus Minus Times Over Powf PowfByBase PowfByBaseTwice PowfByBaseThrice PowfByExponent PowfByExponentTwice PowfMixed]
}

/// The place of a name among others; their number if it is not there.
const fn place(name: &str, names: &[&str]) -> usize {
    let mut k = 0;
    while k < names.len() && !same_name(name, names[k]) {
        k += 1;
    }
    k
}

/// Reports a rule that is not the one of the table that it says to be.
#[cold]
fn refuse<S: Scalar>(x: PolynomialCore<S>, rule: &'static str) -> PolynomialCore<S> {
    fault::report(ErrorKind::RuleUnsupported { rule });
    x
}

impl<S: Scalar> Rules<S> {
    /// Those over `f64`, if the scalar is that.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of() -> Option<&'static Self> {
        static ONCE: Rules<f64> = Rules::new();
        (&ONCE as &dyn Any).downcast_ref()
    }
}

/// [`number::unary`], which is compiled here if the scalar is `f64` and the rule one of these. Both are known to the compiler, which
/// generates one of the two.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn unary<S: Scalar, R: Unary>(x: PolynomialCore<S>, rule: R) -> PolynomialCore<S> {
    if const { is_double::<S>() && R::IN_TABLE.is() && place(R::NAME, UNARY) < UNARY.len() } {
        match Rules::of() {
            Some(rules) => rules.unary[const { place(R::NAME, UNARY) }](x, &rule),
            None => refuse(x, R::NAME),
        }
    } else {
        number::unary(x, rule)
    }
}

/// [`number::with_value`] in the same way.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn with_value<S: Scalar, R: Binary>(
    x: PolynomialCore<S>,
    y: PolynomialCore<S>,
    r: S,
    rule: R,
) -> PolynomialCore<S> {
    if const { is_double::<S>() && R::IN_TABLE.is() && place(R::NAME, BINARY) < BINARY.len() } {
        match Rules::of() {
            Some(rules) => rules.binary[const { place(R::NAME, BINARY) }](x, y, r, &rule),
            None => refuse(x, R::NAME),
        }
    } else {
        number::with_value(x, y, r, rule)
    }
}

impl<S: Scalar> Core for PolynomialCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    answered_below!(S, carries: tail);

    fn unary<R: Unary>(self, rule: R) -> Self {
        unary(self, rule)
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let r = self.value.apply2(other.value, rule);
        with_value(self, other, r, rule)
    }
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        if is_rule!(R, Plus) || is_rule!(R, Minus) {
            return PolynomialCore { value: r, ..self };
        }
        with_value(self, Self::inert(S::constant(other)), r, rule)
    }
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        if is_rule!(R, Plus) {
            return PolynomialCore { value: r, ..second };
        }
        with_value(Self::inert(S::constant(first)), second, r, rule)
    }
    fn custom<R: CustomRule<S::Base>>(rule: &Arc<R>, x: &[Polynomial<S>], y: &mut Vec<Polynomial<S>>) {
        number::custom(rule, x, y);
    }
}
