//! Elementary functions as data: one rule, one line, value then derivative.
//!
//! Called by every engine through [`Scalar::apply`](crate::Scalar::apply) and its siblings; nothing here knows an engine. A rule is a small
//! `Copy` type; its value is computed on a plain number, its derivative is written in differentiable operations so that
//! nested derivatives come free.
//!
//! # Conventions at kinks and singular points
//! - `abs` at ±0 has derivative 0; `signum`, `floor`, `ceil`, `round`, `trunc` have derivative 0 everywhere.
//! - `max(x, y)` and `min(x, y)` at a tie pass the derivative of the first argument; a NaN argument is ignored, as its
//!   value is. `clamp` is made of `at_least` and `at_most`, which keep a NaN.
//! - `hypot` and `atan2` at the origin have derivative 0.
//! - `x % y` has derivatives 1 and -trunc(x/y); `copysign` passes the sign change of its first argument.
//! - `sqrt` and `cbrt` at 0 have derivative +∞, the one-sided limit; `recip` at 0 has -∞.
//! - Powers have the limit wherever there is one: `powi(0)` gives 0, `powf` with exponent 1 at 0 gives 1, and a constant
//!   exponent never goes through a logarithm.
//!
//! # What is absent, and what is zero
//! Derivatives are sums of products of the derivatives above. All exact engines keep two rules about them, whichever order they multiply
//! in; `tests/conventions.rs` of the facade is the table that holds them to it.
//! 1. **What is absent contributes exactly nothing,** whatever its value and its derivative are, NaN and infinity included: an input that a
//!    number does not depend on, the side of a choice (`select`, `max`, `min`, `clamp`, `at_least`, `at_most`, `abs_sub`) that is not taken,
//!    an output without a seed, an input without a tangent, what a [`Partial::Zero`] cuts off. So `x₀ > 0 ? √x₀ x₁ : x₁²` at (-1, 3) has the
//!    gradient (0, 6), and an input that is NaN is so in its own entries alone.
//! 2. **Everything else follows the arithmetic of floating-point numbers,** so zero times infinity is NaN: `√x₀ x₁` at (0, 0) has the
//!    gradient (NaN, 0). The product along a path then does not depend on the end it is begun at, and an answer that has no meaning can be
//!    seen. A zero that is computed, `0.0 * x` included, is not absent.
//!
//! The tape of reverse mode differs in one point: it leaves out entries whose adjoint is exactly zero, also where that zero was computed,
//! so `x₀ / x₁ · x₂` at (1, 0, 0) has 0 there where the others have NaN in the first two entries. To tell the two zeros apart would take an
//! addition per entry, or a mark beside every adjoint, on the path of every gradient. It does the same with tangents in second order.
//!
//! A seed of a product that is zero counts as absent. Finite differences know nothing of all this: they see values alone.
//!
//! # Second derivatives
//! They are derivatives of the lines of the table by the same two rules. Where a second derivative is infinite or has no limit (`asin`,
//! `acos` and `atanh` at ±1, `sqrt` at 0, `powf` at 0 with an active exponent, `atan2` and `hypot` where they overflow) every engine gives a
//! result that is not finite, but infinity in one engine may be NaN in another: formulas that are equal where they are finite add
//! infinities in different orders. Entries that are not singular themselves are right beside them: `√x₀ + x₁²` at x₀ = 0 has the
//! Hessian (-∞, 0; 0, 2).
//!
//! # Accuracy
//! First and second derivatives are within 4 units in the last place wherever their condition number is below 10, over the
//! whole range of doubles; below the smallest normal number, in units of that. Where a formula would lose digits when it is
//! differentiated, it is a rule of its own (`AsinSlope`, `Gauss`, `Direction`, ...), whose value is computed on plain numbers
//! with all the care it takes; such a value may branch, which spares the engines the branch. Values are those of the methods of
//! `f64` and `f32`, bit for bit. `tests/accuracy.rs` checks this against a table that `.ci/accuracy/reference.py` computes.
//! Two limits: derivatives of a quotient have no more digits than the quotient where that is subnormal, and n (n-1) xⁿ⁻² no
//! more than the power. Single precision is computed in single precision.

/// Hands a value or partial derivative on; a build that breaks rules on purpose changes it here.
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
mod table;

pub use crate::arithmetic::{Binary, Partial, Unary};
pub use parts::RuleVisitor;
pub use table::*;
