//! Whose parameters the numbers of a call are: those of the function that is recorded, or of an operator that it calls.
//!
//! Set where a function with parameters runs and where a recording begins; read where [`EngineScalar`](super::EngineScalar) makes a parameter.
//! The parameters of a recording have the places that the function's [`Parameter`](crate::context::Parameter)s take. An operator that the
//! function calls numbers its own from 0 again; to the recording they are constants. A function without parameters sets nothing, since a recording of it
//! has none that could be meant; a detection of its pattern takes those of inner operators for numbers that may change.

use std::cell::Cell;

thread_local! {
    /// Whether a function whose parameters have been handed out runs, since the innermost recording of this thread began.
    static FUNCTION_RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Restores the outer scope when dropped.
#[derive(Debug)]
pub struct ParameterScope {
    outer: bool,
}

impl ParameterScope {
    /// The scope of a recording that begins, or of a detection: the next parameters are those of its function.
    pub fn of_recording() -> ParameterScope {
        ParameterScope::set(false)
    }

    /// The scope of a function that has its parameters.
    pub(crate) fn of_function() -> ParameterScope {
        ParameterScope::set(true)
    }

    /// Whether parameters are constants to the innermost recording.
    pub(super) fn is_of_function() -> bool {
        FUNCTION_RUNS.try_with(Cell::get).unwrap_or(false)
    }

    fn set(function_runs: bool) -> ParameterScope {
        ParameterScope { outer: FUNCTION_RUNS.try_with(|runs| runs.replace(function_runs)).unwrap_or(false) }
    }
}

impl Drop for ParameterScope {
    fn drop(&mut self) {
        let _ = FUNCTION_RUNS.try_with(|runs| runs.set(self.outer));
    }
}
