//! An elementary function of each entry.
//!
//! Called by users between the products of a network or a kernel.

use super::Operand;
use crate::rules::Unary;
use crate::scalar::Scalar;

/// Applies an elementary function of [`rules`](crate::rules) to each entry of a matrix or vector.
///
/// # Example
/// ```
/// use differentiation_interface::algebra::dense::map;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::rules::Exp;
/// use faer::{Col, col};
///
/// let sum = |x: &Col<_>| {
///     let y = map(Exp, x);
///     y[0] + 2.0 * y[1]
/// };
/// assert_eq!(gradient(&sum, &AutoReverseDiff::default(), &col![0.0, 0.0])?, col![1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn map<R: Unary, X: Operand>(rule: R, x: &X) -> X::Owned {
    x.each(|entry| entry.apply(rule))
}
