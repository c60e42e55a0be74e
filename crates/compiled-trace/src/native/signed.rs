//! Results of machine code with pending changes of sign.

use super::code::Value;

/// A result whose sign may still have to be changed. Signs move exactly through products and into sums and differences, so
/// most negations cost nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed {
    pub(super) value: Value,
    pub(super) negated: bool,
}

impl From<Value> for Signed {
    fn from(value: Value) -> Signed {
        Signed { value, negated: false }
    }
}
