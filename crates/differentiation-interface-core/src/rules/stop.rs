//! A number without its derivative.

use crate::arithmetic::{Base, Partial, Scalar, Unary};

/// The identity, whose result depends on nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StopDerivative;

impl Unary for StopDerivative {
    const NAME: &'static str = "stop_derivative";
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value<B: Base>(self, x: B) -> B {
        x
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn derivative<S: Scalar>(self, _x: S, _y: S) -> Partial<S> {
        Partial::Zero
    }
}

/// The number as a constant of the derivative: d stop_derivative(x) = 0, at all orders. Other names for it are `stop_gradient`, `detach` and `ignore_derivatives`.
///
/// Unlike [`x.primal()`](Scalar::primal) it stays a number of the engine: a compiled program computes it anew at each point, and patterns by tracers have no entry
/// for it. Finite differences move it with the point, as they know values only.
///
/// # Example
/// A weight that is computed from the point but taken as it is, as in iteratively reweighted least squares:
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::rules::stop_derivative;
///
/// fn weighted<T: Real>(x: &[T]) -> T {
///     x.iter().map(|r| stop_derivative((1.0 + *r * *r).recip()) * *r * *r).sum()
/// }
/// // 2 w r, where w = 1 / (1 + r²) is no function of r.
/// assert_eq!(gradient(&weighted, &AutoReverseDiff::default(), &[1.0, 3.0])?, [1.0, 0.6000000000000001]);
/// # Ok::<(), Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn stop_derivative<S: Scalar>(x: S) -> S {
    x.apply(StopDerivative)
}
