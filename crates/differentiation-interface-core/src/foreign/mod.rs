//! Numbers of other crates as numbers of this one, for authors of backends.
//!
//! Called by the crates that adapt another engine (`differentiation-interface-num-dual` and its siblings). An adapter implements
//! [`Foreign`] for the other crate's number: constants, the value, the chain rule, and a [list](crate::native_rules) of the elementary
//! functions that the number has itself. [`Plain`] makes a [`Core`](crate::Core) of it, and
//! [`ForwardState`] the primitive of forward mode, from which [`forward_backend!`](crate::forward_backend) makes the backend. Every other rule, a user's own or a custom one included, is applied by the chain rule with the
//! derivative of this crate.
//!
//! A foreign number computes with plain numbers of double precision, so its backend sets [`Backend::NESTS`](crate::backend::Backend::NESTS) to
//! `false`. Points of single precision are converted on the way in, and results on the way out.

mod backend;
mod bridge;
mod forward;
mod native;
mod number;
mod plain;
mod raw;
mod running;
mod unwrapped;

pub use bridge::{apply, apply2, call};
pub use forward::{ForwardState, Tangents};
pub use number::{Foreign, by_rule, by_rule_left, by_rule_of_two, by_rule_right};
pub use plain::{ForeignNum, Plain};
pub use raw::{Raw, RawOutput, raw, raw_array, raw_number};
pub use running::Running;
