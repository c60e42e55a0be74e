//! A coefficient that may be absent: zero because the polynomial has no term there, and so without a product with it, an infinite one included.
//!
//! Plain coefficients store an absent one as zero, which is right unless it is multiplied by a factor that is not finite. Where a result is NaN, `mod.rs` runs
//! the function again, on polynomials whose coefficients are of this type. Kernels compute with it as with any scalar.

use crate::backends::table_rules::is_rule;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::rules::{Binary, Minus, Negate, Over, Plus, Times, Unary};
use differentiation_interface_core::scalar::{Base, Core, Num, Scalar};

/// A coefficient over the scalar `S`.
pub(super) type Term<S> = Num<TermCore<S>>;

/// The number, which is zero if it is absent. The constant 0, which recurrences begin sums with, is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermCore<S: Scalar> {
    number: S,
    is_present: bool,
}

impl<S: Scalar> TermCore<S> {
    /// A value, which takes part even if it is zero.
    pub(super) fn present(number: S) -> Term<S> {
        Num(TermCore { number, is_present: true })
    }
    /// The number; zero if it is absent.
    pub(super) fn number(&self) -> S {
        self.number
    }
    fn absent() -> Self {
        TermCore { number: S::default(), is_present: false }
    }
}

impl<S: Scalar> Core for TermCore<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    fn constant(value: S::Base) -> Self {
        TermCore { number: S::constant(value), is_present: value != S::Base::ZERO }
    }
    fn primal(&self) -> S::Base {
        self.number.peek()
    }
    fn is_constant(&self) -> bool {
        self.number.is_constant()
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        let is_present = self.is_present || !is_rule!(R, Negate);
        TermCore { number: self.number.apply(rule), is_present }
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let is_sum = is_rule!(R, Plus) || is_rule!(R, Minus);
        if is_sum && !other.is_present {
            return self;
        }
        let is_product = is_rule!(R, Times) && !(self.is_present && other.is_present);
        if is_product || is_rule!(R, Over) && !self.is_present {
            return Self::absent();
        }
        TermCore { number: self.number.apply2(other.number, rule), is_present: true }
    }
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let is_multiple = is_rule!(R, Times) || is_rule!(R, Over);
        if is_multiple && !self.is_present {
            return Self::absent();
        }
        TermCore { number: self.number.apply2_right(other, rule), is_present: true }
    }
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        Self::constant(first).binary(second, rule)
    }
}
