//! The trait of foreign numbers, and rules applied to them by the chain rule.
//!
//! Implemented by adapters; called by [`Plain`](super::Plain).

use crate::error::ErrorKind;
use crate::rules::{Binary, Partial, Unary};
use std::fmt::Debug;

/// A number of another crate that differentiates functions of `f64`.
///
/// # For backend authors
/// 1. `constant(c)` depends on no input, and `is_constant` returns `true` only for such numbers.
/// 2. `chain(y, d)` is the number with the value `y` whose derivative is that of `self` times `d`; `chain2(other, r, dx, dy)` has the value `r` and
///    the sum of both derivatives, `self`'s times `dx` and `other`'s times `dy`. Neither is called for a constant.
/// 3. `unary`, `binary`, `binary_right` and `binary_left` apply a rule. The defaults use the derivatives of this crate; [`native_rules!`](crate::native_rules)
///    overrides them with the number's own functions, which must not panic.
/// 4. `Native` is the type that code of the other crate computes with: usually `Self`. Where `Self` is a transparent wrapper of it, `natives` returns
///    the slice as it lies in memory, so that [`raw`](super::raw) functions get their point without a copy.
/// 5. `computes_with` is asked before each of the number's own functions that [`native_rules!`](crate::native_rules) lists: a function of one number passes it as both arguments. The chain rule is applied without asking.
/// 6. `spoil` is called where a derivative is lost or wrong, besides a report to the operator of this thread. It is for numbers whose operator may run on another thread; else
///    the default is right.
///
/// # Example
/// A number that only stores a value and one derivative:
/// ```
/// # use differentiation_interface_core::foreign::{self, Foreign};
/// # use differentiation_interface_core::rules::{Erf, Sin};
/// #[derive(Clone, Copy, Debug)]
/// struct Pair(f64, f64);
///
/// impl Pair {
///     fn sine(self) -> Pair {
///         Pair(self.0.sin(), self.0.cos() * self.1)
///     }
/// }
///
/// impl Foreign for Pair {
///     type Native = Pair;
///     fn constant(value: f64) -> Pair {
///         Pair(value, 0.0)
///     }
///     fn value(&self) -> f64 {
///         self.0
///     }
///     fn is_constant(&self) -> bool {
///         self.1 == 0.0
///     }
///     fn chain(self, y: f64, dy: f64) -> Pair {
///         Pair(y, dy * self.1)
///     }
///     fn chain2(self, other: Pair, r: f64, dx: f64, dy: f64) -> Pair {
///         Pair(r, dx * self.1 + dy * other.1)
///     }
///     fn native(self) -> Pair {
///         self
///     }
///     fn from_native(native: Pair) -> Pair {
///         native
///     }
///     differentiation_interface_core::native_rules! {
///         unary x: Sin => x.sine();
///         binary x, y: ;
///         right x, c: ;
///         left c, y: ;
///     }
/// }
///
/// // Its own rule, and one of this crate: erf'(0) = 2/√π.
/// assert_eq!(foreign::apply(Sin, Pair(0.0, 3.0)).1, 3.0);
/// assert_eq!(foreign::apply(Erf, Pair(0.0, 1.0)).1, std::f64::consts::FRAC_2_SQRT_PI);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an adapted number of another crate",
    note = "implement `foreign::Foreign` for it: constants, the value and the chain rule"
)]
pub trait Foreign: Copy + Debug + Send + Sync + 'static {
    /// The type that code of the other crate computes with.
    type Native: Copy + Send + 'static;

    /// The number `value` that depends on no input.
    fn constant(value: f64) -> Self;
    /// The value.
    fn value(&self) -> f64;
    /// Whether the number certainly depends on no input.
    fn is_constant(&self) -> bool;
    /// The value `y`, with the derivative of `self` times `dy`.
    fn chain(self, y: f64, dy: f64) -> Self;
    /// The value `r`, with the derivative of `self` times `dx` and that of `other` times `dy`.
    fn chain2(self, other: Self, r: f64, dx: f64, dy: f64) -> Self;
    /// The number for code of the other crate.
    fn native(self) -> Self::Native;
    /// A number that code of the other crate computed.
    fn from_native(native: Self::Native) -> Self;
    /// The numbers for code of the other crate where they lie, or `None` if they have to be converted one by one by `native`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn natives(_numbers: &[Self]) -> Option<&[Self::Native]> {
        None
    }

    /// Whether the number's own functions may be called with these two numbers, or with one, which is then both. Where they may not, the chain rule
    /// is used: for constants that would be recorded, and for numbers whose recording is not at hand.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn computes_with(&self, _other: &Self) -> bool {
        true
    }
    /// Makes the differentiation that the number belongs to return this error; see [`Core::spoil`](crate::Core::spoil).
    fn spoil(&self, _kind: ErrorKind) {}
    /// Applies a rule of one argument.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary<R: Unary>(self, rule: R) -> Self {
        by_rule(self, rule)
    }
    /// Applies a rule of two arguments.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        by_rule_of_two(self, other, rule)
    }
    /// Applies a rule whose second argument is a plain number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_right<R: Binary>(self, other: f64, rule: R) -> Self {
        by_rule_right(self, other, rule)
    }
    /// Applies a rule whose first argument is a plain number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary_left<R: Binary>(first: f64, second: Self, rule: R) -> Self {
        by_rule_left(first, second, rule)
    }
}

/// `x` with the value `y` and the derivative `partial`, which may be absent.
#[cfg_attr(not(debug_assertions), inline(always))]
fn chained<T: Foreign>(x: T, y: f64, partial: impl FnOnce() -> Partial<f64>) -> T {
    if x.is_constant() {
        return T::constant(y);
    }
    match partial() {
        Partial::Zero => T::constant(y),
        partial => x.chain(y, partial.value()),
    }
}

/// Applies a rule of one argument with the derivative of this crate.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn by_rule<T: Foreign, R: Unary>(x: T, rule: R) -> T {
    let point = x.value();
    let y = rule.value(point);
    chained(x, y, || rule.derivative(point, y))
}

/// Applies a rule of two arguments with the derivatives of this crate.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn by_rule_of_two<T: Foreign, R: Binary>(first: T, second: T, rule: R) -> T {
    let (x, y) = (first.value(), second.value());
    let r = rule.value(x, y);
    if first.is_constant() {
        return chained(second, r, || rule.partial_y(x, y, r));
    }
    if second.is_constant() {
        return chained(first, r, || rule.partial_x(x, y, r));
    }
    match (rule.partial_x(x, y, r), rule.partial_y(x, y, r)) {
        (Partial::Zero, dy) => chained(second, r, || dy),
        (dx, Partial::Zero) => chained(first, r, || dx),
        (dx, dy) => first.chain2(second, r, dx.value(), dy.value()),
    }
}

/// Applies a rule whose second argument is a plain number with the derivative of this crate.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn by_rule_right<T: Foreign, R: Binary>(first: T, second: f64, rule: R) -> T {
    let x = first.value();
    let r = rule.value(x, second);
    chained(first, r, || rule.partial_x(x, second, r))
}

/// Applies a rule whose first argument is a plain number with the derivative of this crate.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn by_rule_left<T: Foreign, R: Binary>(first: f64, second: T, rule: R) -> T {
    let y = second.value();
    let r = rule.value(first, y);
    chained(second, r, || rule.partial_y(first, y, r))
}
