#![doc = include_str!("../README.md")]

mod backend;
mod number;
#[cfg(test)]
mod tests;

pub use backend::AutoNumDual;
pub use differentiation_interface_core::foreign::{Raw, raw, raw_array, raw_number};
pub use number::Dual;

use differentiation_interface_core::custom::{Custom, CustomRule};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::foreign::{self, Foreign};
use num_dual::DualSVec64;

/// Calls a custom rule of `differentiation-interface` with numbers of `num-dual`, in or outside of a differentiation by an operator: the
/// function runs on plain numbers, and the derivative is the rule's.
///
/// # Errors
/// Those of the rule, if it has no derivative.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_num_dual::call;
/// use num_dual::DualSVec64;
///
/// struct Root;
/// impl CustomRule for Root {
///     const NAME: &'static str = "root";
///     const GIVEN: Halves = Halves::Pushforward;
///     fn value(&self, x: &[f64], y: &mut Vec<f64>) {
///         y.clear();
///         y.push(x[0].sqrt());
///     }
///     fn pushforward<S: Scalar<Base = f64>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
///         dy[0] = dx[0] / (y[0] + y[0]);
///     }
/// }
///
/// let root = Custom::new(Root);
/// let x = DualSVec64::<1>::from_re(4.0).derivative(0);
/// let y = call(&root, &[x])?[0];
/// assert_eq!((y.re, y.eps.0.map(|t| t[0])), (2.0, Some(0.25)));
/// # Ok::<(), Error>(())
/// ```
pub fn call<R: CustomRule, const N: usize>(rule: &Custom<R>, x: &[DualSVec64<N>]) -> Result<Vec<DualSVec64<N>>, Error> {
    let x: Vec<Dual<N>> = x.iter().map(|&x| Dual(x)).collect();
    Ok(foreign::call(rule, &x)?.into_iter().map(Foreign::native).collect())
}
