//! Faults: errors found inside a number's arithmetic, which cannot return a `Result`.
//!
//! Numbers and rules [`raise`] them; operators [`watch`] for them and return them as an [`Error`] of the call.

use crate::error::{Error, ErrorKind};
use std::cell::Cell;

/// What happens on this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No operator runs: a fault has no call to return it, and is dropped.
    Idle,
    /// An operator runs.
    Watching,
    /// The same, and there is a fault.
    Raised,
}

thread_local! {
    static FAULT: Cell<Option<ErrorKind>> = const { Cell::new(None) };
    /// A byte to look at in calls that end well, which are all but a few.
    static STATE: Cell<State> = const { Cell::new(State::Idle) };
}

/// Makes the operator that is running on this thread return this error. The first fault counts. Without a running operator
/// nothing happens.
#[cold]
#[inline(never)]
pub fn raise(kind: ErrorKind) {
    if STATE.get() == State::Watching {
        STATE.set(State::Raised);
        FAULT.set(Some(kind));
    }
}

/// The state and the fault of the operator outside, which are put back when the inner one ends, also by a panic.
struct Outer {
    state: State,
    fault: Option<ErrorKind>,
}

impl Drop for Outer {
    #[inline]
    fn drop(&mut self) {
        STATE.set(self.state);
        if self.state == State::Raised {
            FAULT.set(self.fault);
        }
    }
}

/// Runs `call`, and returns the fault raised during it if there is one. Nested calls each return their own.
#[inline]
pub fn watch<R>(call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let state = STATE.replace(State::Watching);
    let outer = Outer { state, fault: if state == State::Raised { FAULT.take() } else { None } };
    let result = call();
    let own = if STATE.get() == State::Raised { FAULT.take() } else { None };
    drop(outer);
    match own {
        Some(kind) => Err(failed(kind)),
        None => result,
    }
}

#[cold]
#[inline(never)]
fn failed(kind: ErrorKind) -> Error {
    Error::new(kind)
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
    #[test]
    fn a_fault_without_an_operator_is_dropped() {
        raise(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_panic_leaves_the_fault_of_the_outer_operator() {
        let outer = watch(|| {
            raise(ErrorKind::NoSeeds);
            let inner = std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("in the function") }));
            assert!(inner.is_err());
            Ok(())
        });
        assert_eq!(outer.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
        assert!(std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("alone") })).is_err());
        raise(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }
}
