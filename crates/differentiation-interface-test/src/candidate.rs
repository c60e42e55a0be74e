//! The trait of backends under test: a name and an accuracy.
//!
//! A plain backend is a candidate itself; `wrappers` makes candidates of the others.

use differentiation_interface_core::backend::Backend;

/// A backend under test.
///
/// # For users
/// Every plain backend is a candidate; [`first_order_only`], [`second_order_only`], [`jacobian_only`], [`hessian_only`] and [`matrices_only`] wrap the
/// others, [`named`] and [`with_tolerance`] change the name and the required accuracy.
///
/// [`first_order_only`]: crate::first_order_only
/// [`second_order_only`]: crate::second_order_only
/// [`jacobian_only`]: crate::jacobian_only
/// [`hessian_only`]: crate::hessian_only
/// [`matrices_only`]: crate::matrices_only
/// [`named`]: crate::named
/// [`with_tolerance`]: crate::with_tolerance
pub trait Candidate {
    /// Name in messages and tables.
    fn label(&self) -> String;
    /// The allowed error of operators of this order, relative to the largest entry, if it differs from that of the scenario:
    /// for inexact backends 1e-4 in first order and 2e-2 in second.
    fn tolerance(&self, order: u8) -> Option<f64>;
}

/// Allowed errors of inexact backends.
pub(crate) fn inexact(order: u8) -> f64 {
    if order == 1 { 1e-4 } else { 2e-2 }
}

impl<B: Backend> Candidate for B {
    fn label(&self) -> String {
        B::NAME.to_string()
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        let (outer, inner) = self.outer_and_inner();
        (!outer.is_exact() || !inner.is_exact()).then(|| inexact(order))
    }
}
