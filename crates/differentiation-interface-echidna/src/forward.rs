//! The backend.
//!
//! Passed to operators by users.

use crate::vector::Vector;
use differentiation_interface_core::forward_backend;

forward_backend! {
    /// Forward mode by the dual numbers of `echidna`, `DualVec<f64, N>`, with the elementary functions of that crate; made by
    /// [`AutoEchidna::forward`](crate::AutoEchidna::forward).
    ///
    /// A pass of the function propagates `N` tangents; a longer point takes several passes. Second order is by `SecondOrder(AutoEchidna::forward::<8>(), inner)`;
    /// as the inner backend, or paired with itself, it does not compile.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface::prelude::*;
    /// use differentiation_interface_echidna::AutoEchidna;
    ///
    /// let f = |x: &[_]| [x[0] * x[1], x[0] + x[1]];
    /// assert_eq!(jacobian(&f, &AutoEchidna::forward::<2>(), &[2.0, 5.0])?, [[5.0, 2.0], [1.0, 1.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    AutoEchidnaForward, "echidna_forward", Vector
}
