//! The backends, one folder each. A new one is a folder and a line here.

pub mod any;
pub mod compiled_reverse_diff;
pub mod finite_diff;
pub mod forward_diff;
mod over;
pub mod reverse_diff;

pub use any::AnyBackend;
pub use compiled_reverse_diff::AutoCompiledReverseDiff;
pub use finite_diff::AutoFiniteDiff;
pub use forward_diff::AutoForwardDiff;
pub use reverse_diff::AutoReverseDiff;
