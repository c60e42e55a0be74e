//! Faults: errors found inside a number's arithmetic, which cannot return a `Result`.
//!
//! Numbers and rules [`report`] them; operators [`watch`] for them and return them as an [`Error`] of the call. A fault belongs to a
//! thread; where numbers may be on another thread than their operator, it is reported by [`identity::spoil`] as well.

use crate::error::{Error, ErrorKind};
use crate::identity;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

/// What happens on this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No operator runs: a fault has no call to return it, and is dropped.
    Idle,
    /// An operator runs.
    Watching,
    /// The same, and there is a fault, the last of `FAULTS`.
    Reported,
}

thread_local! {
    /// The faults of operators that run, those of inner ones after those of outer ones.
    static FAULTS: RefCell<Vec<ErrorKind>> = const { RefCell::new(Vec::new()) };
    /// A byte to look at in calls that end well, which are all but a few.
    static STATE: Cell<State> = const { Cell::new(State::Idle) };
}

/// Makes the operator that is running on this thread return this error. The first fault counts. Without a running operator
/// nothing happens.
#[cold]
#[inline(never)]
pub fn report(kind: ErrorKind) {
    if STATE.get() == State::Watching {
        STATE.set(State::Reported);
        FAULTS.with_borrow_mut(|faults| faults.push(kind));
    }
}

/// Whether an operator runs on this thread, which would return a fault.
pub fn is_watched() -> bool {
    STATE.get() != State::Idle
}

/// The state of the operator outside, which is put back when the inner one ends, also by a panic.
struct Outer(State);

impl Drop for Outer {
    #[inline]
    fn drop(&mut self) {
        take();
        STATE.set(self.0);
    }
}

/// The fault of the operator that runs, if there is one.
#[cfg_attr(not(debug_assertions), inline(always))]
fn take() -> Option<ErrorKind> {
    #[cold]
    #[inline(never)]
    fn last() -> Option<ErrorKind> {
        STATE.set(State::Watching);
        FAULTS.with_borrow_mut(Vec::pop)
    }
    if STATE.get() == State::Reported { last() } else { None }
}

/// Runs `call`, and returns the fault reported during it if there is one. Nested calls each return their own.
#[inline]
pub fn watch<R>(call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    match caught(call) {
        (result, None) => result,
        (_, Some(kind)) => Err(failed(kind)),
    }
}

/// Runs `action`; beside its result comes the fault reported during it.
// Where the compiler sees that the action reports none, as in differentiations on the stack, nothing of this is left.
#[inline]
fn caught<R>(action: impl FnOnce() -> R) -> (R, Option<ErrorKind>) {
    let outer = Outer(STATE.replace(State::Watching));
    let result = action();
    let own = take();
    drop(outer);
    (result, own)
}

#[cold]
#[inline(never)]
fn failed(kind: ErrorKind) -> Error {
    Error::new(kind)
}

/// Runs `action` for the differentiation `id`, to which the faults reported in it are reported too: on a thread of the user's there is no
/// operator that would return them. Whether there was one.
pub fn charge(id: Option<NonZeroU32>, action: impl FnOnce()) -> bool {
    let Some(id) = id else {
        action();
        return false;
    };
    let ((), own) = caught(action);
    let Some(kind) = own else { return false };
    identity::spoil(id, kind);
    report(kind);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use std::thread;

    #[test]
    fn each_level_returns_its_own_fault() {
        let outer = watch(|| {
            let inner = watch(|| {
                report(ErrorKind::NoSeeds);
                report(ErrorKind::TapeOverflow);
                Ok(())
            });
            assert_eq!(inner.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
            Ok(7)
        });
        assert_eq!(outer, Ok(7));
    }
    #[test]
    fn a_fault_without_an_operator_is_dropped() {
        report(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_panic_leaves_the_fault_of_the_outer_operator() {
        let outer = watch(|| {
            report(ErrorKind::NoSeeds);
            let inner = std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("in the function") }));
            assert!(inner.is_err());
            Ok(())
        });
        assert_eq!(outer.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
        assert!(std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("alone") })).is_err());
        report(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_fault_on_another_thread_is_charged_to_the_differentiation() {
        let own = Identity::begin();
        let id = Some(own.id());
        thread::spawn(move || charge(id, || report(ErrorKind::NoSeeds))).join().unwrap();
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
        assert_eq!(watch(|| Ok(1)), Ok(1));
        // The operator of this thread returns it as before, and the first one counts.
        let result = watch(|| {
            report(ErrorKind::TapeOverflow);
            charge(id, || report(ErrorKind::NoSeeds));
            Ok(())
        });
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::TapeOverflow));
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
    }
}
