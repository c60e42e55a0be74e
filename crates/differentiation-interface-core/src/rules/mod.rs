//! Elementary functions as data: one line per rule, value then derivative.
//!
//! Called by every engine through [`Scalar::apply`](crate::Scalar::apply) and similar methods; rules do not depend on any engine. A rule is a
//! small `Copy` type. Its value is computed on a plain number; its derivative is written in differentiable operations, so that it
//! can be differentiated again.
//!
//! # Conventions at kinks and singular points
//! - `abs` at ±0 has derivative 0; `signum`, `floor`, `ceil`, `round`, `trunc` have derivative 0 everywhere.
//! - `max(x, y)` and `min(x, y)` at a tie have the derivative of the first argument; a NaN argument is ignored, in the derivative as
//!   in the value. `clamp` is composed of `at_least` and `at_most`, which keep a NaN.
//! - `hypot` and `atan2` at the origin have derivative 0.
//! - `x % y` has derivatives 1 and -trunc(x/y); `copysign` passes the sign change of its first argument.
//! - `sqrt` and `cbrt` at 0 have derivative +∞, the one-sided limit; `recip` at 0 has -∞.
//! - Derivatives of powers are limits where these exist: `powi(0)` gives 0, `powf` with exponent 1 at 0 gives 1, and a constant
//!   exponent never goes through a logarithm. The power of a constant exponent 0 has no derivative. An exponent that only has the value 0, as a parameter may, makes the
//!   derivative by the base a zero, which meets an infinite derivative of the base: 0 by some engines and orders, NaN by others.
//!
//! # What is absent, and what is zero
//! Derivatives are sums of products of the derivatives above. All exact engines follow two rules, independent of the order in which
//! they multiply; the table in `tests/conventions.rs` of the facade checks this.
//! 1. **What is absent contributes exactly nothing,** whatever its value and its derivative are, NaN and infinity included: an input that a
//!    number does not depend on, the side of a choice (`select`, `max`, `min`, `clamp`, `at_least`, `at_most`, `abs_sub`) that is not taken,
//!    an output without a seed, an input without a tangent, an argument whose derivative is [`Partial::Zero`]. So
//!    `x₀ > 0 ? √x₀ x₁ : x₁²` at (-1, 3) has the gradient (0, 6), and a NaN input affects its own entries only.
//! 2. **Everything else follows the arithmetic of floating-point numbers,** so zero times infinity is NaN: `√x₀ x₁` at (0, 0) has the
//!    gradient (NaN, 0). So the product along a path is the same in forward and reverse order, and a meaningless result is visible as
//!    NaN. A zero that is computed, `0.0 * x` included, is not absent.
//!
//! The tape of reverse mode differs in one point: it skips entries whose adjoint is exactly zero, even if that zero was computed. So
//! `x₀ / x₁ · x₂` at (1, 0, 0) gives 0 where the other engines give NaN in the first two entries. Distinguishing the two zeros would cost an
//! addition per entry, or a flag beside every adjoint, in every gradient. The tape does the same with tangents in second order.
//!
//! A zero entry of a seed counts as absent, and so does a zero that a custom rule returns as a derivative, which has no other mark for what does not move: a slope of the rule that is
//! zero at the point is taken for one, so that the derivative 1 of x ↦ ∛(x³) at 0, with a rule for x³, is 0 in forward mode (and NaN on the tape, which multiplies in
//! the other order). Taylor expansions have no such mark and give NaN. Finite differences do not follow these rules, because they use values only.
//!
//! # Second derivatives
//! They are derivatives of the first derivatives in the table, by the same two rules. Where a second derivative is infinite or has no limit (`asin`,
//! `acos` and `atanh` at ±1, `sqrt` at 0, `powf` at 0 with an active exponent, `atan2` and `hypot` where they overflow) every engine gives a
//! result that is not finite, but infinity in one engine may be NaN in another: formulas that agree where they are finite add
//! infinities in different orders. Entries that are not singular stay correct: `√x₀ + x₁²` at x₀ = 0 has the
//! Hessian (-∞, 0; 0, 2).
//!
//! # Accuracy
//! First and second derivatives are within 4 units in the last place wherever their condition number is below 10, over the
//! whole range of doubles; below the smallest normal number, in units of that number. A formula that would lose digits when
//! differentiated is a rule of its own (`AsinSlope`, `Gauss`, `Direction`, ...), whose value is computed accurately on plain
//! numbers. Such a value may branch, so that engines do not have to. Values are those of the methods of
//! `f64` and `f32`, bit for bit. The derivative of a quotient, a reciprocal or a negative power is a [`Partial::Product`] of two factors, since alone
//! it may be out of range where that of the whole function is not. `tests/accuracy.rs` checks this against a table that `.ci/accuracy/reference.py` computes.
//! Three limits: derivatives of a quotient have no more correct digits than a subnormal quotient has, n (n-1) xⁿ⁻² no more than
//! the power, and programs keep the factor 1/y where it is infinite, at divisors y below 5.6e-309. Single precision is computed in single precision.

/// Returns a value or partial derivative unchanged; builds that break rules on purpose change it here.
#[cfg(not(mutate_rules))]
macro_rules! rule_part {
    ($rule:expr, $Kind:ident, $Part:ident, $result:expr) => {
        $result
    };
}
#[cfg(mutate_rules)]
macro_rules! rule_part {
    ($rule:expr, $Kind:ident, Value, $result:expr) => {
        crate::rules::mutation::value(<Self as $Kind>::NAME, $Kind::parameter($rule), $result)
    };
    ($rule:expr, $Kind:ident, $Part:ident, $result:expr) => {{
        use crate::rules::mutation::{Part, partial};
        partial(<Self as $Kind>::NAME, $Kind::parameter($rule), Part::$Part, $result)
    }};
}

mod fused;
#[cfg(mutate_rules)]
pub mod mutation;
mod parts;
mod planar;
mod polygamma;
pub mod special;
mod stop;
mod table;

pub use crate::arithmetic::{Binary, Partial, Unary};
#[doc(hidden)]
pub use crate::arithmetic::{InTable, same_name};
pub use parts::RuleVisitor;
pub use stop::stop_derivative;
pub use table::*;
