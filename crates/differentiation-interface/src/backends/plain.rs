//! Work on plain numbers that does not depend on the user's function.
//!
//! A generic function is compiled again in each program that calls it, in release builds at least, and sweeps over a tape take a second. A function of `f64` or
//! `f32` is compiled once, in this crate. Called by engines with what they hold; nested numbers have the generic code.

/// Calls `$double` or `$single` with `$state` where the scalar `$S` is `f64` or `f32`, and evaluates `$nested` for other scalars. The three have no result.
///
/// The conditions are known when `$S` is, so that the compiler generates one of the three.
macro_rules! compiled_once {
    ($S:ty, $state:expr, $double:path, $single:path, ($($argument:expr),*), $nested:expr) => {
        if const { <$S>::DEPTH > 0 } {
            $nested
        } else if const { <<$S as Scalar>::Base as Base>::IS_DOUBLE } {
            if let Some(state) = ($state as &mut dyn ::std::any::Any).downcast_mut() {
                $double(state, $($argument),*)
            }
        } else if let Some(state) = ($state as &mut dyn ::std::any::Any).downcast_mut() {
            $single(state, $($argument),*)
        }
    };
}
pub(crate) use compiled_once;
