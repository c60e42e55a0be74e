//! Elementary functions in recordings: small numbers for the lines of the rule table, objects for users' rules.
//!
//! Made by the recorder, read by every pass and executor.

mod numbers;
mod objects;
mod table;
mod values;

pub use numbers::{OtherUnary, Rules};
pub use objects::RuleObject;
pub use table::*;
pub(crate) use table::{visit_binary, visit_unary};
