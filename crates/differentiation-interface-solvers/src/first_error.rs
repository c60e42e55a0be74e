//! Keeps the first error for solvers whose callbacks cannot return one.
//!
//! Used by the adapters for such solvers: they report here and give the solver a NaN or `None`, which ends its run.

use differentiation_interface::error::Error;
use std::sync::{Mutex, PoisonError};

/// The first error since it was last taken.
#[derive(Debug, Default)]
pub struct FirstError(Mutex<Option<Error>>);

impl FirstError {
    /// Returns the first error and forgets it.
    pub fn take(&self) -> Option<Error> {
        self.slot().take()
    }

    /// Returns the value, or keeps the error and returns `None`.
    pub(crate) fn keep<R>(&self, result: Result<R, Error>) -> Option<R> {
        result.map_err(|error| self.report(error)).ok()
    }

    #[cold]
    fn report(&self, error: Error) {
        self.slot().get_or_insert(error);
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
