//! Results of machine code with signs that are not applied yet.

use cranelift_codegen::ir::Value;

/// A result whose sign may still have to be changed. Signs move through products and into sums and differences exactly, so
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
