//! How large a recording may grow.
//!
//! Given by the caller of the recorder, which compares it with the memory that it has allocated.

/// How large a recording may grow. The operation that would exceed the limit ends the function, which unwinds without a message, and
/// the recording with [`ErrorKind::TapeOverflow`](differentiation_interface_core::error::ErrorKind::TapeOverflow). If panics abort,
/// the function runs to its end and records nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of the recording, including capacity that is not used yet: operations, constants, rules with
    /// parameters, calls of custom rules and their arguments, places of guards. Allocations of the function itself and of the
    /// compiler do not count.
    pub bytes: usize,
}

impl Default for Limits {
    /// No limit but that of the operand numbers, about 2³⁰ values, and the available memory: an allocation that fails ends the
    /// recording as a limit does.
    fn default() -> Self {
        Limits { bytes: usize::MAX }
    }
}
