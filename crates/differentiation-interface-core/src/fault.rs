//! Faults: errors found inside a number's arithmetic, which cannot return a `Result`.
//!
//! Numbers and rules [`raise`] them; operators [`watch`] for them and return them as an [`Error`] of the call.

use crate::error::{Error, ErrorKind};
use std::cell::Cell;

thread_local! {
    static FAULT: Cell<Option<ErrorKind>> = const { Cell::new(None) };
    /// Whether there is a fault: a byte to look at in calls that end well, which are all but a few.
    static RAISED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the operator that is running on this thread return this error. The first fault counts.
#[cold]
#[inline(never)]
pub fn raise(kind: ErrorKind) {
    if !RAISED.replace(true) {
        FAULT.set(Some(kind));
    }
}

/// Takes the fault away.
#[inline]
fn take() -> Option<Error> {
    if RAISED.get() { taken() } else { None }
}

#[cold]
#[inline(never)]
fn taken() -> Option<Error> {
    RAISED.set(false);
    FAULT.take().map(Error::new)
}

/// Runs `call`, and returns the fault raised during it if there is one. Nested calls each return their own.
#[inline]
pub fn watch<R>(call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let outer = take();
    let result = call();
    let own = take();
    if let Some(outer) = outer {
        raise(outer.kind());
    }
    match own {
        Some(fault) => Err(fault),
        None => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_returns_its_own_fault() {
        let outer = watch(|| {
            let inner = watch(|| {
                raise(ErrorKind::NoSeeds);
                raise(ErrorKind::TapeOverflow);
                Ok(())
            });
            assert_eq!(inner.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
            Ok(7)
        });
        assert_eq!(outer, Ok(7));
    }
}
