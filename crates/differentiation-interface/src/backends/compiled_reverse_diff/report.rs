//! What a preparation of the compiled engine has recorded; returned to users by `report()` of prepared operators.

use super::state::CompiledState;
use differentiation_interface_core::recordings::Reports;
use differentiation_interface_core::scalar::Scalar;
use std::fmt;

/// What a preparation has recorded so far.
///
/// Calls that find a valid recording run its programs alone. If `runs` grows with the calls, points take more different paths than recordings are
/// [kept](crate::backends::AutoCompiledReverseDiff::with_most_recordings), or `runs_always` is set: then the tape, which
/// [`AutoReverseDiff::default`](crate::backends::AutoReverseDiff) would use, is faster by far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompiledReport {
    /// How often the function ran on recording numbers.
    pub runs: u64,
    /// Recordings that are kept.
    pub kept: usize,
    /// Whether the function runs in every call, because it is not [pure](crate::Function::is_pure) or a constant is of a type that is not compared.
    pub runs_always: bool,
}

/// One line: `the function ran 9 times, 8 recordings kept`, and why it runs in every call if it does.
impl fmt::Display for CompiledReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CompiledReport { runs, kept, runs_always } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "the function ran {runs} time{}, {kept} recording{} kept", plural(*runs), plural(*kept as u64))?;
        match runs_always {
            true => f.write_str(
                "; it runs in every call, because it is not pure or one of its constants is of a type that is not compared (pass numbers as `ConstantNumbers` or `Parameter`)",
            ),
            false => Ok(()),
        }
    }
}

impl<S: Scalar> Reports for CompiledState<S> {
    type Report = CompiledReport;
    fn report(&self) -> CompiledReport {
        CompiledReport { runs: self.runs(), kept: self.kept(), runs_always: self.runs_always() }
    }
}
