//! The backend.
//!
//! Passed to operators by users.

use crate::number::Lanewise;
use differentiation_interface_core::forward_backend;

forward_backend! {
    /// Forward mode by the numbers `adfn<N>` of `ad_trait`, with the elementary functions of that crate.
    ///
    /// A pass of the function propagates `N` tangents; a longer point takes several passes. Second order is by
    /// `SecondOrder(AutoAdTrait::default(), inner)`; as the inner backend, or paired with itself, it does not compile.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface::prelude::*;
    /// use differentiation_interface_ad_trait::AutoAdTrait;
    ///
    /// let f = |x: &[_]| [x[0] * x[1], x[0] + x[1]];
    /// assert_eq!(jacobian(&f, &AutoAdTrait::default(), &[2.0, 5.0])?, [[5.0, 2.0], [1.0, 1.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    AutoAdTrait, "ad_trait", Lanewise
}
