//! The backend.
//!
//! Passed to operators by users.

use crate::number::Dual;
use differentiation_interface_core::forward_backend;

forward_backend! {
    /// Forward mode by the dual numbers of `num-dual`, `DualSVec64<N>`, with the elementary functions of that crate.
    ///
    /// A pass of the function propagates `N` tangents; a longer point takes several passes. Tangents that are absent cost nothing. Second order is
    /// by `SecondOrder(AutoNumDual::default(), inner)`; as the inner backend, or paired with itself, it does not compile.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface::prelude::*;
    /// use differentiation_interface_num_dual::AutoNumDual;
    ///
    /// fn energy<T: Real>(x: &[T]) -> T {
    ///     x[0] * x[0] + 3.0 * x[1]
    /// }
    /// assert_eq!(gradient(&energy, &AutoNumDual::default(), &[2.0, 5.0])?, [4.0, 3.0]);
    /// // Four tangents at once instead of eight.
    /// assert_eq!(gradient(&energy, &AutoNumDual::<4>::new(), &[2.0, 5.0])?, [4.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    /// The engine does not nest in itself:
    /// ```compile_fail,E0080
    /// # use differentiation_interface::prelude::*;
    /// # use differentiation_interface_num_dual::AutoNumDual;
    /// fn energy<T: Real>(x: &[T]) -> T {
    ///     x[0] * x[0] + 3.0 * x[1]
    /// }
    /// hessian(&|x: &[_]| energy(x), &AutoNumDual::default(), &[2.0, 5.0])?;
    /// # Ok::<(), Error>(())
    /// ```
    AutoNumDual, "num_dual", Dual
}
