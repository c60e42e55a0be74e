//! What engines that keep a recording of a function, to run it in later calls, ask beyond what every engine needs.
//!
//! Everything here is optional: a function, number or backend that says nothing is never recorded for a later call. Called by
//! such engines and by the wrappers that pass their questions on; other engines never come here.

mod function;

pub use function::Recordable;
