//! The backends, one folder each. A new one is a folder and a line here.

#[cfg(feature = "any")]
pub mod any;
#[cfg(feature = "compiled")]
pub mod compiled_reverse_diff;
pub mod finite_diff;
pub mod forward_diff;
mod over;
mod pairs;
pub mod reverse_diff;

#[cfg(feature = "any")]
pub use any::AnyBackend;
#[cfg(feature = "compiled")]
pub use compiled_reverse_diff::AutoCompiledReverseDiff;
pub use finite_diff::AutoFiniteDiff;
pub use forward_diff::AutoForwardDiff;
pub use reverse_diff::AutoReverseDiff;
