//! Work on plain numbers that does not depend on the user's function.
//!
//! A generic function is compiled again in each program that calls it, in release builds at least, and sweeps over a tape take a second. A function of `f64` is
//! compiled once, in this crate. Called by engines with what they hold; `f32`, which few use, and nested numbers have the generic code.

#[cfg(feature = "compiled")]
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// Whether a scalar is `f64`; known to the compiler.
pub(crate) const fn is_double<S: Scalar>() -> bool {
    S::DEPTH == 0 && S::Base::IS_DOUBLE
}

/// The slices as slices of `f64`, if the scalar is that.
#[cfg(feature = "compiled")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn doubles<'s, 'a, S: Scalar>(slices: &'s [&'a [S]]) -> Option<&'s [&'a [f64]]> {
    S::Base::as_doubles(S::as_plain(slices)?)
}

/// The same for mutable slices.
#[cfg(feature = "compiled")]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn doubles_mut<'s, 'a, S: Scalar>(slices: &'s mut [&'a mut [S]]) -> Option<&'s mut [&'a mut [f64]]> {
    S::Base::as_doubles_mut(S::as_plain_mut(slices)?)
}

/// Calls `$doubles` with `$state` if the scalar `$S` is `f64`, and evaluates `$others` otherwise. Neither has a result.
///
/// The condition is known when `$S` is, so that the compiler generates one of the two.
macro_rules! compiled_once {
    ($S:ty, $state:expr, $doubles:path, ($($argument:expr),*), $others:expr) => {
        if const { $crate::backends::doubles::is_double::<$S>() } {
            if let Some(state) = ($state as &mut dyn ::std::any::Any).downcast_mut() {
                $doubles(state, $($argument),*)
            }
        } else {
            $others
        }
    };
}
pub(crate) use compiled_once;
