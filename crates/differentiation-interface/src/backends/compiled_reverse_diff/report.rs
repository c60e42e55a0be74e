//! What a preparation of the compiled engine has recorded; returned to users by `report()` of prepared operators.

use super::state::CompiledState;
use differentiation_interface_core::recordings::Reports;
use differentiation_interface_core::scalar::Scalar;
use std::fmt;

/// What a preparation has recorded so far.
///
/// Calls that find a valid recording run its programs alone. If `runs` grows with the calls, points take more different paths than recordings are
/// [kept](crate::backends::AutoCompiledReverseDiff::with_most_recordings), or a constant is of a type that is not compared: then the tape, which
/// [`AutoReverseDiff::default`](crate::backends::AutoReverseDiff) would use, is faster by far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompiledReport {
    /// How often the function ran on recording numbers.
    pub runs: u64,
    /// Recordings that are kept.
    pub kept: usize,
}

/// One line: `the function ran 9 times, 8 recordings kept`.
impl fmt::Display for CompiledReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CompiledReport { runs, kept } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "the function ran {runs} time{}, {kept} recording{} kept", plural(*runs), plural(*kept as u64))
    }
}

impl<S: Scalar> Reports for CompiledState<S> {
    type Report = CompiledReport;
    fn report(&self) -> CompiledReport {
        CompiledReport { runs: self.runs(), kept: self.kept() }
    }
}
