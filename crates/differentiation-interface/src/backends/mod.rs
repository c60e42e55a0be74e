//! The backends, one folder each. A new one is a folder, its module below, and its line in [`each_backend`](crate::each_backend).

#[cfg(feature = "any")]
pub mod any;
#[cfg(feature = "compiled")]
pub mod compiled_reverse_diff;
mod doubles;
pub mod finite_diff;
pub mod finite_differences;
pub mod forward_diff;
mod forwarding;
mod pairs;
pub mod reverse_diff;
mod table_rules;
#[cfg(feature = "taylor")]
pub mod taylor;
#[cfg(all(test, feature = "any", feature = "sparse"))]
mod tests;
#[cfg(feature = "rayon")]
pub mod threaded;

/// Passes the list of static backends to the macro `$run`, after an argument for that macro. Each line has the module, the type, an
/// expression by which tests make the backend, whether it is exact, and whether it runs the function in every call or keeps recordings.
///
/// Used for the names in this module and in the prelude, by the tests of all backends, and by the table of supported calls.
#[doc(hidden)]
#[macro_export]
macro_rules! each_backend {
    ($($run:ident)::+! $argument:tt) => {
        $($run)::+! { $argument
            forward_diff AutoForwardDiff = $crate::backends::AutoForwardDiff::default(), exact, runs;
            reverse_diff AutoReverseDiff = $crate::backends::AutoReverseDiff::default(), exact, runs;
            #[cfg(feature = "compiled")]
            compiled_reverse_diff AutoCompiledReverseDiff = $crate::backends::AutoReverseDiff::compiled(), exact, records;
            finite_diff AutoFiniteDiff = $crate::backends::AutoFiniteDiff::central(), differences, runs;
            finite_differences AutoFiniteDifferences = $crate::backends::AutoFiniteDifferences::central(), differences, runs;
        }
    };
}

/// Re-exports the types beside their modules.
macro_rules! beside_their_modules {
    ([] $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
        $($(#[$attribute])* pub use crate::backends::$module::$Type;)*
    };
}
pub(crate) use beside_their_modules;

#[cfg(feature = "any")]
pub use any::AnyBackend;
each_backend!(beside_their_modules![]);
#[cfg(feature = "taylor")]
pub use taylor::AutoTaylor;
#[cfg(feature = "rayon")]
pub use threaded::AutoThreaded;
