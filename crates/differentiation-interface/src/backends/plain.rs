//! Work on plain numbers that does not depend on the user's function.
//!
//! A generic function is compiled again in each program that calls it, in release builds at least, and sweeps over a tape take a second. A function of `f64` is
//! compiled once, in this crate. Called by engines with what they hold; `f32`, which few use, and nested numbers have the generic code.

/// Calls `$doubles` with `$state` if the scalar `$S` is `f64`, and evaluates `$others` otherwise. Neither has a result.
///
/// The condition is known when `$S` is, so that the compiler generates one of the two.
macro_rules! compiled_once {
    ($S:ty, $state:expr, $doubles:path, ($($argument:expr),*), $others:expr) => {
        if const { <$S>::DEPTH == 0 && <<$S as Scalar>::Base as Base>::IS_DOUBLE } {
            if let Some(state) = ($state as &mut dyn ::std::any::Any).downcast_mut() {
                $doubles(state, $($argument),*)
            }
        } else {
            $others
        }
    };
}
pub(crate) use compiled_once;
